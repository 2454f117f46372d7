from __future__ import annotations

import jax
import numpy as np
import pytest
from lake_maker import HashEncoder, deal, raw

from graftjax.errors import UsageError
from graftjax.lake.index import build_index, open_index
from graftjax.lake.jraph_export import to_graphs_tuple
from graftjax.typed_graph import EdgeType, NodeType


@pytest.fixture
def index(tmp_path):
    club = raw("db", "club", {"id": [*range(101, 131)], "name": [f"Club {i}" for i in range(30)]})
    player = raw(
        "db", "player", player_id=[*range(90)], club_id=[101 + i % 30 for i in range(90)], note=[None] * 90
    )
    tables = [*deal(club, 3), *deal(player, 2), raw("", "bare")]
    build_index(tables, tmp_path, HashEncoder(), progress=False)
    return open_index(tmp_path)


def _count(typed, kind):
    return int((typed.edge_type == kind).sum())


def test_the_whole_lake(index):
    typed = to_graphs_tuple(index, range(6))
    count = {kind: int((typed.node_type == kind).sum()) for kind in NodeType}
    assert count[NodeType.TABLE] == 6
    assert count[NodeType.COLUMN] == len(index.column_names) == 12
    assert count[NodeType.VALUE_SUMMARY] == 4  # one for each filled class; `note` has no values
    assert _count(typed, EdgeType.TABLE_HAS_COLUMN) == 12
    assert _count(typed, EdgeType.COLUMN_HAS_VALUE) == 10
    assert _count(typed, EdgeType.UNION) == len(list(index.graph.union_pairs())) == 3 + 1
    sizes = np.bincount(index.graph.unions.column_class)
    joins = index.graph.joins
    assert _count(typed, EdgeType.JOIN) == (sizes[joins.refers] * sizes[joins.referred]).sum() >= 6
    assert typed.node_mask.sum() == 22
    assert typed.graph.nodes.shape == (64, 96)
    assert not typed.graph.nodes[22:].any()


def test_edges_are_those_of_the_index(index):
    typed = to_graphs_tuple(index, [4, 0, 2])  # in an order of its own, without some shards
    graph, number = typed.graph, typed.node_number
    place = {int(number[i]): i for i in np.flatnonzero(typed.node_type == NodeType.TABLE)}
    assert list(place) == [4, 0, 2]
    found = {kind: [] for kind in EdgeType}
    for a, b, kind, weight in zip(
        graph.senders, graph.receivers, typed.edge_type, graph.edges[:, 0], strict=True
    ):
        if kind:
            found[EdgeType(int(kind))].append(
                (int(number[a]), int(number[b]), pytest.approx(float(weight), abs=1e-6))
            )
    owner = index.graph.column_table
    assert sorted(found[EdgeType.TABLE_HAS_COLUMN]) == [
        (int(owner[c]), c, 1.0) for t in (0, 2, 4) for c in index.graph.columns[t].tolist()
    ]
    column_class = index.graph.unions.column_class
    assert all(column_class[c] == k for c, k, _ in found[EdgeType.COLUMN_HAS_VALUE])
    assert found[EdgeType.UNION] == [(0, 2, 1.0)]
    joins = index.graph.joins
    edges = {
        (int(a), int(b)): float(w) for a, b, w in zip(joins.refers, joins.referred, joins.weight, strict=True)
    }
    for a, b, weight in found[EdgeType.JOIN]:
        assert weight == edges[int(column_class[a]), int(column_class[b])]
    names = index.column_names
    assert {(names[a], names[b]) for a, b, _ in found[EdgeType.JOIN]} >= {("club_id", "id")}
    assert len({(a, b) for a, b, _ in found[EdgeType.JOIN]}) == len(found[EdgeType.JOIN])


def test_features_are_the_vectors_of_the_nodes(index):
    typed = to_graphs_tuple(index, [0, 3])
    nodes, unions = index.nodes, index.graph.unions
    for place in np.flatnonzero(typed.node_mask):
        number = int(typed.node_number[place])
        text = {
            NodeType.TABLE: lambda i: nodes.table[unions.table_cluster[i], 0],
            NodeType.COLUMN: lambda i: nodes.context[unions.column_class[i], 0],
            NodeType.VALUE_SUMMARY: lambda i: nodes.value[i],
        }[NodeType(int(typed.node_type[place]))](number)
        np.testing.assert_array_equal(typed.graph.nodes[place], index.space.dense[text])


@pytest.mark.parametrize("tables", [[], [5]])
def test_nothing_and_a_table_without_columns(index, tables):
    typed = to_graphs_tuple(index, tables)
    assert typed.graph.n_node.tolist() == [len(tables), 64 - len(tables)]
    assert typed.graph.n_edge.tolist() == [0, 64]
    assert not typed.edge_mask.any()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(typed))


def test_an_empty_lake(tmp_path):
    empty = build_index([], tmp_path, HashEncoder(), progress=False)
    assert to_graphs_tuple(empty, ()).graph.nodes.shape == (64, 96)


@pytest.mark.parametrize(
    ("tables", "said"),
    [([6], "table number 6 is out of range: the index has 6 tables"), ([-1], "-1"), ([1, 1], "twice")],
)
def test_a_wrong_selection_is_refused(index, tables, said):
    with pytest.raises(UsageError, match=said):
        to_graphs_tuple(index, tables)


def test_a_selection_beyond_the_buckets_is_refused(index):
    with pytest.raises(UsageError, match=r"23 nodes .* largest bucket, 16"):
        to_graphs_tuple(index, range(6), node_buckets=(8, 16))
