"""What spider.py, bird.py and jar_setting.py share: arguments → graftjax → result files."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.cases import load_cases, with_queries
from graftjax.evaluate.datasets import Dataset, beside, index_folder, open_lake, resolve_dataset
from graftjax.evaluate.guidance import check_guidance, find_guidances
from graftjax.evaluate.intents import prepare_intents
from graftjax.evaluate.report import Record, retrieval_table, statistics_table
from graftjax.peers.methods import GUIDED, check_methods


@dataclass(frozen=True)
class RunArgs:
    """Arguments of a retrieval experiment on any lake."""

    L: tuple[int, ...] = (5, 10, 15)
    """Budgets: at most this many tables per query; one or more."""
    methods: tuple[str, ...] = ("graft", "graft-fill", "dtr")
    """Methods to run, one or more: graft (stops by itself), graft-fill (spends the budget), graft-exact
    (enumerates instead of a beam), and the peers dtr, pneuma, mtr, jar, jar-lp, rear, greedy-jar, which spend
    the budget too; with +unions at the end a peer is told which tables are shards of one another."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""
    guidance: Literal["auto", "learned", "exact"] = "auto"
    """Search by a value function (learned) or by exact gains; auto takes --checkpoint, else what `graftjax
    train` made for this lake (with seed 0, or with the seeds of several runs), else exact gains."""
    checkpoint: tuple[Path, ...] = ()
    """Value functions, as folders of training runs: one for all runs, or one for each run, in the order of
    the runs' seeds (then the means are over training seeds too)."""
    dials: Literal["tuned", "published"] = "tuned"
    """Dials of the peers: chosen on tuning questions, or their defaults (published where there are any)."""
    intents: Literal["recorded", "lexical", "endpoint"] = "recorded"
    """Intent graphs: the query file's (lexical where it has none), by words alone, or from an endpoint."""
    seed: int = 0
    """Seed of the first run."""
    runs: int = 1
    """Number of runs, with seeds seed, seed + 1, ..."""
    out: Path = Path("results")
    """Folder for the result files, one JSON per lake, method, L and seed."""


@dataclass(frozen=True)
class Args(RunArgs):
    """Arguments of a retrieval experiment on one lake."""

    lake: str = "auto"
    """auto (this experiment's benchmark, else the demo lake), spider, bird, demo, or a folder of tables."""
    queries: Path | None = None
    """JSONL file of queries; default the lake's own. A folder lake needs one."""
    index: Path | None = None
    """Folder of the lake's index; default one per lake in the user's cache. Built when missing or stale."""


def check_args(args: RunArgs) -> None:
    """`UsageError` for values that no run can use; nothing is loaded yet."""
    if not args.L or min(args.L) < 1:
        raise UsageError("--L needs one or more budgets of at least 1")
    if args.runs < 1:
        raise UsageError(f"--runs must be at least 1, not {args.runs}")
    if args.seed < 0:
        raise UsageError(f"--seed must be 0 or more, not {args.seed}")
    check_methods(args.methods)
    if args.out.exists() and not args.out.is_dir():
        raise UsageError(f"--out {args.out}: not a folder")
    check_guidance(args.checkpoint, args.guidance)
    if len(args.checkpoint) not in (0, 1, args.runs):
        raise UsageError(
            f"--checkpoint names {len(args.checkpoint)} value functions for {args.runs} runs: give one, or "
            "one for each run"
        )


def check_lakes(lakes: Sequence[str], known: Sequence[str]) -> None:
    """`UsageError` for a lake of --lakes that is not known, or for none."""
    for lake in lakes:
        if lake not in known:
            raise UsageError(f"--lakes {lake}: choose from {', '.join(known)}")
    if not lakes:
        raise UsageError(f"--lakes needs at least one of {', '.join(known)}")


def run_tables(args: Args, benchmark: Literal["spider", "bird"]) -> int:
    """Run the experiment; exit code 0, or 1 when a run has not one scored query."""
    check_args(args)
    if args.index is not None and args.index.exists() and not args.index.is_dir():
        raise UsageError(f"--index {args.index}: not a folder")
    dataset = resolve_dataset(args.lake, default=benchmark, data_dir=args.data_dir, queries=args.queries)
    records = run_lake(args, dataset, args.index)
    # A lake that the paper has is compared with its own table, whichever script was called.
    paper = dataset.lake if dataset.benchmark else benchmark
    print(retrieval_table(records, title=dataset.title, encoder=records[0]["encoder"], paper=paper))
    return finish(args, records)


def finish(args: RunArgs, records: Sequence[Record]) -> int:
    """The last line of an experiment; `GraftError` when a run has not one scored query."""
    print(f"\n{len(records)} result files in {args.out}")
    if any(record["metrics"] is None for record in records):
        raise GraftError("a run has not one scored query; see `skipped` in its result file")
    return 0


def run_lake(
    args: RunArgs, dataset: Dataset, index_at: Path | None = None, *, peers_once: bool = False
) -> list[Record]:
    """Run all methods at all budgets over one lake: its statistics are printed, a result file is written
    for each run. `index_at`: folder of the lake's index, default in the user's cache. `peers_once`: what no
    value function guides has one run, for it draws nothing at random."""
    # Imported once the arguments are known to be right: JAX takes seconds to start.
    from graftjax.encode import load_encoder
    from graftjax.evaluate.environment import environment
    from graftjax.evaluate.runs import run_method, run_record, write_record
    from graftjax.peers.methods import retriever_factory

    encoder = load_encoder(args.encoder)
    folder = index_folder(dataset, index_at)
    index = open_lake(dataset, folder, encoder)
    loaded = load_cases(dataset, [table.id for table in index.tables])
    prepared = prepare_intents([case.query for case in loaded.cases], args.intents, index.tables)
    cases = with_queries(loaded.cases, prepared.queries)
    for warning in loaded.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    counts = {"queries": len(cases), **index.statistics(), **loaded.counts}
    print(statistics_table(dataset.title, dataset.lake, counts, index.skips))
    print(f"intent graphs: {', '.join(f'{count} {source}' for source, count in prepared.sources.items())}\n")

    config: dict[str, Any] = {
        **dataclasses.asdict(args),
        "command": shlex.join(["python", *sys.argv]),
        "encoder_name": encoder.name,
        "queries_file": str(dataset.queries),
        "index_folder": str(folder),
        "lake_statistics": counts,
        "intent_sources": prepared.sources,
    }
    place = environment()
    guidances = find_guidances(
        folder, encoder.name, args.checkpoint, args.guidance, seed=args.seed, runs=args.runs
    )
    makers = [
        retriever_factory(index, encoder, beside(folder, "peers"), found.guide, tuned=args.dials == "tuned")
        for found in guidances
    ]
    more = {"lake_title": dataset.title, "encoder": encoder.name}
    records: list[Record] = []
    for method in check_methods(args.methods):
        # One retriever for all runs, or one for each; what no value function guides needs one.
        retrievers = [make(method) for make in (makers if method in GUIDED else makers[:1])]
        for retriever in retrievers:
            retriever.warm_up(sorted(set(args.L)))
        for budget in sorted(set(args.L)):
            for number in range(1 if peers_once and method not in GUIDED else args.runs):
                which = number % len(retrievers)
                run = run_method(retrievers[which], cases, budget=budget, seed=args.seed + number)
                guided_by = guidances[which].record() if method in GUIDED else None
                own = {**config, "guided_by": guided_by}
                record = run_record(run, lake=dataset.lake, config=own, environment=place, more=more)
                write_record(args.out, record)
                records.append(record)
    return records
