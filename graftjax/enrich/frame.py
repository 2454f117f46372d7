"""An enriched table as numbers for the predictor.

Kinds: numbers stay as they are (missing is NaN); texts of the form 2024-01-31 become three numbers, day, day
of the week and day of the year; other texts become codes by their frequency, which is counted in the training
rows of a fold alone.

Letters: N rows, F columns.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from graftjax.enrich.integrate import Enriched
from graftjax.enrich.source import Task

MOST_CODES = 250
"""Codes of a text column: rarer values share the last one (the predictor takes 255 at most)."""
DATES = 0.95
"""Share of a column's texts that must be dates for it to be read as one."""
NUMBERS = 0.95
"""Share of a mixed column's values that must read as numbers for it to be numeric."""
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?")


@dataclass(frozen=True, eq=False)
class Frame:
    """What a predictor needs of an enriched table."""

    numbers: Float[np.ndarray, "N F"]
    """Numbers, or the number of a text among its column's distinct ones; NaN is missing."""
    coded: Bool[np.ndarray, " F"]
    """Columns of texts."""
    target: Float[np.ndarray, " N"]
    """Number, or number of the class; NaN where it is missing."""
    key: Int[np.ndarray, " N"]
    """Equal numbers are equal keys."""
    copy: Int[np.ndarray, " N"]
    """Rows without a key that have the same values as a base row have its number; all others −1."""
    num_base: int
    task: Task

    @property
    def num_classes(self) -> int:
        return len(np.unique(self.target[~np.isnan(self.target)]))


def frame_of(enriched: Enriched, task: Task) -> Frame:
    """Columns without any value are left out."""
    columns: list[np.ndarray] = []
    coded: list[bool] = []
    for values in enriched.features.values():
        for column, is_coded in _columns(values):
            if not np.isnan(column).all():
                columns.append(column)
                coded.append(is_coded)
    rows = enriched.num_rows
    numbers = np.column_stack(columns) if columns else np.zeros((rows, 0))
    target = _numbers(enriched.target) if task == "regression" else _codes(enriched.target)
    key = _codes([None if value is None else str(value).strip().casefold() for value in enriched.keys])
    missing = np.isnan(key)
    # A row without a key is nobody's: a number of its own.
    key[missing] = -1.0 - np.arange(int(missing.sum()))
    return Frame(
        numbers,
        np.array(coded, bool),
        target,
        key.astype(np.int64),
        _copies(enriched, missing),
        enriched.num_base,
        task,
    )


def encode(frame: Frame, training: Int[np.ndarray, " _"]) -> Float[np.ndarray, "N F"]:
    """Texts by the rank of their frequency in the training rows; unknown there is missing."""
    encoded = frame.numbers.copy()
    for column in np.flatnonzero(frame.coded).tolist():
        codes = frame.numbers[:, column]
        known = ~np.isnan(codes)
        size = int(codes[known].max()) + 1
        seen = codes[training]
        counts = np.bincount(seen[~np.isnan(seen)].astype(np.int64), minlength=size)
        rank = np.empty(size)
        rank[np.argsort(-counts, kind="stable")] = np.minimum(np.arange(size), MOST_CODES)
        rank[counts == 0] = np.nan
        encoded[known, column] = rank[codes[known].astype(np.int64)]
    return encoded


def _columns(values: Sequence[Any]) -> list[tuple[np.ndarray, bool]]:
    texts = [value for value in values if isinstance(value, str)]
    filled = sum(value is not None for value in values)
    if not texts:
        return [(_numbers(values), False)]
    if len(texts) < filled:  # tables of a union that disagree: numbers, if nearly all can be read so
        numbers = _numbers(values)
        if np.isfinite(numbers).sum() >= NUMBERS * filled:
            return [(numbers, False)]
    days = [_day(value) for value in values]
    if sum(day is not None for day in days) >= DATES * filled:
        parts = [(d.toordinal(), d.weekday(), d.timetuple().tm_yday) if d else (np.nan,) * 3 for d in days]
        return [(np.array(part, np.float64), False) for part in zip(*parts, strict=True)]
    return [(_codes([None if value is None else str(value) for value in values]), True)]


def _day(value: Any) -> datetime.date | None:
    if isinstance(value, datetime.date):
        return value
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        return datetime.date(*map(int, found.groups()))
    except ValueError:
        return None


def _numbers(values: Sequence[Any]) -> Float[np.ndarray, " N"]:
    def number(value: Any) -> float:
        if isinstance(value, datetime.datetime | datetime.date):
            return float(value.toordinal())
        try:
            found = float(value)
        except (TypeError, ValueError):
            return np.nan
        return found if np.isfinite(found) else np.nan

    return np.array([number(value) for value in values], np.float64)


def _codes(values: Sequence[Any]) -> Float[np.ndarray, " N"]:
    """Numbers of the distinct values in their order as texts; NaN for None."""
    place = {v: float(n) for n, v in enumerate(sorted({str(v) for v in values if v is not None}))}
    return np.array([np.nan if value is None else place[str(value)] for value in values], np.float64)


def _copies(enriched: Enriched, missing: Bool[np.ndarray, " N"]) -> Int[np.ndarray, " N"]:
    """For rows whose table has no key: the base row with the same values in all of the base's columns."""
    copy = np.full(enriched.num_rows, -1, np.int64)
    if not missing.any():
        return copy
    own = [values for name, values in enriched.features.items() if not name.startswith("+")]
    rows = list(zip(*own, enriched.target, strict=True))
    of_base: dict[tuple[Any, ...], int] = {}
    for number, row in enumerate(rows[: enriched.num_base]):
        of_base.setdefault(row, number)
    for number in np.flatnonzero(missing).tolist():
        if number >= enriched.num_base:
            copy[number] = of_base.get(rows[number], -1)
    return copy
