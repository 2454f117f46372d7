"""What the ablations and the sensitivity study share: points → figures, results/<name>.yaml, README block."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.markdown import renew
from graftjax.evaluate.metrics import METRICS, bootstrap_interval
from graftjax.evaluate.significance import Comparison, Record, compare, scores_by_query
from graftjax.evaluate.variants import Bench, open_bench
from graftjax.results.expected import Expected, Figure, figure_name, header, write

TOLERANCE = 0.02
"""By which a repetition's mean of a retrieval metric may differ (another machine, another seed)."""


@dataclass(frozen=True)
class PointArgs:
    """Arguments of an experiment that runs one lake's questions under many variants."""

    lake: str = "auto"
    """auto (Spider, else the demo lake), spider, bird, demo, or a folder of tables with --queries."""
    queries: Path | None = None
    """JSONL file of queries; default the lake's own."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    index: Path | None = None
    """Folder of the lake's index; default one per lake in the user's cache. Built when missing or stale."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""
    limit: int = 0
    """Only the first so many queries, to try the program; 0 for all."""
    methods: tuple[str, ...] = ("graft", "graft-fill")
    """graft (stops by itself) or graft-fill (spends the budget), or both."""
    fresh: bool = False
    """Run every point again, whatever result files an earlier run left."""
    readme: Path | None = None
    """Document whose block of this experiment is renewed."""


def check_common(args: PointArgs) -> None:
    """`UsageError` for values that no run can use; nothing is loaded yet."""
    if args.limit < 0:
        raise UsageError(f"--limit must be 0 or more, not {args.limit}")
    if args.index is not None and args.index.exists() and not args.index.is_dir():
        raise UsageError(f"--index {args.index}: not a folder")
    if args.readme is not None and not args.readme.is_file():
        raise UsageError(f"--readme {args.readme}: no such file")


def opened(args: PointArgs) -> Bench:
    """The lake and its questions; what is odd about them is said on stderr."""
    bench = open_bench(
        args.lake, data_dir=args.data_dir, encoder=args.encoder, queries=args.queries, index_at=args.index,
        limit=args.limit,
    )  # fmt: skip
    for warning in bench.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return bench


def mean_figure(
    records: Sequence[Record],
    metric: str,
    *,
    paper: float | None = None,
    tolerance: float | None = TOLERANCE,
    over_seeds: bool = False,
) -> Figure | None:
    """A metric over runs that differ by seed alone; None when not one query has a score.

    The interval is over queries, each averaged over the runs; with `over_seeds` it is the normal one of the
    mean over seeds, which wants at least two.
    """
    rows = scores_by_query(records)
    if not rows:
        return None
    column = METRICS.index(metric)
    values = np.array([row[column] for row in rows.values()])
    seeds = tuple(float(one["metrics"][metric]) for one in records if one["metrics"])
    low, high = bootstrap_interval(values)
    sd = float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None
    if over_seeds and sd is not None:
        low, high = seed_interval(seeds)
    return Figure(
        value=float(values.mean()), low=low, high=high, sd=sd, by_seed=seeds if len(seeds) > 1 else (),
        n=len(values), runs=len(records), skipped=max(one["n_skipped"] for one in records),
        tolerance=tolerance, paper=paper,
    )  # fmt: skip


def seed_interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the mean over seeds, by Student's t; of one seed: no width."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean
    from scipy import stats

    reach = float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return mean - reach, mean + reach


def difference_figure(found: Comparison, metric: str = "f1") -> Figure:
    """The mean of a minus that of b, with its paired interval."""
    one = found.difference[metric]
    assert one.value is not None
    assert one.low is not None
    assert one.high is not None
    return Figure(value=one.value, low=one.low, high=one.high, n=found.n_queries, tolerance=TOLERANCE)


def point_figures(
    lake: str, label: str, runs: Mapping[int, Sequence[Record]], paper: Mapping[int, float] | None = None
) -> dict[str, Figure]:
    """Figures of one variant and method: budget → its runs. `paper`: budget → the paper's F1."""
    figures = {}
    for budget, records in runs.items():
        for metric in METRICS:
            known = (paper or {}).get(budget) if metric == "f1" else None
            one = mean_figure(records, metric, paper=known)
            if one is not None:
                figures[figure_name(lake, label, budget, metric)] = one
    return figures


def paired(a: Sequence[Record], b: Sequence[Record]) -> Comparison | None:
    """`compare`, or None where no query is scored for both."""
    try:
        return compare(a, b)
    except GraftError:
        return None


def on_record(given: Path | None, args: Any, record: str) -> Path:
    """Where an experiment writes: what is given; `record` when the README is renewed with it; else a file of
    that name beside the run's own files, so that no trial poses as a figure on record."""
    if given is not None:
        return given
    return Path(record) if args.readme is not None else args.out / Path(record).name


def save(
    name: str,
    args: PointArgs,
    summary: Path,
    lines: Sequence[str],
    figures: Mapping[str, Figure],
    environment: Mapping[str, Any],
    **more: Any,
) -> None:
    """Write results/<name>.yaml, print the table, and renew the README's block of that name (with dashes)."""
    found = Expected(**header(name, environment), figures=dict(figures), **more)
    write(summary, found)
    print("\n".join(lines))
    print(f"\nfigures in {summary}")
    if args.readme is not None:
        renew(args.readme, {name.replace("_", "-"): lines}, f"experiments/{name}.py")


def tell_skipped(records: Sequence[Record]) -> None:
    """Print a line for each run that left out queries; GraftError when a run has not one scored query."""
    for one in records:
        if one["n_skipped"]:
            print(
                f"{one['config'].get('variant', one['method'])} {one['method']} L={one['L']}: "
                f"{one['n_skipped']} of {one['n_queries']} queries skipped, not scored "
                f"(first: {one['skipped'][0]['reason']})"
            )
    if any(one["metrics"] is None for one in records):
        raise GraftError("a run has not one scored query; see `skipped` in its result file")


def shown(figure: Figure | None, sign: str = "") -> str:
    """`0.693 [0.61, 0.77]`."""
    if figure is None:
        return "–"
    ends = "" if figure.low is None else f" [{figure.low:{sign}.2f}, {figure.high:{sign}.2f}]"
    return f"{figure.value:{sign}.3f}{ends}"


Say = Callable[[str], None]
