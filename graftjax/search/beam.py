"""The beam search of Algorithm 3 as one compiled program: no host round-trip per depth.

A step of the beam is a decision: it takes a cluster's first table (with its bridge), or stops. What further
tables of the clusters are worth is settled afterwards (`search.finish`).
Letters: B beams, L budget, A actions, N = A + L candidates per synthesis, C clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from graftjax.igms.surrogates import RewardName
from graftjax.search.actions import NEVER, Choice, Dials, choices
from graftjax.search.region import NUM_CLUSTERS, Problem
from graftjax.search.settings import MAX_TREES, ROWS
from graftjax.search.state import EMPTY, State, empty_state, observe, place

Rate = Callable[[State, Choice, Array], tuple[Array, Array]]
"""(states, their candidates, decisions so far) → (score of taking each action [B, A], of stopping [B]); NEVER
for what is not to be done. Scores of syntheses of different length are compared with each other."""
SCORE_BITS = 15
"""Bits of a score's mantissa that are compared; float32 has 23, of which sums of gains lose some."""
_STOPPED = 0x9E3779B9
"""Tells a synthesis that has stopped from the same one that goes on."""


def cluster_hashes() -> Array:
    """uint32 [C]: a random number per cluster position; sums of them tell table sets apart."""
    return jax.random.bits(jax.random.key(7), (NUM_CLUSTERS,), jnp.uint32)


def start_states(problem: Problem, beam: int) -> State:
    """B slots, the first with the empty synthesis, the others not in use."""
    capacity, width = problem.added.shape[1], problem.atom_mask.shape[0]
    start = empty_state(capacity, ROWS, width, MAX_TREES, NUM_CLUSTERS)
    states = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (beam, *leaf.shape)), start)
    return states._replace(live=jnp.arange(beam) == 0)


def base_state(problem: Problem, dials: Dials, reward: RewardName = "igms") -> State:
    """The synthesis of the table that action 0 takes, in one slot."""
    states = start_states(problem, 1)
    options = jax.vmap(lambda state: choices(problem, state, dials, reward))(states)
    first = jnp.zeros(1, jnp.int32)
    return grow(problem, states, options, first, first, jnp.ones(1, bool), dials, reward)


class Beam(NamedTuple):
    """B syntheses on their way."""

    states: State
    stopped: Array
    """bool [B]."""
    score: Array
    """float32 [B]; NEVER for an unused slot."""
    count: Array
    """int32: decisions so far."""


def decide(
    problem: Problem,
    dials: Dials,
    rate: Rate,
    *,
    beam: int,
    reward: RewardName = "igms",
    based: bool = False,
) -> tuple[State, Array]:
    """(states, score [B]): the best syntheses that stopped; NEVER is the score of an unused slot.

    `based`: all of them start with the table that action 0 takes.
    """

    def unfinished(now: Beam) -> Array:
        return (now.states.live & ~now.stopped).any()

    def step(now: Beam) -> Beam:
        states = now.states
        options = jax.vmap(lambda s: choices(problem, s, dials, reward))(states)
        take, stop = rate(states, options, now.count)
        open_ = (states.live & ~now.stopped)[:, None] & (now.count < problem.budget)
        stay = jnp.where(states.live, jnp.where(now.stopped, now.score, stop), NEVER)
        scores = jnp.concatenate([jnp.where(open_, take, NEVER), stay[:, None]], axis=1)
        score, parent, candidate = best_distinct(scores, _signatures(problem, states, options), beam)
        live = score > 0.5 * NEVER
        extends = live & (candidate < take.shape[1])
        states = grow(problem, states, options, parent, candidate, extends, dials, reward)
        states = states._replace(live=live)
        return Beam(states, live & ~extends, score, now.count + 1)

    # The first step is taken by one synthesis, not by B slots of which one is in use.
    start = base_state(problem, dials, reward) if based else start_states(problem, 1)
    first = Beam(start, jnp.zeros(1, bool), jnp.zeros(1), jnp.asarray(0, jnp.int32))
    last = jax.lax.while_loop(unfinished, step, step(first))
    return last.states, jnp.where(last.states.live & last.stopped, last.score, NEVER)


def grow(
    problem: Problem,
    states: State,
    options: Choice,
    parent: Array,
    candidate: Array,
    extends: Array,
    dials: Dials,
    reward: RewardName = "igms",
) -> State:
    """Each chosen parent [B] with its candidate, or as it is where it does not extend."""
    chosen = jax.tree.map(lambda leaf: leaf[parent], states)
    rows, scales, bridges = options.operator_row[parent], options.scale[parent], options.bridge[parent]
    last = options.gain.shape[1] - 1
    one = jax.vmap(lambda s, c, r, k, b: extend(problem, s, c, r, k, b, dials, reward))
    grown = one(chosen, jnp.minimum(candidate, last), rows, scales, bridges)
    return choose(extends, grown, chosen)


def choose(which: Array, new: State, old: State) -> State:
    """`new` where `which` [B], else `old`."""

    def leaf(a: Array, b: Array) -> Array:
        return jnp.where(which.reshape(which.shape + (1,) * (a.ndim - which.ndim)), a, b)

    return jax.tree.map(leaf, new, old)


