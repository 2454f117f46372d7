"""Paired bootstrap over queries: is one method better than another on the same questions, and by how much?

Letters: Q queries, M compared metrics (those of a query, and F1 of means), B resamples.

Queries are drawn with replacement, the same ones for both methods, so that what is hard for both cancels.
Runs that differ by seed alone are averaged query by query first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from graftjax.errors import GraftError
from graftjax.evaluate.metrics import METRICS, RESAMPLES

COMPARED = (*METRICS, "f1_of_means")
"""Means over the queries, and the harmonic mean of mean recall and mean precision."""
_DECIMALS = 12
"""Differences of resampled means are rounded to that many, so that equal means differ by exactly 0."""

Record = Mapping[str, Any]
"""A run as `graftjax.evaluate.runs.run_record` makes it."""
Cell = tuple[str, int]
"""(lake, L)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the ends of its percentile interval; what can't be told is None, never NaN."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Method a against method b on one lake at one budget; the dicts go by `COMPARED`."""

    a: str
    b: str
    lake: str
    budget: int
    n_queries: int
    """Queries that both methods have a score for."""
    n_left_out: int
    """Queries that any run names and that are not scored for both."""
    difference: dict[str, Estimate]
    """Mean of a minus mean of b."""
    gain: dict[str, Estimate]
    """Mean of a over mean of b, minus 1; None where the mean of b is 0."""
    p_value: dict[str, float]
    """Two-sided, of a difference of 0: see `compare`."""


@dataclass(frozen=True, slots=True)
class AverageGain:
    """Relative gain of method a over method b, averaged over cells of a lake and a budget."""

    a: str
    b: str
    cells: tuple[Cell, ...]
    n_queries: dict[str, int]
    """Lake → queries that both methods have a score for at each budget."""
    n_left_out: dict[str, int]
    """Lake → the other queries that any of its runs names."""
    gain: dict[str, Estimate]
    """Unweighted mean over the cells; None where it is None in one of them."""
    by_cell: tuple[dict[str, float | None], ...]
    """The gains that are averaged, in the order of `cells`."""


def scores_by_query(records: Sequence[Record]) -> dict[str, tuple[float, ...]]:
    """Query id → its metrics in the order of `METRICS`, averaged over the runs that scored it."""
    rows: dict[str, list[tuple[float, ...]]] = {}
    for record in records:
        for one in record["per_query"]:
            row = (one["recall"], one["precision"], one["f1"], float(one["sufficient"]))
            rows.setdefault(one["id"], []).append(row)
    return {id: tuple(np.mean(found, axis=0).tolist()) for id, found in rows.items()}


