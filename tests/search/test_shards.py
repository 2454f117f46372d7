from __future__ import annotations

import numpy as np
import pytest
from small_lakes import index_of

from graftjax.search.shards import order_shards


def rows(first, last):
    """Rows of a made-up table of players; equal numbers give equal rows."""
    numbers = range(first, last)
    return {
        "player": [f"player {n}" for n in numbers],
        "points": [17 * n % 101 for n in numbers],
        "town": [f"town {n % 7}" for n in numbers],
    }


@pytest.fixture(scope="module")
def ordered():
    index = index_of(
        {
            "record_1": rows(0, 60),
            "record_2": rows(2, 60),  # nearly a copy of record_1
            "record_3": rows(60, 100),
            "record_4": rows(100, 120),
            "station": {"code": ["a", "b"], "height": [1.5, 2.5]},
        }
    )
    number = int(index.graph.unions.table_cluster[0])
    assert len(index.graph.members[number]) == 4, "the four shards are one cluster"
    return index, order_shards(index), number


def test_large_tables_first_and_near_copies_last(ordered):
    index, order, cluster = ordered
    names = [index.tables[t].id.name for t in order.tables[cluster]]
    assert names == ["record_1", "record_3", "record_4", "record_2"]


def test_overlap_is_the_share_of_common_rows_in_the_order_of_taking(ordered):
    _, order, cluster = ordered
    expected = np.eye(4)
    expected[0, 3] = expected[3, 0] = 58 / 60
    assert order.overlap[cluster] == pytest.approx(expected, abs=1e-6)


def test_every_table_is_in_the_order_of_its_cluster_once(ordered):
    index, order, _ = ordered
    assert sorted(np.concatenate(order.tables).tolist()) == list(range(len(index.tables)))
    for cluster, tables in enumerate(order.tables):
        assert set(tables.tolist()) == set(index.graph.members[cluster].tolist())


def test_tables_without_rows_are_no_copies_of_each_other():
    empty = {"player": [None] * 0, "points": [None] * 0}
    index = index_of({"record_1": empty, "record_2": empty})
    order = order_shards(index)
    for overlap in order.overlap:
        assert np.array_equal(overlap, np.eye(len(overlap)))


def test_an_empty_lake_has_no_order():
    order = order_shards(index_of({}))
    assert order.tables == order.overlap == ()
