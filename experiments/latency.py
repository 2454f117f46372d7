"""Time per question, throughput, memory and compilation: the paper's Table 6 and more.

Command:   python experiments/latency.py --L 10
Hardware:  2 CPU cores, nothing else running
Time:      about 2 min on a built index (most of it for compiling once without any cache)
Expected:  Spider, L=10: graft below 40 ms, 0 recompiles

Every method is asked each question once, warm, one after the other, on the same lake, encoder and intents;
the language model's call is left out for all. Writes <out>/latency_<lake>_L<L>_seed<seed>.json.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import beside, index_folder, open_lake, resolve_dataset
from graftjax.evaluate.guidance import check_guidance, find_guidance


@dataclass(frozen=True)
class Args:
    """Arguments of the measurement."""

    L: tuple[int, ...] = (10,)
    """Budgets: one or more."""
    methods: tuple[str, ...] = ("graft", "graft-fill", "graft-exact", "dtr")
    """Methods to time: one or more."""
    lake: str = "auto"
    """auto (Spider, or the demo lake without its data), spider, bird, demo, or a folder with --queries."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    queries: Path | None = None
    """JSONL file of queries; default the lake's own."""
    checkpoint: Path | None = None
    """Value function, as the folder of a training run; default the lake's own where there is one."""
    guidance: Literal["auto", "learned", "exact"] = "auto"
    """Search by a value function, or by exact gains."""
    index: Path | None = None
    """Folder of the lake's index; default in the user's cache. Built when missing or stale."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""
    compile: bool = True
    """Compile once more without any cache, to time it; --no-compile leaves that out."""
    seed: int = 0
    """Seed of the first run."""
    runs: int = 1
    """Runs; each times all questions again."""
    out: Path = Path("results")
    """Folder for the figures."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    _check(args)
    dataset = resolve_dataset(args.lake, default="spider", data_dir=args.data_dir, queries=args.queries)
    from graftjax.encode import load_encoder
    from graftjax.evaluate import latency
    from graftjax.evaluate.cases import load_cases, with_queries
    from graftjax.evaluate.environment import environment
    from graftjax.evaluate.exactness import compare, summary
    from graftjax.evaluate.intents import prepare_intents
    from graftjax.evaluate.report import latency_table
    from graftjax.evaluate.runs import run_method, run_record
    from graftjax.files import write_json
    from graftjax.peers.methods import GUIDED, check_methods, retriever_factory
    from graftjax.search.engine import Engine

    methods = check_methods(args.methods)
    encoder = load_encoder(args.encoder)
    folder = index_folder(dataset, args.index)
    index = open_lake(dataset, folder, encoder)
    loaded = load_cases(dataset, [table.id for table in index.tables])
    prepared = prepare_intents([case.query for case in loaded.cases], "recorded", index.tables)
    cases = with_queries(loaded.cases, prepared.queries)
    intents = [case.query.intent for case in cases if case.query.intent is not None]
    found = find_guidance(folder, encoder.name, args.checkpoint, args.guidance)
    make = retriever_factory(index, encoder, beside(folder, "dtr"), found.guide)
    engine = Engine(index, encoder, guide=found.guide)
    config = {
        **{name: str(v) if isinstance(v, Path) else v for name, v in dataclasses.asdict(args).items()},
        "command": shlex.join(["python", *sys.argv]),
    }
    for budget in args.L:
        for seed in range(args.seed, args.seed + args.runs):
            rows: dict[str, Any] = {}
            for method in methods:
                retriever = make(method)
                retriever.warm_up([budget])
                record = run_record(
                    run_method(retriever, cases, budget=budget, seed=seed), lake=dataset.lake, config={},
                    environment={},
                )  # fmt: skip
                kept = ("latency_ms", "recompiles_after_warmup", "n_queries", "n_skipped", "metrics")
                rows[method] = {name: record[name] for name in kept}
                rows[method]["guided"] = method in GUIDED and found.guide is not None
            engine.warm_up([budget], intents)
            stages = latency.stage_times(engine, intents, budget)
            record = {
                "lake": dataset.lake,
                "L": budget,
                "seed": seed,
                "methods": rows,
                "stages_ms": stages,
                "queries_per_second": latency.throughput(engine, intents, budget),
                "exact_against_beam": summary(compare(index, encoder, cases, budget)),
                "peak_memory_mib": latency.peak_memory_mib(),
                "index_mib": latency.folder_mib(folder),
                "compile_s": latency.compile_seconds(engine, budget) if args.compile else None,
                "guided_by": found.record(),
                "config": config,
                "environment": environment(),
            }
            print(latency_table(record, dataset.title))
            target = args.out / f"latency_{dataset.lake}_L{budget}_seed{seed}.json"
            write_json(target, record)
            print(f"\n{target}")
    return 0


def _check(args: Args) -> None:
    if not args.L or min(args.L) < 1:
        raise UsageError("--L needs budgets of at least 1")
    if args.runs < 1:
        raise UsageError(f"--runs must be at least 1, not {args.runs}")
    if args.seed < 0:
        raise UsageError(f"--seed must be 0 or more, not {args.seed}")
    if args.out.exists() and not args.out.is_dir():
        raise UsageError(f"--out {args.out}: not a folder")
    check_guidance([args.checkpoint] if args.checkpoint else [], args.guidance)


if __name__ == "__main__":
    run_console(main, "latency.py")
