"""How often Propositions 1 to 3 fail on real evidence, for each reading of "column set", and what F1 says.

Command:   python experiments/properties.py --lake spider
Hardware:  2 CPU cores
Time:      about 2 min for Spider, 1 min for BIRD, half a minute for the demo lake, on a built index
Expected:  no failure of Prop. 1; the table in docs/evidence.md

Spider's questions are those of `spider/tuning.jsonl` unless --queries names others, since the reading is
chosen by them. Evidence sets: the tables that graft-fill returns (`synthesis`), and tables drawn from the
question's region (`region`). F1 is that of a plain greedy search over the same candidate tables. Writes
<out>/properties_<lake>_seed<seed>.json, and the plot beside it where matplotlib is installed (extra `plots`).
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import data_directory, index_folder, open_lake, resolve_dataset


@dataclass(frozen=True)
class Args:
    """Arguments of the measurement."""

    lake: str = "spider"
    """spider, bird, demo, or a folder of tables (with --queries)."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    queries: Path | None = None
    """JSONL file of queries; default the lake's own, for Spider tuning.jsonl."""
    index: Path | None = None
    """Folder of the lake's index; default in the user's cache. Built when missing or stale."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""
    L: int = 10
    """Tables per evidence set, and budget of the greedy search."""
    trials: int = 10
    """Trials per property and evidence set."""
    f1: bool = True
    """Also compare the F1 of the readings."""
    seed: int = 0
    """Seed of the first run."""
    runs: int = 1
    """Number of runs, with seeds seed, seed + 1, ..."""
    out: Path = Path("results")
    """Folder for the figures."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    for name in ("L", "trials", "runs"):
        if getattr(args, name) < 1:
            raise UsageError(f"--{name} must be at least 1, not {getattr(args, name)}")
    if args.seed < 0:
        raise UsageError(f"--seed must be 0 or more, not {args.seed}")
    if args.out.exists() and not args.out.is_dir():
        raise UsageError(f"--out {args.out}: not a folder")
    queries = args.queries
    if queries is None and args.lake == "spider":
        queries = data_directory(args.data_dir) / "spider" / "tuning.jsonl"
        if not queries.exists():
            raise UsageError(f"{queries}: not found; --data-dir names the data, --lake demo needs none")
    dataset = resolve_dataset(args.lake, data_dir=args.data_dir, queries=queries)
    from graftjax.encode import load_encoder
    from graftjax.evaluate.cases import load_cases
    from graftjax.evaluate.environment import environment
    from graftjax.evaluate.properties import as_text, compare_f1, measure, plot

    encoder = load_encoder(args.encoder)
    index = open_lake(dataset, index_folder(dataset, args.index), encoder)
    cases = [
        case for case in load_cases(dataset, [table.id for table in index.tables]).cases if not case.reason
    ]
    f1 = compare_f1(index, encoder, cases, args.L) if args.f1 else None
    args.out.mkdir(parents=True, exist_ok=True)
    for seed in range(args.seed, args.seed + args.runs):
        report = measure(index, encoder, cases, args.L, args.trials, seed)
        print(as_text(dataset.title, report, f1))
        target = args.out / f"properties_{dataset.lake}_seed{seed}.json"
        record = {
            "lake": dataset.lake,
            "seed": seed,
            "n_queries": len(cases),
            "queries_file": str(dataset.queries),
            "properties": report,
            "greedy": f1,
            "config": dataclasses.asdict(args),
            "environment": environment(),
        }
        target.write_text(json.dumps(record, indent=1, default=str))
        if not plot(report, dataset.title, target.with_suffix(".png")):
            print("no plot: matplotlib is not installed (pip install 'graftjax[plots]')", file=sys.stderr)
    return 0


if __name__ == "__main__":
    run_console(main, "properties.py")
