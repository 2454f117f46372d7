"""The beam's state: partial syntheses as one fixed-shape pytree, and how tables are appended.

All tables of a cluster append the same rows B_c, and two units correlate only when they are the same unit of
two tables of one cluster. So J = I + Mᵀ C⁻¹ M = I + Σ_c w_c(k_c)·B_cᵀ B_c, where k_c tables of cluster c were
taken and w_c(k) = 1ᵀ (K + σ0² I)⁻¹ 1 for the Jaccard matrix K of its first k tables. One more table adds
w_c(k + 1) − w_c(k), which `Problem.added` holds: no row of C or its factor has to be kept.
Letters: L budget, R rows per table, a atoms, T trees, C clusters, S tables per cluster. A leading B axis is
added by `vmap`; everything here is for one synthesis.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from graftjax.igms.reward import AtomRoles, Tally, rated_rows, rows_reward
from graftjax.igms.surrogates import RewardName
from graftjax.kernels.logdet import j_inverse_update  # pyright: ignore[reportMissingImports]
from graftjax.search.region import AtomKind, Problem

EMPTY = -1


class State(NamedTuple):
    """One partial synthesis Φ_t with what its utility needs."""

    live: Bool[Array, ""]
    num_tables: Int[Array, ""]
    logdet: Float[Array, ""]
    """a·U of Eq. (6)."""
    signature: UInt32[Array, ""]
    """Equal for equal sets of tables, however they were reached."""
    tree_cluster: Int[Array, " T"]
    """Witness of each tree; EMPTY where there is none."""
    taken: Int[Array, " C"]
    """Tables taken of each cluster."""
    table_cluster: Int[Array, " L"]
    table_shard: Int[Array, " L"]
    """Which table of its cluster, in the order of taking."""
    table_action: Int[Array, " L"]
    """Action that brought the table; EMPTY for bridges and further shards."""
    blocks: Float[Array, "L R a"]
    """Rows of M, table by table."""
    support: Float[Array, " a"]
    """Column maximum of M."""
    j_inverse: Float[Array, "a a"]
    """Of the reward's J: for a surrogate, what it makes of it."""
    units: Int[Array, ""]
    """Rows of M with support."""
    overlap: Float[Array, ""]
    """Sum of C over ordered pairs of different units; R1 reads it."""


def empty_state(budget: int, rows: int, width: int, trees: int, clusters: int) -> State:
    """Φ_0: no table."""
    none = lambda size: jnp.full(size, EMPTY, jnp.int32)  # noqa: E731
    return State(
        live=jnp.asarray(True),
        num_tables=jnp.asarray(0, jnp.int32),
        logdet=jnp.asarray(0.0, jnp.float32),
        signature=jnp.asarray(0, jnp.uint32),
        tree_cluster=none(trees),
        taken=jnp.zeros(clusters, jnp.int32),
        table_cluster=none(budget),
        table_shard=none(budget),
        table_action=none(budget),
        blocks=jnp.zeros((budget, rows, width), jnp.float32),
        support=jnp.zeros(width, jnp.float32),
        j_inverse=jnp.eye(width, dtype=jnp.float32),
        units=jnp.asarray(0, jnp.int32),
        overlap=jnp.asarray(0.0, jnp.float32),
    )


def roles_of(problem: Problem) -> AtomRoles:
    """Which atoms are nodes and which are edges."""
    kind = problem.atom_kind
    return AtomRoles(
        (kind > AtomKind.PADDING) & (kind < AtomKind.HAS_ATTRIBUTE), kind >= AtomKind.HAS_ATTRIBUTE
    )


def table_reward(
    problem: Problem,
    state: State,
    rows: Float[Array, "R a"],
    cluster: Int[Array, ""],
    noise: Float[Array, ""],
    reward: RewardName,
) -> Float[Array, ""]:
    """What one more table of a cluster is worth, on the scale of log det: its gain, or a surrogate's."""
    white, variance, overlap = _next_table(problem, state, rows, cluster, noise)
    tally = Tally(state.support, state.units, state.overlap)
    return rows_reward(reward, rows, white, variance, overlap, state.j_inverse, tally, roles_of(problem))


def observe(
    problem: Problem,
    state: State,
    rows: Float[Array, "R a"],
    cluster: Int[Array, ""],
    noise: Float[Array, ""],
    reward: RewardName,
) -> State:
    """One more table of a cluster taken into the account; the lists stay as they are."""
    white, variance, overlap = _next_table(problem, state, rows, cluster, noise)
    grown = rated_rows(reward, rows, white, variance, roles_of(problem))
    return state._replace(
        logdet=state.logdet + table_reward(problem, state, rows, cluster, noise, reward),
        j_inverse=j_inverse_update(grown, state.j_inverse),
        units=state.units + _units(rows),
        overlap=state.overlap + overlap,
    )


def _next_table(
    problem: Problem, state: State, rows: Array, cluster: Array, noise: Array
) -> tuple[Array, Array, Array]:
    """(whitened rows, variance of each, what they add to the sum of C) of a cluster's next table."""
    at = jnp.minimum(state.taken[cluster], problem.added.shape[1] - 1)
    overlap = 2.0 * problem.overlap[cluster, at] * _units(rows).astype(jnp.float32)
    variance = jnp.full(rows.shape[0], 1.0 + noise)
    return rows * jnp.sqrt(problem.added[cluster, at]), variance, overlap


def _units(rows: Float[Array, "R a"]) -> Int[Array, ""]:
    return (rows > 0).any(1).sum().astype(jnp.int32)


def place(
    state: State,
    block: Float[Array, "R a"],
    cluster: Int[Array, ""],
    action: Int[Array, ""],
    hashes: UInt32[Array, " C"],
) -> State:
    """The table in the lists, its units in M; J is left as it is."""
    at = state.num_tables
    return state._replace(
        num_tables=at + 1,
        signature=state.signature + hashes[cluster],
        taken=state.taken.at[cluster].add(1),
        table_cluster=state.table_cluster.at[at].set(cluster),
        table_shard=state.table_shard.at[at].set(state.taken[cluster]),
        table_action=state.table_action.at[at].set(action),
        blocks=state.blocks.at[at].set(block),
        support=jnp.maximum(state.support, block.max(0)),
    )