def compare(
    a: Sequence[Record],
    b: Sequence[Record],
    *,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare the runs of method a with those of method b; all are of one lake and one budget.

    The p value is the smallest level at which the percentile interval of the difference leaves 0 out:
    with d* the B resampled differences, min(1, 2 (1 + min(#{d* ≤ 0}, #{d* ≥ 0})) / (B + 1)). It is at
    least 2 / (B + 1), and 1 for methods that score the same on every query.

    Raises GraftError without runs, for runs of several methods, lakes or budgets, for a query whose gold
    set is not the same in all runs, and when no query is scored for both.
    """
    _check(a, b)
    cells = {_cell(record) for record in (*a, *b)}
    if len(cells) > 1:
        raise GraftError(f"runs of one lake and one L can be compared, not of {_names(cells)}")
    ((lake, budget),) = cells
    (ours, theirs), left_out = _paired([a, b], f"{lake}, L={budget}")
    weights = _weights(len(ours), np.random.default_rng(seed), resamples)
    value_a, value_b = _means(ours), _means(theirs)
    drawn_a, drawn_b = _means(ours, weights), _means(theirs, weights)
    difference = np.round(drawn_a - drawn_b, _DECIMALS)
    sides = np.minimum((difference <= 0).sum(axis=0), (difference >= 0).sum(axis=0))
    p_values = np.minimum(1.0, 2 * (1 + sides) / (resamples + 1))
    least, most = _gain_bounds(drawn_a, drawn_b)
    return Comparison(
        a=a[0]["method"],
        b=b[0]["method"],
        lake=lake,
        budget=budget,
        n_queries=len(ours),
        n_left_out=left_out,
        difference=_estimates((value_a - value_b).tolist(), difference, difference, level),
        gain=_estimates(_gains(value_a, value_b), least, most, level),
        p_value=dict(zip(COMPARED, p_values.tolist(), strict=True)),
    )


def average_gain(
    a: Sequence[Record],
    b: Sequence[Record],
    *,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> AverageGain:
    """Mean relative gain of a over b in all (lake, L) cells of their runs, as the paper averages over six.

    A resample draws the queries of each lake once, for all its budgets: the same questions are asked at
    each. Lakes are drawn independently.

    Raises GraftError as `compare` does, and for a cell that only one of the methods has.
    """
    _check(a, b)
    runs = [cells_of(a), cells_of(b)]
    uneven = runs[0].keys() ^ runs[1].keys()
    if uneven:
        raise GraftError(f"only one of {a[0]['method']} and {b[0]['method']} was run for {_names(uneven)}")
    cells = tuple(sorted(runs[0]))
    n_queries, n_left_out = {}, {}
    by_cell: list[dict[str, float | None]] = []
    least, most = np.zeros((2, resamples, len(COMPARED)))
    for number, lake in enumerate(sorted({lake for lake, _ in cells})):
        own = [cell for cell in cells if cell[0] == lake]
        tables, n_left_out[lake] = _paired([one[cell] for cell in own for one in runs], lake)
        n_queries[lake] = len(tables[0])
        weights = _weights(n_queries[lake], np.random.default_rng([seed, number]), resamples)
        for ours, theirs in zip(tables[::2], tables[1::2], strict=True):
            by_cell.append(dict(zip(COMPARED, _gains(_means(ours), _means(theirs)), strict=True)))
            low, high = _gain_bounds(_means(ours, weights), _means(theirs, weights))
            least, most = least + low, most + high
    values = []
    for metric in COMPARED:
        found = [gain for gain in (one[metric] for one in by_cell) if gain is not None]
        values.append(sum(found) / len(cells) if len(found) == len(cells) else None)
    gain = _estimates(values, least / len(cells), most / len(cells), level)
    return AverageGain(a[0]["method"], b[0]["method"], cells, n_queries, n_left_out, gain, tuple(by_cell))


def _check(a: Sequence[Record], b: Sequence[Record]) -> None:
    for records in (a, b):
        methods = {record["method"] for record in records}
        if len(methods) != 1:
            raise GraftError(f"runs of one method are wanted on each side, not of {_names(methods)}")


def _names(several: Any) -> str:
    return ", ".join(str(one) for one in sorted(several)) or "none"


def _cell(record: Record) -> Cell:
    return record["lake"], record["L"]


def cells_of(records: Sequence[Record]) -> dict[Cell, list[Record]]:
    """The runs of each lake and budget."""
    found: dict[Cell, list[Record]] = {}
    for record in records:
        found.setdefault(_cell(record), []).append(record)
    return found


def _paired(groups: Sequence[Sequence[Record]], what: str) -> tuple[list[Float[np.ndarray, "Q 4"]], int]:
    """Scores of the queries that every group has, in one order, and the number of the other queries."""
    gold: dict[str, set[tuple[str, ...]]] = {}
    named: set[str] = set()
    for record in (record for group in groups for record in group):
        named |= {one["id"] for one in (*record["per_query"], *record["skipped"])}
        for one in record["per_query"]:
            wanted = {tuple(table) for table in one["gold"]}
            if gold.setdefault(one["id"], wanted) != wanted:
                raise GraftError(f"{what}: the gold set of {one['id']} is not the same in all runs")
    scores = [scores_by_query(group) for group in groups]
    ids = sorted(set.intersection(*(set(one) for one in scores)))
    if not ids:
        raise GraftError(f"{what}: no query is scored for both methods")
    return [np.array([one[id] for id in ids], np.float64) for one in scores], len(named) - len(ids)


def _weights(queries: int, rng: np.random.Generator, resamples: int) -> Float[np.ndarray, "B Q"]:
    """Share that each query has in each resample: rows sum to 1."""
    return rng.multinomial(queries, np.full(queries, 1 / queries), size=resamples) / queries


def _means(
    scores: Float[np.ndarray, "Q 4"], weights: Float[np.ndarray, "B Q"] | None = None
) -> Float[np.ndarray, "*B M"]:
    """Values of `COMPARED`, over all queries or in each resample."""
    means = scores.mean(axis=0) if weights is None else weights @ scores
    recall, precision = means[..., 0], means[..., 1]
    total = recall + precision
    harmonic = np.divide(2 * recall * precision, total, out=np.zeros_like(total), where=total > 0)
    return np.concatenate([means, harmonic[..., None]], axis=-1)


def _gains(a: Float[np.ndarray, " M"], b: Float[np.ndarray, " M"]) -> list[float | None]:
    return [x / y - 1 if y > 0 else None for x, y in zip(a.tolist(), b.tolist(), strict=True)]


def _gain_bounds(
    a: Float[np.ndarray, "B M"], b: Float[np.ndarray, "B M"]
) -> tuple[Float[np.ndarray, "B M"], Float[np.ndarray, "B M"]]:
    """Least and greatest gain that each resample may stand for.

    They are the same unless b is 0 there: then a gain is infinite, or anything from -1 when a is 0 too.
    """
    infinite = np.where(a > 0, np.inf, -1.0)
    least = np.divide(a, b, out=infinite + 1, where=b > 0) - 1
    return least, np.where(b > 0, least, np.inf)


def _estimates(
    values: Sequence[float | None],
    least: Float[np.ndarray, "B M"],
    most: Float[np.ndarray, "B M"],
    level: float,
) -> dict[str, Estimate]:
    """Values with their percentile intervals; the ends are resampled values, so an infinite one is seen."""
    tail = (1 - level) / 2
    lows = np.quantile(least, tail, axis=0, method="lower")
    highs = np.quantile(most, 1 - tail, axis=0, method="higher")
    return {
        metric: Estimate(value, _finite(low, value), _finite(high, value))
        for metric, value, low, high in zip(COMPARED, values, lows, highs, strict=True)
    }


def _finite(end: Shaped[np.ndarray, ""] | np.floating | float, value: float | None) -> float | None:
    return float(end) if value is not None and np.isfinite(end) else None
