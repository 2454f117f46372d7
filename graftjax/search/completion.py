"""Completions of a synthesis in closed form: what further tables of its clusters are worth together.

All tables of a cluster append the same units, and two units are correlated only when they are the same unit
of two tables of one cluster. Hence Mᵀ C⁻¹ M = Σ_c w_c(k_c)·B_cᵀ B_c, where B_c are the units of a table of
cluster c, k_c is the number of its tables that were taken, and w_c(k) = 1ᵀ (K + σ0² I)⁻¹ 1 for the Jaccard
matrix K of its first k tables. Everything is float64. Letters: n first tables, a atoms, V ways to complete,
C clusters, S tables per cluster."""

from __future__ import annotations

from functools import cache

import numpy as np
from jaxtyping import Float, Int

from graftjax.search.shards import added_weights

BATCH = 1024
"""Matrices whose determinants are computed at once."""


def shard_weights(correlation: Float[np.ndarray, "C S S"], noise: float) -> Float[np.ndarray, "C S+1"]:
    """w_c(k) for k = 0..S."""
    return np.pad(added_weights(correlation, noise).cumsum(1), ((0, 0), (1, 0)))


def log_dets(grams: Float[np.ndarray, "n a a"], weights: Float[np.ndarray, "V n"]) -> Float[np.ndarray, " V"]:
    """log det(I + Σ_i w_i·B_iᵀ B_i) for each row of weights."""
    width = grams.shape[-1]
    parts = [
        np.linalg.slogdet(np.eye(width) + np.tensordot(weights[at : at + BATCH], grams, axes=1))[1]
        for at in range(0, len(weights), BATCH)
    ]
    return np.concatenate([*parts, np.zeros(0)])


@cache
def num_spreads(extras: tuple[int, ...], room: int) -> int:
    """Ways to take exactly `room` further tables when cluster i has at most extras[i]."""
    ways = [1] + [0] * room
    for extra in extras:
        ways = [sum(ways[max(0, total - extra) : total + 1]) for total in range(room + 1)]
    return ways[room]


def spreads(extras: tuple[int, ...], room: int) -> Int[np.ndarray, "V n"]:
    """The ways themselves, in lexicographic order, the most of the first cluster first."""
    if not extras:
        return np.zeros((int(room == 0), 0), np.int64)
    rest = sum(extras[1:])
    parts = [np.zeros((0, len(extras)), np.int64)]
    for first in range(min(extras[0], room), max(room - rest, 0) - 1, -1):
        tail = spreads(extras[1:], room - first)
        parts.append(np.concatenate([np.full((len(tail), 1), first, np.int64), tail], axis=1))
    return np.concatenate(parts)
