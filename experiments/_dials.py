"""Dials of the sensitivity study: values, figures, plot and table. `args` are those of sensitivity.py."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from _points import difference_figure, mean_figure, on_record, paired, seed_interval, shown

from graftjax.evaluate.markdown import table
from graftjax.results.expected import Figure, figure_name

COUNTED = ("trajectories", "text_trajectories")
"""Dials that are a number of trajectories, by increasing ignorance of the networks."""
TRAINED = (*COUNTED, "gamma")
"""Dials of the training."""


@dataclass(frozen=True)
class Dial:
    """A dial of the search."""

    field: str
    """Its field in the search's settings, or in its `score`."""
    symbol: str
    log: bool = False


DIALS = {
    "beam": Dial("beam", "B, width of the beam", log=True),
    "anchors": Dial("anchors_per_atom", "K, anchors per atom", log=True),
    "hop": Dial("hop_discount", "h, factor per bridge (0: direct joins only)"),
    "noise": Dial("noise", "σ0², noise", log=True),
    "alpha": Dial("shard_correlation", "α, Jaccard of shards without a common row"),
}
"""Dials of the search, by the names that --sweeps takes."""


@dataclass(frozen=True, eq=False)
class Point:
    """One value of one dial."""

    sweep: str
    value: float
    runs: dict[str, list[Any]]
    """Method → its runs."""
    errors: tuple[float, ...] = ()
    """Of Q on unseen trajectories, in percent, by seed."""


def values_of(args: Any, sweep: str) -> list[float]:
    values = list(dict.fromkeys(getattr(args, sweep)))
    # The largest collection first: the others then take what they need from it.
    return sorted(values, reverse=True) if sweep in COUNTED else values


def defaults_of(args: Any) -> dict[str, float]:
    """Value of each dial that its other values are compared with: the library's own."""
    from graftjax.search.settings import Settings

    settings = Settings()
    found = {
        name: float(getattr(settings if hasattr(settings, dial.field) else settings.score, dial.field))
        for name, dial in DIALS.items()
    }
    counts = {sweep: float(max(getattr(args, sweep), default=0)) for sweep in COUNTED}
    return {**found, "gamma": args.default_gamma, **counts}


def dial_figures(
    lake: str, args: Any, points: Sequence[Point], exact: dict[str, Any], defaults: dict[str, float]
) -> tuple[dict[str, Figure], dict[str, float]]:
    figures: dict[str, Figure] = {}
    p_values: dict[str, float] = {}
    for method, record in exact.items():
        for metric in ("f1", "recall", "sufficiency"):
            if (one := mean_figure([record], metric)) is not None:
                figures[figure_name(lake, f"exact/{method}", args.L, metric)] = one
    base = {point.sweep: point for point in points if point.value == defaults[point.sweep]}
    for point in points:
        name = f"{point.sweep}={point.value:g}"
        for method, records in point.runs.items():
            label = f"{name}/{method}"
            for metric in ("f1", "recall", "sufficiency"):
                one = mean_figure(records, metric, over_seeds=point.sweep in TRAINED)
                if one is not None:
                    figures[figure_name(lake, label, args.L, metric)] = one
            known = base.get(point.sweep)
            if known is not None and known is not point and (found := paired(records, known.runs[method])):
                place = figure_name(lake, label, args.L, "f1-difference")
                figures[place] = difference_figure(found)
                p_values[place] = round(found.p_value["f1"], 4)
        if point.errors:
            low, high = seed_interval(point.errors)
            mean = sum(point.errors) / len(point.errors)
            figures[f"{lake}/{name}/mape"] = Figure(
                value=mean, low=low, high=high, by_seed=point.errors, runs=len(point.errors), tolerance=5.0
            )
    return figures, p_values


def title_of(sweep: str) -> str:
    named = {
        "trajectories": "number of trajectories",
        "text_trajectories": "number of trajectories, networks read texts only",
        "gamma": "γ, discount of a decision",
    }
    return named.get(sweep) or DIALS[sweep].symbol


def draw_dials(lake: str, args: Any, figures: dict[str, Figure], defaults: dict[str, float]) -> None:
    from graftjax.evaluate.sweep_plot import Curve, SweepPanel, sweep_plot

    panels = []
    for sweep in dict.fromkeys(args.sweeps):
        curves = []
        for method in dict.fromkeys(args.methods):
            found = [
                (value, one)
                for value in sorted(values_of(args, sweep))
                if (one := figures.get(figure_name(lake, f"{sweep}={value:g}/{method}", args.L, "f1")))
            ]
            if found:
                curves.append(
                    Curve(
                        method,
                        tuple(float(value) for value, _ in found),
                        tuple(one.value for _, one in found),
                        tuple(one.value if one.low is None else one.low for _, one in found),
                        tuple(one.value if one.high is None else one.high for _, one in found),
                    )
                )
        reference = figures.get(figure_name(lake, f"exact/{args.methods[0]}", args.L, "f1"))
        panels.append(
            SweepPanel(
                title_of(sweep), sweep, tuple(curves), defaults[sweep],
                reference.value if reference and sweep in TRAINED else None,
                log=sweep in COUNTED or (sweep in DIALS and DIALS[sweep].log),
            )
        )  # fmt: skip
    if not sweep_plot(panels, on_record(args.plot, args, "docs/sensitivity.svg"), f"F1, L={args.L}"):
        print("no plot: matplotlib is not installed (pip install 'graftjax[plots]')", file=sys.stderr)


def dial_lines(
    title: str, lake: str, args: Any, figures: dict[str, Figure], defaults: dict[str, float]
) -> list[str]:
    """A Markdown table: dials and their values down, F1 and its difference to the default across."""
    methods = list(dict.fromkeys(args.methods))
    heads = [part for method in methods for part in (f"{method} L={args.L} F1", "difference to the default")]
    rows = [[title, "value", *heads, "error of Q"]]
    for sweep in dict.fromkeys(args.sweeps):
        for number, value in enumerate(sorted(values_of(args, sweep))):
            cells = []
            for method in methods:
                place = f"{sweep}={value:g}/{method}"
                cells.append(shown(figures.get(figure_name(lake, place, args.L, "f1"))))
                change = figures.get(figure_name(lake, place, args.L, "f1-difference"))
                cells.append("" if value == defaults[sweep] else shown(change, "+"))
            error = figures.get(f"{lake}/{sweep}={value:g}/mape")
            mark = f"**{value:g}**" if value == defaults[sweep] else f"{value:g}"
            rows.append(
                [
                    "" if number else title_of(sweep),
                    mark,
                    *cells,
                    "" if error is None else f"{error.value:.1f} %",
                ]
            )
    exact = [
        cell
        for method in methods
        for cell in (shown(figures.get(figure_name(lake, f"exact/{method}", args.L, "f1"))), "")
    ]
    return table([*rows, ["exact gains, no training", "", *exact, ""]])
