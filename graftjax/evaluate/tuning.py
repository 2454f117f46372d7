"""The one procedure by which dials are chosen, of GRAFT and of every peer alike: coordinate search.

Starting from the defaults (the published values where there are any), each dial of a method's grid is tried
value by value, in the order of the grid, with all others at the best so far; a value is kept when it raises
the measure. Sweeps are repeated until one changes nothing, at most `sweeps` times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEAST_RISE = 1e-4
"""A rise below this is rounding, not a reason to move away from a published value."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting that was measured."""

    settings: dict[str, Any]
    """What differs from the defaults."""
    value: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """The outcome of a search."""

    settings: dict[str, Any]
    """What differs from the defaults in the best trial."""
    value: float
    default: float
    """What the start reaches."""
    trials: tuple[Trial, ...]


def coordinate_search(
    grid: Mapping[str, Sequence[Any]],
    defaults: Mapping[str, Any],
    measure: Callable[[dict[str, Any]], float],
    *,
    start: Mapping[str, Any] | None = None,
    sweeps: int = 2,
    told: Callable[[Trial, bool], None] = lambda trial, best: None,
) -> Tuned:
    """Maximise `measure` over a grid, one dial at a time; no setting is measured twice.

    `start`: where to begin, as what differs from `defaults`. `measure` takes what differs from `defaults`.
    `told` hears of every trial and whether it is the best yet.
    """
    known: dict[tuple[tuple[str, Any], ...], float] = {}
    trials: list[Trial] = []

    def value_of(settings: dict[str, Any], best: float) -> float:
        key = tuple(sorted(settings.items()))
        if key not in known:
            known[key] = measure(settings)
            trials.append(Trial(settings, known[key]))
            told(trials[-1], known[key] > best + LEAST_RISE)
        return known[key]

    best: dict[str, Any] = dict(start or {})
    first = value = value_of(best, float("-inf"))
    for _ in range(sweeps):
        before = best
        for name, choices in grid.items():
            for choice in choices:
                changed = {**best, name: choice}
                if choice == defaults[name]:
                    del changed[name]
                found = value_of(changed, value)
                if found > value + LEAST_RISE:
                    best, value = changed, found
        if best == before:
            break
    return Tuned(best, value, first, tuple(trials))
