"""The propositions on a lake's questions, for each reading of "column set": measured, printed, plotted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graftjax.encode.encoder import Encoder
from graftjax.errors import GraftError
from graftjax.evaluate.cases import Case
from graftjax.evaluate.column_sets import READINGS, jaccard, row_overlap
from graftjax.evaluate.evidence_sets import Collector, EvidenceSet
from graftjax.evaluate.greedy import candidates_of, greedy
from graftjax.evaluate.metrics import score
from graftjax.evaluate.propositions import DISTINCT_ROWS, PROPERTIES, summary, trials
from graftjax.lake.record import LakeIndex

SOURCES = ("synthesis", "region")
"""Tables that a search returns; tables drawn from a region."""
_NAMES = ("Prop. 1", "2, units", "2, tables", "Prop. 3", "copy keeps", "shard keeps", "greedy F1")
Report = dict[str, dict[str, dict[str, dict[str, float]]]]
"""Source → reading → property → fields of `propositions.Measure`."""


def measure(
    index: LakeIndex, encoder: Encoder, cases: Sequence[Case], budget: int, count: int, seed: int
) -> Report:
    """Up to `count` trials per property and evidence set; the trials are the same for every reading."""
    collector = Collector(index, encoder)
    outcomes: dict[tuple[str, str], list[dict[str, list[float]]]] = {
        (source, reading): [] for source in SOURCES for reading in READINGS
    }
    for number, (source, units) in enumerate(_sets(collector, cases, budget, seed)):
        distinct = np.equal.outer(units.cluster, units.cluster) & (row_overlap(index, units) < DISTINCT_ROWS)
        for reading in READINGS:
            outcomes[source, reading].append(
                trials(
                    units.support, jaccard(reading, index, units), collector.settings.score.noise,
                    units.table, distinct, reading == "physical", count,
                    np.random.default_rng([seed, number]),
                )
            )  # fmt: skip
    if not any(outcomes.values()):
        raise GraftError("no question names anything that the lake has evidence for: there is nothing to try")
    return {
        source: {
            reading: {
                name: dataclasses.asdict(one) for name, one in summary(outcomes[source, reading]).items()
            }
            for reading in READINGS
        }
        for source in SOURCES
    }


def _sets(
    collector: Collector, cases: Sequence[Case], budget: int, seed: int
) -> Iterator[tuple[str, EvidenceSet]]:
    rng = np.random.default_rng([seed, 1])
    for case in cases:
        if case.query.intent is None:
            continue
        known = collector.region(case.query.intent, budget)
        if known is None:
            continue
        for source, units in (
            ("synthesis", collector.synthesis(*known)),
            ("region", collector.drawn(*known, budget, rng)),
        ):
            if units is not None:
                yield source, units


def compare_f1(
    index: LakeIndex, encoder: Encoder, cases: Sequence[Case], budget: int
) -> dict[str, dict[str, float]]:
    """Mean recall and F1 of the greedy search under each reading; the same candidate tables for all."""
    collector = Collector(index, encoder)
    scores: dict[str, list[tuple[float, float]]] = {reading: [] for reading in READINGS}
    for case in cases:
        known = case.query.intent and collector.region(case.query.intent, budget)
        found = known and candidates_of(collector, *known)
        for reading in READINGS:
            tables = greedy(collector, *known, found, reading, budget) if known and found else ()
            one = score(tables, case.gold)
            scores[reading].append((one.recall, one.f1))
    return {
        reading: dict(zip(("recall", "f1"), np.mean(pairs, axis=0).tolist(), strict=True)) if pairs else {}
        for reading, pairs in scores.items()
    }


def as_text(title: str, report: Report, f1: dict[str, dict[str, float]] | None) -> str:
    """One line per source and reading: share of failing trials and mean size of a failure, in percent; of the
    last two the mean share of its own gain that a copy and a shard keep."""
    lines = [title, f"{'':20}" + "".join(f"{name:>16}" for name in _NAMES)]
    for source, readings in report.items():
        for reading, measures in readings.items():
            cells = [
                f"{100 * measure['mean']:.1f}"
                if name.endswith("_kept")
                else f"{100 * measure['failing']:.1f} ({100 * measure['mean']:.0f})"
                for name, measure in ((name, measures[name]) for name in PROPERTIES)
            ]
            cells.append(f"{f1[reading]['f1']:.3f}" if f1 and f1[reading] else "")
            lines.append(f"{source:10}{reading:10}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def plot(report: Report, title: str, target: Path) -> bool:
    """Bars of failing trials per property and reading; False where matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(11, 4), layout="constrained")
    FigureCanvasAgg(figure)
    panels: Any = figure.subplots(1, len(report), sharey=True)
    width = 0.8 / len(READINGS)
    left = np.arange(len(PROPERTIES)) - (len(READINGS) - 1) / 2 * width
    for panel, (source, readings) in zip(panels, report.items(), strict=True):
        for i, (reading, measures) in enumerate(readings.items()):
            heights = [100 * measures[name]["failing"] for name in PROPERTIES]
            panel.bar(left + i * width, heights, width, label=reading)
        panel.set_xticks(np.arange(len(PROPERTIES)), _NAMES[:-1])
        panel.set_title(f"{title}: {source}")
    panels[0].set_ylabel("trials that fail, or keep over a tenth (%)")
    panels[0].legend()
    figure.savefig(target, dpi=120)
    return True
