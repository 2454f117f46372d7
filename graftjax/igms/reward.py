"""The rewards of `surrogates`, table by table: what a compiled search adds up.

Every function takes the name of the reward as a Python string (a static argument of whatever is compiled),
is for one synthesis and one block of units, and batches under `vmap` over beams and candidates. All numbers
are on the scale of log det, a·U, which is that of the search's thresholds.

A search that whitens its blocks itself calls `rated_rows` for the rows by which J grows, hands those
to `kernels.logdet`, and `rows_reward` for the gain; `block_reward` and `append_block` do it with L⁻¹ for any
covariance. The surrogates cost nothing: R2 divides rows by their own noise alone; R3 takes each row twice,
once with its node atoms and once with its relation atoms, under which J⁻¹ stays block diagonal; R4 and R1
need no J.

Letters: u rows of a block, v of what J grows by (u, or 2u for R3), q rows so far (padded), a atoms (padded).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from graftjax.igms.surrogates import COVERED, LinearWeights, RewardName
from graftjax.kernels.logdet import block_gain, j_inverse_update, whiten  # pyright: ignore[reportMissingImports]


class AtomRoles(NamedTuple):
    """Which atoms there are; both False for padding."""

    node: Bool[Array, " a"]
    relation: Bool[Array, " a"]


class Tally(NamedTuple):
    """What R1 reads of the units that are there."""

    support: Float[Array, " a"]
    """Column maximum of M."""
    units: Int[Array, ""]
    """Rows with support: padding of a block is no unit."""
    overlap: Float[Array, ""]
    """Sum of C over ordered pairs of different units."""


def no_tally(width: int) -> Tally:
    """Of no units."""
    return Tally(jnp.zeros(width), jnp.asarray(0, jnp.int32), jnp.asarray(0.0))


def counted(tally: Tally, rows: Float[Array, "u a"], overlap: Float[Array, ""]) -> Tally:
    """With one more block, whose units add `overlap` to the sum of C."""
    units = (rows > 0).any(1).sum().astype(jnp.int32)
    return Tally(jnp.maximum(tally.support, rows.max(0)), tally.units + units, tally.overlap + overlap)


def rated_rows(
    reward: RewardName,
    rows: Float[Array, "u a"],
    white: Float[Array, "u a"],
    variance: Float[Array, " u"],
    roles: AtomRoles,
) -> Float[Array, "v a"]:
    """The rows by which J of a reward grows, J ← J + rowsᵀ rows. `white` are the whitened rows, `variance` is
    1 + σ0² of each."""
    if reward == "R2":
        return rows / jnp.sqrt(variance)[:, None]
    if reward == "R3":
        return jnp.concatenate(
            [jnp.where(part[None, :], white, 0.0) for part in (roles.node, roles.relation)], axis=0
        )
    return white


def rows_reward(
    reward: RewardName,
    rows: Float[Array, "u a"],
    white: Float[Array, "u a"],
    variance: Float[Array, " u"],
    overlap: Float[Array, ""],
    j_inverse: Float[Array, "a a"],
    tally: Tally,
    roles: AtomRoles,
    weights: LinearWeights | None = None,
) -> Float[Array, ""]:
    """What a block adds to a·U. `overlap`: what its units add to the sum of C over pairs, 2·Σ c for those
    that do not correlate among themselves (R1 alone looks at it and at `tally`)."""
    if reward == "R1":
        after = counted(tally, rows, overlap)
        known = weights or LinearWeights()
        return _linear(after, roles, known) - _linear(tally, roles, known)
    if reward == "R4":
        return jnp.log1p((rows**2).sum(1) / variance).sum()
    return block_gain(rated_rows(reward, rows, white, variance, roles), j_inverse)


def _linear(tally: Tally, roles: AtomRoles, weights: LinearWeights) -> Float[Array, ""]:
    """a times R1's utility."""
    real = roles.node | roles.relation
    support = jnp.where(real, tally.support, 0.0)
    covered = (real & (tally.support >= COVERED)).sum().astype(support.dtype)
    pairs = jnp.maximum(tally.units * (tally.units - 1), 1).astype(support.dtype)
    redundancy = real.sum().astype(support.dtype) * tally.overlap / pairs
    return weights.relevance * support.sum() + weights.coverage * covered - weights.redundancy * redundancy


class Progress(NamedTuple):
    """What is kept of the rows that are there, for any covariance; as in `kernels.logdet`, and R1's."""

    l_inverse: Float[Array, "q q"]
    white: Float[Array, "q a"]
    j_inverse: Float[Array, "a a"]
    unit: Bool[Array, " q"]
    """Rows with support."""
    tally: Tally


class Block(NamedTuple):
    """Units that come together: one table's."""

    rows: Float[Array, "u a"]
    own: Float[Array, "u u"]
    """Their covariance, σ0² included."""
    cross: Float[Array, "u q"]
    """Their covariance with the rows that are there."""


def nothing(size: int, width: int) -> Progress:
    """Progress of the empty synthesis, with room for `size` rows."""
    return Progress(
        jnp.zeros((size, size)), jnp.zeros((size, width)), jnp.eye(width), jnp.zeros(size, bool),
        no_tally(width),
    )  # fmt: skip


def block_reward(
    reward: RewardName,
    block: Block,
    progress: Progress,
    roles: AtomRoles,
    weights: LinearWeights | None = None,
) -> Float[Array, ""]:
    """What a block adds to a·U."""
    white = block.rows
    if reward in ("igms", "R3"):
        white = whiten(block.rows, block.own, block.cross, progress.l_inverse, progress.white).rows
    variance, overlap = jnp.diagonal(block.own), _overlap(block, progress)
    return rows_reward(
        reward, block.rows, white, variance, overlap, progress.j_inverse, progress.tally, roles, weights
    )


def append_block(
    reward: RewardName, block: Block, progress: Progress, start: Int[Array, ""], roles: AtomRoles
) -> Progress:
    """Progress after a block that takes the rows from `start` on."""
    white = whiten(block.rows, block.own, block.cross, progress.l_inverse, progress.white)
    put = jax.lax.dynamic_update_slice
    l_inverse = put(progress.l_inverse, -(white.carry @ progress.l_inverse), (start, 0))
    rows = rated_rows(reward, block.rows, white.rows, jnp.diagonal(block.own), roles)
    return Progress(
        put(l_inverse, white.inverse, (start, start)),
        put(progress.white, white.rows, (start, 0)),
        progress.j_inverse if reward in ("R1", "R4") else j_inverse_update(rows, progress.j_inverse),
        put(progress.unit, (block.rows > 0).any(1), (start,)),
        counted(progress.tally, block.rows, _overlap(block, progress)),
    )


def _overlap(block: Block, progress: Progress) -> Float[Array, ""]:
    """What the block's units add to the sum of C over ordered pairs."""
    new, old = ((mask).astype(block.rows.dtype) for mask in ((block.rows > 0).any(1), progress.unit))
    between = block.own - jnp.diag(jnp.diagonal(block.own))
    return new @ between @ new + 2.0 * (new @ block.cross @ old)
