"""Choose the dials of GRAFT and of every peer on tuning questions, all by the same coordinate search.

Command:   python experiments/tune.py --methods dtr rear+unions
Hardware:  2 CPU cores
Time:      seconds (dtr) to an hour (jar) a method, on a built index
Expected:  the settings in graftjax/peers/tuned.yaml; for graft the defaults of the code

The questions are those of `spider/tuning.jsonl`, with their recorded intent graphs and without sub-questions;
the evaluation questions are never read. The measure is F1, averaged over the questions and over L = 5, 10
and 15, when the whole budget is spent; for graft also over the run that stops by itself, as both share their
dials. GRAFT is tuned with exact gains. `jar` takes seconds a question: it starts from the dials of `jar-lp`,
which has the same objective, and tries only pool and number of nodes, on every fourth question.

Every trial goes to <out>/tuning_<method>.yaml; --write puts the chosen settings of peers into the package.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.cases import Case, load_cases
from graftjax.evaluate.datasets import beside, data_directory, index_folder, open_lake, resolve_dataset
from graftjax.evaluate.metrics import score
from graftjax.evaluate.tuning import Trial, Tuned, coordinate_search
from graftjax.files import replacing
from graftjax.peers.methods import PEERS, peer_class, view_of
from graftjax.peers.peer import WITH_UNIONS
from graftjax.results.cells import TOLERANCES
from graftjax.results.expected import Expected, Figure, header, write

GRAFT_GRID: dict[str, tuple[Any, ...]] = {
    "least_gain": (0.8, 1.1, 1.3, 1.6),
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
SEARCHED = tuple(
    name + end for end in ("", WITH_UNIONS) for name in sorted(PEERS, key=lambda name: name == "jar")
)
"""All peers; jar after jar-lp, whose dials it starts from."""
JAR_GRID: dict[str, tuple[Any, ...]] = {"nodes": (0, 2), "pool": (20, 50)}
JAR_EVERY = 4
TUNED = Path(__file__).parents[1] / "graftjax" / "peers" / "tuned.yaml"


@dataclass(frozen=True)
class Args:
    """Arguments of the tuning run."""

    methods: tuple[str, ...] = ("graft", *SEARCHED)
    """Methods to tune: graft, or peers with or without +unions."""
    data_dir: Path | None = None
    """Folder that holds spider/; default $GRAFTJAX_DATA, else ./data."""
    L: tuple[int, ...] = (5, 10, 15)
    """Budgets whose mean F1 decides."""
    sweeps: int = 2
    """Passes over the grid, at most."""
    index: Path | None = None
    """Folder of the lake's index; default in the user's cache."""
    out: Path = Path("results")
    """Folder for the lists of trials."""
    write: bool = False
    """Put what was chosen for peers into graftjax/peers/tuned.yaml."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    _check(args)
    queries = data_directory(args.data_dir) / "spider" / "tuning.jsonl"
    dataset = resolve_dataset("spider", data_dir=args.data_dir, queries=queries)
    from graftjax.encode import load_encoder
    from graftjax.peers.catalog import Catalog

    encoder = load_encoder()
    folder = index_folder(dataset, args.index)
    index = open_lake(dataset, folder, encoder)
    loaded = load_cases(dataset, [table.id for table in index.tables]).cases
    cases = [case for case in loaded if not case.reason]
    for name in args.methods:
        start = time.perf_counter()
        if name == "graft":
            tuned = _tune_graft(index, encoder, cases, args)
        else:
            catalog = Catalog(index, encoder, view_of(name), beside(folder, "peers"))
            tuned = _tune_peer(name, catalog, cases, args)
        print(f"{name}: {tuned.default:.4f} -> {tuned.value:.4f} with {tuned.settings}", flush=True)
        _record(name, tuned, args, len(cases), encoder.name, time.perf_counter() - start)
    return 0


def _check(args: Args) -> None:
    if not args.methods:
        raise UsageError("--methods needs at least one method")
    for name in args.methods:
        if name not in ("graft", *SEARCHED):
            raise UsageError(f"{name} has no tuning: choose from {', '.join(('graft', *SEARCHED))}")
    if not args.L or min(args.L) < 1 or args.sweeps < 1:
        raise UsageError("--L and --sweeps must be at least 1")


