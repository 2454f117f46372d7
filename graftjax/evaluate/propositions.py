"""How often, and by how much, Propositions 1 to 3 of the paper fail on a set of evidence units.

A trial draws sets A ⊆ B and something to add; all log dets are float64 from nothing. Sizes are relative to
the gains themselves, in [0, 1]: (after − before) / after for a gain that grew, after / max(alone, after) for
the share of its own gain that something keeps (1 where it gains as much as alone or more).
Letters: q units, n tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from graftjax.igms.exact import log_det

TOLERANCE = 1e-9
"""Rounding of a difference of two float64 log dets."""
REPEAT = 0.9
"""Jaccard from which a unit counts as repeating the columns of another."""
SUPPRESSED = 0.1
"""Share of its own gain above which a unit that repeats another one's columns is not suppressed."""
DISTINCT_ROWS = 0.1
"""Row Jaccard below which two tables of a cluster have different rows."""


@dataclass(frozen=True)
class Measure:
    """One property over many trials."""

    trials: int
    failing: float
    """Share of trials."""
    mean: float
    """Mean failure size over the failing trials; for a kept share: mean over all trials."""
    most: float


PROPERTIES = (
    "monotone", "diminishing_units", "diminishing_tables", "repeats_suppressed", "copy_kept", "shard_kept",
)  # fmt: skip
"""Prop. 1; Prop. 2 by units and by whole tables; Prop. 3 for units whose Jaccard is at least REPEAT; the
share of its own gain that an exact copy of a table keeps beside the original, and that a shard with other
rows keeps."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Units with their covariance, σ0² included."""

    support: Float[np.ndarray, "q a"]
    covariance: Float[np.ndarray, "q q"]

    def value(self, units: Int[np.ndarray, " k"]) -> float:
        return log_det(self.support[units], self.covariance[np.ix_(units, units)])

    def gain(self, new: Int[np.ndarray, " j"], units: Int[np.ndarray, " k"]) -> float:
        """log det gain of `new` after `units`."""
        return self.value(np.concatenate([units, new])) - self.value(units)

    def kept(self, new: Int[np.ndarray, " j"], units: Int[np.ndarray, " k"]) -> float:
        """Share of its own gain that `new` keeps after `units`."""
        after = self.gain(new, units)
        return after / max(self.value(new), after, TOLERANCE)


def trials(
    support: Float[np.ndarray, "q a"],
    jaccard: Float[np.ndarray, "q q"],
    noise: float,
    table: Int[np.ndarray, " q"],
    distinct: Bool[np.ndarray, "n n"],
    copy_is_new: bool,
    count: int,
    rng: np.random.Generator,
) -> dict[str, list[float]]:
    """Outcomes of up to `count` trials per property.

    Of the first four properties: the failure size, 0 where there is none. `distinct`: pairs of tables of one
    cluster with different rows. `copy_is_new`: whether a copy of a table shares no column with it (reading
    `physical`) rather than all.
    """
    scored = Scored(support, jaccard + noise * np.eye(len(support)))
    found: dict[str, list[float]] = {name: [] for name in PROPERTIES}
    groups = [np.flatnonzero(table == t) for t in np.unique(table)]
    for _ in range(count):
        _diminishing([np.array([i]) for i in range(len(support))], scored, "units", found, rng)
        _diminishing(groups, scored, "tables", found, rng)
    repeated = np.argwhere(np.triu(jaccard >= REPEAT, 1))
    for i, j in rng.permutation(repeated)[:count]:
        kept = scored.kept(np.array([j]), np.array([i]))
        found["repeats_suppressed"].append(kept if kept > SUPPRESSED else 0.0)
    for group in groups[:count]:
        found["copy_kept"].append(_copy(group, scored, noise, copy_is_new))
    pairs = [(s, t) for s, t in np.argwhere(distinct) if s < t]
    for s, t in rng.permutation(np.array(pairs, int).reshape(-1, 2))[:count]:
        first, second = np.flatnonzero(table == s), np.flatnonzero(table == t)
        if len(first) and len(second):
            found["shard_kept"].append(scored.kept(second, first))
    return found


def _diminishing(
    parts: list[np.ndarray],
    scored: Scored,
    what: str,
    found: dict[str, list[float]],
    rng: np.random.Generator,
) -> None:
    """One trial of Prop. 2, and of Prop. 1 on its gains."""
    if len(parts) < 2:
        return
    order = rng.permutation(len(parts))
    large = rng.integers(1, len(parts))
    small = rng.integers(0, large)
    new = parts[order[-1]]
    gather = lambda size: np.concatenate([parts[i] for i in order[:size]] or [np.array([], int)])  # noqa: E731
    before, after = scored.gain(new, gather(small)), scored.gain(new, gather(large))
    grown = after - before
    found[f"diminishing_{what}"].append(grown / after if grown > TOLERANCE else 0.0)
    # A gain is relative to itself, so a negative one has lost at least all of it.
    found["monotone"] += [1.0 if gain < -TOLERANCE else 0.0 for gain in (before, after)]


def _copy(group: np.ndarray, scored: Scored, noise: float, is_new: bool) -> float:
    """Share of its own gain that a copy of a table keeps right after the original."""
    own = scored.covariance[np.ix_(group, group)]
    between = np.zeros_like(own) if is_new else own - noise * np.eye(len(group))
    both = Scored(np.tile(scored.support[group], (2, 1)), np.block([[own, between], [between.T, own]]))
    first, second = np.arange(len(group)), np.arange(len(group), 2 * len(group))
    return both.kept(second, first)


def summary(outcomes: Iterable[dict[str, list[float]]]) -> dict[str, Measure]:
    """Outcomes of many evidence sets as one measure per property."""
    pooled: dict[str, list[float]] = {name: [] for name in PROPERTIES}
    for one in outcomes:
        for name, sizes in one.items():
            pooled[name] += sizes
    return {name: _measure(name, np.asarray(sizes)) for name, sizes in pooled.items()}


def _measure(name: str, sizes: np.ndarray) -> Measure:
    if not len(sizes):
        return Measure(0, 0.0, 0.0, 0.0)
    failing = sizes > (SUPPRESSED if name.endswith("_kept") else 0.0)
    mean = sizes.mean() if name.endswith("_kept") else sizes[failing].mean() if failing.any() else 0.0
    return Measure(len(sizes), float(failing.mean()), float(mean), float(sizes.max()))
