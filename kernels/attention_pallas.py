"""`attention.relation_attention_jnp` as Pallas kernels for the Triton lowering, with its gradient.

One program makes BLOCK rows of one head and walks over their senders BLOCK at a time, so that no map of
logits is ever stored. Since logits are cut off, no running maximum is needed and the sums just add up.
Blocks are powers of two; what lies beyond the arrays is masked at each load and store.
Letters: N nodes, h heads, d features of a head, b = BLOCK, c features padded to a power of two.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from graftjax.kernels.attention import LOGIT_LIMIT, SMALLEST_TOTAL  # pyright: ignore[reportMissingImports]
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Bool, Float

BLOCK = 32
"""Rows, and senders at a time, of a program."""
SMALLEST_SIDE = 16
"""Least side of a matrix that Triton multiplies."""
WARPS = 4
"""Warps of 32 threads in a program."""
STAGES = 2
"""Loads that are in flight at a time."""

Ref = Any
"""What Pallas hands to a kernel for an array's block."""


@functools.partial(jax.custom_vjp, nondiff_argnums=(7,))
def relation_attention_pallas(
    q: Float[Array, "h N d"],
    k: Float[Array, "h N d"],
    v: Float[Array, "h N d"],
    bias: Float[Array, "h N N"],
    scale: Float[Array, "h N N"],
    weight: Float[Array, "N N"],
    slope: Float[Array, " h"],
    interpret: bool = False,
) -> Float[Array, "h N d"]:
    """See `attention.relation_attention_jnp`; sums are taken in float32. `interpret`: run on any backend."""
    return _forward(q, k, v, bias, scale, weight, slope, interpret)[0]


def _forward(*arguments: Any) -> tuple[Array, tuple[Array, ...]]:
    """(result, what the gradient needs)."""
    *arrays, interpret = arguments
    q = arrays[0]
    heads, nodes, _ = q.shape
    row, _, _, line = _specs(q)
    out, total = _call(
        _forward_kernel,
        arrays,
        [],
        [row, line],
        [jax.ShapeDtypeStruct(q.shape, q.dtype), jax.ShapeDtypeStruct((heads, nodes), jnp.float32)],
        interpret,
    )
    return out, (*arrays, out, total)


def _backward(interpret: bool, saved: tuple[Array, ...], given: Array) -> tuple[Array, ...]:
    """Gradients of the seven arrays. The sums over receivers and over heads are left to XLA."""
    *arrays, out, total = saved
    q, bias = arrays[0], arrays[3]
    scale, weight, slope, wide = (array.astype(jnp.float32) for array in (*arrays[4:], given))
    # An empty row's mass is 0 everywhere: any divisor does.
    inverse = jnp.where(total > SMALLEST_TOTAL, 1.0 / jnp.maximum(total, SMALLEST_TOTAL), 1.0)
    mean = (wide * out.astype(jnp.float32)).sum(-1) * inverse
    row, _, map_, line = _specs(q)
    maps = jax.ShapeDtypeStruct(bias.shape, jnp.float32)
    q_bar, logit_bar, scale_bar, share = _call(
        _backward_kernel,
        [*arrays, given, inverse, mean],
        [row, line, line],
        [row, map_, map_, map_],
        [jax.ShapeDtypeStruct(q.shape, q.dtype), maps, maps, maps],
        interpret,
    )
    k_bar = logit_bar.swapaxes(-1, -2) @ q.astype(jnp.float32) * q.shape[-1] ** -0.5
    v_bar = share.swapaxes(-1, -2) @ wide
    per_weight = scale_bar * scale / jnp.where(weight > 0, weight, 1.0)[None]
    weight_bar = (per_weight + slope[:, None, None] * logit_bar).sum(0)
    slope_bar = (logit_bar * weight[None]).sum((1, 2))
    bars = (q_bar, k_bar, v_bar, logit_bar, scale_bar, weight_bar, slope_bar)
    return tuple(bar.astype(array.dtype) for bar, array in zip(bars, arrays, strict=True))


relation_attention_pallas.defvjp(_forward, _backward)


def _specs(q: Array) -> tuple[pl.BlockSpec, ...]:
    """Blocks of rows of [h, N, d], all rows of it, blocks of rows of [h, N, N], and of [h, N]."""
    _, nodes, features = q.shape
    across = pl.cdiv(nodes, BLOCK) * BLOCK
    deep = max(pl.next_power_of_2(features), SMALLEST_SIDE)
    return (
        pl.BlockSpec((None, BLOCK, deep), lambda h, i: (h, i, 0)),
        pl.BlockSpec((None, across, deep), lambda h, i: (h, 0, 0)),
        pl.BlockSpec((None, BLOCK, across), lambda h, i: (h, i, 0)),
        pl.BlockSpec((None, BLOCK), lambda h, i: (h, i)),
    )


def _call(
    kernel: Any,
    arrays: list[Array],
    more: list[pl.BlockSpec],
    out_specs: list[pl.BlockSpec],
    out_shape: list[jax.ShapeDtypeStruct],
    interpret: bool,
) -> Any:
    """What `kernel` makes of the seven arrays and of those in `more`: a program per head and row block."""
    heads, nodes, features = arrays[0].shape
    row, whole, map_, _ = _specs(arrays[0])
    shared = pl.BlockSpec((BLOCK, pl.cdiv(nodes, BLOCK) * BLOCK), lambda h, i: (i, 0))
    single = pl.BlockSpec((1,), lambda h, i: (h,))
    return pl.pallas_call(
        functools.partial(kernel, nodes=nodes, features=features),
        grid=(heads, pl.cdiv(nodes, BLOCK)),
        in_specs=[row, whole, whole, map_, map_, shared, single, *more],
        out_specs=out_specs,
        out_shape=out_shape,
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=STAGES),
        interpret=interpret,
    )(*arrays)


