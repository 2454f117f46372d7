"""States, actions and transitions of the synthesis MDP (Sec. 4.1) as dense arrays of fixed size.

Letters: N nodes of a state (padding included), D features of a text, S scalars of a state, A actions,
F numbers of an action, n nodes of the intent graph, m nodes of the evidence graph.

A state is one graph: the intent graph, the evidence graph, and alignment edges between the two. It is dense
(N × N) because states are small, and because dense attention needs no scatter, which some releases of jaxlib
make slow on GPUs. Batch axes come from `jax.vmap`. Arrays are JAX's or NumPy's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from graftjax.errors import UsageError
from graftjax.typed_graph import EdgeType, NodeType, TypedGraph, build

ALIGN_TABLE = max(EdgeType) + 1
"""Relation from an entity to a table."""
ALIGN_COLUMN = max(EdgeType) + 2
"""Relation from an attribute to a column."""
ALIGN_VALUE = max(EdgeType) + 3
"""Relation from a value to a value summary."""
NUM_EDGE_TYPES = ALIGN_VALUE
"""Types of directed edges; the reverse of type r is relation r + NUM_EDGE_TYPES."""
NUM_RELATIONS = 2 * NUM_EDGE_TYPES + 1
"""Relations: 0 (none), each edge type, each reverse."""
NUM_NODE_TYPES = max(NodeType) + 1
"""Node types, padding included."""

EVIDENCE_TYPES = (NodeType.TABLE, NodeType.COLUMN, NodeType.VALUE_SUMMARY)
INTENT_TYPES = (NodeType.ENTITY, NodeType.ATTRIBUTE, NodeType.VALUE)
"""Position by position, the types that can be aligned."""

STOP, JOIN, UNION, FIRST = range(4)
"""Operators of an action: stop; join or union with the anchor; the first table, which has no anchor."""
NUM_OPERATORS = 4


class StateGraph(NamedTuple):
    """One state: intent graph, evidence graph and what is known of them exactly."""

    nodes: Float[Any, "N D"]
    """Text vectors; zeros for padding."""
    node_type: Int[Any, " N"]
    """`NodeType`; 0 for padding."""
    relation: Int[Any, "N N"]
    """[i, j]: what the edge j → i is to its receiver i. 0 for none; r for an edge of type r;
    r + NUM_EDGE_TYPES for the way back along an edge i → j of type r."""
    weight: Float[Any, "N N"]
    """Confidence of the edge in [0, 1]; 0 where there is none."""
    scalars: Float[Any, " S"]
    """Exact numbers of the state."""


class ActionFeatures(NamedTuple):
    """Candidate actions of one state; the leading axis is absent for a single action."""

    new: Float[Any, "*A D"]
    """Text vector of the new table; zeros when there is none."""
    anchor: Float[Any, "*A D"]
    """Text vector of the anchor table; zeros when there is none."""
    operator: Int[Any, "*A"]
    """STOP, JOIN, UNION or FIRST."""
    numbers: Float[Any, "*A F"]
    """Exact numbers of the action."""


class Transition(NamedTuple):
    """(s, a, r, s′) of the replay; `action` is a single one."""

    state: StateGraph
    action: ActionFeatures
    reward: Float[Any, ""]
    next_state: StateGraph
    """Anything of the right shape when `terminal`."""
    terminal: Bool[Any, ""]


def from_typed_graph(graph: TypedGraph, scalars: Float[np.ndarray, " S"], num_nodes: int) -> StateGraph:
    """The dense form of a graph, its nodes first and in their order; NumPy arrays.

    Two edges between the same two nodes share a place: the heavier one is kept there, and of equals the one
    that comes first. Raises UsageError when the graph has more than `num_nodes` nodes.
    """
    n, m = int(graph.graph.n_node[0]), int(graph.graph.n_edge[0])
    empty = _empty(n, num_nodes, np.asarray(graph.graph.nodes).shape[1], scalars)
    empty.nodes[:n] = np.asarray(graph.graph.nodes)[:n]
    empty.node_type[:n] = graph.node_type[:n]
    _put_edges(
        empty,
        np.asarray(graph.graph.senders)[:m],
        np.asarray(graph.graph.receivers)[:m],
        graph.edge_type[:m],
        np.asarray(graph.graph.edges)[:m, 0],
    )
    return empty


def to_typed_graph(state: StateGraph) -> TypedGraph:
    """The padded graph of one dense state, `node_number` being the place in it.

    Alignment edges are left out: they belong to no graph of the two, but lie between them.
    """
    kept = np.flatnonzero(np.asarray(state.node_type))
    relation = np.asarray(state.relation)[np.ix_(kept, kept)]
    receivers, senders = np.nonzero((relation > 0) & (relation <= max(EdgeType)))
    return build(
        np.asarray(state.nodes)[kept],
        np.asarray(state.node_type)[kept],
        kept,
        senders,
        receivers,
        relation[receivers, senders],
        np.asarray(state.weight)[np.ix_(kept, kept)][receivers, senders],
    )


def join_graphs(
    intent: TypedGraph,
    evidence: TypedGraph,
    alignment: Float[np.ndarray, "n m"],
    scalars: Float[np.ndarray, " S"],
    num_nodes: int,
) -> StateGraph:
    """The state of an intent graph and an evidence graph: intent nodes first, then evidence nodes.

    `alignment`: weight in [0, 1] of intent node i with evidence node j, 0 for no edge; ignored between types
    that do not match. Raises UsageError when both together have more than `num_nodes` nodes, or the shape or
    a weight of `alignment` is not as said.
    """
    n, m = int(intent.graph.n_node[0]), int(evidence.graph.n_node[0])
    if alignment.shape != (n, m):
        raise UsageError(f"state graph: alignment is {alignment.shape}, but must be ({n}, {m})")
    if not ((alignment >= 0) & (alignment <= 1)).all():
        raise UsageError("state graph: alignment weights must lie in [0, 1]")
    state = _empty(n + m, num_nodes, np.asarray(intent.graph.nodes).shape[1], scalars)
    for graph, start, size in ((intent, 0, n), (evidence, n, m)):
        part = from_typed_graph(graph, scalars, size)
        here = slice(start, start + size)
        state.nodes[here], state.node_type[here] = part.nodes, part.node_type
        state.relation[here, here], state.weight[here, here] = part.relation, part.weight
    kind = intent.node_type[:n, None] - NodeType.ENTITY
    match = (kind == evidence.node_type[None, :m] - NodeType.TABLE) & (kind >= 0) & (alignment > 0)
    senders, receivers = np.nonzero(match)
    _put_edges(
        state,
        senders,
        n + receivers,
        ALIGN_TABLE + kind[senders, 0],
        alignment[senders, receivers],
    )
    return state


def _empty(size: int, num_nodes: int, features: int, scalars: np.ndarray) -> StateGraph:
    if size > num_nodes:
        raise UsageError(f"state graph: {size} nodes do not fit into {num_nodes}")
    return StateGraph(
        np.zeros((num_nodes, features), np.float32),
        np.zeros(num_nodes, np.int32),
        np.zeros((num_nodes, num_nodes), np.int32),
        np.zeros((num_nodes, num_nodes), np.float32),
        np.asarray(scalars, np.float32),
    )


def _put_edges(
    state: StateGraph, senders: np.ndarray, receivers: np.ndarray, kinds: np.ndarray, weight: np.ndarray
) -> None:
    """Write edges and their ways back into a state of NumPy arrays; the last write to a place counts."""
    backward = np.stack([senders, receivers, kinds + NUM_EDGE_TYPES])  # the receiver of the way back first
    forward = np.stack([receivers, senders, kinds])
    rows, columns, relation = np.concatenate([backward, forward], axis=1)
    both = np.concatenate([weight, weight])
    first = np.concatenate([-np.arange(len(weight)), -np.arange(len(weight))])
    order = np.lexsort((first, both))  # light to heavy, equals last to first
    rows, columns = rows[order], columns[order]
    state.relation[rows, columns] = relation[order]
    state.weight[rows, columns] = both[order]
