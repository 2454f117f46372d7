"""Random inputs of the kernels, for checks and measurements; NumPy arrays in float32.

Letters: N nodes or candidates, h heads, d features of a head, q units (padded), a atoms.
"""

from __future__ import annotations

import numpy as np
from graftjax.kernels.gain import Candidates, Factors  # pyright: ignore[reportMissingImports]

FEATURES = 8
"""Features whose products are the units' correlations: few, so that some units are nearly copies."""


def attention_sample(
    rng: np.random.Generator, heads: int, nodes: int, features: int, edges: float = 0.3
) -> tuple[np.ndarray, ...]:
    """Arguments of `relation_attention`: a share of `edges` of all pairs has one, the first node has none."""
    parts = [rng.normal(size=(heads, nodes, features)) for _ in range(3)]
    maps = [rng.normal(size=(heads, nodes, nodes)) for _ in range(2)]
    weight = np.where(rng.random((nodes, nodes)) < edges, 1.0 - rng.random((nodes, nodes)), 0.0)
    weight[:1] = 0.0
    arrays = (*parts, *maps, weight, rng.normal(size=heads))
    return tuple(array.astype(np.float32) for array in arrays)


def beam_sample(
    rng: np.random.Generator, count: int, units: int, atoms: int, filled: int, noise: float = 0.01
) -> tuple[Factors, Candidates]:
    """A beam that holds `filled` of `units` units, and `count` candidates; the first copies a unit."""
    vectors = np.abs(rng.normal(size=(filled + count, FEATURES)))
    support = rng.random((filled + count, atoms))
    if filled and count:
        vectors[filled], support[filled] = vectors[0], support[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    covariance = vectors @ vectors.T
    l_inverse = np.zeros((units, units))
    l_inverse[:filled, :filled] = np.linalg.inv(
        np.linalg.cholesky(covariance[:filled, :filled] + noise * np.eye(filled))
    )
    white = np.zeros((units, atoms))
    white[:filled] = l_inverse[:filled, :filled] @ support[:filled]
    cross = np.zeros((count, units))
    cross[:, :filled] = covariance[filled:, :filled]
    j_inverse = np.linalg.inv(np.eye(atoms) + white.T @ white)
    narrow = [array.astype(np.float32) for array in (l_inverse, white, j_inverse, support[filled:], cross)]
    factors = Factors(np.int32(filled), *narrow[:3])
    variance = np.full(count, 1.0 + noise, np.float32)
    return factors, Candidates(*narrow[3:], variance, rng.random(count) < 0.9)
