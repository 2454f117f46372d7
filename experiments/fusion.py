"""Does what the search returns execute? Every synthesis of the runs is fused into one table.

Command:   python experiments/fusion.py --results results/peers --lakes spider bird
Hardware:  one CPU core, 4 GB of memory
Time:      4 minutes for two methods at three budgets on built indexes
Expected:  results/fusion.yaml as it is in the repository

Reads the result files that peers.py, spider.py and bird.py leave; nothing is searched again. A synthesis
executes when DuckDB runs its SQL to the end. A join that is refused because it would have too many rows
counts as a failure, and is named. Non-empty: the table has rows.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import BENCHMARKS, Dataset, index_folder, open_lake, resolve_dataset
from graftjax.results.expected import Expected, Figure, figure_name, header, write

_LAKES = (*BENCHMARKS, "demo")
_TOLERANCE = 0.02


@dataclass(frozen=True)
class Args:
    """Arguments of the measurement."""

    results: Path = Path("results/peers")
    """Folder with the result files of runs, <lake>_<method>_L<budget>_seed<seed>.json."""
    lakes: tuple[str, ...] = BENCHMARKS
    """Lakes, one or more of spider, bird and demo."""
    methods: tuple[str, ...] = ("graft", "graft-fill")
    """Methods whose answers are syntheses."""
    encoder: str = "embedded"
    """Text encoder of the indexes: embedded, a model folder, or a hub name."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    out: Path = Path("results/fusion.yaml")
    """File for the figures."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    if not args.lakes or not args.methods:
        raise UsageError("--lakes and --methods need at least one name each")
    for lake in args.lakes:
        if lake not in _LAKES:
            raise UsageError(f"--lakes {lake}: choose from {', '.join(_LAKES)}")
    if not args.results.is_dir():
        raise UsageError(f"--results {args.results}: no such folder")
    datasets = [resolve_dataset(lake, data_dir=args.data_dir) for lake in dict.fromkeys(args.lakes)]
    figures: dict[str, Figure] = {}
    failures: dict[str, dict[str, str]] = {}
    for dataset in datasets:
        _measure(args, dataset, figures, failures)
    if not figures:
        raise UsageError(f"--results {args.results}: no syntheses of {', '.join(args.methods)} there")
    write(args.out, Expected(**header("fusion"), figures=figures, details={"failures": failures}))
    for name, figure in figures.items():
        print(f"{name:<44} {figure.value:.3f} of {figure.n}")
    for name, found in failures.items():
        for id, reason in found.items():
            print(f"{name}: {id}: {reason}")
    print(f"figures in {args.out}")
    return 0


def _measure(
    args: Args, dataset: Dataset, figures: dict[str, Figure], failures: dict[str, dict[str, str]]
) -> None:
    from graftjax.encode import load_encoder
    from graftjax.evaluate.answerability import read_runs
    from graftjax.evaluate.fusions import run_fusions
    from graftjax.fuse import FuseSettings
    from graftjax.lakes import rows_of

    runs: list[dict[str, Any]] = [
        run for run in read_runs(args.results, dataset.lake) if run["method"] in args.methods
    ]
    if not runs:
        raise UsageError(f"--results {args.results}: no runs of {', '.join(args.methods)} on {dataset.lake}")
    folder = index_folder(dataset)
    index = open_lake(dataset, folder, load_encoder(args.encoder))
    source = rows_of(folder, index.tables, dataset.location)
    for run in runs:
        label = f"{run['method']}, seed {run['seed']}"
        name = f"{dataset.lake} {label} L={run['L']}"
        found = run_fusions(
            source, run["per_query"], FuseSettings(), progress=name if sys.stderr.isatty() else ""
        )
        for metric, share in found.shares().items():
            figures[figure_name(dataset.lake, label, run["L"], metric)] = Figure(
                value=share, n=found.count, tolerance=_TOLERANCE
            )
        if found.failures:
            failures[name] = dict(found.failures)


if __name__ == "__main__":
    run_console(main, "fusion.py")
