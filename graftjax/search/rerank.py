"""Stage 3 of Algorithm 3: the best of a shortlist by exact utility, evaluated lazily by estimates.

The queue is Minoux's: the entry with the largest estimate is evaluated next, and the rest is dropped once
no estimate reaches the best utility confirmed. With estimates that are bounds the answer is the exact arg
max; the paper orders by a learned estimate, which may be too low for the best entry, and then that entry is
missed. Everything is pure and runs inside a compiled search; a queue that is sorted once is enough, as
estimates stay.

Letters: N entries of the shortlist, b entries evaluated at once, L budget, R rows, a atoms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from graftjax.kernels.cholesky import cholesky, lower_inverse  # pyright: ignore[reportMissingImports]
from graftjax.search.actions import NEVER

ROUNDING = 1e-4
"""What rounding may take from a bound: log det is float32, some tens at most."""


class Reranked(NamedTuple):
    """The answer of a queue and what it cost."""

    best: Int[Array, ""]
    """Number of the best entry, the first of equals; −1 when no entry has a utility."""
    value: Float[Array, ""]
    """Its utility; NEVER without one."""
    evaluated: Int[Array, ""]
    """Exact evaluations."""
    saved: Int[Array, ""]
    """Entries that were not evaluated."""


def lazy_top(
    estimate: Float[Array, " N"],
    valid: Bool[Array, " N"],
    evaluate: Callable[[Int[Array, " b"]], Float[Array, " b"]],
    *,
    count: int = 1,
    block: int = 1,
    offset: Float[Array, " N"] | None = None,
    least: Float[Array, " N"] | None = None,
) -> tuple[Float[Array, " N"], Int[Array, ""]]:
    """(values, evaluations): exact values of what was evaluated, NEVER elsewhere.

    Ranked is by offset + value, among those whose value is at least `least`. If `estimate` bounds
    offset + value from above, all of the `count` best are evaluated, ties included. An estimate that is no
    number counts as +∞; a value that is none never wins.
    """
    size = estimate.shape[0]
    if size == 0:
        return jnp.zeros(0), jnp.asarray(0, jnp.int32)
    count, block = min(count, size), min(block, size)
    offset = jnp.zeros(size) if offset is None else offset
    least = jnp.full(size, -jnp.inf) if least is None else least
    estimate = jnp.where(jnp.isnan(estimate), jnp.inf, jnp.maximum(estimate, NEVER))
    estimate = jnp.where(valid, estimate, -jnp.inf)
    order = jnp.argsort(-estimate, stable=True).astype(jnp.int32)
    fill = -size % block
    ranked = jnp.concatenate([estimate[order], jnp.full(fill, -jnp.inf)])
    order = jnp.concatenate([order, jnp.full(fill, size, jnp.int32)])
    total = valid.sum(dtype=jnp.int32)

    def unfinished(carry: tuple[Array, Array, Array]) -> Array:
        at, _, best = carry
        return (at < total) & (ranked[jnp.minimum(at, size - 1)] >= best[-1])

    def step(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        at, values, best = carry
        numbers = jax.lax.dynamic_slice(order, (at,), (block,))
        entries = jnp.minimum(numbers, size - 1)
        found = evaluate(entries)
        used = (at + jnp.arange(block) < total) & jnp.isfinite(found)
        values = values.at[numbers].set(jnp.where(used, found, NEVER), mode="drop")
        rank = jnp.where(used & (found >= least[entries]), offset[entries] + found, NEVER)
        return at + block, values, jax.lax.top_k(jnp.concatenate([best, rank]), count)[0]

    start = (jnp.asarray(0, jnp.int32), jnp.full(size, NEVER), jnp.full(count, NEVER))
    at, values, _ = jax.lax.while_loop(unfinished, step, start)
    return values, jnp.minimum(at, total)


def rerank(
    estimate: Float[Array, " N"],
    valid: Bool[Array, " N"],
    evaluate: Callable[[Int[Array, " b"]], Float[Array, " b"]],
    *,
    first: Bool[Array, " N"] | None = None,
    block: int = 1,
) -> Reranked:
    """Best entry of a shortlist (lines 18 to 31); those in `first`, the last beam, are evaluated in any case.

    `estimate`: a certified bound (`additive_bounds`, `prefix_bounds`) or the learned value.
    """
    if first is not None:
        estimate = jnp.where(first, jnp.inf, estimate)
    values, evaluated = lazy_top(estimate, valid, evaluate, block=block)
    total = valid.sum(dtype=jnp.int32)
    if values.shape[0] == 0:
        none = jnp.asarray(-1, jnp.int32)
        return Reranked(none, jnp.asarray(NEVER), evaluated, total)
    best = jnp.argmax(values).astype(jnp.int32)
    found = values[best] > 0.5 * NEVER
    return Reranked(jnp.where(found, best, -1), values[best], evaluated, total - evaluated)


class Shortlist(NamedTuple):
    """Partial syntheses to choose from, as the beams hold them."""

    cluster: Int[Array, "N L"]
    """Cluster of each table; −1 beyond the last."""
    shard: Int[Array, "N L"]
    blocks: Float[Array, "N L R a"]


def table_precision(
    cluster: Int[Array, " L"], shard: Int[Array, " L"], correlation: Float[Array, "C S S"], noise: Array
) -> Float[Array, "L L"]:
    """Λ⁻¹ for K + σ0² I = Λ Λᵀ, K the Jaccard of the tables of one synthesis; C is its product with I_R."""
    at = jnp.maximum(shard, 0)
    same = (cluster[:, None] == cluster[None, :]) & (cluster >= 0)[:, None]
    jaccard = correlation[jnp.maximum(cluster, 0)[:, None], at[:, None], at[None, :]]
    eye = jnp.eye(cluster.shape[0], dtype=correlation.dtype)
    return lower_inverse(cholesky(jnp.where(same, jaccard, eye) + noise * eye))


def exact_log_dets(
    shortlist: Shortlist, correlation: Float[Array, "C S S"], noise: Array
) -> Callable[[Int[Array, " b"]], Float[Array, " b"]]:
    """log det(I + Mᵀ C⁻¹ M) of the entries asked for, from scratch."""

    def one(entry: Array) -> Array:
        cluster, shard, blocks = (leaf[entry] for leaf in shortlist)
        whitener = table_precision(cluster, shard, correlation, noise)
        white = jnp.einsum("lk,kra->lra", whitener, blocks).reshape(-1, blocks.shape[-1])
        j = jnp.eye(blocks.shape[-1], dtype=blocks.dtype) + white.T @ white
        return 2.0 * jnp.log(jnp.diagonal(cholesky(j))).sum()

    return jax.vmap(one)


def table_bounds(
    shortlist: Shortlist, correlation: Float[Array, "C S S"], noise: Array
) -> Float[Array, "N L"]:
    """Upper bound on what each table adds, whatever came before: Σ_r log(1 + Δ·‖m_r‖²).

    Proof. Units of one cluster agree, so a table adds Δ·Σ_r m_r m_rᵀ to J, where Δ ≥ 0 is what it adds to
    the precision 1ᵀ(K + σ0² I)⁻¹ 1 of its cluster's tables. J ⪰ I only grows, so the gain is at most
    log det(I + Δ·M Mᵀ) for the rows M of the table, which Hadamard bounds by the diagonal's product.
    """

    def one(cluster: Array, shard: Array, blocks: Array) -> Array:
        whitener = table_precision(cluster, shard, correlation, noise)
        # Row k of Λ⁻¹ times the ones of its cluster: its square is what table k adds to 1ᵀ(K + σ0² I)⁻¹ 1.
        same = cluster[:, None] == cluster[None, :]
        delta = (whitener * same.astype(whitener.dtype)).sum(1) ** 2
        norms = (blocks**2).sum(-1)
        return jnp.where(cluster >= 0, jnp.log1p(delta[:, None] * norms).sum(1), 0.0)

    return jax.vmap(one)(*shortlist)


def additive_bounds(bounds: Float[Array, "N L"]) -> Float[Array, " N"]:
    """Certified bound on log det: what the tables add at most, together."""
    return bounds.sum(1) + ROUNDING


def prefix_bounds(
    bounds: Float[Array, "N L"], known: Float[Array, " N"], num_known: Int[Array, " N"]
) -> Float[Array, " N"]:
    """A tighter certified bound, from the exact log det of the first `num_known` tables of each entry."""
    later = jnp.arange(bounds.shape[1])[None, :] >= num_known[:, None]
    return known + jnp.where(later, bounds, 0.0).sum(1) + ROUNDING
