from __future__ import annotations

import numpy as np
import pytest
from contract_checks import catalog_of, make_lake, make_table
from fake_encoder import WordEncoder

from graftjax.intent import Query, parse_intent
from graftjax.peers.compatibility import Compatibility
from graftjax.peers.concepts import concepts
from graftjax.peers.pool import draw_pool, twins

INTENT = parse_intent(
    {
        "trees": [
            {
                "tree_id": "s",
                "entity": "singer",
                "attributes": [{"attribute_id": "n", "name": "name"}, {"attribute_id": "a", "name": "age"}],
            },
            {"tree_id": "t", "entity": "stadium", "attributes": []},
        ]
    }
)
QUERY = Query("q", "Which singers are at the stadium?", intent=INTENT)


@pytest.mark.parametrize("view", ["tables", "clusters"])
def test_scores_as_written_out(view):
    catalog = catalog_of(make_lake(), view)
    compatibility = Compatibility(catalog)
    pool = draw_pool(catalog, compatibility, QUERY, size=5, budget=2)
    question, *wanted = WordEncoder().encode([QUERY.question, *concepts(QUERY)])
    assert len(wanted) == len(pool.fine) == 3
    for place, node in enumerate(pool.nodes.tolist()):
        assert pool.coarse[place] == pytest.approx(catalog.schema_vectors[node] @ question, abs=1e-5)
        columns = catalog.column_vectors[catalog.column_node == node]
        for concept, vector in enumerate(wanted):
            best = max((float(column @ vector) for column in columns), default=-1.0)
            assert pool.fine[concept, place] == pytest.approx(best, abs=1e-5)
            if len(columns):
                assert (
                    pool.column_fine[concept, pool.column_place == place].max() == pool.fine[concept, place]
                )
        assert pool.sizes[place] == len(catalog.members[node])
        assert (pool.inner[place] > 0) == (pool.sizes[place] > 1)
    assert (pool.joins == compatibility.pairs(pool.nodes)).all()


def test_nearest_first_and_the_next_ones_beyond():
    catalog = catalog_of(make_lake())
    pool = draw_pool(catalog, Compatibility(catalog), QUERY, size=5, budget=2)
    assert (np.diff(pool.coarse) <= 0).all()
    whole = draw_pool(catalog, Compatibility(catalog), QUERY, size=50, budget=2)
    assert whole.beyond == ()
    assert sorted(whole.nodes.tolist()) == list(range(8))
    assert (*pool.nodes.tolist(), *pool.beyond) == tuple(whole.nodes[:7].tolist())


def test_question_and_concepts_in_one_call():
    catalog = catalog_of(make_lake())
    compatibility = Compatibility(catalog)
    _ = catalog.schema_vectors, catalog.column_vectors
    catalog.encoder.encoded.clear()  # pyright: ignore
    draw_pool(catalog, compatibility, QUERY, size=5, budget=2)
    assert catalog.encoder.encoded == [QUERY.question, *concepts(QUERY)]  # pyright: ignore


def test_a_lake_of_tables_without_columns():
    catalog = catalog_of([make_table("a", "singer"), make_table("b", "stadium")])
    pool = draw_pool(catalog, Compatibility(catalog), QUERY, size=5, budget=2)
    assert (pool.fine == -1).all()
    assert pool.column_fine.shape == (3, 0)


def test_twins_are_the_shards_of_a_table():
    catalog = catalog_of(make_lake())
    pool = draw_pool(catalog, Compatibility(catalog), QUERY, size=8, budget=2)
    names = [catalog.leads[node].id.name for node in pool.nodes.tolist()]
    first = twins(pool)
    one, two = sorted((names.index("concert_1"), names.index("concert_2")))
    assert first[two] == one
    assert [place for place in range(8) if first[place] != place] == [two]
