"""The beam's state: partial syntheses as one fixed-shape pytree, and how a table is appended.

Letters: L budget, R rows per table, q = L·R rows, a atoms, T trees, C clusters. A leading B axis is
added by `vmap`; everything here is for one synthesis.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from graftjax.kernels.logdet import block_gain, j_inverse_update, whiten  # pyright: ignore[reportMissingImports]

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
    l_inverse: Float[Array, "q q"]
    white: Float[Array, "q a"]
    j_inverse: Float[Array, "a a"]


def empty_state(budget: int, rows: int, width: int, trees: int, clusters: int) -> State:
    """Φ_0: no table."""
    none = lambda size: jnp.full(size, EMPTY, jnp.int32)  # noqa: E731
    q = budget * rows
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
        l_inverse=jnp.zeros((q, q), jnp.float32),
        white=jnp.zeros((q, width), jnp.float32),
        j_inverse=jnp.eye(width, dtype=jnp.float32),
    )


def cross_covariance(
    state: State, cluster: Int[Array, ""], shard: Int[Array, ""], correlation: Float[Array, "C S S"]
) -> Float[Array, "R q"]:
    """c of a new table: its units' Jaccard with the same units of its cluster's tables; 0 with others."""
    rows = state.blocks.shape[1]
    same = (state.table_cluster == cluster) & (state.table_cluster != EMPTY)
    per_table = jnp.where(same, correlation[cluster, shard, jnp.maximum(state.table_shard, 0)], 0.0)
    return (jnp.eye(rows)[:, None, :] * per_table[None, :, None]).reshape(rows, -1)


def append(
    state: State,
    block: Float[Array, "R a"],
    cluster: Int[Array, ""],
    action: Int[Array, ""],
    correlation: Float[Array, "C S S"],
    hashes: UInt32[Array, " C"],
    noise: Float[Array, ""],
) -> State:
    """Append one table's units (Algorithm 3's Φ ⊕ a for one table)."""
    rows = block.shape[0]
    shard = state.taken[cluster]
    cross = cross_covariance(state, cluster, shard, correlation)
    own = (1.0 + noise) * jnp.eye(rows)
    white = whiten(block, own, cross, state.l_inverse, state.white)
    at = state.num_tables
    start = at * rows
    lower = -(white.carry @ state.l_inverse)
    l_inverse = jax.lax.dynamic_update_slice(state.l_inverse, lower, (start, 0))
    l_inverse = jax.lax.dynamic_update_slice(l_inverse, white.inverse, (start, start))
    return state._replace(
        num_tables=at + 1,
        logdet=state.logdet + block_gain(white.rows, state.j_inverse),
        signature=state.signature + hashes[cluster],
        taken=state.taken.at[cluster].add(1),
        table_cluster=state.table_cluster.at[at].set(cluster),
        table_shard=state.table_shard.at[at].set(shard),
        table_action=state.table_action.at[at].set(action),
        blocks=state.blocks.at[at].set(block),
        support=jnp.maximum(state.support, block.max(0)),
        l_inverse=l_inverse,
        white=jax.lax.dynamic_update_slice(state.white, white.rows, (start, 0)),
        j_inverse=j_inverse_update(white.rows, state.j_inverse),
    )
