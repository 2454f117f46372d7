"""Algorithm 3 with the learned value function: the beam search by γ^t·Q.

Scores of syntheses of different length can be compared because all are discounted to the start.
Letters: B beams, A actions.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from graftjax.igms.surrogates import RewardName
from graftjax.iql.presets import NetworkSettings
from graftjax.search.actions import NEVER, Choice, Dials, claims_again
from graftjax.search.beam import decide, num_atoms
from graftjax.search.guide import Outlook, Scales, action_values
from graftjax.search.region import Problem
from graftjax.search.state import State

DECISIONS = 8
"""Most clusters that a synthesis decides on."""


def beam_by_value(
    problem: Problem,
    outlook: Outlook,
    dials: Dials,
    params: Any,
    scales: Scales,
    gamma: Array,
    *,
    beam: int,
    network: NetworkSettings,
    reward: RewardName = "igms",
    based: bool = False,
) -> tuple[State, Array]:
    """(states, score [B]): the beam search guided by Q; scores are γ^t·Q(s, stop). `based`: see `decide`."""

    def rate(states: State, options: Choice, count: Array) -> tuple[Array, Array]:
        q, q_stop = action_values(network, params, scales, problem, outlook, states, options, dials)
        worth = gamma ** count.astype(jnp.float32)
        # A value that is no number never wins, and never loses the answer: exact utility stands in for it.
        exact = states.logdet / num_atoms(problem)
        after = exact[:, None] + jnp.maximum(options.gain[:, : q.shape[1]], 0.0) / num_atoms(problem)
        q, q_stop = jnp.where(jnp.isfinite(q), q, after), jnp.where(jnp.isfinite(q_stop), q_stop, exact)
        take = jnp.where(_open(problem, states, options) & (count < DECISIONS - 1), worth * q, NEVER)
        # Nothing found is no answer: the empty synthesis stops only when there is nothing to take.
        return take, jnp.where(states.num_tables > 0, worth * q_stop, -1.0)

    return decide(problem, dials, rate, beam=beam, reward=reward, based=based)


def _open(problem: Problem, states: State, options: Choice) -> Array:
    """bool [B, A]: possible actions that claim no tree twice."""
    num_actions = problem.cluster.shape[0]
    assigned = jax.vmap(lambda state: claims_again(problem, state))(states)
    return (options.gain[:, :num_actions] > 0.5 * NEVER) & ~assigned
