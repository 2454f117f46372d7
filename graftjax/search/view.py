"""What the value function sees of a partial synthesis: G_I ⊔ H_Φt as one dense graph (Sec. 4.1).

The layout is fixed, so no edge list has to be built: intent nodes first, then the tables of the first
clusters taken, then their image columns, then the value summaries of those. The same function makes the
graph inside the compiled search and for a batch of stored states.
Letters: n intent nodes (padded), K clusters shown, R image columns of each, N = n + K(1 + 2R) nodes,
J joins, D features of a text vector, S scalars, A actions, C clusters of the region.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from graftjax.igms.evidence import QueryEvidence
from graftjax.intent.atoms import JOIN
from graftjax.iql.graph import (
    ALIGN_COLUMN,
    ALIGN_TABLE,
    ALIGN_VALUE,
    INTENT_TYPES,
    NUM_EDGE_TYPES,
    StateGraph,
)
from graftjax.lake.record import NodeTexts
from graftjax.search.region import Leaf, Problem, Region
from graftjax.search.settings import MAX_JOINS, MAX_TREES
from graftjax.search.state import EMPTY, State
from graftjax.typed_graph import EdgeType, NodeType

SHOWN = 4
"""K: clusters whose evidence the value function sees; more are taken only in the widest answers."""
IMAGES = 3
"""R: image columns shown per cluster, the strongest ones."""
NO_TEXT = 0
"""Number of the text that stands for nothing; its vector is zero."""


def intent_slots(width: int) -> int:
    """n for problems of `width` atoms: a forest of t trees with a atoms has at most (a + t) / 2 nodes."""
    return (width + MAX_TREES) // 2


class ProblemTexts(NamedTuple):
    """Texts of a problem, as numbers of texts."""

    table: Leaf
    """[C]: names of the region's clusters."""
    schema: Leaf
    """[C]: names with headers, emb(T) of an action."""
    column: Leaf
    """[A, R]: image columns of each action."""
    value: Leaf
    """[A, R]: their value summaries."""

    @classmethod
    def of(cls, region: Region, nodes: NodeTexts, shift: int) -> ProblemTexts:
        """Numbers of the lake's texts, `shift` later."""
        clusters = region.clusters
        known = clusters >= 0
        pick = lambda texts: np.where(known, texts[clusters, 0] + shift, NO_TEXT).astype(np.int32)  # noqa: E731
        column = np.full((len(region.problem.cluster), IMAGES), NO_TEXT, np.int32)
        value = column.copy()
        for i, images in enumerate(region.images):
            chosen = np.asarray(images[:IMAGES], np.int64)
            column[i, : len(chosen)] = nodes.context[chosen, 0] + shift
            value[i, : len(chosen)] = nodes.value[chosen] + shift
        if not len(nodes.table):
            empty = np.full(len(clusters), NO_TEXT, np.int32)
            return cls(empty, empty, column, value)
        return cls(pick(nodes.table), pick(nodes.schema), column, value)


class IntentView(NamedTuple):
    """Structure of the intent graph."""

    node_type: Leaf
    """int32 [n]: `NodeType`, 0 for padding."""
    parent: Leaf
    """int32 [n]: −1 for entities and padding."""
    joins: Leaf
    """int32 [J, 2]: the attributes that each join equates; −1 for none."""


class EvidenceView(NamedTuple):
    """Evidence of one state; texts as numbers, or as vectors (then with an axis D more)."""

    table: Leaf
    """[K]: names of the clusters shown."""
    column: Leaf
    """[K, R]: their image columns."""
    value: Leaf
    """[K, R]: the value summaries of those."""
    shown: Leaf
    """bool [K, 1 + R]: which tables and image columns there are."""
    align: Leaf
    """float32 [K, 1 + R, n]: entries of M, table row first."""
    omega: Leaf
    """float32 [K, K]: ω of direct joins; 0 on the diagonal."""

    def with_vectors(self, vectors: Leaf) -> EvidenceView:
        """The same as float32, rows of `vectors` [X, D] in place of the numbers of texts."""
        read = lambda numbers: vectors[numbers].astype(jnp.float32)  # noqa: E731
        return EvidenceView(
            read(self.table), read(self.column), read(self.value), self.shown,
            self.align.astype(jnp.float32), self.omega.astype(jnp.float32),
        )  # fmt: skip


def intent_view(evidence: QueryEvidence, width: int) -> IntentView:
    """Structure of a query's intent for problems of `width` atoms."""
    atoms, size = evidence.atoms, intent_slots(width)
    node_type = np.zeros(size, np.int32)
    node_type[: atoms.num_nodes] = atoms.node_kind + NodeType.ENTITY
    parent = np.full(size, -1, np.int32)
    parent[: atoms.num_nodes] = atoms.node_parent
    joins = np.full((MAX_JOINS, 2), -1, np.int32)
    ends = atoms.edge_ends[atoms.edge_kind == JOIN][:MAX_JOINS]
    joins[: len(ends)] = ends
    return IntentView(node_type, parent, joins)


