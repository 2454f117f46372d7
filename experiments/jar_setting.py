"""Retrieval in JAR's own setting: whole tables of the development databases, questions that need two or more.

Command:   python experiments/jar_setting.py --lakes spider-dev bird-dev --L 2 5 10
Hardware:  2 CPU cores
Time:      half a minute to index both lakes once, then a minute a method; hours for jar at k=10
Expected:  on Spider at k=2 F1 84 for graft-fill, 85 for jar-lp, 77 for dtr

The lake of a benchmark is its development databases, pooled and not sharded (Spider: 20 databases). The
questions are those of dev.json whose gold SQL reads at least two tables, as in the published figures of JAR
(arXiv 2404.09889) and its successors; what is not at hand is left out and counted. Intent graphs are made by
words alone, and BIRD's `evidence` is not used. All figures are per cent; F1 is the mean of the queries' F1
and perfect recall the share of queries with every gold table (Sufficiency), as JAR's code computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from _tables import RunArgs, check_args, check_lakes, finish, run_lake

from graftjax.console import parse_arguments, run_console
from graftjax.evaluate.datasets import DEV_LAKES, resolve_dataset
from graftjax.evaluate.metrics import METRICS, bootstrap_interval
from graftjax.evaluate.report import Record, align, skip_lines
from graftjax.evaluate.significance import scores_by_query

LAKES = (*DEV_LAKES, "demo")
_SHOWN = {"precision": "precision", "recall": "recall", "f1": "F1", "sufficiency": "perfect recall"}


@dataclass(frozen=True)
class Args(RunArgs):
    """Arguments of the experiment."""

    L: tuple[int, ...] = (2, 5, 10)
    """Budgets (JAR's k): at most this many tables per query; one or more."""
    methods: tuple[str, ...] = (
        "graft-fill", "graft", "dtr", "pneuma", "mtr", "jar", "jar-lp", "rear", "greedy-jar",
    )  # fmt: skip
    """Methods to run, one or more. graft stops by itself, the others return as many tables as they may."""
    dials: Literal["tuned", "published"] = "published"
    """Dials of the peers: their defaults (published ones where there are any; JAR's are for this setting), or
    those chosen on the tuning questions of the sharded lake."""
    intents: Literal["recorded", "lexical", "endpoint"] = "lexical"
    """Intent graphs: by words alone, or from an endpoint; none are recorded for these questions."""
    lakes: tuple[str, ...] = tuple(DEV_LAKES)
    """Lakes, one or more of spider-dev, bird-dev and, to try the program, demo."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    check_args(args)
    check_lakes(args.lakes, LAKES)
    datasets = [resolve_dataset(lake, data_dir=args.data_dir) for lake in dict.fromkeys(args.lakes)]
    records: list[Record] = []
    for dataset in datasets:
        found = run_lake(args, dataset)
        print(jar_table(found, dataset.title), end="\n\n")
        records += found
    return finish(args, records)


def jar_table(records: Sequence[Record], title: str) -> str:
    """One block a budget with the columns of JAR's tables, per cent; seeds are averaged."""
    lines = []
    for budget in sorted({record["L"] for record in records}):
        rows: list[Sequence[str]] = [("method", *_SHOWN.values(), "tables", "ms/query")]
        for method in dict.fromkeys(record["method"] for record in records):
            runs = [record for record in records if (record["method"], record["L"]) == (method, budget)]
            rows.append((method, *_cells(runs)))
        lines += [f"k={budget}   lake: {title}", *align(rows), ""]
    return "\n".join([*lines, "mean over queries [95 % bootstrap interval]", *skip_lines(records)])


def _cells(runs: Sequence[Record]) -> list[str]:
    matrix = np.array([*scores_by_query(runs).values()])
    if not len(matrix):
        return ["-"] * (len(_SHOWN) + 2)
    cells = []
    for name in _SHOWN:
        values = 100 * matrix[:, METRICS.index(name)]
        low, high = bootstrap_interval(values)
        cells.append(f"{values.mean():.1f} [{low:.1f}, {high:.1f}]")
    timed = [run for run in runs if run["latency_ms"]]
    size = np.mean([run["mean_retrieved"] for run in timed])
    return [*cells, f"{size:.1f}", f"{np.mean([run['latency_ms']['mean'] for run in timed]):.1f}"]


if __name__ == "__main__":
    run_console(main, "jar_setting.py")
