"""Algorithm 3 with the learned value function: beam search by γ^t·Q, one decision per step.

A decision takes a cluster (with its bridge), or stops; once the best synthesis has stopped, its clusters are
completed by unions. Scores of different lengths can be compared because all are discounted to the start.
Letters: B beams, A actions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from graftjax.iql.presets import NetworkSettings
from graftjax.search.actions import NEVER, Choice, Dials, choices
from graftjax.search.beam import best_distinct, cluster_hashes, complete, extend, start_states
from graftjax.search.guide import Outlook, Scales, action_values
from graftjax.search.region import Problem
from graftjax.search.state import EMPTY, State

DECISIONS = 8
"""Most clusters that a synthesis decides on."""
_STOPPED = 0x9E3779B9
"""Tells a synthesis that has stopped from the same one that goes on."""


@partial(jax.jit, static_argnames=("beam", "network"))
def guided_search(
    problem: Problem,
    outlook: Outlook,
    dials: Dials,
    params: Any,
    scales: Scales,
    gamma: Array,
    *,
    beam: int,
    network: NetworkSettings,
) -> State:
    """Best synthesis that stops by value."""
    states = start_states(problem, beam)
    score = jnp.where(states.live, 0.0, NEVER)
    stopped = jnp.zeros(beam, bool)

    def unfinished(carry: tuple[State, Array, Array, Array]) -> Array:
        states, stopped, _, step = carry
        return (step < DECISIONS) & (states.live & ~stopped).any()

    def step(carry: tuple[State, Array, Array, Array]) -> tuple[State, Array, Array, Array]:
        states, stopped, score, count = carry
        options = jax.vmap(lambda s: choices(problem, s, dials))(states)
        q, q_stop = action_values(network, params, scales, problem, outlook, states, options, dials)
        worth = gamma ** count.astype(jnp.float32)
        open_ = _open(problem, states, options) & (states.live & ~stopped)[:, None]
        go_on = jnp.where(open_ & jnp.isfinite(q) & (count < DECISIONS - 1), worth * q, NEVER)
        # Nothing found is no answer: the empty synthesis stops only when there is nothing to take.
        stop_now = jnp.where(states.num_tables > 0, worth * q_stop, -1.0)
        stop_now = jnp.where(jnp.isfinite(stop_now), stop_now, -1.0)
        stay = jnp.where(states.live, jnp.where(stopped, score, stop_now), NEVER)
        score, parent, candidate = best_distinct(
            jnp.concatenate([go_on, stay[:, None]], axis=1), _signatures(problem, states, options), beam
        )
        num_actions = q.shape[1]
        live = score > 0.5 * NEVER
        extends = live & (candidate < num_actions)
        chosen = jax.tree.map(lambda leaf: leaf[parent], states)
        rows, scales_of, bridges = (
            leaf[parent] for leaf in (options.operator_row, options.scale, options.bridge)
        )
        grow = jax.vmap(lambda s, c, r, k, b: extend(problem, s, c, r, k, b, dials))
        grown = grow(chosen, jnp.minimum(candidate, num_actions - 1), rows, scales_of, bridges)
        keep = lambda new, old: jnp.where(extends.reshape(-1, *[1] * (new.ndim - 1)), new, old)  # noqa: E731
        return jax.tree.map(keep, grown, chosen)._replace(live=live), live & ~extends, score, count + 1

    states, stopped, score, _ = jax.lax.while_loop(
        unfinished, step, (states, stopped, score, jnp.asarray(0, jnp.int32))
    )
    best = jnp.argmax(jnp.where(states.live & stopped, score, NEVER))
    return complete(problem, jax.tree.map(lambda leaf: leaf[best], states), dials)


def _open(problem: Problem, states: State, options: Choice) -> Array:
    """bool [B, A]: possible actions that claim no tree twice."""
    num_actions = problem.cluster.shape[0]
    assigned = (problem.witnesses[None, :, :] & (states.tree_cluster != EMPTY)[:, None, :]).any(2)
    return (options.gain[:, :num_actions] > 0.5 * NEVER) & ~assigned


def _signatures(problem: Problem, states: State, options: Choice) -> Array:
    """uint32 [B, A + 1]: signature of the table set after each action, and of having stopped."""
    hashes = cluster_hashes()
    bridge = jnp.where(options.bridge != EMPTY, hashes[jnp.maximum(options.bridge, 0)], 0).astype(jnp.uint32)
    new = states.signature[:, None] + hashes[problem.cluster][None, :] + bridge
    return jnp.concatenate([new, (states.signature + jnp.uint32(_STOPPED))[:, None]], axis=1)
