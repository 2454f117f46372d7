"""`gain.marginal_gains` as a Pallas kernel for the Triton lowering.

One program takes BLOCK candidates of one beam and walks over the units CHUNK at a time. It looks at the lower
triangle of L⁻¹ alone, and at no more of it than there are units: the padding of the buffers costs nothing.
Products are exact in float32 (no TF32): ρ of a near copy is a small difference of large numbers.
Letters: N candidates, q units (padded), a atoms (padded), b = BLOCK.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from graftjax.kernels.gain import NEVER, Candidates, Factors  # pyright: ignore[reportMissingImports]
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

BLOCK = 16
"""Candidates of a program: the least side of a matrix that Triton multiplies."""
CHUNK = 32
"""Units at a time."""
MOST_ATOMS = 64
"""Atoms beyond which a program runs out of registers: it holds J⁻¹ in one tile."""
WARPS = 4
"""Warps of 32 threads in a program."""
STAGES = 2
"""Loads that are in flight at a time."""

Ref = Any
"""What Pallas hands to a kernel for an array's block."""


def marginal_gains_pallas(
    factors: Factors, candidates: Candidates, noise: Float[Array, ""], interpret: bool = False
) -> Float[Array, " N"]:
    """See `gain.marginal_gains`; beams come from `jax.vmap`. `interpret`: run on any backend."""
    count, (units, atoms) = len(candidates.variance), factors.white.shape
    deep, wide = pl.cdiv(units, CHUNK) * CHUNK, max(pl.next_power_of_2(atoms), BLOCK)
    one = pl.BlockSpec((1,), lambda i: (0,))
    per_candidate = pl.BlockSpec((BLOCK,), lambda i: (i,))
    form = pl.pallas_call(
        functools.partial(_kernel, candidates=count, units=units, atoms=atoms),
        grid=(pl.cdiv(count, BLOCK),),
        in_specs=[
            one,
            one,
            pl.BlockSpec((deep, deep), lambda i: (0, 0)),
            pl.BlockSpec((deep, wide), lambda i: (0, 0)),
            pl.BlockSpec((wide, wide), lambda i: (0, 0)),
            pl.BlockSpec((BLOCK, wide), lambda i: (i, 0)),
            pl.BlockSpec((BLOCK, deep), lambda i: (i, 0)),
            per_candidate,
        ],
        out_specs=per_candidate,
        out_shape=jax.ShapeDtypeStruct((count,), jnp.float32),
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=STAGES),
        interpret=interpret,
    )(
        factors.count[None],
        noise[None],
        factors.l_inverse,
        factors.white,
        factors.j_inverse,
        candidates.support,
        candidates.cross,
        candidates.variance,
    )
    gain = jnp.log1p(form)
    return jnp.where(candidates.valid & jnp.isfinite(gain), gain, NEVER)


def _kernel(
    count_ref: Ref,
    noise_ref: Ref,
    l_inverse_ref: Ref,
    white_ref: Ref,
    j_inverse_ref: Ref,
    support_ref: Ref,
    cross_ref: Ref,
    variance_ref: Ref,
    form_ref: Ref,
    *,
    candidates: int,
    units: int,
    atoms: int,
) -> None:
    """m̃ᵀ J⁻¹ m̃ of BLOCK candidates."""
    inside = pl.program_id(0) * BLOCK + jnp.arange(BLOCK) < candidates
    atom_in = jnp.arange(support_ref.shape[-1]) < atoms
    # The chunks that hold a unit; written out, for a number that is read is no Python number.
    chunks = jax.lax.div(jnp.minimum(count_ref[0], units) + (CHUNK - 1), CHUNK)

    def carry_of(i: Array) -> tuple[Array, Array]:
        """(c L⁻ᵀ of the i-th chunk of units, which of it there are)."""
        here, unit_in = pl.ds(i * CHUNK, CHUNK), i * CHUNK + jnp.arange(CHUNK) < units

        def step(j: Array, total: Array) -> Array:
            before, before_in = pl.ds(j * CHUNK, CHUNK), j * CHUNK + jnp.arange(CHUNK) < units
            cross = _load(cross_ref.at[:, before], inside[:, None] & before_in[None, :])
            l_inverse = _load(l_inverse_ref.at[here, before], unit_in[:, None] & before_in[None, :])
            return total + _product(cross, l_inverse, trans_b=True)

        return jax.lax.fori_loop(0, i + 1, step, jnp.zeros((BLOCK, CHUNK), jnp.float32)), unit_in

    def step(i: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, explained = sums
        carry, unit_in = carry_of(i)
        white = _load(white_ref.at[pl.ds(i * CHUNK, CHUNK), :], unit_in[:, None] & atom_in[None, :])
        return rest - _product(carry, white), explained + (carry * carry).sum(1)

    support = _load(support_ref, inside[:, None] & atom_in[None, :])
    rest, explained = jax.lax.fori_loop(0, chunks, step, (support, jnp.zeros(BLOCK, jnp.float32)))
    rho = jnp.maximum(_load(variance_ref, inside) - explained, noise_ref[0])
    j_inverse = _load(j_inverse_ref, atom_in[:, None] & atom_in[None, :])
    form = (_product(rest, j_inverse) * rest).sum(1)
    triton.store(form_ref, jnp.maximum(form, 0.0) / rho, mask=inside)


def _load(ref: Ref, mask: Array) -> Array:
    """The block; zeros where not `mask`."""
    return triton.load(ref, mask=mask, other=0.0)


def _product(x: Array, y: Array, trans_b: bool = False) -> Array:
    return triton.dot(x, y, trans_b=trans_b, precision=jax.lax.Precision.HIGHEST)
