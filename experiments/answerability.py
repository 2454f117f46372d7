"""Does the gold SQL give the full answer over the retrieved shards? Sufficiency as an executor sees it.

Command:   python experiments/answerability.py --results results/peers --lakes spider bird
Hardware:  one CPU core
Time:      10 seconds for the runs of three methods at three budgets
Expected:  results/answerability.yaml as it is in the repository

Reads the result files that peers.py, spider.py and bird.py leave; nothing is searched again. Of each query's
source tables only the rows in the retrieved shards are kept, and SQLite runs the gold SQL on them and on the
full database. Answers are compared as multisets of rows, or as lists where the SQL has an ORDER BY of its own
(ties then count in the order SQLite returns them). Where the lake's title says subset, the answers are not
the benchmark's official ones.
"""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import BENCHMARKS, Dataset, resolve_dataset
from graftjax.results.cells import answer_figures_of
from graftjax.results.expected import Expected, header, write


@dataclass(frozen=True)
class Args:
    """Arguments of the measurement."""

    results: Path = Path("results/peers")
    """Folder with the result files of runs, <lake>_<method>_L<budget>_seed<seed>.json."""
    lakes: tuple[str, ...] = BENCHMARKS
    """Lakes, one or more of spider and bird."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    out: Path = Path("results/answerability.yaml")
    """File for the figures."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    if not args.lakes:
        raise UsageError("--lakes needs at least one lake")
    for lake in args.lakes:
        if lake not in BENCHMARKS:
            raise UsageError(f"--lakes {lake}: choose from {', '.join(BENCHMARKS)}")
    if not args.results.is_dir():
        raise UsageError(f"--results {args.results}: no such folder")
    datasets = [resolve_dataset(lake, data_dir=args.data_dir) for lake in dict.fromkeys(args.lakes)]
    lakes = {dataset.lake: _measure(args.results, dataset) for dataset in datasets}
    figures, details = answer_figures_of(lakes)
    about = header("answerability")
    about["environment"]["sqlite"] = sqlite3.sqlite_version
    write(args.out, Expected(**about, figures=figures, details=details))

    from graftjax.evaluate.answerability import answer_lines

    for lake, own in lakes.items():
        print("\n".join(answer_lines(own)), end="\n\n")
        for id, reason in own["failed"].items():
            print(f"{lake}: {id}: no answer over the full database: {reason}")
        for id, reason in own["exceptions"].items():
            print(f"{lake}: {id}: SUFFICIENT, BUT ANOTHER ANSWER: {reason}")
    print(f"figures in {args.out}")
    return 0


def _measure(results: Path, dataset: Dataset) -> dict[str, Any]:
    from graftjax.evaluate.answerability import answerability, judge, read_runs
    from graftjax.evaluate.cases import load_cases

    records = read_runs(results, dataset.lake)
    if not records:
        raise UsageError(f"--results {results}: no {dataset.lake}_<method>_L<budget>_seed<seed>.json there")
    benchmark = dataset.benchmark
    assert benchmark is not None  # the lakes of `BENCHMARKS` have one
    loaded = load_cases(dataset, [shard for shards in benchmark.shards.values() for shard in shards])
    for warning in loaded.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    judged = judge(benchmark, loaded.cases, records, progress=sys.stderr.isatty())
    return {"title": dataset.title, **answerability(records, judged)}


if __name__ == "__main__":
    run_console(main, "answerability.py")
