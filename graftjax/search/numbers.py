"""Exact numbers of a state and of its actions: what the value function reads beside texts and graph.

All of it is at hand in the search anyway: the utility, the gain of each action, how well each kind of atom
is supported, how well the clusters join, and who else could take the place. The value function learns how
far to trust which. Letters: A actions, C clusters, T trees, J joins, a atoms, S and F numbers.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from graftjax.search.actions import NEVER, Choice, Dials
from graftjax.search.region import AtomKind, Problem
from graftjax.search.state import EMPTY, State

STATE_NUMBERS = (
    "utility", "log_det", "share_of_bound", "clusters", "open_trees", "trees", "entity_support",
    "attribute_support", "value_support", "joins_realised", "has_joins", "weakest_path", "join_density",
    "affinity", "has_values", "log_atoms",
)  # fmt: skip
"""S numbers of a state."""
ACTION_NUMBERS = (
    "gain", "relative_gain", "share_of_bound", "entity", "attributes", "num_attributes",
    "weakest_attribute", "values", "has_values", "is_fragment", "num_trees", "join", "path", "affinity",
    "log_affinity", "joins_touched", "weakest_path", "paths", "joins_unrealised", "direct_joins",
    "needs_bridge", "trees_ahead", "gain_ahead", "path_ahead", "gap_to_rival", "share_among_rivals",
    "shards", "has_tables", "join_if_any", "affinity_if_any",
)  # fmt: skip
"""F numbers of an action."""
_AHEAD = 4
"""Trees that are looked at for what an action would leave for them."""
_JOIN_WORTH = 2.0
"""Log-det gain that a perfect join is taken to be worth when looking ahead."""
_RIVAL_WIDTH = 0.3
"""Width, in log-det gain, within which two candidates count as rivals."""


def first_gains(problem: Problem, dials: Dials) -> Float[Array, " A"]:
    """Gain of each action as the first of a synthesis, its rows taken as independent."""
    return jnp.log1p((problem.rows**2).sum(2) / (1.0 + dials.noise)).sum(1)


def state_numbers(problem: Problem, state: State) -> Float[Array, " S"]:
    """Numbers of one state, in the order of `STATE_NUMBERS`."""
    kind, support = problem.atom_kind, state.support
    atoms = jnp.maximum(problem.atom_mask.sum(), 1).astype(jnp.float32)
    trees = problem.tree_valid.sum().astype(jnp.float32)
    used, left, right = _joins(problem)
    taken = (state.taken > 0).astype(jnp.float32)
    count = jnp.maximum(taken.sum(), 1.0)
    pairs = jnp.maximum(count * (count - 1.0), 1.0)
    ends = state.tree_cluster[left], state.tree_cluster[right]
    both = used & (ends[0] != EMPTY) & (ends[1] != EMPTY)
    path = problem.path[jnp.maximum(ends[0], 0), jnp.maximum(ends[1], 0)]
    own = taken @ jnp.diagonal(problem.direct)
    open_trees = (problem.tree_valid & (state.tree_cluster == EMPTY)).sum().astype(jnp.float32)

    def mean_of(which: int) -> Array:
        mask = kind == which
        return jnp.where(mask, support, 0.0).sum() / jnp.maximum(mask.sum(), 1).astype(jnp.float32)

    num_joins = jnp.maximum(used.sum(), 1).astype(jnp.float32)
    realised = jnp.where(kind == AtomKind.JOIN, support, 0.0).sum() / num_joins
    numbers = (
        state.logdet / atoms,
        state.logdet / 10.0,
        state.logdet / jnp.maximum(problem.bound.sum(), 1.0),
        (state.table_action != EMPTY).sum().astype(jnp.float32) / 3.0,
        open_trees / jnp.maximum(trees, 1.0),
        trees / 3.0,
        mean_of(AtomKind.ENTITY),
        mean_of(AtomKind.ATTRIBUTE),
        mean_of(AtomKind.VALUE),
        realised,
        used.any(),
        jnp.where(both, path, 1.0).min(),
        (taken @ problem.direct @ taken - own) / pairs,
        (taken @ problem.affinity @ taken) / pairs,
        (kind == AtomKind.VALUE).any(),
        jnp.log(atoms),
    )
    return jnp.stack([jnp.asarray(number, jnp.float32) for number in numbers])


def action_numbers(problem: Problem, state: State, choice: Choice, dials: Dials) -> Float[Array, "A F"]:
    """Numbers of each action in one state, in the order of `ACTION_NUMBERS`."""
    num_actions = problem.cluster.shape[0]
    cluster, kind = problem.cluster, problem.atom_kind
    gain = choice.gain[:num_actions]
    possible = gain > 0.5 * NEVER
    support = problem.rows.max(1)  # [A, a]
    in_tree = (problem.atom_tree[None, :] == jnp.arange(problem.witnesses.shape[1])[:, None]).astype(
        jnp.float32
    )
    mine = (problem.witnesses.astype(jnp.float32) @ in_tree) > 0

    def of_kind(which: int) -> Bool[Array, "A a"]:
        return mine & (kind == which)[None, :]

    def mean(mask: Array) -> tuple[Array, Array]:
        count = mask.sum(1).astype(jnp.float32)
        return jnp.where(mask, support, 0.0).sum(1) / jnp.maximum(count, 1.0), count

    attributes, num_attributes = mean(of_kind(AtomKind.ATTRIBUTE))
    values, num_values = mean(of_kind(AtomKind.VALUE))
    taken = state.taken > 0
    count = jnp.maximum(taken.sum(), 1).astype(jnp.float32)
    any_taken = taken.any()
    join = jnp.where(taken[None, :], problem.direct[cluster], 0.0).max(1)
    reach = jnp.where(taken[None, :], problem.path[cluster], 0.0).max(1)
    affinity = jnp.where(taken[None, :], problem.affinity[cluster], 0.0).sum(1) / count
    touched, path, direct = _touched(problem, state)
    trees_ahead, gain_ahead, path_ahead = _ahead(problem, state, dials)
    gap, share = _rivals(problem, gain, possible)
    gain = jnp.clip(jnp.where(possible, gain, 0.0), 0.0, 30.0)
    numbers = (
        gain,
        gain / jnp.maximum(state.logdet, 1.0),
        gain / jnp.maximum(problem.bound.sum(), 1.0),
        jnp.where(of_kind(AtomKind.ENTITY), support, 0.0).max(1),
        attributes,
        num_attributes / 4.0,
        jnp.where(of_kind(AtomKind.ATTRIBUTE), support, 1.0).min(1),
        values,
        jnp.minimum(num_values, 2.0) / 2.0,
        problem.fragment >= 0,
        problem.witnesses.sum(1).astype(jnp.float32) / 2.0,
        join,
        reach,
        affinity,
        jnp.log1p(affinity),
        touched.sum(1).astype(jnp.float32) / 2.0,
        jnp.where(touched, path, 1.0).min(1),
        path.sum(1) / 2.0,
        (touched & (path <= 0.05)).sum(1).astype(jnp.float32) / 2.0,
        direct.sum(1) / 2.0,
        choice.bridge != EMPTY,
        trees_ahead / 2.0,
        gain_ahead,
        path_ahead,
        gap,
        share,
        problem.shards[cluster].astype(jnp.float32) / 16.0,
        jnp.full(num_actions, any_taken),
        jnp.where(any_taken, join, 0.5),
        jnp.where(any_taken, affinity, 0.2),
    )
    return jnp.stack([jnp.asarray(number, jnp.float32) for number in numbers], axis=1)


def _joins(problem: Problem) -> tuple[Array, Array, Array]:
    """(used [J], left tree [J], right tree [J])."""
    joins = problem.joins
    return joins[:, 0] >= 0, jnp.maximum(joins[:, 1], 0), jnp.maximum(joins[:, 2], 0)


def _touched(problem: Problem, state: State) -> tuple[Array, Array, Array]:
    """(touched, path weight, direct weight), each [A, J]: joins whose two ends an action would settle."""
    used, left, right = _joins(problem)
    cluster = problem.cluster[:, None]
    end_left = jnp.where(problem.witnesses[:, left], cluster, state.tree_cluster[left][None, :])
    end_right = jnp.where(problem.witnesses[:, right], cluster, state.tree_cluster[right][None, :])
    mine = (problem.witnesses[:, left] | problem.witnesses[:, right]) & used[None, :]
    touched = mine & (end_left != EMPTY) & (end_right != EMPTY)
    x, y = jnp.maximum(end_left, 0), jnp.maximum(end_right, 0)
    return touched, jnp.where(touched, problem.path[x, y], 0.0), jnp.where(touched, problem.direct[x, y], 0.0)


def _ahead(problem: Problem, state: State, dials: Dials) -> tuple[Array, Array, Array]:
    """(trees, gain, path), each [A]: open trees that the intent joins to an action's trees, what the best
    joinable witness of each loses against its best witness, and how well that one joins."""
    used, left, right = _joins(problem)
    single = problem.action_valid & (problem.witnesses.sum(1) == 1)
    first = first_gains(problem, dials)
    path = problem.path[problem.cluster][:, problem.cluster]  # [A, A]
    open_trees = problem.tree_valid & (state.tree_cluster == EMPTY)
    zero = jnp.zeros(problem.cluster.shape[0])
    trees, gain, reach = zero, zero, zero
    for tree in range(_AHEAD):
        mine = (problem.witnesses[:, left] & (right == tree)[None, :]) | (
            problem.witnesses[:, right] & (left == tree)[None, :]
        )
        wanted = (mine & used[None, :]).any(1) & open_trees[tree]
        witness = single & problem.witnesses[:, tree]
        own = jnp.where(witness, first, NEVER)
        score = own[None, :] + _JOIN_WORTH * path
        best = jnp.argmax(score, axis=1)
        exists = wanted & witness.any()
        gain += jnp.where(exists, score.max(1) - own.max(), 0.0)
        reach += jnp.where(exists, jnp.take_along_axis(path, best[:, None], axis=1)[:, 0], 0.0)
        trees += wanted.astype(jnp.float32)
    return trees, gain, reach / jnp.maximum(trees, 1.0)


def _rivals(problem: Problem, gain: Array, possible: Array) -> tuple[Array, Array]:
    """(gap, share), each [A]: gain minus that of the best candidate for the same tree, and the share in a
    soft vote among them."""
    candidate = problem.action_valid & possible & (problem.witnesses.sum(1) == 1)
    tree = jnp.argmax(problem.witnesses, axis=1)
    same = (tree[:, None] == tree[None, :]) & candidate[None, :]
    gain = jnp.where(possible, gain, -10.0)
    best = jnp.where(same, gain[None, :], -10.0).max(1)
    votes = jnp.where(same, jnp.exp(jnp.clip((gain[None, :] - gain[:, None]) / _RIVAL_WIDTH, -30, 10)), 0.0)
    share = 1.0 / jnp.maximum(votes.sum(1), 1.0)
    return jnp.clip(gain - best, -10.0, 10.0), share


def numbers_of(
    problem: Problem, state: State, choice: Choice, dials: Dials
) -> tuple[Float[Array, " S"], Float[Array, "A F"]]:
    """Both at once, for `vmap` over states."""
    return state_numbers(problem, state), action_numbers(problem, state, choice, dials)


def anchors(problem: Problem, state: State) -> Array:
    """int32 [A]: the cluster already taken that each action's cluster joins best; EMPTY before the first."""
    reach = jnp.where((state.taken > 0)[None, :], problem.path[problem.cluster] + 1e-6, 0.0)
    best = jnp.argmax(reach, axis=1).astype(jnp.int32)
    return jnp.where(reach.max(1) > 0, best, EMPTY)


__all__ = [
    "ACTION_NUMBERS", "STATE_NUMBERS", "action_numbers", "anchors", "first_gains", "numbers_of",
    "state_numbers",
]  # fmt: skip
