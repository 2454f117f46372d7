"""The state encoder: heterogeneous GAT over intent and evidence, and the cross-graph alignment head.

Letters: N nodes, D text features, S scalars, H hidden features, P features of an encoded state.
"""

from __future__ import annotations

from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from graftjax.iql.attention import GatLayer, TypedProjection, relation_terms
from graftjax.iql.graph import (
    ALIGN_TABLE,
    EVIDENCE_TYPES,
    INTENT_TYPES,
    NUM_EDGE_TYPES,
    NUM_NODE_TYPES,
    NUM_RELATIONS,
    StateGraph,
)
from graftjax.iql.presets import NetworkSettings
from graftjax.kernels.attention import attention_mass, divide  # pyright: ignore[reportMissingImports]


class Encoded(NamedTuple):
    """What the heads need of a state; computed once for all of its actions."""

    nodes: Float[Array, "N H"]
    """Encoded nodes; zeros for padding."""
    texts: Float[Array, "N D"]
    """The text vectors as given."""
    is_intent: Float[Array, " N"]
    """1 for a node of the intent graph, else 0."""
    state: Float[Array, " P"]
    """The pooled state."""


class AlignmentHead(nn.Module):
    """Gives every intent node the evidence of its type that it attends to, and pools over intent nodes.

    The logit is a product of the encoded nodes plus a slope times the given alignment weight.
    """

    @nn.compact
    def __call__(
        self,
        x: Float[Array, "N H"],
        one_hot: Float[Array, "N T"],
        weight: Float[Array, "N N"],
    ) -> Float[Array, " P"]:
        """`weight`: of the alignment edges, receivers being intent nodes; 0 elsewhere."""
        hidden = x.shape[1]
        q = nn.Dense(hidden, name="query", use_bias=False)(x)
        k = nn.Dense(hidden, name="key", use_bias=False)(x)
        slope = self.param("weight_slope", nn.initializers.constant(4.0), ())
        intent, evidence = _pick(one_hot, INTENT_TYPES), _pick(one_hot, EVIDENCE_TYPES)
        matching = intent @ evidence.T > 0
        mass = attention_mass(q @ k.T * hidden**-0.5 + slope * weight, matching)
        total = mass.sum(-1)
        aligned = divide(mass @ x, total)
        support = divide((mass * weight).sum(-1, keepdims=True), total)
        joint = jnp.concatenate([x, aligned, x * aligned, support], axis=-1)
        per_node = jax.nn.gelu(nn.Dense(hidden, name="joint")(joint))
        return _pool(per_node, intent.sum(-1))


class Encoder(nn.Module):
    """A state to its encoded nodes and one vector: pooled intent, evidence and alignment, and the scalars."""

    settings: NetworkSettings

    @nn.compact
    def __call__(self, state: StateGraph, train: bool = False) -> Encoded:
        c = self.settings
        state = jax.tree.map(jnp.asarray, state)
        one_hot = jax.nn.one_hot(state.node_type, NUM_NODE_TYPES)[:, 1:]  # the column of padding is left out
        real = one_hot.sum(-1, keepdims=True)
        if c.texts:
            x = TypedProjection(c.hidden, NUM_NODE_TYPES - 1, c.input_rank, name="input")(
                state.nodes, one_hot
            )
        else:
            x = nn.Dense(c.hidden, use_bias=False, name="input")(one_hot)
        x = nn.LayerNorm(name="input_norm")(x)
        x = nn.Dropout(c.dropout, deterministic=not train)(x) * real

        weight = jnp.where(state.relation > 0, state.weight, 0.0)
        shape = (c.layers, c.heads, NUM_RELATIONS)
        table = jnp.stack(
            [
                self.param("relation_bias", nn.initializers.zeros, shape),
                self.param("relation_scale", nn.initializers.ones, shape),
            ]
        ).reshape(-1, NUM_RELATIONS)
        # One product for all layers; a batch of states has many places, so this is worth it.
        terms = relation_terms(state.relation, table).reshape(2, c.layers, c.heads, *state.relation.shape)
        for i in range(c.layers):
            x = GatLayer(c.heads, c.ffn, name=f"layer_{i}")(x, terms[0, i], terms[1, i], weight)
        x = x * real

        intent = _pick(one_hot, INTENT_TYPES).sum(-1)
        evidence = _pick(one_hot, EVIDENCE_TYPES).sum(-1)
        aligns = state.relation >= ALIGN_TABLE + NUM_EDGE_TYPES  # ways back: received by intent nodes
        alignment = AlignmentHead(name="alignment")(x, one_hot, jnp.where(aligns, weight, 0.0))
        pooled = [_pool(x, intent), _pool(x, evidence), alignment, state.scalars]
        return Encoded(x, state.nodes, intent, jnp.concatenate(pooled))


def _pick(one_hot: Array, types: tuple[int, ...]) -> Array:
    """Columns of the given, consecutive node types."""
    return one_hot[:, types[0] - 1 : types[-1]]


def _pool(x: Array, member: Array) -> Array:
    """Mean over the members, and the largest activation of a member (0 at least); zeros for no member."""
    mean = member @ x / jnp.maximum(member.sum(), 1.0)
    return jnp.concatenate([mean, jnp.max(jax.nn.relu(x) * member[:, None], axis=0)])
