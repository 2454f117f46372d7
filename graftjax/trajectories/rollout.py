"""Walks through the synthesis MDP of one problem, compiled: what was seen and done at each decision.

A decision takes a cluster (with its bridge); the unions that complete a cluster follow without one, so the
discount counts decisions. Some walks follow the sampled subgraph, the others explore: exact gains with noise,
so that the replay also knows what becomes of wrong tables.
Letters: W walks, H decisions of a walk, A actions, K, R, n, S, F as in `search.view` and `search.numbers`.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from graftjax.search.actions import NEVER, Choice, Dials, choices, claims_again
from graftjax.search.beam import extend
from graftjax.search.numbers import anchors, numbers_of
from graftjax.search.region import NUM_CLUSTERS, Problem
from graftjax.search.settings import MAX_TREES, ROWS
from graftjax.search.state import EMPTY, State, empty_state
from graftjax.search.view import EvidenceView, ProblemTexts, evidence_view

DECISIONS = 5
"""H."""


class Visit(NamedTuple):
    """A state and the decision taken there; [W, H + 1] leading axes, the last entry has no decision."""

    evidence: EvidenceView
    """Texts are numbers."""
    scalars: Float[Array, "*_ S"]
    tree_cluster: Int[Array, "*_ T"]
    """Position of each tree's witness in the region; EMPTY for none."""
    num_taken: Int[Array, "*_"]
    signature: Array
    """uint32: equal for equal sets of clusters."""
    action: Int[Array, "*_"]
    """EMPTY when nothing was taken: the walk has ended."""
    numbers: Float[Array, "*_ F"]
    """Of the action taken."""
    anchor: Int[Array, "*_"]
    """Cluster that the new one joins best; EMPTY for the first."""


def walk(
    problem: Problem,
    texts: ProblemTexts,
    dials: Dials,
    noise: Float[Array, "H A"],
    forced: Int[Array, " H"],
) -> Visit:
    """One walk: the forced actions where there are some, else the best exact gain plus noise."""
    num_actions = problem.cluster.shape[0]
    width, capacity = problem.atom_mask.shape[0], problem.added.shape[1]
    start = empty_state(capacity, ROWS, width, MAX_TREES, NUM_CLUSTERS)

    def look(state: State) -> tuple[Visit, Choice, Array, Bool[Array, " A"]]:
        choice = choices(problem, state, dials)
        scalars, numbers = numbers_of(problem, state, choice, dials)
        gain = choice.gain[:num_actions]
        visit = Visit(
            evidence_view(problem, state, texts),
            scalars,
            state.tree_cluster,
            state.num_tables,
            state.signature,
            jnp.asarray(EMPTY, jnp.int32),
            numbers,
            anchors(problem, state),
        )
        return visit, choice, gain, (gain > 0.5 * NEVER) & ~claims_again(problem, state)

    def step(state: State, inputs: tuple[Array, Array]) -> tuple[State, Visit]:
        noise, forced = inputs
        visit, choice, gain, possible = look(state)
        open_trees = ~problem.witnesses & (state.tree_cluster == EMPTY)[None, :]
        outlook = open_trees.astype(jnp.float32) @ problem.bound
        free = jnp.argmax(jnp.where(possible, gain + outlook + noise, NEVER))
        action = jnp.where(forced >= 0, forced, free).astype(jnp.int32)
        taken = possible[action]
        grown = extend(problem, state, action, choice.operator_row, choice.scale, choice.bridge, dials)
        state = jax.tree.map(lambda new, old: jnp.where(taken, new, old), grown, state)
        visit = visit._replace(
            action=jnp.where(taken, action, EMPTY),
            numbers=visit.numbers[action],
            anchor=visit.anchor[action],
        )
        return state, visit

    end, visits = jax.lax.scan(step, start, (noise, forced))
    last, *_ = look(end)
    last = last._replace(numbers=last.numbers[0], anchor=jnp.asarray(EMPTY, jnp.int32))
    return jax.tree.map(lambda many, one: jnp.concatenate([many, one[None]]), visits, last)


walks = jax.jit(jax.vmap(walk, in_axes=(None, None, None, 0, 0)))
"""Many walks of one problem: `noise` [W, H, A], `forced` [W, H]."""
