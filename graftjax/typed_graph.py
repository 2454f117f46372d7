"""Graphs of typed nodes and edges as padded `jraph.GraphsTuple`s: lake graphs and intent graphs alike.

Letters: n nodes and m edges of the graph, N and E those after padding, D features of a node.

A graph is padded to bucket sizes, so that a jitted function meets few shapes. As in jraph, padding is a
second graph: its nodes have features 0, its edges weight 0 and both ends on the first padding node, of which
there is always one. Nothing is NaN, and the type 0 is kept for padding. JAX clamps or drops an index out of
range without a word, so indices are checked here, once, in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import jraph
import numpy as np
from jaxtyping import Bool, Float, Int

from graftjax.errors import UsageError

BUCKETS = tuple(1 << power for power in range(6, 21))
"""Sizes that nodes and edges are padded to: at most twice what is needed, from 64 on."""


class NodeType(IntEnum):
    """Node sets; those of lake and intent graphs differ, so that the two can be put into one graph."""

    PADDING = 0
    TABLE = 1
    COLUMN = 2
    VALUE_SUMMARY = 3
    ENTITY = 4
    ATTRIBUTE = 5
    VALUE = 6


class EdgeType(IntEnum):
    """Edge sets; each edge is there once, in the direction of `ENDS`."""

    PADDING = 0
    TABLE_HAS_COLUMN = 1
    COLUMN_HAS_VALUE = 2
    UNION = 3
    JOIN = 4
    ENTITY_HAS_ATTRIBUTE = 5
    ATTRIBUTE_HAS_VALUE = 6
    INTENT_JOIN = 7
    TABLE_JOIN = 8
    """Two tables that can be joined, when it does not matter by which columns."""


ENDS: dict[EdgeType, tuple[NodeType, NodeType]] = {
    EdgeType.TABLE_HAS_COLUMN: (NodeType.TABLE, NodeType.COLUMN),
    EdgeType.COLUMN_HAS_VALUE: (NodeType.COLUMN, NodeType.VALUE_SUMMARY),
    EdgeType.UNION: (NodeType.TABLE, NodeType.TABLE),
    EdgeType.JOIN: (NodeType.COLUMN, NodeType.COLUMN),
    EdgeType.ENTITY_HAS_ATTRIBUTE: (NodeType.ENTITY, NodeType.ATTRIBUTE),
    EdgeType.ATTRIBUTE_HAS_VALUE: (NodeType.ATTRIBUTE, NodeType.VALUE),
    EdgeType.INTENT_JOIN: (NodeType.ATTRIBUTE, NodeType.ATTRIBUTE),
    EdgeType.TABLE_JOIN: (NodeType.TABLE, NodeType.TABLE),
}
"""Node sets of sender and receiver."""


class TypedGraph(NamedTuple):
    """A padded graph with the type of each node and edge; a pytree of NumPy arrays."""

    graph: jraph.GraphsTuple
    """`nodes` float32 [N, D]; `edges` float32 [E, 1], weights in (0, 1]; `senders`, `receivers` int32 [E];
    `n_node` = [n, N − n] and `n_edge` = [m, E − m]: the graph and its padding; no globals."""
    node_type: Int[np.ndarray, " N"]
    """`NodeType`; PADDING from n on."""
    edge_type: Int[np.ndarray, " E"]
    """`EdgeType`; PADDING from m on."""
    node_number: Int[np.ndarray, " N"]
    """The node's number in the list that it was taken from; 0 for padding."""
    node_mask: Bool[np.ndarray, " N"]
    """True for a node of the graph."""
    edge_mask: Bool[np.ndarray, " E"]


def build(
    features: Float[np.ndarray, "n D"],
    node_type: Int[np.ndarray, " n"],
    node_number: Int[np.ndarray, " n"],
    senders: Int[np.ndarray, " m"],
    receivers: Int[np.ndarray, " m"],
    edge_type: Int[np.ndarray, " m"],
    weight: Float[np.ndarray, " m"],
    *,
    node_buckets: Sequence[int] = BUCKETS,
    edge_buckets: Sequence[int] = BUCKETS,
) -> TypedGraph:
    """Check a graph and pad it to the smallest buckets with N > n and E ≥ m.

    Raises `UsageError` for a graph beyond the largest bucket, an index or a type out of range, an edge
    between the wrong node sets, features or weights that are not finite, and a weight outside (0, 1].
    """
    n, m = len(features), len(senders)
    if not np.isfinite(features).all():
        raise UsageError("typed graph: features must be finite")
    if m and not ((weight > 0) & (weight <= 1)).all():
        raise UsageError("typed graph: weights must lie in (0, 1]")
    _check_range("node type", node_type, NodeType.PADDING + 1, max(NodeType) + 1)
    _check_range("edge type", edge_type, EdgeType.PADDING + 1, max(EdgeType) + 1)
    _check_range("sender", senders, 0, n)
    _check_range("receiver", receivers, 0, n)
    for kind in np.unique(edge_type).tolist():
        rows = edge_type == kind
        for side, ends, wanted in zip(
            ("sender", "receiver"), (senders, receivers), ENDS[EdgeType(kind)], strict=True
        ):
            if (node_type[ends[rows]] != wanted).any():
                raise UsageError(f"typed graph: a {side} of {EdgeType(kind).name} is no {wanted.name}")

    n_pad = _bucket("nodes", n + 1, node_buckets) - n
    e_pad = _bucket("edges", m, edge_buckets) - m
    pad = lambda array, count, fill=0: np.concatenate([array, np.full(count, fill)]).astype(np.int32)  # noqa: E731
    graph = jraph.GraphsTuple(
        nodes=np.concatenate([features, np.zeros((n_pad, features.shape[1]))]).astype(np.float32),
        edges=np.concatenate([weight, np.zeros(e_pad)]).astype(np.float32)[:, None],
        # jraph's annotations know JAX arrays only; it takes NumPy's as well.
        senders=pad(senders, e_pad, n),  # pyright: ignore[reportArgumentType]
        receivers=pad(receivers, e_pad, n),  # pyright: ignore[reportArgumentType]
        n_node=np.array([n, n_pad], np.int32),  # pyright: ignore[reportArgumentType]
        n_edge=np.array([m, e_pad], np.int32),  # pyright: ignore[reportArgumentType]
        globals=None,
    )
    return TypedGraph(
        graph,
        pad(node_type, n_pad),
        pad(edge_type, e_pad),
        pad(node_number, n_pad),
        np.arange(n + n_pad) < n,
        np.arange(m + e_pad) < m,
    )


def _check_range(what: str, values: np.ndarray, low: int, high: int) -> None:
    bad = np.flatnonzero((values < low) | (values >= high))
    if len(bad):
        raise UsageError(f"typed graph: {what} {values[bad[0]]} is out of range ({low} to {high - 1})")


def _bucket(what: str, size: int, buckets: Sequence[int]) -> int:
    fitting = [bucket for bucket in buckets if bucket >= size]
    if not fitting:
        raise UsageError(
            f"typed graph: {size} {what} (padding included) exceed the largest bucket, "
            f"{max(buckets, default=0)}"
        )
    return min(fitting)
