"""Cholesky factors that grow: small factorisations, rank-one updates and bordered rows.

Everything is written with `jax.numpy` so that it batches under `vmap` (`jax.lax.linalg.cholesky_update` has
no batching rule). Pivots are clamped, so nothing here gives NaN. Letters: n size of a square matrix,
q rows so far.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

MIN_PIVOT = 1e-6
"""Squared pivots are clamped here: rounding can make an exact copy's Schur complement negative."""


def cholesky(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
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


def lower_inverse(factor: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Inverse of a small lower triangular matrix by forward substitution."""
    size = factor.shape[0]
    index = jnp.arange(size)

    def row(k: Array, inverse: Array) -> Array:
        unit = (index == k).astype(factor.dtype)
        own = unit @ factor
        entries = (unit - (own - unit * own) @ inverse) / (own @ unit)
        return inverse + unit[:, None] * entries[None, :]

    return jax.lax.fori_loop(0, size, row, jnp.zeros_like(factor))


def rank_one_update(factor: Float[Array, "n n"], vector: Float[Array, " n"]) -> Float[Array, "n n"]:
    """Lower factor of L Lᵀ + v vᵀ in O(n²), without a loop.

    With p = L⁻¹ v, L Lᵀ + v vᵀ = L (I + p pᵀ) Lᵀ. The factor K of I + p pᵀ is known: for
    s_j = 1 + Σ_{i≤j} p_i², K_jj = √(s_j / s_{j−1}) and K_ij = p_i p_j / √(s_j s_{j−1}). So L K needs sums
    along the rows of L only (Gill, Golub, Murray and Saunders 1974).
    """
    p = jax.scipy.linalg.solve_triangular(factor, vector, lower=True)
    before, after = _sums(p)
    terms = factor * p[None, :]
    right = jnp.cumsum(terms[:, ::-1], axis=1)[:, ::-1] - terms
    return factor * jnp.sqrt(after / before)[None, :] + right * (p / jnp.sqrt(after * before))[None, :]


def rank_one_update_inverse(inverse: Float[Array, "n n"], vector: Float[Array, " n"]) -> Float[Array, "n n"]:
    """Inverse of the lower factor of L Lᵀ + v vᵀ from L⁻¹, in O(n²): K⁻¹ L⁻¹ by sums down the columns."""
    p = inverse @ vector
    before, after = _sums(p)
    terms = inverse * p[:, None]
    above = jnp.cumsum(terms, axis=0) - terms
    return inverse * jnp.sqrt(before / after)[:, None] - above * (p / jnp.sqrt(after * before))[:, None]


def _sums(p: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """(s_{j−1}, s_j) of `rank_one_update`."""
    after = 1.0 + jnp.cumsum(p * p)
    return jnp.concatenate([jnp.ones_like(after[:1]), after[:-1]]), after


def bordered_row(
    carry: Float[Array, " q"], schur: Float[Array, ""], inverse: Float[Array, "q q"]
) -> tuple[Float[Array, " q"], Float[Array, ""]]:
    """(row, diagonal) of L⁻¹ when C grows by one unit, in O(q²).

    `carry` is w = L⁻¹ c, `schur` is ρ = σ² − wᵀ w. The row of L itself is (w, √ρ).
    """
    pivot = jnp.sqrt(jnp.maximum(schur, MIN_PIVOT))
    return -(carry @ inverse) / pivot, 1.0 / pivot
