"""Seeded draws that give the same values on every Python version and for every PYTHONHASHSEED.

Only `random.Random.random` is promised to keep its sequence for a seed across Python versions, so
everything here is built on that one method.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

from graftjax.demo import words

T = TypeVar("T")


class Draw:
    """A stream of draws, known by its seed text."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(f"graftjax-demo:{seed}").random

    def chance(self, share: float) -> bool:
        """True with probability `share`."""
        return self._random() < share

    def whole(self, low: int, high: int) -> int:
        """Whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def real(self, low: float, high: float, digits: int = 2) -> float:
        """Number between `low` and `high`, rounded to `digits` decimals."""
        return round(low + self._random() * (high - low), digits)

    def near(self, mean: float, spread: float, digits: int = 2) -> float:
        """Bell-shaped number about `mean` (sum of four uniforms), within two spreads."""
        total = sum(self._random() for _ in range(4)) - 2.0
        return round(mean + total * spread, digits)

    def pick(self, values: Sequence[T]) -> T:
        """One of `values`."""
        return values[int(self._random() * len(values))]

    def skewed(self, values: Sequence[T]) -> T:
        """One of `values`, the early ones far more often than the late ones."""
        return values[int(self._random() ** 2 * len(values))]

    def shuffle(self, values: Iterable[T]) -> list[T]:
        """The values in a drawn order, as a new list."""
        items = list(values)
        for i in range(len(items) - 1, 0, -1):
            j = int(self._random() * (i + 1))
            items[i], items[j] = items[j], items[i]
        return items

    def sample(self, values: Iterable[T], count: int) -> list[T]:
        """`count` of the values, without replacement."""
        return self.shuffle(values)[:count]

    def maybe(self, value: T, null_share: float) -> T | None:
        """The value, or None with probability `null_share`."""
        return None if self.chance(null_share) else value

    def date(self, first_year: int, last_year: int) -> str:
        """ISO date between 1 January of `first_year` and 31 December of `last_year`."""
        first = datetime.date(first_year, 1, 1).toordinal()
        last = datetime.date(last_year, 12, 31).toordinal()
        return datetime.date.fromordinal(self.whole(first, last)).isoformat()

    def time(self) -> str:
        """Time of day, `HH:MM`, on five minutes."""
        return f"{self.whole(5, 23):02d}:{self.whole(0, 11) * 5:02d}"

    def people(self, count: int) -> list[str]:
        """`count` different full names."""
        pairs = [f"{first} {last}" for first in words.FIRST_NAMES for last in words.LAST_NAMES]
        return self.sample(pairs, count)

    def links(self, left: Sequence[T], right: Sequence[T], low: int, high: int) -> list[tuple[T, T]]:
        """Pairs of a bridge table: each of `left` with `low` to `high` different ones of `right`."""
        pairs = []
        for a in left:
            chosen: list[T] = []
            for _ in range(self.whole(low, high)):
                b = self.pick(right)
                if b not in chosen:
                    chosen.append(b)
            pairs += [(a, b) for b in chosen]
        return pairs


def day_after(iso: str, days: int) -> str:
    """The ISO date `days` days after `iso`."""
    return (datetime.date.fromisoformat(iso) + datetime.timedelta(days=days)).isoformat()


def months(first_year: int, last_year: int) -> list[str]:
    """All months `YYYY-MM` of the years, in order."""
    return [f"{y}-{m:02d}" for y in range(first_year, last_year + 1) for m in range(1, 13)]