def best_distinct(score: Array, signature: Array, beam: int) -> tuple[Array, Array, Array]:
    """(score, parent, candidate), each [B], of the best candidates [B, N + 1]; one slot per set of tables.

    Scores that agree in their first digits are equal, and then the better parent goes first: the order in
    which two tables are taken must not hang on rounding.
    """
    score = jax.lax.reduce_precision(score, exponent_bits=8, mantissa_bits=SCORE_BITS)
    flat = jnp.pad(score.reshape(-1), (0, max(0, beam - score.size)), constant_values=NEVER)
    signature = jnp.pad(signature.reshape(-1), (0, flat.shape[0] - signature.size))
    top, picked = jax.lax.top_k(flat, min(4 * beam, flat.shape[0]))
    signs = signature[picked]
    earlier = jnp.tril(signs[:, None] == signs[None, :], -1) & (top > 0.5 * NEVER)[None, :]
    top, order = jax.lax.top_k(jnp.where(earlier.any(1), NEVER, top), beam)
    picked = picked[order]
    picked = jnp.minimum(picked, score.size - 1)
    return top, picked // score.shape[1], picked % score.shape[1]


def _signatures(problem: Problem, states: State, options: Choice) -> Array:
    """uint32 [B, A + 1]: signature of the table set after each action, and of having stopped."""
    hashes = cluster_hashes()
    bridge = jnp.where(options.bridge != EMPTY, hashes[jnp.maximum(options.bridge, 0)], 0).astype(jnp.uint32)
    new = states.signature[:, None] + hashes[problem.cluster][None, :] + bridge
    return jnp.concatenate([new, (states.signature + jnp.uint32(_STOPPED))[:, None]], axis=1)


def extend(
    problem: Problem,
    state: State,
    candidate: Array,
    rows: Array,
    scales: Array,
    bridges: Array,
    dials: Dials,
    reward: RewardName = "igms",
) -> State:
    """Φ ⊕ a for one synthesis and one candidate: a new cluster with its bridge, or one more table."""
    num_actions = problem.cluster.shape[0]
    is_new = candidate < num_actions
    action = jnp.minimum(candidate, num_actions - 1)
    at = jnp.clip(candidate - num_actions, 0, state.blocks.shape[0] - 1)
    hashes = cluster_hashes()
    bridge = jnp.where(is_new, bridges[action], EMPTY)
    has_bridge = bridge != EMPTY
    block = (problem.rows[action] * scales[action][None, :]).at[-1].set(rows[action])
    block = jnp.where(is_new, block, state.blocks[at])
    cluster = jnp.where(is_new, problem.cluster[action], jnp.maximum(state.table_cluster[at], 0))
    # The operator unit is the bridge's where there is one. For J it is all the same: both are first tables.
    state = observe(problem, state, block, cluster, dials.noise, reward)
    operator = jnp.zeros_like(block).at[-1].set(block[-1])
    between = place(state, operator, jnp.maximum(bridge, 0), jnp.asarray(EMPTY, jnp.int32), hashes)
    state = choose(has_bridge, between, state)
    block = block.at[-1].set(jnp.where(has_bridge, 0.0, block[-1]))
    state = place(state, block, cluster, jnp.where(is_new, action, EMPTY), hashes)
    claims = problem.witnesses[action] & is_new & (state.tree_cluster == EMPTY)
    return state._replace(tree_cluster=jnp.where(claims, cluster, state.tree_cluster))


def rate_by_gain(problem: Problem, states: State, options: Choice) -> tuple[Array, Array]:
    """The exact utility after each action, plus what the trees still open can bring at best.

    Without the second, a cluster that half-witnesses two trees would crowd out two that witness one each.
    A synthesis stops when no admissible action is left.
    """
    num_actions = problem.cluster.shape[0]
    gain = options.gain[:, :num_actions]
    open_ = options.regular[:, :num_actions] & jnp.isfinite(gain) & (gain > 0.5 * NEVER)
    open_trees = (states.tree_cluster == EMPTY)[:, None, :] & ~problem.witnesses[None, :, :]
    room = states.num_tables[:, None] + jnp.where(options.bridge != EMPTY, 2, 1) < problem.budget
    ahead = jnp.where(room, open_trees.astype(jnp.float32) @ problem.bound, 0.0)
    take = jnp.where(open_, states.logdet[:, None] + gain + ahead, NEVER)
    return take, jnp.where(open_.any(1) | ~jnp.isfinite(states.logdet), NEVER, states.logdet)


def beam_by_gain(
    problem: Problem, dials: Dials, *, beam: int, reward: RewardName = "igms", based: bool = False
) -> tuple[State, Array]:
    """(states, U [B]): the beam search guided by exact gains."""

    def rate(states: State, options: Choice, count: Array) -> tuple[Array, Array]:
        del count
        return rate_by_gain(problem, states, options)

    states, score = decide(problem, dials, rate, beam=beam, reward=reward, based=based)
    return states, jnp.where(score > 0.5 * NEVER, score / num_atoms(problem), NEVER)


def num_atoms(problem: Problem) -> Array:
    """float32: a of Eq. (6), 1 at least."""
    return jnp.maximum(problem.atom_mask.sum(), 1).astype(jnp.float32)