def evidence_view(problem: Problem, state: State, texts: ProblemTexts) -> EvidenceView:
    """Evidence of a state; a bridge, which no action brought, has no image columns."""
    size = intent_slots(problem.rows.shape[2])
    cluster, action = state.table_cluster[:SHOWN], state.table_action[:SHOWN]
    shown = cluster != EMPTY
    at, by = jnp.maximum(cluster, 0), jnp.maximum(action, 0)
    blocks = state.blocks[:SHOWN, : 1 + IMAGES, :size]
    seen = (blocks > 0).any(2).at[:, 0].set(shown) & shown[:, None]
    brought = seen[:, 1:] & (action != EMPTY)[:, None]

    def keep(mask: Array, values: Array) -> Array:
        return jnp.where(mask.reshape(mask.shape + (1,) * (values.ndim - mask.ndim)), values, 0)

    both = shown[:, None] & shown[None, :] & ~jnp.eye(SHOWN, dtype=bool)
    return EvidenceView(
        table=keep(shown, texts.table[at]),
        column=keep(brought, texts.column[by]),
        value=keep(brought, texts.value[by]),
        shown=jnp.concatenate([shown[:, None], brought], axis=1),
        align=jnp.where(seen[:, :, None], blocks, 0.0),
        omega=jnp.where(both, problem.direct[at[:, None], at[None, :]], 0.0),
    )


def state_graph(
    intent_vectors: Array, intent: IntentView, evidence: EvidenceView, scalars: Array
) -> StateGraph:
    """The dense graph of one state; texts of `evidence` are vectors here."""
    n, k = intent.node_type.shape[0], SHOWN
    shown = evidence.shown
    tables, columns = shown[:, 0], shown[:, 1:].reshape(-1)
    of_shown = columns.astype(jnp.float32)
    types = jnp.concatenate(
        [
            intent.node_type,
            jnp.where(tables, NodeType.TABLE, 0),
            jnp.where(columns, NodeType.COLUMN, 0),
            jnp.where(columns, NodeType.VALUE_SUMMARY, 0),
        ]
    ).astype(jnp.int32)
    flat = lambda vectors: vectors.reshape(-1, vectors.shape[-1])  # noqa: E731
    nodes = jnp.concatenate([intent_vectors, evidence.table, flat(evidence.column), flat(evidence.value)])
    own = jnp.kron(jnp.eye(k), jnp.ones((1, IMAGES)))  # [K, K·R]
    to_column = own * of_shown[None, :]
    to_value = jnp.eye(k * IMAGES) * of_shown[None, :]
    kind = intent.node_type
    entity, attribute, value = ((kind == t).astype(jnp.float32)[None, :] for t in INTENT_TYPES)
    of_tables, of_columns = evidence.align[:, 0, :], evidence.align[:, 1:, :].reshape(k * IMAGES, n)
    # Each block holds edges sender → receiver as [receiver, sender]; the ways back follow by transposing.
    zeros = lambda rows, columns: jnp.zeros((rows, columns))  # noqa: E731
    size_c = k * IMAGES
    parts = [
        (_containment(intent, NodeType.ATTRIBUTE), EdgeType.ENTITY_HAS_ATTRIBUTE, 0, 0),
        (_containment(intent, NodeType.VALUE), EdgeType.ATTRIBUTE_HAS_VALUE, 0, 0),
        (_intent_joins(intent), EdgeType.INTENT_JOIN, 0, 0),
        (to_column.T, EdgeType.TABLE_HAS_COLUMN, n + k, n),
        (to_value.T, EdgeType.COLUMN_HAS_VALUE, n + k + size_c, n + k),
        (jnp.tril(evidence.omega), EdgeType.TABLE_JOIN, n, n),
        (of_tables * entity * tables.astype(jnp.float32)[:, None], ALIGN_TABLE, n, 0),
        (of_columns * attribute * of_shown[:, None], ALIGN_COLUMN, n + k, 0),
        (of_columns * value * of_shown[:, None], ALIGN_VALUE, n + k + size_c, 0),
    ]
    total = types.shape[0]
    weight, relation = zeros(total, total), jnp.zeros((total, total), jnp.int32)
    for block, edge_type, row, column in parts:
        spread = jnp.pad(
            block, ((row, total - row - block.shape[0]), (column, total - column - block.shape[1]))
        )
        weight = weight + spread + spread.T
        relation = relation + jnp.where(spread > 0, edge_type, 0)
        relation = relation + jnp.where(spread.T > 0, edge_type + NUM_EDGE_TYPES, 0)
    # A product with the identity: XLA does not fuse products, so each place is computed once. Without it the
    # blocks above are put together again in every layer, which took nine tenths of the network's time.
    once = jnp.eye(total)
    weight, relation = (
        jnp.matmul(each, once, precision="highest") for each in (weight, relation.astype(jnp.float32))
    )
    return StateGraph(nodes, types, relation.astype(jnp.int32), weight, scalars)


def _containment(intent: IntentView, child_type: int) -> Array:
    """[n, n]: 1 where the column's node is the parent of the row's, a node of the given type."""
    n = intent.node_type.shape[0]
    is_parent = intent.parent[:, None] == jnp.arange(n)[None, :]
    return (is_parent & (intent.node_type == child_type)[:, None]).astype(jnp.float32)


def _intent_joins(intent: IntentView) -> Array:
    """[n, n]: 1 from the first attribute of each join (column) to the second (row)."""
    n = intent.node_type.shape[0]
    ends = (intent.joins[:, :, None] == jnp.arange(n)[None, None, :]).astype(jnp.float32)  # [J, 2, n]
    forward = jnp.clip(jnp.einsum("ji,jk->ik", ends[:, 1], ends[:, 0]), 0.0, 1.0)
    # Two joins the opposite way between the same attributes are one edge.
    return jnp.where(forward * forward.T > 0, jnp.tril(forward), forward)


__all__ = [
    "IMAGES", "NO_TEXT", "SHOWN", "EvidenceView", "IntentView", "ProblemTexts",
    "evidence_view", "intent_slots", "intent_view", "state_graph",
]  # fmt: skip
