"""How a quantity grows with the size of a lake: the exponent of n^e, fitted on logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Growth:
    """Least-squares line through (log n, log y)."""

    exponent: float
    interval: tuple[float, float] | None
    """Of the exponent, by Student's t at LEVEL; None with fewer than three sizes."""
    scale: float
    """y at n = 1 on the line."""

    def at(self, n: float) -> float:
        """y on the line."""
        return self.scale * n**self.exponent


def fit_growth(sizes: Sequence[float], values: Sequence[float]) -> Growth | None:
    """Growth of positive values over positive sizes; None with fewer than two sizes or a value of zero."""
    if len(set(sizes)) < 2 or min(values) <= 0:
        return None
    x, y = np.log(np.asarray(sizes, np.float64)), np.log(np.asarray(values, np.float64))
    away = x - x.mean()
    slope = float(away @ y / (away @ away))
    start = float(y.mean() - slope * x.mean())
    interval = None
    if len(x) > 2:
        rest = y - start - slope * x
        error = np.sqrt(rest @ rest / (len(x) - 2) / (away @ away))
        reach = float(stats.t.ppf(0.5 + LEVEL / 2, len(x) - 2) * error)
        interval = (slope - reach, slope + reach)
    return Growth(slope, interval, float(np.exp(start)))
