"""Incremental log det(I + Mᵀ C⁻¹ M) as rows are appended to M and C: the inner loop of IGMS.

Everything is written with `jax.numpy` alone so that it batches under `vmap` (the built-in
`cholesky_update` does not). Letters: q rows so far, a atoms, u rows of the appended block.
The state holds L⁻¹ for C = L Lᵀ, W = L⁻¹ M and J⁻¹ for J = I + Wᵀ W.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

MIN_PIVOT = 1e-6
"""Squared pivots are clamped here: rounding can make an exact copy's Schur complement negative."""


class Whitened(NamedTuple):
    """A block after its correlation with earlier rows is taken out."""

    rows: Float[Array, "u a"]
    """m̃ = L_S⁻¹ (m − w W), S the Schur complement."""
    carry: Float[Array, "u q"]
    """L_S⁻¹ w, the block's row of L before multiplication with L⁻¹."""
    inverse: Float[Array, "u u"]
    """L_S⁻¹."""


def cholesky(matrix: Float[Array, "u u"]) -> Float[Array, "u u"]:
    """Lower Cholesky factor of a small matrix; pivots are clamped, so it never gives NaN.

    A loop over columns: it batches into few large operations and compiles quickly.
    """
    size = matrix.shape[0]
    index = jnp.arange(size)

    def column(k: Array, factor: Array) -> Array:
        unit = (index == k).astype(matrix.dtype)
        rest = matrix @ unit - factor @ (unit @ factor)
        pivot = jnp.sqrt(jnp.maximum(unit @ rest, MIN_PIVOT))
        entries = jnp.where(index > k, rest / pivot, 0.0) + unit * pivot
        return factor + entries[:, None] * unit[None, :]

    return jax.lax.fori_loop(0, size, column, jnp.zeros_like(matrix))


def lower_inverse(factor: Float[Array, "u u"]) -> Float[Array, "u u"]:
    """Inverse of a small lower triangular matrix by forward substitution."""
    size = factor.shape[0]
    index = jnp.arange(size)

    def row(k: Array, inverse: Array) -> Array:
        unit = (index == k).astype(factor.dtype)
        own = unit @ factor
        entries = (unit - (own - unit * own) @ inverse) / (own @ unit)
        return inverse + unit[:, None] * entries[None, :]

    return jax.lax.fori_loop(0, size, row, jnp.zeros_like(factor))


def whiten(
    rows: Float[Array, "u a"],
    noise: Float[Array, "u u"],
    cross: Float[Array, "u q"],
    l_inverse: Float[Array, "q q"],
    white: Float[Array, "q a"],
) -> Whitened:
    """Take out the correlation `cross` with earlier rows; `noise` is the block's own covariance."""
    carry = cross @ l_inverse.T
    inverse = lower_inverse(cholesky(noise - carry @ carry.T))
    return Whitened(inverse @ (rows - carry @ white), inverse @ carry, inverse)


def block_gain(rows: Float[Array, "u a"], j_inverse: Float[Array, "a a"]) -> Float[Array, ""]:
    """log det(J + m̃ᵀ m̃) − log det J = log det(I + m̃ J⁻¹ m̃ᵀ) for whitened rows."""
    inner = rows @ j_inverse @ rows.T + jnp.eye(rows.shape[0], dtype=rows.dtype)
    return 2.0 * jnp.log(jnp.diagonal(cholesky(inner))).sum()


def j_inverse_update(rows: Float[Array, "u a"], j_inverse: Float[Array, "a a"]) -> Float[Array, "a a"]:
    """(J + m̃ᵀ m̃)⁻¹ by Woodbury, kept symmetric."""
    half = rows @ j_inverse
    inner = cholesky(half @ rows.T + jnp.eye(rows.shape[0], dtype=rows.dtype))
    solved = lower_inverse(inner) @ half
    updated = j_inverse - solved.T @ solved
    return 0.5 * (updated + updated.T)
