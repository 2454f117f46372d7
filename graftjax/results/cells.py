"""Summaries of runs (lake → budget → method → figures) as flat figures, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graftjax.evaluate.metrics import METRICS
from graftjax.evaluate.paper import paper_latency_s, paper_scores
from graftjax.results.expected import Expected, Figure, cell_of, figure_name

TOLERANCES = {"recall": 0.02, "precision": 0.02, "f1": 0.02, "sufficiency": 0.03}
"""Of a mean over 100 queries: two or three of them may come out wholly differently, which is what another
processor's rounding or a repeated training changes; times are not compared."""
_PLAIN = ("tables", "ms_mean", "ms_p50", "ms_p95")
_SOLID = "without_trivial"
_ESTIMATED = ("answerability", "sufficiency", "difference")
_ANSWERS = (*_ESTIMATED, "lucky", "lucky_trivial")


def figures_of(lakes: Mapping[str, Any]) -> dict[str, Figure]:
    """The figures of a summary's `lakes` (graftjax.evaluate.comparison), with tolerances and the paper's."""
    found: dict[str, Figure] = {}
    for lake, own in lakes.items():
        for budget, methods in own["budgets"].items():
            for method, row in methods.items():
                counts = {"n": row["queries"], "runs": row["runs"], "skipped": row["skipped"]}
                for metric in METRICS if row["queries"] else ():
                    value, low, high = row[metric]
                    found[figure_name(lake, method, budget, metric)] = Figure(
                        value=value,
                        low=low,
                        high=high,
                        by_seed=tuple(row["seeds_f1"]) if metric == "f1" else (),
                        tolerance=TOLERANCES[metric],
                        paper=paper_scores(lake, budget).get(paper_name(method), {}).get(metric),
                        **counts,
                    )
                for metric in _PLAIN if row["queries"] else ():
                    paper = _paper_ms(lake, method, budget) if metric == "ms_mean" else None
                    found[figure_name(lake, method, budget, metric)] = Figure(
                        value=row[metric], paper=paper, **counts
                    )
    return found


def lakes_of(expected: Expected) -> dict[str, Any]:
    """What `figures_of` took apart; titles come from `details.titles`."""
    titles = expected.details.get("titles", {})
    lakes: dict[str, Any] = {}
    for name, figure in expected.figures.items():
        cell = cell_of(name)
        if cell is None or cell.metric not in (*METRICS, *_PLAIN):
            continue
        own = lakes.setdefault(cell.lake, {"title": titles.get(cell.lake, cell.lake), "budgets": {}})
        row = own["budgets"].setdefault(cell.budget, {}).setdefault(cell.method, {})
        row |= {"runs": figure.runs, "queries": figure.n, "skipped": figure.skipped}
        ends = (figure.low, figure.high)
        row[cell.metric] = figure.value if cell.metric in _PLAIN else [figure.value, *ends]
        if figure.by_seed:
            row["seeds_f1"] = [*figure.by_seed]
    return lakes


def paper_name(method: str) -> str:
    """The paper's method that ours is set beside: GRAFT spends the budget there, peers know no unions."""
    return "graft" if method == "graft-fill" else method if method != "graft" else ""


def _paper_ms(lake: str, method: str, budget: int) -> float | None:
    seconds = paper_latency_s(paper_name(method)) if (lake, budget) == ("spider", 10) else None
    return None if seconds is None else 1000 * seconds


def answer_figures_of(lakes: Mapping[str, Any]) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Figures and details of lake → `graftjax.evaluate.answerability.answerability(...)`."""
    figures: dict[str, Figure] = {}
    details: dict[str, Any] = {}
    for lake, own in lakes.items():
        details[lake] = {key: value for key, value in own.items() if key != "budgets"}
        for budget, methods in own["budgets"].items():
            for method, row in methods.items():
                for part, found in (("", row), (_SOLID, row.get(_SOLID, {}))):
                    for metric in _ANSWERS:
                        if metric in found:
                            name = f"{metric}_{part}" if part else metric
                            figures[figure_name(lake, method, budget, name)] = _answer_figure(
                                metric, found, row["runs"]
                            )
                if "no_answer" in row:
                    details[lake].setdefault("no_answer", {})[f"{method}/L{budget}"] = row["no_answer"]
    return figures, details


def _answer_figure(metric: str, found: Mapping[str, Any], runs: int) -> Figure:
    if metric not in _ESTIMATED:
        return Figure(value=found[metric], n=found["queries"], runs=runs)
    value, low, high = found[metric]
    tolerance = TOLERANCES["sufficiency"]
    return Figure(value=value, low=low, high=high, n=found["queries"], runs=runs, tolerance=tolerance)
