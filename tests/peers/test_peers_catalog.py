from __future__ import annotations

import numpy as np
import pytest
from contract_checks import catalog_of, make_lake, make_table

from graftjax.intent import Query, parse_intent
from graftjax.peers.concepts import concepts, subquestions

INTENT = parse_intent(
    {
        "trees": [
            {
                "tree_id": "t1",
                "entity": "Singers",
                "attributes": [{"attribute_id": "a1", "name": "birthDate"}],
            },
            {"tree_id": "t2", "entity": "Stadium"},
        ]
    }
)


def test_over_clusters_shards_are_one_node_that_brings_its_tables():
    tables, clusters = (catalog_of(make_lake(), view) for view in ("tables", "clusters"))
    assert len(tables.leads) == 8
    assert tables.sizes.tolist() == [1] * 8
    (both,) = np.flatnonzero(clusters.sizes == 2)
    assert [table.name for table in clusters.expand([int(both)], 5)] == ["concert_1", "concert_2"]
    assert [table.name for table in clusters.expand([int(both)], 1)] == ["concert_1"]
    assert clusters.sizes.sum() == 8
    shards = [n for n, lead in enumerate(tables.leads) if lead.id.name.startswith("concert_")]
    assert len({int(tables.cluster[n]) for n in shards}) == 1


def test_expansion_takes_nodes_whole_and_in_their_order():
    catalog = catalog_of(make_lake(), "clusters")
    order = list(range(len(catalog.leads)))[::-1]
    found = catalog.expand(order, 100)
    assert len(found) == len(set(found)) == 8
    assert catalog.expand(order, 3) == found[:3]


@pytest.mark.parametrize("view", ["tables", "clusters"])
def test_the_best_column_of_a_node_is_found_and_a_table_without_columns_has_none(view):
    catalog = catalog_of(make_lake(), view)
    scores = np.linspace(0, 1, 2 * len(catalog.column_node), dtype=np.float32).reshape(2, -1)
    best = catalog.best_column(scores)
    for node in range(len(catalog.leads)):
        own = scores[:, catalog.column_node == node]
        expected = own.max(1) if own.size else np.full(2, -1.0, np.float32)
        np.testing.assert_array_equal(best[:, node], expected)
    assert (best[0] == -1).sum() == 1
    assert len(catalog.column_class) == len(catalog.column_vectors) == len(catalog.column_node)


def test_the_lead_of_a_cluster_is_its_widest_table():
    narrow, wide = make_table("a", "t_1", "k", "v"), make_table("a", "t_2", "k", "v", rows=(4, 5))
    catalog = catalog_of([narrow, wide], "clusters")
    assert [lead.id.name for lead in catalog.leads] == ["t_1"]


def test_decompositions_are_the_recorded_ones_in_the_words_of_the_lake():
    query = Query("q", "Who?", intent=INTENT, subquestions=("First?", "Second?", "First?", " "))
    assert concepts(query) == ("singer birth date", "stadium")
    assert subquestions(query) == ("First?", "Second?")
    assert subquestions(Query("q", "Who?", intent=INTENT)) == ("singer: birth date", "stadium: ")


def test_a_question_in_which_nothing_is_found_is_one_concept():
    assert concepts(Query("q", "?!")) == ("?!",)
    assert subquestions(Query("q", "?!")) == ("?!",)
