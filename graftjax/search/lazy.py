"""A step of the beam with lazy gains: new clusters are evaluated in the order of bounds on their gains.

Log det J of a prefix only grows, so what a cluster's units gained for a parent bounds what they gain for its
children; the operator unit, which changes from step to step, is bounded by itself (log det is subadditive).
A candidate whose bound is below the least gain, or below the k-th best confirmed score, is not evaluated.
Letters: B beams, A actions, a atoms, R rows, N = B·A.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from graftjax.kernels.logdet import block_gain  # pyright: ignore[reportMissingImports]
from graftjax.search.actions import NEVER, Dials, claims_again, fragment_scale, operator_rows
from graftjax.search.region import Problem
from graftjax.search.rerank import ROUNDING, lazy_top
from graftjax.search.state import EMPTY, State


class Candidates(NamedTuple):
    """New clusters of B syntheses before their gains are known."""

    valid: Bool[Array, "B A"]
    """Possible and claiming no tree twice; whether the gain suffices is open."""
    row: Float[Array, "B A a"]
    scale: Float[Array, "B A a"]
    bridge: Int[Array, "B A"]


class LazyGains(NamedTuple):
    gain: Float[Array, "B A"]
    """Exact for all that are among the best, NEVER for what was not evaluated or gains too little."""
    bound: Float[Array, "B A"]
    """Bounds on the gains of the units without the operator's, for the children of each synthesis."""
    evaluated: Int[Array, ""]
    considered: Int[Array, ""]
    """Candidates that a full evaluation needs."""


def candidates(problem: Problem, states: State, dials: Dials) -> Candidates:
    """What `actions.choices` admits before it looks at gains."""

    def one(state: State) -> Candidates:
        row, bridge = operator_rows(problem, state, dials)
        scale, possible = fragment_scale(problem, state, dials)
        room = state.num_tables + jnp.where(bridge != EMPTY, 2, 1) <= problem.budget
        free = (state.taken[problem.cluster] == 0) & ((bridge == EMPTY) | (bridge != problem.cluster))
        valid = problem.action_valid & possible & free & room & ~claims_again(problem, state)
        return Candidates(valid & state.live, row, scale, bridge)

    return jax.vmap(one)(states)


def first_bounds(problem: Problem, beam: int, dials: Dials) -> Float[Array, "B A"]:
    """Bounds for the empty synthesis: log det J grows by no more than each unit would bring alone."""
    norms = (problem.rows**2).sum(-1) / (1.0 + dials.noise)
    return jnp.broadcast_to(jnp.log1p(norms).sum(-1), (beam, norms.shape[0]))


def lazy_gains(
    problem: Problem,
    states: State,
    found: Candidates,
    bound: Float[Array, "B A"],
    outlook: Float[Array, "B A"],
    dials: Dials,
    *,
    count: int,
    block: int,
) -> LazyGains:
    """Gains of the `count` best admissible candidates of all syntheses by log det + gain + outlook.

    `bound`: as `LazyGains.bound` of the parents, brought into the order of the syntheses. An empty synthesis
    is evaluated in full, because how much its first table must gain depends on the best one.
    """
    num_actions = problem.cluster.shape[0]
    own = 1.0 + dials.noise
    # A fragment's units change with what is open: they are bounded by their norms, as they are now.
    now = (problem.rows[None] * found.scale[:, :, None, :]) ** 2
    is_fragment = (problem.fragment >= 0)[None, :]
    bound = jnp.where(is_fragment, jnp.log1p(now.sum(-1) / own).sum(-1), bound)
    ceiling = bound + jnp.log1p((found.row**2).sum(-1) / own) + ROUNDING
    least = jnp.where(problem.fragment >= 0, dials.least_fragment_gain, dials.least_gain)[None, :]
    is_first = (states.num_tables == 0)[:, None]
    base = states.logdet[:, None] + outlook
    estimate = jnp.where(is_first, jnp.inf, base + ceiling)
    wanted = found.valid & (is_first | (ceiling >= least))

    def evaluate(entries: Array) -> Array:
        at, action = entries // num_actions, entries % num_actions
        rows = problem.rows[action] * found.scale[at, action][:, None, :]
        rows = rows.at[:, -1, :].set(found.row[at, action]) / jnp.sqrt(own)
        return jax.vmap(block_gain)(rows, states.j_inverse[at])

    flat = lambda leaf: leaf.reshape(-1)  # noqa: E731
    # Too small a gain must not raise the bar for the others, but it bounds what comes after.
    gain, evaluated = lazy_top(
        flat(estimate), flat(wanted), evaluate, count=count, block=block,
        offset=flat(base), least=flat(jnp.where(is_first, NEVER, least)),
    )  # fmt: skip
    gain = gain.reshape(base.shape)
    bound = jnp.where(gain > 0.5 * NEVER, jnp.minimum(bound, gain + ROUNDING), bound)
    at_most = jnp.max(gain, axis=1, keepdims=True)
    enough = gain >= jnp.where(is_first, jnp.minimum(least, at_most), least)
    return LazyGains(jnp.where(enough, gain, NEVER), bound, evaluated, found.valid.sum(dtype=jnp.int32))
