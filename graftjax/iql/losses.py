"""The losses of implicit Q-learning (Kostrikov et al. 2022; Sec. 4.1), each for one transition.

Letters: K candidate actions of the policy.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

MAX_ADVANTAGE_WEIGHT = 100.0
"""Largest exponential weight of a transition in the policy's loss."""


def td_target(
    reward: Float[Array, ""], terminal: Array, next_value: Float[Array, ""], gamma: float
) -> Float[Array, ""]:
    """r + γ·V(s′), or r alone when the transition ends the episode; no gradient passes."""
    return jax.lax.stop_gradient(reward + gamma * jnp.where(terminal, 0.0, next_value))


def expectile_loss(difference: Float[Array, ""], expectile: float) -> Float[Array, ""]:
    """|τ − 1(u < 0)|·u², the asymmetric square of Eq. (8)."""
    return jnp.where(difference < 0, 1.0 - expectile, expectile) * difference**2


def v_loss(target_q: Float[Array, ""], value: Float[Array, ""], expectile: float) -> Float[Array, ""]:
    """L_V of Eq. (8): the expectile loss of Q_ω̄(s, a) − V(s)."""
    return expectile_loss(jax.lax.stop_gradient(target_q) - value, expectile)


def q_loss(q: Float[Array, ""], target: Float[Array, ""]) -> Float[Array, ""]:
    """L_Q of Eq. (8): the squared distance of Q(s, a) from the `td_target`."""
    return (target - q) ** 2


def awr_loss(logits: Float[Array, " K"], advantage: Float[Array, ""], temperature: float) -> Float[Array, ""]:
    """−exp(temperature·(Q_ω̄(s, a) − V(s)))·log π(a|s) for the taken action, which is the first of K.

    Advantage-weighted regression, Eq. (7) of Kostrikov et al.; the weight is bounded and has no gradient.
    """
    limit = jnp.log(MAX_ADVANTAGE_WEIGHT)
    weight = jnp.exp(jnp.minimum(temperature * jax.lax.stop_gradient(advantage), limit))
    return -weight * jax.nn.log_softmax(logits)[0]
