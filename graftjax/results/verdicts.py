"""A repeated figure against the one on record: OK, NEAR, OFF, or not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from graftjax.results.expected import Figure

Status = Literal["OK", "NEAR", "OFF", "not run"]
NEAR = 2.0
"""Up to so many tolerances away a figure is near."""
_ROUNDING = 1e-9
"""A difference of exactly the tolerance is within it, whatever binary fractions make of it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of the report."""

    name: str
    status: Status
    expected: float
    ours: float | None = None
    tolerance: float = 0.0
    why: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the expected one."""
        return None if self.ours is None else self.ours - self.expected


def judge(name: str, expected: Figure, ours: Figure | None, why: str = "") -> Verdict:
    """What is to be said of a figure with a tolerance. Without `ours` it was not run, for the reason `why`.

    Queries that should be scored and are not make it OFF, whatever the mean of the others is.
    """
    tolerance = expected.tolerance
    assert tolerance is not None  # others are not compared
    if ours is None:
        return Verdict(name, "not run", expected.value, None, tolerance, why or "no such run")
    if ours.skipped > expected.skipped:
        return Verdict(name, "OFF", expected.value, ours.value, tolerance, f"{ours.skipped} queries skipped")
    if expected.n is not None and ours.n != expected.n:
        said = f"{ours.n} queries instead of {expected.n}"
        return Verdict(name, "OFF", expected.value, ours.value, tolerance, said)
    away = abs(ours.value - expected.value) - _ROUNDING
    status: Status = "OK" if away <= tolerance else "NEAR" if away <= NEAR * tolerance else "OFF"
    return Verdict(name, status, expected.value, ours.value, tolerance)


def crashed(name: str, expected: Figure, why: str) -> Verdict:
    """OFF, for a method that did not get as far as a score."""
    return Verdict(name, "OFF", expected.value, None, expected.tolerance or 0.0, f"crashed: {why}")


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    """One line a figure, and the counts."""
    width = max((len(one.name) for one in verdicts), default=0)
    found = [_line(one, width) for one in verdicts]
    return [*found, ", ".join(f"{count} {status}" for status, count in counts(verdicts).items())]


def counts(verdicts: Sequence[Verdict]) -> Mapping[Status, int]:
    """How many figures have each status."""
    order: tuple[Status, ...] = ("OK", "NEAR", "OFF", "not run")
    return {status: sum(one.status == status for one in verdicts) for status in order}


def _line(one: Verdict, width: int) -> str:
    if one.ours is None or one.difference is None:
        return f"{one.status:8}{one.name:{width}}  expected {one.expected:.4f}  ({one.why})"
    why = f"  ({one.why})" if one.why else ""
    return (
        f"{one.status:8}{one.name:{width}}  ours {one.ours:.4f}  expected {one.expected:.4f}  "
        f"difference {one.difference:+.4f}  tolerance {one.tolerance:g}{why}"
    )
