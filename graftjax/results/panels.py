"""What is drawn: rows of a summary, or figures on record, as panels with curves.

The horizontal axis is the budget L, or what was swept: a field of the runs, or the `field=value` in the names
of figures (`spider/gamma=0.8/graft/L10/f1`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from graftjax.errors import UsageError
from graftjax.results.cells import paper_name
from graftjax.results.expected import Cell, Expected, Figure, cell_of
from graftjax.results.groups import Row, Summary
from graftjax.results.plot import Curve, Panel, Point
from graftjax.results.tables import shown

_SWEPT = re.compile(r"(?P<before>.*?)[\s,/]*(?P<field>[^\s=,/]+)=(?P<value>[^\s,/]+)[\s,/]*(?P<after>.*)")
_WIDE = 30.0
"""Values that span more than this ratio are drawn by their logarithm."""
DRAWN = ("graft-fill", "graft", "jar", "mtr", "pneuma", "dtr", "rear", "greedy-jar+unions")
"""Methods drawn where an experiment has more than a dozen: GRAFT, the paper's peers, the closest two."""
_MOST = 12


def summary_panels(summary: Summary, metric: str, x: str | None = None) -> list[Panel]:
    """A panel a lake. UsageError when `x` is neither L nor one of the summary's fields."""
    if x not in (None, "L", *summary.by):
        raise UsageError(f"--x {x}: choose from {', '.join(('L', *summary.by))}")
    field = x or (summary.by[0] if summary.by else "L")
    budgets = {row.budget for row in summary.rows}

    def name(row: Row) -> str:
        parts = [row.method]
        parts += [f"L={row.budget}"] if field != "L" and len(budgets) > 1 else []
        parts += [f"{one}={shown(row.by[one])}" for one in summary.by if one != field]
        return " ".join(parts)

    panels = []
    for lake in dict.fromkeys(row.lake for row in summary.rows):
        curves: dict[str, list[tuple[Any, Figure]]] = {}
        for row in (row for row in summary.rows if row.lake == lake and metric in row.metrics):
            one = row.metrics[metric]
            at = row.budget if field == "L" else row.by[field]
            figure = Figure(value=one.mean, low=one.low, high=one.high)
            curves.setdefault(name(row), []).append((at, figure))
        panels.append(_panel(lake, field, metric, curves, {}))
    return panels


def expected_panels(expected: Expected, metric: str) -> list[Panel]:
    """A panel for each lake, and for each swept field; none for an experiment without a curve."""
    titles = expected.details.get("titles", {})
    cells = [(cell, one) for name, one in expected.figures.items() if (cell := cell_of(name))]
    cells = [(cell, one) for cell, one in cells if cell.metric == metric]
    groups: dict[tuple[str, str], list[tuple[str, Any, Figure, Cell]]] = {}
    for cell, figure in cells:
        swept = _SWEPT.fullmatch(cell.method)
        if swept:
            value = _number(swept["value"])
            rest = " ".join(part for part in (swept["before"], swept["after"]) if part) or metric
            own = groups.setdefault((cell.lake, swept["field"]), [])
            own.append((f"{rest} L={cell.budget}", value, figure, cell))
        else:
            groups.setdefault((cell.lake, "L"), []).append((cell.method, cell.budget, figure, cell))
    panels = []
    for (lake, field), points in groups.items():
        if len({at for _, at, _, _ in points}) < 2:
            continue
        chosen = _few(points)
        curves: dict[str, list[tuple[Any, Figure]]] = {}
        papers: dict[str, list[tuple[Any, Figure]]] = {}
        for name, at, figure, cell in chosen:
            curves.setdefault(name, []).append((at, figure))
            if figure.paper is not None:
                theirs = "paper" if field != "L" else f"paper: {paper_name(cell.method) or cell.method}"
                papers.setdefault(theirs, []).append((at, Figure(value=figure.paper)))
        # Grey lines of all the peers would hide ours.
        kept = {name: own for name, own in papers.items() if field != "L" or name == "paper: graft"}
        panels.append(_panel(titles.get(lake, lake), field, metric, curves, kept))
    return panels


def _few(points: list[tuple[str, Any, Figure, Cell]]) -> list[tuple[str, Any, Figure, Cell]]:
    if len({name for name, *_ in points}) <= _MOST:
        return points
    return [one for one in points if one[0] in DRAWN]


def _panel(
    title: str,
    field: str,
    metric: str,
    curves: Mapping[str, list[tuple[Any, Figure]]],
    papers: Mapping[str, list[tuple[Any, Figure]]],
) -> Panel:
    values = {at for own in (*curves.values(), *papers.values()) for at, _ in own}
    place, labels, log = _axis(values)
    drawn = [_curve(name, own, place, name in papers) for name, own in (*curves.items(), *papers.items())]
    return Panel(title, field, metric, tuple(drawn), labels, log)


def _curve(name: str, own: list[tuple[Any, Figure]], place: Callable[[Any], float], reference: bool) -> Curve:
    points = (Point(place(at), one.value, one.low, one.high) for at, one in own)
    return Curve(name, tuple(sorted(points, key=lambda one: one.x)), reference)


def _axis(values: set[Any]) -> tuple[Callable[[Any], float], tuple[str, ...], bool]:
    """Where a value stands, the words under the axis where the values are no numbers, and whether it is
    logarithmic."""
    plain: dict[Any, Any] = {
        value: value[0] if isinstance(value, tuple) and len(value) == 1 else value for value in values
    }
    numbers = [one for one in plain.values() if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) == len(values):
        log = bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) > _WIDE
        return lambda value: float(plain[value]), (), log
    order = sorted(values, key=shown)
    places = {value: float(number) for number, value in enumerate(order)}
    return lambda value: places[value], tuple(shown(value)[-18:] for value in order), False


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
