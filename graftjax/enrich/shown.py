"""An enrichment summary as Markdown tables and as curves of metric against L."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graftjax.enrich.runs import DOWNSTREAM, LABELS, REFERENCES
from graftjax.enrich.source import Task
from graftjax.evaluate.markdown import table
from graftjax.evaluate.paper import paper_budgets, paper_scores
from graftjax.results.expected import Figure, cell_of, figure_name
from graftjax.results.plot import Curve, Panel, Point, svg

_WORDS = {"nrmse": "RMSE/sd", "rmse": "RMSE", "accuracy": "accuracy", "f1": "F1"}
_TITLES: Mapping[Task, str] = {"regression": "regressions", "classification": "classifications"}
_REFERENCE_NAMES = {
    "base": "*base table alone*",
    "random": "*L random tables*",
    "oracle": "*all gold pieces*",
}


def blocks(figures: Mapping[str, Figure], details: Mapping[str, Any]) -> dict[str, list[str]]:
    """Name of a block of a document → its lines: a table for each task that was run."""
    found = {}
    for task, label in LABELS.items():
        own = next((lake for lake in _lakes(figures) if lake.endswith(label)), None)
        if own is not None:
            found[label.replace("_", "-")] = task_lines(figures, details, own, task)
    return found


def task_lines(figures: Mapping[str, Figure], details: Mapping[str, Any], lake: str, task: Task) -> list[str]:
    """Methods down; by budget F1 with its interval and the predictor's metric; at the last budget recall, and
    the share of the gap between base table and all gold pieces that is closed. The paper's rows come last."""
    cells = [cell for name in figures if (cell := cell_of(name)) is not None and cell.lake == lake]
    budgets = sorted({cell.budget for cell in cells})
    metric, last = DOWNSTREAM[task][0], budgets[-1]
    heads = [part for budget in budgets for part in (f"L={budget} F1", _WORDS[metric])]
    rows = [[_TITLES[task], *heads, f"recall, L={last}", f"gap closed, L={last}"]]
    closed = details.get("gap_closed", {}).get(lake, {}).get(last, {})
    methods = list(dict.fromkeys(cell.method for cell in cells))
    for method in sorted(methods, key=lambda name: name in REFERENCES):
        row = []
        for budget in budgets:
            f1 = figures.get(figure_name(lake, method, budget, "f1"))
            found = figures.get(figure_name(lake, method, budget, metric))
            row += [_interval(f1) if method not in REFERENCES else "–", _interval(found)]
        recall = figures.get(figure_name(lake, method, last, "recall"))
        gap = closed.get(method)
        name = _REFERENCE_NAMES.get(method) or (f"**{method}**" if method.startswith("graft") else method)
        recalled = "–" if recall is None or method in REFERENCES else f"{recall.value:.3f}"
        share = "–" if not gap else f"{100 * gap[0]:.0f} % [{100 * gap[1]:.0f}, {100 * gap[2]:.0f}]"
        rows.append([name, *row, recalled, share])
    paper = LABELS[task]
    known = paper_budgets(paper) if lake == paper else ()  # the demo's figures are not comparable
    shared = [budget for budget in budgets if budget in known]
    for method in dict.fromkeys(m for budget in shared for m in paper_scores(paper, budget)):
        row = []
        for budget in budgets:
            own = paper_scores(paper, budget).get(method) if budget in shared else None
            row += [f"{own['f1']:.3f}", f"{own[DOWNSTREAM[task][-1]]:.3f}"] if own else ["–", "–"]
        final = paper_scores(paper, last).get(method)
        rows.append([f"*paper: {method.upper()}*", *row, f"{final['recall']:.3f}" if final else "–", "–"])
    lines = table(rows)
    if task == "regression":
        lines += ["", "RMSE/sd: 1 is what the mean gets; the paper gives RMSE in the targets' units."]
    return lines


def curves(figures: Mapping[str, Figure], methods: Sequence[str] = ()) -> str:
    """The predictor's metric and F1 against L, as SVG; `methods`: only these, default all."""
    panels = []
    for task, label in LABELS.items():
        lake = next((lake for lake in _lakes(figures) if lake.endswith(label)), None)
        for metric in (DOWNSTREAM[task][0], "f1") if lake is not None else ():
            lines: dict[str, list[Point]] = {}
            for name, figure in figures.items():
                cell = cell_of(name)
                if cell is None or (cell.lake, cell.metric) != (lake, metric):
                    continue
                if (methods and cell.method not in methods) or (metric == "f1" and cell.method in REFERENCES):
                    continue
                point = Point(cell.budget, figure.value, figure.low, figure.high)
                lines.setdefault(cell.method, []).append(point)
            found = tuple(
                Curve(method, tuple(sorted(points, key=lambda p: p.x)), method in REFERENCES)
                for method, points in lines.items()
            )
            panels.append(Panel(_TITLES[task], "L", _WORDS[metric], found))
    return svg(panels)


def _lakes(figures: Mapping[str, Figure]) -> list[str]:
    return list(dict.fromkeys(cell.lake for name in figures if (cell := cell_of(name)) is not None))


def _interval(figure: Figure | None) -> str:
    if figure is None:
        return "–"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.3f}"
    return f"{figure.value:.3f} [{figure.low:.2f}, {figure.high:.2f}]"