class _Tile(NamedTuple):
    """BLOCK receivers and BLOCK senders: what both kernels need of them, zeros beyond the arrays."""

    k: Float[Array, "b c"]
    v: Float[Array, "b c"]
    raw: Float[Array, "b b"]
    """Logits before they are cut off."""
    mass: Float[Array, "b b"]
    scale: Float[Array, "b b"]
    weight: Float[Array, "b b"]
    mask: Bool[Array, "b b"]
    senders: Any
    """Their place along an axis of length N."""


def _inside(block: Array, nodes: int) -> Bool[Array, " b"]:
    """Which of the `block`-th BLOCK nodes there are."""
    return block * BLOCK + jnp.arange(BLOCK) < nodes


def _with_features(inside: Array, ref: Ref, features: int) -> Bool[Array, "b c"]:
    """The same for all entries of rows of features, those of padding left out."""
    return inside[:, None] & (jnp.arange(ref.shape[-1]) < features)[None, :]


def _tile(refs: tuple[Ref, ...], q: Array, row_in: Array, j: Array, nodes: int, features: int) -> _Tile:
    """The tile of this program's rows and the `j`-th block of senders."""
    _, k_ref, v_ref, bias_ref, scale_ref, weight_ref, slope_ref = refs
    senders = pl.ds(j * BLOCK, BLOCK)
    sender_in = _inside(j, nodes)
    sender_mask = _with_features(sender_in, k_ref, features)
    k = _load(k_ref.at[senders, :], sender_mask)
    v = _load(v_ref.at[senders, :], sender_mask)
    mask = row_in[:, None] & sender_in[None, :]
    weight = _load(weight_ref.at[:, senders], mask)
    scale = _load(scale_ref.at[:, senders], mask)
    bias = _load(bias_ref.at[:, senders], mask)
    raw = triton.dot(q, k, trans_b=True) * features**-0.5 + bias + slope_ref[0].astype(jnp.float32) * weight
    mass = jnp.where(weight > 0, jnp.exp(jnp.clip(raw, -LOGIT_LIMIT, LOGIT_LIMIT)), 0.0)
    return _Tile(k, v, raw, mass, scale, weight, mask, senders)


def _forward_kernel(*refs: Ref, nodes: int, features: int) -> None:
    """Refs: the seven arrays, result, total mass of each row."""
    arrays, (out_ref, total_ref) = refs[:7], refs[7:]
    row_in = _inside(pl.program_id(1), nodes)  # the interpreter does not know program_id in a loop
    row_mask = _with_features(row_in, out_ref, features)
    q = _load(arrays[0], row_mask)

    def step(j: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        tile = _tile(arrays, q, row_in, j, nodes, features)
        mixed, total = sums
        return mixed + triton.dot(tile.mass * tile.scale * tile.weight, tile.v), total + tile.mass.sum(1)

    start = jnp.zeros(q.shape, jnp.float32), jnp.zeros(BLOCK, jnp.float32)
    mixed, total = jax.lax.fori_loop(0, pl.cdiv(nodes, BLOCK), step, start)
    _store(out_ref, mixed / jnp.maximum(total, SMALLEST_TOTAL)[:, None], row_mask)
    _store(total_ref, total, row_in)


def _backward_kernel(*refs: Ref, nodes: int, features: int) -> None:
    """Refs: the seven arrays; the result's gradient, 1 / total, mean of the gradient times the result;
    then what is made: gradients of q, logits and scale, and the share of each sender's value in its receiver.
    """
    arrays, (given_ref, inverse_ref, mean_ref), (q_bar_ref, *map_refs) = refs[:7], refs[7:10], refs[10:]
    row_in = _inside(pl.program_id(1), nodes)
    row_mask = _with_features(row_in, given_ref, features)
    q, given = _load(arrays[0], row_mask), _load(given_ref, row_mask)
    inverse, mean = _load(inverse_ref, row_in)[:, None], _load(mean_ref, row_in)[:, None]

    def step(j: Array, q_bar: Array) -> Array:
        tile = _tile(arrays, q, row_in, j, nodes, features)
        message_bar = triton.dot(given, tile.v, trans_b=True) * inverse
        mass_bar = message_bar * tile.scale * tile.weight - mean
        logit_bar = jnp.where(jnp.abs(tile.raw) < LOGIT_LIMIT, mass_bar * tile.mass, 0.0)
        share = tile.mass * tile.weight * inverse
        maps = logit_bar, message_bar * tile.mass * tile.weight, share * tile.scale
        for ref, made in zip(map_refs, maps, strict=True):
            _store(ref.at[:, tile.senders], made, tile.mask)
        return q_bar + triton.dot(logit_bar, tile.k)

    q_bar = jax.lax.fori_loop(0, pl.cdiv(nodes, BLOCK), step, jnp.zeros(q.shape, jnp.float32))
    _store(q_bar_ref, q_bar * features**-0.5, row_mask)


def _load(ref: Ref, mask: Array) -> Array:
    """The block in float32; zeros where not `mask`."""
    return triton.load(ref, mask=mask, other=0.0).astype(jnp.float32)


def _store(ref: Ref, values: Array, mask: Array) -> None:
    triton.store(ref, values.astype(ref.dtype), mask=mask)
