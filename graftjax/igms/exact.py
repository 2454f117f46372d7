"""U of Eq. (6), exactly: the reference that every faster form is held against.

Letters: q evidence units, a atoms, n tables, R rows per table.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


def log_det(support: Float[np.ndarray, "q a"], covariance: Float[np.ndarray, "q q"]) -> float:
    """log det(I_a + Mᵀ C⁻¹ M) in float64, as a difference of two log determinants; 0 for no units.

    Raises `ValueError` when C is not positive definite (σ0² > 0 rules that out).
    """
    m, c = np.asarray(support, np.float64), np.asarray(covariance, np.float64)
    if not m.size:
        return 0.0
    sign_c, log_c = np.linalg.slogdet(c)
    sign, log_both = np.linalg.slogdet(c + m @ m.T)
    if sign_c <= 0 or sign <= 0:
        raise ValueError("the covariance of the evidence is not positive definite; use a larger noise σ0²")
    return float(log_both - log_c)  # Sylvester: det(I + MᵀC⁻¹M) = det(C + MMᵀ) / det C


def utility(support: Float[np.ndarray, "q a"], covariance: Float[np.ndarray, "q q"], num_atoms: int) -> float:
    """U = log det / a; 0 for an intent without atoms."""
    return log_det(support, covariance) / num_atoms if num_atoms else 0.0


def covariance(
    cluster: Int[np.ndarray, " n"], table_jaccard: Float[np.ndarray, "n n"], rows: int, noise: float
) -> Float[np.ndarray, "n*{rows} n*{rows}"]:
    """C of n tables with R units each: ColJac + σ0² I.

    Two units share columns when they are the same unit (table, image column, operator) of tables of
    one cluster; their Jaccard is then that of the two tables, see docs/evidence.md.
    """
    same = np.equal.outer(cluster, cluster)
    n = len(cluster) * rows
    return np.kron(np.where(same, table_jaccard, 0.0), np.eye(rows)) + noise * np.eye(n)
