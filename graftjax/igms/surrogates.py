"""IGMS and the four surrogates of Table 7, each from M and C at once, in float64.

The paper names the surrogates without formulas; these are the ones used here:

* `igms`: U = log det(I + Mᵀ C⁻¹ M) / a, Eq. (6).
* `R1`, a linear combination: w1·relevance + w2·coverage − w3·redundancy, with relevance the mean over atoms
  of the best support, coverage the share of atoms with a support of at least `COVERED`, redundancy the mean
  covariance of two different units.
* `R2`, no redundancy: C = (1 + σ0²) I.
* `R3`, no coupling: the blocks of J = I + Mᵀ C⁻¹ M between node atoms and relation atoms are zero.
* `R4`, additive: Σ_i log(1 + ‖m_i‖² / (1 + σ0²)) / a; no unit knows of another.

A row without support is no unit. `graftjax.igms.reward` has the same step by step, for the search.
Letters: q rows, a atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float

from graftjax.igms.exact import log_det

RewardName = Literal["igms", "R1", "R2", "R3", "R4"]
REWARDS: tuple[RewardName, ...] = get_args(RewardName)
COVERED = 0.5
"""Support from which R1 takes an atom as covered."""


@dataclass(frozen=True)
class LinearWeights:
    """Weights of R1. The paper gives none; all three parts are in [0, 1] and count alike."""

    relevance: float = 1.0
    coverage: float = 1.0
    redundancy: float = 1.0


def surrogate_utility(
    name: RewardName,
    support: Float[np.ndarray, "q a"],
    covariance: Float[np.ndarray, "q q"],
    noise: float,
    relation: Bool[np.ndarray, " a"],
    weights: LinearWeights | None = None,
) -> float:
    """U of a set of units under a reward; 0 for no atoms. `relation` marks edge atoms, `noise` is σ0²."""
    support = np.asarray(support, np.float64)
    atoms = support.shape[1]
    if not atoms:
        return 0.0
    if name == "R1":
        return _linear(support, covariance, weights or LinearWeights())
    if name == "R2":
        return log_det(support, (1.0 + noise) * np.eye(len(support))) / atoms
    if name == "R3":  # a determinant of two diagonal blocks: the node atoms' and the relation atoms'
        parts = (support[:, ~relation], support[:, relation])
        return sum(log_det(part, covariance) for part in parts) / atoms
    if name == "R4":
        return float(np.log1p((support**2).sum(1) / (1.0 + noise)).sum()) / atoms
    return log_det(support, covariance) / atoms


def _linear(
    support: Float[np.ndarray, "q a"], covariance: Float[np.ndarray, "q q"], weights: LinearWeights
) -> float:
    unit = support.any(1)
    count = int(unit.sum())
    best = support.max(0, initial=0.0)
    between = np.where(np.outer(unit, unit), covariance, 0.0)
    np.fill_diagonal(between, 0.0)
    redundancy = float(between.sum()) / (count * (count - 1)) if count > 1 else 0.0
    return float(
        weights.relevance * best.mean()
        + weights.coverage * (best >= COVERED).mean()
        - weights.redundancy * redundancy
    )
