from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xxhash
from contract_checks import catalog_of, check_peer, make_lake, make_table, raw
from fake_encoder import WordEncoder

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.dtr import Dtr
from graftjax.peers.rear import Rear, RearSettings
from graftjax.peers.rear_links import WordIndex, column_links, lake_links
from graftjax.types import TableId

BRIDGED = [
    make_table("a", "moon", "crater"),
    make_table("a", "soup", "spice"),
    make_table("a", "person", "person_id", "height"),
    make_table("a", "arena", "arena_id", "roof"),
    make_table("a", "link", "person_id", "arena_id"),
]
ASKED = Query("q", "height below the roof")


class ScatterEncoder(WordEncoder):
    """Every text a direction of its own: no two cosines are equal."""

    def encode(self, texts, *, progress=False):
        seeds = [xxhash.xxh32_intdigest(text.encode()) for text in texts]
        rows = [np.random.default_rng(seed).normal(size=self.dim) for seed in seeds]
        vectors = np.array(rows, np.float32).reshape(len(texts), self.dim)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        RearSettings(),
        RearSettings(edges="lake", partners="best", weigh_partners=True, word_weight=0.5),
        RearSettings(base=0.5, added=2.0, columns=1, skip_same_schema=True, column_weight=0.0),
    ],
)
def test_contract(settings):
    check_peer(lambda catalog: Rear(catalog, settings))


def test_a_bridge_without_a_word_of_the_question_is_reached():
    catalog = catalog_of(BRIDGED)
    bridge = TableId("a", "link")
    rear = Rear(catalog, RearSettings(base=0.67, columns=2, word_weight=0.0, join_weight=0.5))
    assert bridge in rear.retrieve(ASKED, 3, 0).tables
    assert bridge not in Dtr(catalog).retrieve(ASKED, 3, 0).tables
    alone = Rear(catalog, RearSettings(base=0.67, columns=2, word_weight=0.0, join_weight=0.0))
    assert alone.retrieve(ASKED, 3, 0).tables[:2] == (TableId("a", "person"), TableId("a", "arena"))


def test_the_lakes_own_edges_can_say_what_joins():
    people = [f"p{number}" for number in range(40)]
    halls = [f"h{number}" for number in range(40)]
    tables = [
        raw("a", "moon", {"crater": ["x", "y"]}),
        raw("a", "soup", {"spice": ["z", "w"]}),
        raw("a", "person", {"person_id": people, "height": list(range(40))}),
        raw("a", "arena", {"arena_id": halls, "roof": list(range(60, 100))}),
        raw("a", "link", {"person_id": people[5:30], "arena_id": halls[:25]}),
    ]
    catalog = catalog_of(tables)
    links = lake_links(catalog)
    number = {table.id.name: node for node, table in enumerate(catalog.leads)}
    dense = links.joins.toarray()
    assert dense[links.group[number["person"]], links.group[number["link"]]] > 0
    assert np.array_equal(dense, dense.T)
    edges = catalog.index.graph.joins
    for one, others in catalog.index.graph.cluster_joins.items():
        for other, edge in others.items():
            assert dense[one, other] == edges.weight[edge]
    rear = Rear(catalog, RearSettings(base=0.67, edges="lake", word_weight=0.0, join_weight=0.5))
    assert TableId("a", "link") in rear.retrieve(ASKED, 3, 0).tables


def test_added_bounds_the_expansion():
    catalog = catalog_of(BRIDGED)
    shares = RearSettings(base=0.34, added=0.34, columns=30, join_weight=5.0)
    ranked = Rear(catalog, shares).rank(ASKED, 3, 0).nodes
    # One base node and one addition go first, whatever the rest joins with; then the others by relevance.
    assert {catalog.leads[node].id.name for node in ranked[:2]} == {"person", "link"}
    assert len(ranked) == len(set(ranked)) == len(BRIDGED)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_column_links_are_those_of_a_search_column_by_column(count, skip):
    tables = [
        table for table in make_lake() if table.id.source != "opera"
    ]  # its columns repeat those of music
    catalog = Catalog(catalog_of(tables).index, ScatterEncoder())
    links = column_links(catalog, count, skip_same_schema=skip)
    vectors, node = catalog.column_vectors, catalog.column_node
    cosines = vectors @ vectors.T
    size = len(catalog.leads)
    expected = np.zeros((size, size), np.float32)
    for column, owner in enumerate(node):
        same = np.array([catalog.schema_texts[other] == catalog.schema_texts[owner] for other in node])
        allowed = np.flatnonzero((node != owner) & ~(same & skip))
        least = np.sort(cosines[column, allowed])[::-1][:count][-1]
        for other in allowed:
            value = cosines[column, other]
            if value > 0 and value >= least - 1e-6:  # copies of the last one count too
                pair = (owner, node[other])
                expected[pair] = expected[pair[::-1]] = max(expected[pair], value)
    found = links.joins.toarray()[links.group][:, links.group]
    np.fill_diagonal(found, 0.0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_shards_join_one_another_unless_they_are_skipped():
    catalog = catalog_of(make_lake())
    shards = [node for node, table in enumerate(catalog.leads) if table.id.name.startswith("concert_")]
    joins = [
        (links := column_links(catalog, 5, skip_same_schema=skip)).joins.toarray()[
            links.group[shards[0]], links.group[shards[1]]
        ]
        for skip in (False, True)
    ]
    assert joins[0] == pytest.approx(1.0)
    assert joins[1] == 0.0


def test_joins_with_what_is_beside_the_point_can_be_made_to_count_less():
    tables = [
        make_table("a", "person", "height", "pid"),
        make_table("a", "visit", "pid", "day"),
        make_table("a", "sun", "sun_uid_code"),
        make_table("a", "star", "sun_uid_code"),
    ]
    catalog = catalog_of(tables)
    settings = RearSettings(column_weight=0.0, word_weight=0.0, partners="best", join_weight=1.0)
    query = Query("q", "height")
    plain = Rear(catalog, settings).retrieve(query, 2, 0).tables
    weighed = Rear(catalog, replace(settings, weigh_partners=True)).retrieve(query, 2, 0).tables
    assert TableId("a", "visit") in weighed
    assert TableId("a", "visit") not in plain


def test_rare_words_weigh_more():
    index = WordIndex(["singer: name, voice", "stadium: name", "concert: name"])
    shares = index.shares("The voice's name, zzyzx?")
    assert shares[0] == pytest.approx(1.0)
    assert 0 < shares[1] == shares[2] < 0.5
    assert not index.shares("zzyzx").any()
