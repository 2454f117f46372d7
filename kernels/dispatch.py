"""Which path each kernel takes: plain jnp on CPUs; on GPUs the Pallas kernel, where it works, else jnp.

GRAFTJAX_KERNELS (or the argument `path`) forces one: `jnp`, `pallas` (needs a GPU) or `interpret` (the Pallas
kernel step by step on any backend, for tests: slow). The path is chosen when a function is traced.
Letters: N nodes or candidates, h heads, d features of a head.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable
from typing import Any, Literal, cast, get_args

import jax
import jax.numpy as jnp
import numpy as np
from graftjax.kernels.attention import relation_attention_jnp  # pyright: ignore[reportMissingImports]
from graftjax.kernels.attention_pallas import (  # pyright: ignore[reportMissingImports]
    relation_attention_pallas,
)
from graftjax.kernels.gain import (  # pyright: ignore[reportMissingImports]
    Candidates,
    Factors,
    marginal_gains,
)
from graftjax.kernels.gain_pallas import (  # pyright: ignore[reportMissingImports]
    MOST_ATOMS,
    marginal_gains_pallas,
)
from graftjax.kernels.samples import (  # pyright: ignore[reportMissingImports]
    attention_sample,
    beam_sample,
)
from jaxtyping import Array, Float

from graftjax.errors import UsageError

Path = Literal["jnp", "pallas", "interpret"]

VARIABLE = "GRAFTJAX_KERNELS"
"""Environment variable that forces a path; empty or `auto` for the best one."""
TOLERANCE = 1e-3
"""Largest difference from the reference, relative to 1 + its size, of a kernel that counts as working."""

logger = logging.getLogger(__name__)


def relation_attention(
    q: Float[Array, "h N d"],
    k: Float[Array, "h N d"],
    v: Float[Array, "h N d"],
    bias: Float[Array, "h N N"],
    scale: Float[Array, "h N N"],
    weight: Float[Array, "N N"],
    slope: Float[Array, " h"],
    path: Path | None = None,
) -> Float[Array, "h N d"]:
    """`attention.relation_attention_jnp` by the best path; it can be differentiated on each of them."""
    arguments = (q, k, v, bias, scale, weight, slope)
    chosen = choose(lambda: q.dtype == jnp.float32 and attention_works(*q.shape), path)
    if chosen == "jnp":
        return relation_attention_jnp(*arguments)
    return relation_attention_pallas(*arguments, chosen == "interpret")


def candidate_gains(
    factors: Factors, candidates: Candidates, noise: Float[Array, ""], path: Path | None = None
) -> Float[Array, " N"]:
    """`gain.marginal_gains` of one beam by the best path; beams come from `jax.vmap`."""
    count, (units, atoms) = len(candidates.variance), factors.white.shape
    chosen = choose(
        lambda: (
            factors.white.dtype == jnp.float32 and atoms <= MOST_ATOMS and gains_work(count, units, atoms)
        ),
        path,
    )
    if chosen == "jnp":
        with jax.default_matmul_precision("highest"):  # TF32 is too coarse for ρ; on CPUs nothing changes
            return marginal_gains(factors, candidates, noise)
    return marginal_gains_pallas(factors, candidates, noise, chosen == "interpret")


def choose(works: Callable[[], bool], path: Path | None = None) -> Path:
    """The path to take; `works` is asked on GPUs only, and only when no path is forced.

    Raises UsageError for a path that there is not, and for `pallas` without a GPU.
    """
    wish = path or os.environ.get(VARIABLE) or "auto"
    gpu = jax.default_backend() == "gpu"
    if wish == "auto":
        return "pallas" if gpu and works() else "jnp"
    if wish not in get_args(Path):
        raise UsageError(f"{VARIABLE} must be auto, {', '.join(get_args(Path))} or empty, not {wish!r}")
    if wish == "pallas" and not gpu:
        raise UsageError(
            f"{VARIABLE}=pallas needs a GPU, but JAX runs on {jax.default_backend()}: leave it empty"
        )
    return cast(Path, wish)


@functools.lru_cache
def attention_works(heads: int, nodes: int, features: int) -> bool:
    """Whether the kernel and its gradient compile for such arrays here and agree with the reference."""
    sample = attention_sample(np.random.default_rng(0), heads, nodes, features)
    return agree(with_gradients(relation_attention_pallas), with_gradients(relation_attention_jnp), sample)


@functools.lru_cache
def gains_work(count: int, units: int, atoms: int) -> bool:
    """The same of the gains of `count` candidates."""
    noise = 0.1
    factors, candidates = beam_sample(np.random.default_rng(0), count, units, atoms, units // 2, noise)
    return agree(marginal_gains_pallas, marginal_gains, (factors, candidates, np.float32(noise)))


def with_gradients(function: Callable[..., Array]) -> Callable[..., tuple[Array, Any]]:
    """Result of `function`, and the gradients of the result's sum of squares."""

    def both(*arguments: Any) -> tuple[Array, Any]:
        result, pull = jax.vjp(function, *arguments)
        return result, pull(2.0 * result)

    return both


def agree(kernel: Callable, reference: Callable, sample: tuple) -> bool:
    """Whether both can be compiled and run on `sample`, and differ by rounding only; says so where not.

    This may be called while another function is traced: compiled programs on NumPy arrays stay out of that.
    """
    try:
        with jax.default_matmul_precision("highest"):
            made, wanted = (jax.jit(f).lower(*sample).compile()(*sample) for f in (kernel, reference))
        apart = jax.tree.map(lambda x, y: _apart(np.asarray(x), np.asarray(y)), made, wanted)
    except Exception as error:  # whatever a compiler or a device may raise
        logger.warning("a Pallas kernel does not work here, jnp is used: %s", str(error).split("\n")[0])
        return False
    worst = max(jax.tree.leaves(apart))
    if not worst <= TOLERANCE:  # NaN too
        logger.warning("a Pallas kernel is off by %.1e here, jnp is used", worst)
        return False
    return True


def _apart(made: np.ndarray, wanted: np.ndarray) -> float:
    return float((np.abs(made - wanted) / (1.0 + np.abs(wanted))).max(initial=0.0))
