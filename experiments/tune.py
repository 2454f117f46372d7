"""Choose the parameters of score and search on tuning questions, one at a time (coordinate search).

Command:   python experiments/tune.py
Hardware:  2 CPU cores
Time:      about 20 min on a built index
Expected:  the defaults of `ScoreSettings` and `Settings` are (near) the best of every line

The questions are those of `spider/tuning.jsonl`; the evaluation questions are never read. A value is
kept when it raises the mean of F1 at L = 5 and L = 10 of method graft. Prints every trial; writes
them with the best settings to <out>/tuning_spider.json. The defaults in the code are a person's
choice from that list (the smallest change where several are as good).
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.cases import load_cases
from graftjax.evaluate.datasets import data_directory, index_folder, open_lake, resolve_dataset
from graftjax.evaluate.metrics import score

GRID: dict[str, tuple[float, ...]] = {
    "least_gain": (0.8, 1.1, 1.3, 1.6),
    "shard_correlation": (0.0, 0.9, 0.999),
    "c0": (0.0, 0.3, 0.42, 0.45, 0.48),
    "beta": (8.0, 10.0, 12.0),
    "value_c0": (0.45, 0.5, 0.55),
    "entity_schema": (0.5, 0.6, 0.7),
    "attribute_header": (0.4, 0.5, 0.6),
    "key_alias": (0.75, 0.8, 0.85),
    "lexical_share": (0.0, 0.2, 0.3, 0.4),
    "hop_discount": (0.4, 0.6, 0.8, 1.0),
    "join_endpoint_power": (0.5, 1.0),
    "supported": (0.0, 0.25, 0.5),
    "least_novelty": (0.3, 0.5),
}


@dataclass(frozen=True)
class Args:
    """Arguments of the tuning run."""

    data_dir: Path | None = None
    """Folder that holds spider/; default $GRAFTJAX_DATA, else ./data."""
    parameters: tuple[str, ...] = tuple(GRID)
    """Parameters to try, in this order."""
    L: tuple[int, ...] = (5, 10)
    """Budgets whose mean F1 decides."""
    index: Path | None = None
    """Folder of the lake's index; default in the user's cache."""
    out: Path = Path("results")
    """Folder for the list of trials."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    for name in args.parameters:
        if name not in GRID:
            raise UsageError(f"unknown parameter {name!r}: choose from {', '.join(GRID)}")
    queries = data_directory(args.data_dir) / "spider" / "tuning.jsonl"
    dataset = resolve_dataset("spider", data_dir=args.data_dir, queries=queries)
    from graftjax.encode import load_encoder
    from graftjax.igms.settings import ScoreSettings
    from graftjax.search.engine import Engine
    from graftjax.search.settings import Settings

    encoder = load_encoder()
    index = open_lake(dataset, index_folder(dataset, args.index), encoder)
    cases = [
        case for case in load_cases(dataset, [table.id for table in index.tables]).cases if not case.reason
    ]
    engine = Engine(index, encoder)

    def settings_of(values: dict[str, float]) -> Settings:
        inner = {field.name for field in dataclasses.fields(ScoreSettings)}
        scored = ScoreSettings(**{name: value for name, value in values.items() if name in inner})  # pyright: ignore
        return Settings(scored, **{name: value for name, value in values.items() if name not in inner})  # pyright: ignore

    def mean_f1(values: dict[str, float]) -> float:
        tuned = engine.with_settings(settings_of(values))
        total = 0.0
        for budget in args.L:
            for case in cases:
                intent = case.query.intent
                assert intent is not None
                total += score(tuned.search(case.query.question, intent, budget=budget).tables, case.gold).f1
        return total / (len(cases) * len(args.L))

    best: dict[str, float] = {}
    best_f1 = mean_f1(best)
    trials = [{"settings": {}, "f1": best_f1}]
    print(f"{len(cases)} questions; defaults: F1 {best_f1:.4f}", flush=True)
    for name in args.parameters:
        for value in GRID[name]:
            trial = {**best, name: value}
            f1 = mean_f1(trial)
            trials.append({"settings": trial, "f1": f1})
            print(f"{name:20} {value:<8} F1 {f1:.4f}{'  *' if f1 > best_f1 else ''}", flush=True)
            if f1 > best_f1:
                best, best_f1 = trial, f1
    args.out.mkdir(parents=True, exist_ok=True)
    target = args.out / "tuning_spider.json"
    target.write_text(json.dumps({"L": args.L, "best": best, "f1": best_f1, "trials": trials}, indent=1))
    print(f"best {best} F1 {best_f1:.4f}; all trials in {target}")
    return 0


if __name__ == "__main__":
    run_console(main, "tune.py")
