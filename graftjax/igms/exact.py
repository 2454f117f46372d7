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
    cluster: Int[np.ndarray, " n"],
    table_jaccard: Float[np.ndarray, "n n"],
    width: Float[np.ndarray, " n"],
    rows: int,
    noise: float,
) -> Float[np.ndarray, "n*R n*R"]:
    """C of n tables with R units each: ColJac + σ0² I.

    Units of different clusters share no column. Inside a cluster the Jaccard of two units is that of
    their column classes (table and column: 1 / number of columns) times that of the tables' rows.
    """
    index = np.arange(rows)
    blocks = []
    for w in width:
        column = (index > 0) & (index < rows - 1) & (index <= w)
        similarity = np.eye(rows)
        similarity[0, column] = similarity[column, 0] = 1.0 / max(float(w), 1.0)
        blocks.append(similarity)
    n = len(cluster)
    result = np.zeros((n * rows, n * rows))
    for i in range(n):
        for j in range(n):
            if cluster[i] == cluster[j]:
                result[i * rows : (i + 1) * rows, j * rows : (j + 1) * rows] = blocks[j] * table_jaccard[i, j]
    return result + noise * np.eye(n * rows)
