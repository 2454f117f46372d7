from __future__ import annotations

import jax
import jax.numpy as jnp
import jraph
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.errors import UsageError
from graftjax.typed_graph import ENDS, EdgeType, NodeType, build

# Table 0 with columns 1 and 2, table 3; the union of the two tables.
NODES = [NodeType.TABLE, NodeType.COLUMN, NodeType.COLUMN, NodeType.TABLE]
EDGES = [
    (0, 1, EdgeType.TABLE_HAS_COLUMN, 1.0),
    (0, 2, EdgeType.TABLE_HAS_COLUMN, 1.0),
    (0, 3, EdgeType.UNION, 0.5),
]


def _build(nodes=NODES, edges=EDGES, features=None, **buckets):
    columns = list(zip(*edges, strict=True)) if edges else [[], [], [], []]
    features = (
        np.arange(1, 1 + 3 * len(nodes), dtype=np.float32).reshape(-1, 3) if features is None else features
    )
    return build(
        features,
        np.array(nodes, np.int32),
        np.arange(10, 10 + len(nodes)),
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.int64),
        np.array(columns[3], np.float32),
        **buckets,
    )


def test_counts_padding_and_masks():
    typed = _build(node_buckets=(4, 8), edge_buckets=(3, 6))
    graph = typed.graph
    assert graph.nodes.shape == (8, 3)  # a bucket of 4 would leave no padding node
    assert graph.edges.shape == (3, 1)
    assert graph.n_node.tolist() == [4, 4]
    assert graph.n_edge.tolist() == [3, 0]
    assert typed.node_type.tolist() == [1, 2, 2, 1, 0, 0, 0, 0]
    assert typed.node_number.tolist() == [10, 11, 12, 13, 0, 0, 0, 0]
    assert typed.node_mask.tolist() == [True] * 4 + [False] * 4
    assert typed.edge_mask.all()
    assert not graph.nodes[4:].any()
    assert graph.edges[:, 0].tolist() == [1, 1, 0.5]


@given(st.integers(0, 30), st.integers(0, 40), st.randoms(use_true_random=False))
def test_padding_is_harmless_for_any_graph(n, m, random):
    nodes = [NodeType.TABLE] * n
    edges = [(random.randrange(n), random.randrange(n), EdgeType.UNION, 1.0) for _ in range(m if n else 0)]
    typed = _build(nodes, edges, node_buckets=(8, 16, 32), edge_buckets=(0, 8, 64))
    graph = typed.graph
    assert graph.n_node.sum() == len(graph.nodes) == len(typed.node_type)
    assert graph.n_edge.sum() == len(graph.edges) == len(graph.senders) == len(graph.receivers)
    assert typed.node_mask.sum() == n == graph.n_node[0]
    assert typed.edge_mask.sum() == len(edges) == graph.n_edge[0]
    assert np.isfinite(graph.nodes).all()
    assert np.isfinite(graph.edges).all()
    assert (graph.senders[: len(edges)] < max(n, 1)).all()
    # Padding edges lie on the first padding node, which exists.
    assert (graph.senders[len(edges) :] == n).all()
    assert (graph.receivers[len(edges) :] == n).all()
    assert n < len(graph.nodes)
    assert ((typed.node_type == NodeType.PADDING) == ~typed.node_mask).all()
    assert ((typed.edge_type == EdgeType.PADDING) == ~typed.edge_mask).all()
    for array in (
        graph.senders,
        graph.receivers,
        graph.n_node,
        graph.n_edge,
        typed.node_type,
        typed.edge_type,
    ):
        assert array.dtype == np.int32


def test_padding_is_the_one_of_jraph():
    typed = _build(node_buckets=(8,), edge_buckets=(6,))
    np.testing.assert_array_equal(jraph.get_node_padding_mask(typed.graph), typed.node_mask)
    np.testing.assert_array_equal(jraph.get_edge_padding_mask(typed.graph), typed.edge_mask)
    bare = jraph.unpad_with_graphs(typed.graph)
    assert bare.n_node.tolist() == [4]
    assert bare.senders.tolist() == [0, 0, 0]
    assert bare.receivers.tolist() == [1, 2, 3]


def test_graphs_of_one_bucket_share_a_program():
    traces = []

    @jax.jit
    def total(typed):
        traces.append(1)
        graph = typed.graph
        sent = jraph.segment_sum(graph.nodes[graph.senders] * graph.edges, graph.receivers, len(graph.nodes))
        return jnp.sum(sent)

    buckets = {"node_buckets": (8,), "edge_buckets": (8,)}
    features = np.ones((4, 3), np.float32)
    assert float(total(_build(features=features, **buckets))) == pytest.approx(3 * 2.5)
    assert float(total(_build(NODES[:3], EDGES[:2], features[:3], **buckets))) == pytest.approx(6)
    assert float(total(_build([], [], features[:0], **buckets))) == 0
    assert len(traces) == 1


def test_every_edge_set_has_its_ends():
    assert set(ENDS) == set(EdgeType) - {EdgeType.PADDING}
    for kind, ends in ENDS.items():
        _build(list(ends), [(0, 1, kind, 1.0)])
        wrong = NodeType.TABLE if ends[1] != NodeType.TABLE else NodeType.COLUMN
        with pytest.raises(UsageError, match=f"a receiver of {kind.name} is no {ends[1].name}"):
            _build([ends[0], wrong], [(0, 1, kind, 1.0)])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"edges": [(0, 4, EdgeType.UNION, 1.0)]}, r"receiver 4 is out of range \(0 to 3\)"),
        ({"edges": [(-1, 0, EdgeType.UNION, 1.0)]}, "sender -1 is out of range"),
        ({"edges": [(0, 3, 0, 1.0)]}, "edge type 0 is out of range"),
        ({"edges": [(0, 3, 99, 1.0)]}, "edge type 99 is out of range"),
        ({"nodes": [0, 2, 2, 1]}, "node type 0 is out of range"),
        ({"nodes": [1, 2, 2, 7]}, "node type 7 is out of range"),
        ({"edges": [(1, 2, EdgeType.TABLE_HAS_COLUMN, 1.0)]}, "a sender of TABLE_HAS_COLUMN is no TABLE"),
        ({"edges": [(0, 3, EdgeType.UNION, 0.0)]}, "weights"),
        ({"edges": [(0, 3, EdgeType.UNION, 1.5)]}, "weights"),
        ({"edges": [(0, 3, EdgeType.UNION, float("nan"))]}, "weights"),
        ({"features": np.full((4, 3), np.nan, np.float32)}, "features must be finite"),
        ({"node_buckets": (2, 4)}, "5 nodes .* exceed the largest bucket, 4"),
        ({"edge_buckets": (2,)}, "3 edges .* exceed the largest bucket, 2"),
        ({"edge_buckets": ()}, "exceed the largest bucket"),
    ],
)
def test_a_wrong_graph_is_refused(changed, said):
    with pytest.raises(UsageError, match=said) as error:
        _build(**changed)
    assert "\n" not in str(error.value)
