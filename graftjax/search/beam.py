"""The beam search of Algorithm 3 as one compiled program: no host round-trip per depth.

Letters: B beams, L budget, A actions, N = A + L candidates per beam.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from graftjax.search.actions import NEVER, Choice, Dials, choices
from graftjax.search.region import NUM_CLUSTERS, Leaf, Problem
from graftjax.search.settings import MAX_TREES, ROWS
from graftjax.search.state import EMPTY, State, append, empty_state


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


def cluster_hashes() -> Array:
    """A fixed random number per cluster position; sums of them tell table sets apart."""
    return jax.random.bits(jax.random.key(7), (NUM_CLUSTERS,), jnp.uint32)


@partial(jax.jit, static_argnames=("beam",))
def search(problem: Problem, dials: Dials, *, beam: int) -> State:
    """Best synthesis that stops by itself, once no admissible action is left."""
    states = _run(problem, start_states(problem, beam), dials, fill=False)
    return jax.tree.map(lambda leaf: leaf[_best(states)], states)


def start_states(problem: Problem, beam: int) -> State:
    """B slots, the first with the empty synthesis, the others not in use."""
    capacity, width = problem.correlation.shape[1], problem.atom_mask.shape[0]
    start = empty_state(capacity, ROWS, width, MAX_TREES, NUM_CLUSTERS)
    states = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (beam, *leaf.shape)), start)
    return states._replace(live=jnp.arange(beam) == 0)


@jax.jit
def spend(problem: Problem, dials: Dials, state: State) -> State:
    """Go on from a synthesis until the budget is spent (method `graft-fill`)."""
    states = _run(problem, jax.tree.map(lambda leaf: leaf[None], state), dials, fill=True)
    return jax.tree.map(lambda leaf: leaf[0], states)


def outcome_of(state: State) -> Outcome:
    """The part of a state that leaves the device."""
    return Outcome(
        state.num_tables, state.logdet, state.tree_cluster, state.table_cluster, state.table_shard,
        state.table_action, state.blocks,
    )  # fmt: skip


def _best(states: State) -> Array:
    return jnp.argmax(jnp.where(states.live & jnp.isfinite(states.logdet), states.logdet, NEVER))


def _run(problem: Problem, states: State, dials: Dials, *, fill: bool) -> State:
    """Take steps until no synthesis can be extended, at most L of them."""

    def unfinished(carry: tuple[State, Array, Array]) -> Array:
        _, moved, step = carry
        return moved & (step < problem.budget)

    def step(carry: tuple[State, Array, Array]) -> tuple[State, Array, Array]:
        states, _, count = carry
        states, moved = _step(problem, states, dials, fill)
        return states, moved, count + 1

    return jax.lax.while_loop(unfinished, step, (states, jnp.asarray(True), jnp.asarray(0)))[0]


def _step(problem: Problem, states: State, dials: Dials, fill: bool) -> tuple[State, Array]:
    beam = states.live.shape[0]
    options: Choice = jax.vmap(lambda s: choices(problem, s, dials))(states)
    num_actions = problem.cluster.shape[0]
    possible = jnp.isfinite(options.gain) & (options.gain > 0.5 * NEVER)
    regular = options.regular & possible
    any_regular = regular.any(1, keepdims=True)
    open_ = jnp.where(any_regular, regular, possible & fill) & states.live[:, None]
    # Of the completions only the best one per synthesis: their order makes no difference in the end.
    more = jnp.where(open_[:, num_actions:], options.gain[:, num_actions:], NEVER)
    best_more = jnp.arange(more.shape[1])[None, :] == jnp.argmax(more, axis=1)[:, None]
    open_ = jnp.concatenate([open_[:, :num_actions], open_[:, num_actions:] & best_more], axis=1)
    score = jnp.where(open_, states.logdet[:, None] + options.gain, NEVER)
    outlook = _closeness(problem, states) if fill else _remainder(problem, states, options)
    score = score + outlook
    stay = jnp.where(states.live & ~open_.any(1), states.logdet, NEVER)
    signature = _signatures(problem, states, options)
    top, parent, candidate = best_distinct(jnp.concatenate([score, stay[:, None]], axis=1), signature, beam)
    live = top > 0.5 * NEVER
    extends = live & (candidate < score.shape[1])
    result = grow(problem, states, options, parent, candidate, extends, dials)._replace(live=live)
    return result, extends.any()


def grow(
    problem: Problem,
    states: State,
    options: Choice,
    parent: Array,
    candidate: Array,
    extends: Array,
    dials: Dials,
) -> State:
    """Each chosen parent [B] with its candidate, or as it is where it does not extend."""
    chosen = jax.tree.map(lambda leaf: leaf[parent], states)
    rows, scales, bridges = options.operator_row[parent], options.scale[parent], options.bridge[parent]
    last = options.gain.shape[1] - 1
    one = jax.vmap(lambda s, c, r, k, b: extend(problem, s, c, r, k, b, dials))
    grown = one(chosen, jnp.minimum(candidate, last), rows, scales, bridges)
    keep = lambda new, old: jnp.where(extends.reshape(-1, *[1] * (new.ndim - 1)), new, old)  # noqa: E731
    return jax.tree.map(keep, grown, chosen)


def best_distinct(score: Array, signature: Array, beam: int) -> tuple[Array, Array, Array]:
    """(score, parent, candidate), each [B], of the best candidates [B, N + 1]; one slot per set of tables."""
    flat = score.reshape(-1)
    top, picked = jax.lax.top_k(flat, min(4 * beam, flat.shape[0]))
    signs = signature.reshape(-1)[picked]
    earlier = jnp.tril(signs[:, None] == signs[None, :], -1) & (top > 0.5 * NEVER)[None, :]
    top, order = jax.lax.top_k(jnp.where(earlier.any(1), NEVER, top), beam)
    picked = picked[order]
    return top, picked // score.shape[1], picked % score.shape[1]


def _remainder(problem: Problem, states: State, options: Choice) -> Array:
    """float32 [B, N]: what the trees without a witness can still bring at best, after each candidate.

    Exact gains alone rank a synthesis by what it has; one cluster that half-witnesses two trees would
    then crowd out two that witness one tree each.
    """
    open_trees = (states.tree_cluster == EMPTY)[:, None, :] & ~problem.witnesses[None, :, :]
    new = open_trees.astype(jnp.float32) @ problem.bound
    more = jnp.broadcast_to(
        ((states.tree_cluster == EMPTY).astype(jnp.float32) @ problem.bound)[:, None],
        (new.shape[0], states.table_cluster.shape[1]),
    )
    cost = jnp.concatenate(
        [jnp.where(options.bridge != EMPTY, 2, 1), jnp.ones_like(states.table_cluster)], axis=1
    )
    room = states.num_tables[:, None] + cost < problem.budget
    return jnp.where(room, jnp.concatenate([new, more], axis=1), 0.0)


def _closeness(problem: Problem, states: State) -> Array:
    """float32 [B, N]: ω of the best join between each candidate and the synthesis, 1 for completions.

    Once the question is answered as well as can be told, tables that integrate come before those that do not.
    """
    joined = jnp.where((states.taken > 0)[:, None, :], problem.direct[problem.cluster][None, :, :], 0.0)
    more = jnp.ones(states.table_cluster.shape, jnp.float32)
    return jnp.concatenate([joined.max(2), more], axis=1)


def _signatures(problem: Problem, states: State, options: Choice) -> Array:
    """uint32 [B, N + 1]: signature of the table set after each candidate, and of staying."""
    hashes = cluster_hashes()
    bridge = jnp.where(options.bridge != EMPTY, hashes[jnp.maximum(options.bridge, 0)], 0).astype(jnp.uint32)
    new = states.signature[:, None] + hashes[problem.cluster][None, :] + bridge
    more = states.signature[:, None] + hashes[jnp.maximum(states.table_cluster, 0)]
    return jnp.concatenate([new, more, states.signature[:, None]], axis=1)


def extend(
    problem: Problem, state: State, candidate: Array, rows: Array, scales: Array, bridges: Array, dials: Dials
) -> State:
    """Φ ⊕ a for one synthesis and one candidate."""
    num_actions = problem.cluster.shape[0]
    is_new = candidate < num_actions
    action = jnp.minimum(candidate, num_actions - 1)
    at = jnp.clip(candidate - num_actions, 0, state.blocks.shape[0] - 1)
    hashes = cluster_hashes()
    bridge = jnp.where(is_new, bridges[action], EMPTY)
    has_bridge = bridge != EMPTY
    operator_block = jnp.zeros_like(state.blocks[0]).at[-1].set(rows[action])
    block = problem.rows[action] * scales[action][None, :]
    block = block.at[-1].set(jnp.where(has_bridge, 0.0, rows[action]))
    block = jnp.where(is_new, block, state.blocks[at])
    cluster = jnp.where(is_new, problem.cluster[action], jnp.maximum(state.table_cluster[at], 0))
    label = jnp.where(is_new, action, EMPTY)
    # Bridge first, then the cluster itself: one loop, so that `append` is compiled once.
    blocks = jnp.stack([operator_block, block])
    clusters = jnp.stack([jnp.maximum(bridge, 0), cluster])
    labels = jnp.stack([jnp.asarray(EMPTY, jnp.int32), label])

    def put(i: Array, state: State) -> State:
        grown = append(state, blocks[i], clusters[i], labels[i], problem.correlation, hashes, dials.noise)
        return jax.tree.map(lambda new, old: jnp.where((i == 1) | has_bridge, new, old), grown, state)

    state = jax.lax.fori_loop(0, 2, put, state)
    claims = problem.witnesses[action] & is_new & (state.tree_cluster == EMPTY)
    return state._replace(tree_cluster=jnp.where(claims, cluster, state.tree_cluster))
