"""Stage 2: which actions are admissible, and what each would gain exactly.

An action is admissible when it supports an atom that nothing supports yet (a witness for a tree
without one, with its bridge when the path needs one; a fragment with an attribute that the witness
lacks), or when it completes by union a cluster that the synthesis already uses. Once none is left,
`fill` admits second witnesses, weaker ones and near copies.
Letters: A actions, L budget, R rows, T trees, J joins, C clusters, a atoms.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from graftjax.igms.surrogates import RewardName
from graftjax.search.region import Problem
from graftjax.search.settings import Settings
from graftjax.search.state import EMPTY, State, table_reward

NEVER = -1e30


class Dials(NamedTuple):
    """Numbers that steer the search, traced so that changing them compiles nothing."""

    noise: Float[Array, ""]
    endpoint_power: Float[Array, ""]
    supported: Float[Array, ""]
    least_gain: Float[Array, ""]
    least_fragment_gain: Float[Array, ""]
    question_weight: Float[Array, ""]


def dials_of(settings: Settings) -> Dials:
    """The numbers as device scalars."""
    return Dials(*(jnp.asarray(number, jnp.float32) for number in settings.numbers()))


class Choice(NamedTuple):
    """Candidates of one synthesis: A new clusters, then L completions (by the cluster's first table)."""

    gain: Float[Array, " A_L"]
    """log det gain; NEVER where the action is not possible."""
    regular: Bool[Array, " A_L"]
    operator_row: Float[Array, "A a"]
    scale: Float[Array, "A a"]
    """Per atom factor on the action's rows."""
    bridge: Int[Array, " A"]
    """Cluster to take first; EMPTY for none."""


def operator_rows(problem: Problem, state: State, dials: Dials) -> tuple[Array, Array]:
    """(operator row [A, a], bridge [A]) of each action: the join atoms that its best path realises.

    Where the budget has no room for the bridge beside the table, only what needs no bridge counts.
    """
    atom, left, right = problem.joins[:, 0], problem.joins[:, 1], problem.joins[:, 2]
    used = (atom >= 0)[None, :]
    left, right = jnp.maximum(left, 0), jnp.maximum(right, 0)
    witness_left, witness_right = problem.witnesses[:, left], problem.witnesses[:, right]  # [A, J]
    own = problem.cluster[:, None]
    far_left, far_right = state.tree_cluster[left][None, :], state.tree_cluster[right][None, :]
    end_left = jnp.where(witness_left, own, far_left)
    end_right = jnp.where(witness_right, own, far_right)
    touches = used & (witness_left | witness_right) & (end_left != EMPTY) & (end_right != EMPTY)
    x, y = jnp.maximum(end_left, 0), jnp.maximum(end_right, 0)
    ends = (problem.entity[left[None, :], x] * problem.entity[right[None, :], y]) ** dials.endpoint_power
    via = problem.bridge[x, y]
    at_hand = (via == EMPTY) | (state.taken[jnp.maximum(via, 0)] > 0)
    value = jnp.where(touches, problem.path[x, y] * ends, 0.0)
    best = jnp.argmax(value, axis=1)
    chosen = jnp.take_along_axis(jnp.where(at_hand, EMPTY, via), best[:, None], axis=1)[:, 0]
    chosen = jnp.where((value.max(1) > 0) & (state.num_tables + 2 <= problem.budget), chosen, EMPTY)
    reachable = at_hand | (via == chosen[:, None])  # via is a cluster where it is not at hand
    value = jnp.where(reachable, value, jnp.where(touches, problem.direct[x, y] * ends, 0.0))
    row = jnp.zeros((value.shape[0], problem.atom_mask.shape[0]))
    row = row.at[:, jnp.maximum(atom, 0)].max(jnp.where(used, value, 0.0))
    return row, chosen


def fragment_scale(problem: Problem, state: State, dials: Dials) -> tuple[Array, Array]:
    """(scale [A, a], possible [A]): fragments count for unsupported atoms only, along their join."""
    is_fragment = problem.fragment >= 0
    witness = state.tree_cluster[jnp.maximum(problem.fragment, 0)]
    omega = problem.direct[problem.cluster, jnp.maximum(witness, 0)]
    possible = ~is_fragment | ((witness != EMPTY) & (witness != problem.cluster) & (omega > 0))
    entity = problem.entity[jnp.maximum(problem.fragment, 0), jnp.maximum(witness, 0)]
    along = jnp.sqrt(omega)[:, None] * jnp.where(problem.edge_mask[None, :], entity[:, None], 1.0)
    open_atoms = (state.support < dials.supported)[None, :]
    return jnp.where(is_fragment[:, None], jnp.where(open_atoms, along, 0.0), 1.0), possible


def claims_again(problem: Problem, state: State) -> Bool[Array, " A"]:
    """Actions that would be a second witness of some tree."""
    return (problem.witnesses & (state.tree_cluster != EMPTY)[None, :]).any(1)


def choices(problem: Problem, state: State, dials: Dials, reward: RewardName = "igms") -> Choice:
    """Exact gains of all candidates of one synthesis, or what a surrogate makes of them."""
    row, bridge = operator_rows(problem, state, dials)
    scale, possible = fragment_scale(problem, state, dials)
    rows = (problem.rows * scale[:, None, :]).at[:, -1, :].set(row)
    worth = jax.vmap(lambda rows, cluster: table_reward(problem, state, rows, cluster, dials.noise, reward))
    gain_new = worth(rows, problem.cluster)
    cost = jnp.where(bridge != EMPTY, 2, 1)
    bridge_ok = (bridge == EMPTY) | (bridge != problem.cluster)
    fits = state.num_tables + cost <= problem.budget
    valid_new = problem.action_valid & possible & bridge_ok & fits & (state.taken[problem.cluster] == 0)
    assigned = claims_again(problem, state)
    single = problem.witnesses.sum(1) <= 1
    least = jnp.where(problem.fragment >= 0, dials.least_fragment_gain, dials.least_gain)
    # The best first table is better than no answer, but no better one may hide behind it.
    at_most = jnp.where(valid_new & jnp.isfinite(gain_new), gain_new, 0.0).max()
    least = jnp.where(state.num_tables == 0, jnp.minimum(least, at_most), least)
    regular_new = valid_new & ~assigned & (gain_new >= least)

    cluster = jnp.maximum(state.table_cluster, 0)
    first = (state.table_cluster != EMPTY) & (state.table_shard == 0)
    valid_more = (
        first & (state.taken[cluster] < problem.shards[cluster]) & (state.num_tables < problem.budget)
    )
    regular_more = valid_more & (state.taken[cluster] < problem.fresh[cluster])
    gain_more = worth(state.blocks, cluster)

    gain = jnp.concatenate(
        [
            jnp.where(valid_new & (single | ~assigned), gain_new, NEVER),
            jnp.where(valid_more, gain_more, NEVER),
        ]
    )
    return Choice(gain, jnp.concatenate([regular_new, regular_more]), row, scale, bridge)
