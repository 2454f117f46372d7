"""Retrieval metrics of Sec. 5.2: recall, precision, F1 and Sufficiency, and intervals of their means.

Letters: Q queries, B bootstrap resamples.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from jaxtyping import Float

from graftjax.errors import GraftError
from graftjax.types import TableId

METRICS = ("recall", "precision", "f1", "sufficiency")
"""In the order of the paper's tables."""
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Score:
    """Metrics of one query, each in [0, 1]."""

    recall: float
    precision: float
    f1: float
    sufficiency: float
    """1 when every gold table is retrieved, else 0."""


def score(retrieved: Collection[TableId], gold: Collection[TableId]) -> Score:
    """With R retrieved and G gold: recall |R∩G|/|G|, precision |R∩G|/|R|, their harmonic mean, [G ⊆ R].

    Nothing retrieved gives 0 in all four. `GraftError` without gold tables (no recall is defined) and for
    a table retrieved twice.
    """
    found, wanted = set(retrieved), set(gold)
    if not wanted:
        raise GraftError("a query without gold tables can't be scored")
    if len(found) < len(retrieved):
        raise GraftError("a table is retrieved twice")
    hits = len(found & wanted)
    recall = hits / len(wanted)
    precision = hits / len(found) if found else 0.0
    # 2PR/(P+R) written on counts: no division by zero when nothing is hit, and exact at 1.
    f1 = 2 * hits / (len(found) + len(wanted))
    return Score(recall, precision, f1, float(hits == len(wanted)))


def score_matrix(scores: Sequence[Score]) -> Float[np.ndarray, "Q 4"]:
    """One row a query, columns in the order of `METRICS`."""
    return np.array([astuple(one) for one in scores], np.float64).reshape(len(scores), len(METRICS))


def mean_scores(matrix: Float[np.ndarray, "Q 4"]) -> dict[str, float]:
    """Means over the queries; F1 is the mean of the queries' F1.

    `GraftError` for Q = 0: no queries are no score.
    """
    if not len(matrix):
        raise GraftError("no query could be scored")
    return dict(zip(METRICS, matrix.mean(axis=0).tolist(), strict=True))


def f1_of_means(recall: float, precision: float) -> float:
    """Harmonic mean of mean recall and mean precision: what the paper's F1 columns agree with."""
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def bootstrap_interval(
    values: Float[np.ndarray, " Q"], *, seed: int = 0, level: float = 0.95, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean over queries, the same for the same seed.

    Queries are the unit that is resampled, so the interval speaks of other queries of the kind, not of
    repeated runs. One query gives an interval of width 0. `GraftError` for Q = 0.
    """
    if not len(values):
        raise GraftError("no query could be scored")
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, len(values), size=(resamples, len(values)))  # [B, Q]
    tail = (1 - level) / 2
    low, high = np.quantile(values[draws].mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)
