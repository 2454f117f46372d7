"""Evidence of the hard kinds for the tests of the score, and its exact gains in float64."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

KINDS = ("random", "ill-conditioned", "copies", "near copies", "empty rows")


def jaccard(sets: np.ndarray) -> np.ndarray:
    """Jaccard of all pairs of rows of a bool matrix; 1 on the diagonal."""
    member = sets.astype(np.float64)
    shared, size = member @ member.T, member.sum(1)
    result = shared / np.maximum(size[:, None] + size[None, :] - shared, 1.0)
    np.fill_diagonal(result, 1.0)
    return result


def evidence(
    kind: str, q: int, a: int, noise: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(M [q, a], C [q, q]) with entries of M in [0, 1] and C = Jaccard + σ0² I."""
    support = rng.random((q, a)) ** rng.choice([1, 6])
    if kind in ("random", "empty rows"):
        sets = rng.random((q, 60)) < 0.3
    else:
        # Few column sets for many units: C has as many eigenvalues near σ0² as there are repeats.
        prototypes = rng.random((max(1, q // 4), 400)) < 0.3
        chosen = rng.integers(0, len(prototypes), q)
        flips = {"ill-conditioned": 0.02, "near copies": 0.001, "copies": 0.0}[kind]
        sets = prototypes[chosen] ^ (rng.random((q, 400)) < flips)
        if kind != "ill-conditioned" and rng.random() < 0.7:  # their rows agree as well, or do not
            support = support[chosen]
    if kind == "empty rows":
        support[rng.random(q) < 0.5] = 0.0
    return support, jaccard(sets) + noise * np.eye(q)


@st.composite
def evidences(draw, most: int = 20):
    """(M, C, σ0²); among them no units at all, one atom, and every kind above."""
    kind = draw(st.sampled_from(KINDS))
    q = draw(st.integers(0, most))
    a = draw(st.sampled_from([1, 2, 7, 24]))
    noise = draw(st.sampled_from([0.001, 0.01, 0.1]))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    return *evidence(kind, q, a, noise, rng), noise
