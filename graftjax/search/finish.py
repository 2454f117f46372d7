"""From the syntheses that a beam ends with to the answer: unions, then (for `graft-fill`) the whole budget.

Letters: B beams, C clusters, L budget, A actions.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from graftjax.igms.surrogates import RewardName
from graftjax.search.actions import NEVER, Dials, choices
from graftjax.search.beam import extend
from graftjax.search.region import Leaf, Problem
from graftjax.search.state import EMPTY, State

VOTE_WIDTH = 0.02
"""Difference of scores at which a synthesis has 1/e of the best one's vote; chosen on tuning questions."""


class Outcome(NamedTuple):
    """The best synthesis, in the order of retrieval."""

    num_tables: Leaf
    logdet: Leaf
    tree_cluster: Leaf
    """int32 [T]."""
    table_cluster: Leaf
    """int32 [L]."""
    table_shard: Leaf
    """int32 [L]."""
    table_action: Leaf
    """int32 [L]."""
    blocks: Leaf
    """float32 [L, R, a]."""


def outcome_of(state: State) -> Outcome:
    """The part of a state that leaves the device."""
    return Outcome(*(getattr(state, name) for name in Outcome._fields))


def finish(
    problem: Problem,
    dials: Dials,
    states: State,
    score: Float[Array, " B"],
    *,
    fill: bool,
    reward: RewardName = "igms",
) -> Outcome:
    """The synthesis with the best score, completed by unions; with `fill`, the budget spent."""
    best = jax.tree.map(lambda leaf: leaf[jnp.argmax(score)], states)
    best = complete(problem, best, certainty(states, score), dials, reward)
    return outcome_of(spend(problem, dials, best, reward) if fill else best)


def certainty(states: State, score: Float[Array, " B"]) -> Float[Array, " C"]:
    """Share of each cluster among the syntheses of the beam, weighed by their scores.

    A cluster that every good answer holds is a safer one than one that only the best answer holds.
    """
    known = score > 0.5 * NEVER
    weight = jnp.where(known, jnp.exp(jnp.clip((score - score.max()) / VOTE_WIDTH, -60.0, 0.0)), 0.0)
    return (weight @ (states.taken > 0).astype(jnp.float32)) / jnp.maximum(weight.sum(), 1e-9)


def complete(
    problem: Problem, state: State, sure: Float[Array, " C"], dials: Dials, reward: RewardName = "igms"
) -> State:
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
        return extend(problem, state, num_actions + first, rows, scales, none, dials, reward)

    return jax.lax.while_loop(unfinished, take, state)


def spend(
    problem: Problem,
    dials: Dials,
    state: State,
    reward: RewardName = "igms",
) -> State:
    """Go on by the largest gain until the budget is spent (method `graft-fill`).

    Regular actions come first: a value function may have refused some. A table that integrates with the
    synthesis comes before one that does not: ω of its best join counts beside the gain, 1 for a further table
    of a cluster. So does, for a rough intent, one that is near the question as a whole: an intent that was
    misread, or read in part, says little of what is still missing.
    """

    problem = problem._replace(action_valid=problem.action_valid | problem.spare)

    def unfinished(carry: tuple[State, Array]) -> Array:
        state, moved = carry
        return moved & (state.num_tables < problem.budget)

    def take(carry: tuple[State, Array]) -> tuple[State, Array]:
        state, _ = carry
        options = choices(problem, state, dials, reward)
        possible = jnp.isfinite(options.gain) & (options.gain > 0.5 * NEVER)
        joined = jnp.where((state.taken > 0)[None, :], problem.direct[problem.cluster], 0.0).max(1)
        near = dials.question_weight * problem.nearness[problem.cluster]
        worth = options.gain + jnp.concatenate([joined + near, jnp.ones(state.table_cluster.shape)])
        regular = options.regular & possible
        open_ = jnp.where(regular.any(), regular, possible)
        candidate = jnp.argmax(jnp.where(open_, worth, NEVER))
        rows, scales, bridges = options.operator_row, options.scale, options.bridge
        grown = extend(problem, state, candidate, rows, scales, bridges, dials, reward)
        moved = possible.any()
        return jax.tree.map(lambda new, old: jnp.where(moved, new, old), grown, state), moved

    return jax.lax.while_loop(unfinished, take, (state, jnp.asarray(True)))[0]
