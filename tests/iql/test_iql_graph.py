from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.errors import UsageError
from graftjax.iql.graph import (
    ALIGN_COLUMN,
    ALIGN_TABLE,
    NUM_EDGE_TYPES,
    from_typed_graph,
    join_graphs,
    to_typed_graph,
)
from graftjax.typed_graph import EdgeType, NodeType, build


def _graph(nodes, edges, dim=3, start=1.0):
    columns = list(zip(*edges, strict=True)) if edges else [[], [], [], []]
    return build(
        start + np.arange(len(nodes) * dim, dtype=np.float32).reshape(-1, dim),
        np.array(nodes, np.int32),
        np.arange(len(nodes)),
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.int64),
        np.array(columns[3], np.float32),
        node_buckets=(16,),
        edge_buckets=(64,),
    )


INTENT = _graph([NodeType.ENTITY, NodeType.ATTRIBUTE], [(0, 1, EdgeType.ENTITY_HAS_ATTRIBUTE, 1.0)])
EVIDENCE = _graph(
    [NodeType.TABLE, NodeType.COLUMN, NodeType.COLUMN],
    [(0, 1, EdgeType.TABLE_HAS_COLUMN, 1.0), (0, 2, EdgeType.TABLE_HAS_COLUMN, 0.5)],
)
NO_SCALARS = np.zeros(0, np.float32)


def test_an_edge_is_seen_by_its_receiver_and_its_way_back_by_its_sender():
    state = from_typed_graph(EVIDENCE, NO_SCALARS, 4)
    assert state.relation[2, 0] == EdgeType.TABLE_HAS_COLUMN
    assert state.relation[0, 2] == EdgeType.TABLE_HAS_COLUMN + NUM_EDGE_TYPES
    assert state.weight[2, 0] == state.weight[0, 2] == 0.5
    assert np.count_nonzero(state.relation) == 4
    assert state.node_type.tolist() == [1, 2, 2, 0]
    assert not state.nodes[3].any()


def test_the_heavier_of_two_edges_between_two_nodes_is_kept():
    pair = [NodeType.COLUMN, NodeType.COLUMN]
    state = from_typed_graph(
        _graph(pair, [(0, 1, EdgeType.JOIN, 0.3), (1, 0, EdgeType.JOIN, 0.6)]), NO_SCALARS, 2
    )
    assert state.relation.tolist() == [[0, EdgeType.JOIN], [EdgeType.JOIN + NUM_EDGE_TYPES, 0]]
    assert state.weight[0, 1] == state.weight[1, 0] == np.float32(0.6)


@given(st.integers(0, 9), st.integers(0, 20), st.integers(0, 4), st.randoms(use_true_random=False))
def test_round_trip(n, m, padding, random):
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = sorted(random.sample(pairs, min(m, len(pairs))))
    edges = [
        (i, j, EdgeType.UNION, random.choice([0.25, 1.0])) if random.random() < 0.5 else (j, i, 3, 0.5)
        for i, j in chosen
    ]
    graph = _graph([NodeType.TABLE] * n, edges)
    state = from_typed_graph(graph, NO_SCALARS, n + padding)
    back = to_typed_graph(state)
    assert back.graph.n_node[0] == n
    assert back.graph.n_edge[0] == len(edges)
    ends = lambda g: (g.graph.senders, g.graph.receivers, g.edge_type, g.graph.edges[:, 0])  # noqa: E731
    rows = lambda g: sorted(zip(*(e[g.edge_mask].tolist() for e in ends(g)), strict=True))  # noqa: E731
    assert rows(back) == rows(graph)
    np.testing.assert_array_equal(back.graph.nodes[:n], graph.graph.nodes[:n])
    again = from_typed_graph(back, NO_SCALARS, n + padding)
    for a, b in zip(state, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_joint_graph_aligns_matching_types_only():
    alignment = np.full((2, 3), 0.5, np.float32)
    alignment[1, 2] = 0.0
    state = join_graphs(INTENT, EVIDENCE, alignment, np.array([7.0], np.float32), 6)
    assert state.node_type.tolist() == [4, 5, 1, 2, 2, 0]
    assert state.relation[2, 0] == ALIGN_TABLE
    assert state.relation[0, 2] == ALIGN_TABLE + NUM_EDGE_TYPES
    assert state.relation[3, 1] == ALIGN_COLUMN
    assert state.relation[:2, 2:].astype(bool).sum() == 2  # entity-table and attribute-column
    assert state.weight[3, 1] == 0.5
    assert state.relation[1, 0] == EdgeType.ENTITY_HAS_ATTRIBUTE
    assert state.relation[4, 2] == EdgeType.TABLE_HAS_COLUMN
    assert state.scalars.tolist() == [7.0]
    np.testing.assert_array_equal(state.nodes[2:5], EVIDENCE.graph.nodes[:3])


def test_what_does_not_fit_is_refused():
    with pytest.raises(UsageError, match="5 nodes do not fit into 4"):
        join_graphs(INTENT, EVIDENCE, np.zeros((2, 3), np.float32), NO_SCALARS, 4)
    with pytest.raises(UsageError, match=r"must be \(2, 3\)"):
        join_graphs(INTENT, EVIDENCE, np.zeros((3, 2), np.float32), NO_SCALARS, 9)
    with pytest.raises(UsageError, match=r"lie in \[0, 1\]"):
        join_graphs(INTENT, EVIDENCE, np.full((2, 3), 1.5, np.float32), NO_SCALARS, 9)
