"""Masked attention over the typed edges of a dense graph (Sec. 4.1's state encoder) in plain jnp.

It is the reference of `attention_pallas`, and what runs on CPUs. No gather, no scatter, and no softmax over
an empty row.
Letters: N nodes, h heads, d features of a head; [i, j] is the edge j → i, seen from its receiver i.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

LOGIT_LIMIT = 20.0
"""Attention logits are cut off at ± this, so that exp can not overflow and needs no maximum taken out."""
SMALLEST_TOTAL = 1e-12
"""Attention mass below which a row counts as empty (a row with an edge has at least exp(−LOGIT_LIMIT))."""


def attention_mass(
    logits: Float[Array, "*batch N M"], present: Bool[Array, "*batch N M"]
) -> Float[Array, "*batch N M"]:
    """exp(logits) where `present`, else exactly 0: a softmax before its division; finite gradients always."""
    return jnp.where(present, jnp.exp(jnp.clip(logits, -LOGIT_LIMIT, LOGIT_LIMIT)), 0.0)


def divide(mixed: Float[Array, "*batch N d"], total: Float[Array, "*batch N"]) -> Float[Array, "*batch N d"]:
    """Weighted sums over their mass; zeros where there is no mass."""
    return mixed / jnp.maximum(total, SMALLEST_TOTAL)[..., None]


def relation_attention_jnp(
    q: Float[Array, "h N d"],
    k: Float[Array, "h N d"],
    v: Float[Array, "h N d"],
    bias: Float[Array, "h N N"],
    scale: Float[Array, "h N N"],
    weight: Float[Array, "N N"],
    slope: Float[Array, " h"],
) -> Float[Array, "h N d"]:
    """What each node takes from the senders of its edges; zeros for a node without any.

    An edge is there where its `weight` is above 0. Its logit is q·k / √d plus `bias` (a term of its relation)
    plus `slope` times its weight; its message is v times its weight and `scale` (a factor of its relation).
    """
    d = q.shape[-1]
    logits = q @ k.swapaxes(-1, -2) * d**-0.5 + bias + slope[:, None, None] * weight[None]
    mass = attention_mass(logits, jnp.broadcast_to(weight > 0, logits.shape))
    return divide((mass * scale * weight[None]) @ v, mass.sum(-1))
