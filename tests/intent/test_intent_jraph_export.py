from __future__ import annotations

import numpy as np
import pytest

from graftjax.errors import UsageError
from graftjax.intent import EMPTY_INTENT, atoms_of, parse_intent
from graftjax.intent.jraph_export import to_graphs_tuple
from graftjax.typed_graph import EdgeType, NodeType

INTENT = parse_intent(
    {
        "trees": [
            {
                "tree_id": "t1",
                "entity": "club",
                "attributes": [
                    {"attribute_id": "a1", "name": "name", "values": ["AIB", "BIA"]},
                    {"attribute_id": "a2", "name": "id"},
                ],
            },
            {"tree_id": "t2", "entity": "player", "attributes": [{"attribute_id": "b1", "name": "club"}]},
        ],
        "joins": [{"from_tree": "t2", "from_attribute": "b1", "to_tree": "t1", "to_attribute": "a2"}],
    }
)


def _vectors(n):
    return np.random.default_rng(n).normal(size=(n, 5)).astype(np.float32)


def test_nodes_and_edges_in_the_order_of_the_atoms():
    atoms = atoms_of(INTENT)
    vectors = _vectors(7)
    typed = to_graphs_tuple(atoms, vectors, node_buckets=(8, 16), edge_buckets=(8,))
    graph = typed.graph
    assert graph.n_node.tolist() == [7, 1]
    assert graph.n_edge.tolist() == [6, 2]
    kinds = [NodeType(int(kind)).name for kind in typed.node_type]
    assert kinds == ["ENTITY", "ATTRIBUTE", "VALUE", "VALUE", "ATTRIBUTE", "ENTITY", "ATTRIBUTE", "PADDING"]
    np.testing.assert_array_equal(graph.nodes[:7], vectors)
    np.testing.assert_array_equal(np.stack([graph.senders, graph.receivers], 1)[:6], atoms.edge_ends)
    assert (typed.edge_type == EdgeType.INTENT_JOIN).sum() == 1
    assert typed.edge_type[6:].tolist() == [EdgeType.PADDING] * 2
    assert graph.edges[:, 0].tolist() == [1.0] * 6 + [0.0] * 2
    assert typed.node_number[:7].tolist() == list(range(7))


def test_an_empty_intent():
    typed = to_graphs_tuple(atoms_of(EMPTY_INTENT), _vectors(0))
    assert typed.graph.nodes.shape == (64, 5)
    assert not typed.node_mask.any()
    assert np.isfinite(typed.graph.nodes).all()


def test_wrong_vectors_are_refused():
    atoms = atoms_of(INTENT)
    with pytest.raises(UsageError, match="6 vectors for 7 node atoms"):
        to_graphs_tuple(atoms, _vectors(6))
    with pytest.raises(UsageError, match="finite"):
        to_graphs_tuple(atoms, _vectors(7) * np.float32("inf"))
    with pytest.raises(UsageError, match="largest bucket"):
        to_graphs_tuple(atoms, _vectors(7), node_buckets=(7,))
