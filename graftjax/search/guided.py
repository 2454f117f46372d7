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
from graftjax.search.actions import NEVER, Choice, Dials, choices, claims_again
from graftjax.search.beam import best_distinct, cluster_hashes, extend, grow, start_states
from graftjax.search.guide import Outlook, Scales, action_values
from graftjax.search.region import Problem
from graftjax.search.state import EMPTY, State

DECISIONS = 8
"""Most clusters that a synthesis decides on."""
VOTE_WIDTH = 0.02
"""Difference of scores at which a synthesis has 1/e of the best one's vote; chosen on tuning questions."""
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
    states, score = decide(problem, outlook, dials, params, scales, gamma, beam=beam, network=network)
    best = jax.tree.map(lambda leaf: leaf[jnp.argmax(score)], states)
    return complete(problem, best, certainty(states, score), dials)


def certainty(states: State, score: Array) -> Array:
    """float32 [C]: share of each cluster among the syntheses of the beam, weighed by their scores.

    A cluster that every good answer holds is a safer one than one that only the best answer holds.
    """
    known = score > 0.5 * NEVER
    weight = jnp.where(known, jnp.exp(jnp.clip((score - score.max()) / VOTE_WIDTH, -60.0, 0.0)), 0.0)
    return (weight @ (states.taken > 0).astype(jnp.float32)) / jnp.maximum(weight.sum(), 1e-9)


def complete(problem: Problem, state: State, sure: Array, dials: Dials) -> State:
    """Take the further tables of the synthesis' clusters, the surest cluster first, near copies left out."""
    num_actions, capacity = problem.cluster.shape[0], state.table_cluster.shape[0]
    none = jnp.full(num_actions, EMPTY, jnp.int32)
    width = problem.atom_mask.shape[0]
    rows, scales = jnp.zeros((num_actions, width)), jnp.ones((num_actions, width))

    def wanting(state: State) -> Array:
        last = jnp.minimum(problem.fresh, problem.shards)
        return (state.taken > 0) & (state.taken < last)

    def unfinished(state: State) -> Array:
        return wanting(state).any() & (state.num_tables < problem.budget)

    def take(state: State) -> State:
        cluster = jnp.argmax(jnp.where(wanting(state), sure, -1.0))
        first = jnp.argmax((state.table_cluster == cluster) & (jnp.arange(capacity) < state.num_tables))
        return extend(problem, state, num_actions + first, rows, scales, none, dials)

    return jax.lax.while_loop(unfinished, take, state)


def decide(
    problem: Problem,
    outlook: Outlook,
    dials: Dials,
    params: Any,
    scales: Scales,
    gamma: Array,
    *,
    beam: int,
    network: NetworkSettings,
) -> tuple[State, Array]:
    """(states, score [B]): the syntheses that stopped, one table per cluster, with γ^t·Q(s, stop)."""
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
        # A value that is no number never wins, and never loses the answer: exact utility stands in for it.
        atoms = jnp.maximum(problem.atom_mask.sum(), 1).astype(jnp.float32)
        exact = states.logdet / atoms
        after = exact[:, None] + jnp.maximum(options.gain[:, : q.shape[1]], 0.0) / atoms
        q, q_stop = jnp.where(jnp.isfinite(q), q, after), jnp.where(jnp.isfinite(q_stop), q_stop, exact)
        go_on = jnp.where(open_ & (count < DECISIONS - 1), worth * q, NEVER)
        # Nothing found is no answer: the empty synthesis stops only when there is nothing to take.
        stop_now = jnp.where(states.num_tables > 0, worth * q_stop, -1.0)
        stay = jnp.where(states.live, jnp.where(stopped, score, stop_now), NEVER)
        score, parent, candidate = best_distinct(
            jnp.concatenate([go_on, stay[:, None]], axis=1), _signatures(problem, states, options), beam
        )
        num_actions = q.shape[1]
        live = score > 0.5 * NEVER
        extends = live & (candidate < num_actions)
        states = grow(problem, states, options, parent, candidate, extends, dials)
        return states._replace(live=live), live & ~extends, score, count + 1

    states, stopped, score, _ = jax.lax.while_loop(
        unfinished, step, (states, stopped, score, jnp.asarray(0, jnp.int32))
    )
    return states, jnp.where(states.live & stopped, score, NEVER)


def _open(problem: Problem, states: State, options: Choice) -> Array:
    """bool [B, A]: possible actions that claim no tree twice."""
    num_actions = problem.cluster.shape[0]
    assigned = jax.vmap(lambda state: claims_again(problem, state))(states)
    return (options.gain[:, :num_actions] > 0.5 * NEVER) & ~assigned


def _signatures(problem: Problem, states: State, options: Choice) -> Array:
    """uint32 [B, A + 1]: signature of the table set after each action, and of having stopped."""
    hashes = cluster_hashes()
    bridge = jnp.where(options.bridge != EMPTY, hashes[jnp.maximum(options.bridge, 0)], 0).astype(jnp.uint32)
    new = states.signature[:, None] + hashes[problem.cluster][None, :] + bridge
    return jnp.concatenate([new, (states.signature + jnp.uint32(_STOPPED))[:, None]], axis=1)