def _tune_peer(name: str, catalog: Any, cases: Sequence[Case], args: Args) -> Tuned:
    kind, settings = peer_class(name)
    grid, start = settings.GRID, {}
    if _is_jar(name):
        start = _chosen().get(name.replace("jar", "jar-lp"), {}).get("settings", {})
        grid, cases = JAR_GRID, cases[::JAR_EVERY]

    def measure(changed: dict[str, Any]) -> float:
        peer = kind(catalog, settings(**changed))  # pyright: ignore[reportCallIssue]
        peer.warm_up(args.L)
        return _mean_f1(cases, args.L, lambda case, budget: peer.retrieve(case.query, budget, 0).tables)

    return coordinate_search(
        grid, dataclasses.asdict(settings()), measure, start=start, sweeps=args.sweeps, told=_tell(name)
    )


def _tune_graft(index: Any, encoder: Any, cases: Sequence[Case], args: Args) -> Tuned:
    from graftjax.igms.settings import ScoreSettings
    from graftjax.search.engine import Engine
    from graftjax.search.settings import Settings

    inner = {field.name for field in dataclasses.fields(ScoreSettings)}
    engine = Engine(index, encoder)
    defaults = dataclasses.asdict(Settings())
    defaults |= dataclasses.asdict(ScoreSettings())

    def measure(changed: dict[str, Any]) -> float:
        scored = ScoreSettings(**{key: value for key, value in changed.items() if key in inner})
        tuned = engine.with_settings(
            Settings(scored, **{key: value for key, value in changed.items() if key not in inner})
        )

        def found(fill: bool) -> float:
            def answer(case: Case, budget: int) -> Any:
                assert case.query.intent is not None
                return tuned.search(case.query.question, case.query.intent, budget=budget, fill=fill).tables

            return _mean_f1(cases, args.L, answer)

        return (found(True) + found(False)) / 2

    return coordinate_search(GRAFT_GRID, defaults, measure, sweeps=args.sweeps, told=_tell("graft"))


def _mean_f1(cases: Sequence[Case], budgets: Sequence[int], answer: Callable[[Case, int], Any]) -> float:
    scores = [score(answer(case, budget), case.gold).f1 for budget in budgets for case in cases]
    return sum(scores) / len(scores)


def _tell(name: str) -> Callable[[Trial, bool], None]:
    def told(trial: Trial, best: bool) -> None:
        print(f"{name:18} F1 {trial.value:.4f}{' *' if best else '  '} {trial.settings}", flush=True)

    return told


def _is_jar(name: str) -> bool:
    return name.removesuffix(WITH_UNIONS) == "jar"


def _chosen() -> dict[str, Any]:
    """What is in the package by now; read anew, since another run may have written."""
    return yaml.safe_load(TUNED.read_text(encoding="utf-8"))["methods"]


def _record(name: str, tuned: Tuned, args: Args, questions: int, encoder: str, seconds: float) -> None:
    measured = {"default": tuned.default, "best": tuned.value}
    expected = Expected(
        **header(f"tuning_{name}"),
        encoder=encoder,
        figures={
            f"spider tuning/{name}/{which}/f1": Figure(value=value, n=questions, tolerance=TOLERANCES["f1"])
            for which, value in measured.items()
        },
        details={
            "measure": "mean F1, whole budget spent" + (" and stopping by itself" if name == "graft" else ""),
            "questions": f"spider/tuning.jsonl ({questions})"
            + (f", every {JAR_EVERY}th" if _is_jar(name) else ""),
            "L": list(args.L),
            "seconds": round(seconds),
            "settings": tuned.settings,
            "trials": [{"f1": round(trial.value, 4), "settings": trial.settings} for trial in tuned.trials],
        },
    )
    write(args.out / f"tuning_{name}.yaml", expected)
    if args.write and name != "graft":
        kept = {"settings": tuned.settings, **{key: round(value, 4) for key, value in measured.items()}}
        kept["date"] = expected.date.isoformat()
        known = {"methods": dict(sorted({**_chosen(), name: kept}.items()))}
        head = "# Written by experiments/tune.py --write: dials of peers that differ from the published ones,"
        head += "\n# chosen on the tuning questions of the Spider lake, with mean F1 before and after.\n"
        with replacing(TUNED) as draft:
            draft.write_text(head + yaml.safe_dump(known, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    run_console(main, "tune.py")
