"""AdamW with a global-norm clip and a cosine schedule with warm-up (Sec. 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from graftjax.iql.presets import TrainSettings


def schedule(settings: TrainSettings) -> Callable[[Any], Array]:
    """Learning rate by number of earlier updates: a linear rise from above 0, then half a cosine to 0."""
    rise = max(1.0, settings.warmup * settings.steps)

    def rate(count: Any) -> Array:
        step = jnp.asarray(count, jnp.float32)
        falling = (step - rise) / max(1.0, settings.steps - rise)
        cosine = 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.clip(falling, 0.0, 1.0)))
        return settings.learning_rate * jnp.minimum((step + 1.0) / rise, 1.0) * cosine

    return rate


def make_optimizer(settings: TrainSettings) -> optax.GradientTransformation:
    """The optimiser of one network. Only matrices are decayed: a skip or a bias should not be drawn to 0."""
    return optax.chain(
        optax.clip_by_global_norm(settings.clip),
        optax.adamw(
            schedule(settings),
            weight_decay=settings.weight_decay,
            mask=lambda params: jax.tree.map(lambda leaf: leaf.ndim > 1, params),
        ),
    )
