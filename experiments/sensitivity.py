"""How F1 depends on the dials: trajectories and γ as in the paper's Figure 3, and B, K, h, σ0², α.

Command:   python experiments/sensitivity.py --readme README.md
Hardware:  2 CPU cores
Time:      exact sweeps 6 min on Spider with a built index; a training 1.5 min on a core, 36 of them
Expected:  results/sensitivity.yaml and docs/sensitivity.svg as they are in the repository

`trajectories` and `gamma` train a value function for every value and seed; `text_trajectories` is the first
of them with networks that read texts instead of the search's exact numbers. Trajectories and episodes are
collected once a seed (those of `graftjax train` are taken where they fit), and implicit Q-learning alone is
repeated, for the same number of updates everywhere; intervals are over seeds (Student's t). The other dials
need no training: the search goes by exact gains, and intervals are over questions. Differences to the
default are paired by question. Every point is a file and is not run again; trained value functions lie
beside the lake's index, or under --work.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from _dials import (
    COUNTED,
    DIALS,
    TRAINED,
    Point,
    defaults_of,
    dial_figures,
    dial_lines,
    draw_dials,
    values_of,
)
from _points import PointArgs, check_common, on_record, opened, save, tell_skipped

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import beside
from graftjax.evaluate.variants import Bench, check_points, run_point


@dataclass(frozen=True)
class Args(PointArgs):
    """Arguments of the sensitivity study."""

    sweeps: tuple[str, ...] = (*TRAINED, *DIALS)
    """Dials to sweep, one or more of trajectories, text_trajectories, gamma, beam, anchors, hop, noise,
    alpha."""
    trajectories: tuple[int, ...] = (16, 64, 256, 1024, 2048, 4096)
    """Numbers of trajectories; that of the γ sweep is --gamma-trajectories."""
    text_trajectories: tuple[int, ...] = (64, 256, 4096)
    """Numbers of trajectories for networks that read texts and no exact numbers."""
    gamma: tuple[float, ...] = (0.0, 0.4, 0.8, 1.0)
    """Discounts of a decision, each in [0, 1]."""
    beam: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    """B: syntheses kept per step."""
    anchors: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 128)
    """K: nearest nodes per atom."""
    hop: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """h: factor per bridge on a join path, each in [0, 1]."""
    noise: tuple[float, ...] = (0.0001, 0.001, 0.01, 0.1, 0.3, 1.0)
    """σ0², each above 0."""
    alpha: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """α, each in [0, 1]."""
    L: int = 10
    """Budget: at most this many tables per query."""
    seed: int = 0
    """First training seed."""
    runs: int = 3
    """Number of training seeds: seed, seed + 1, ..."""
    steps: int = 500
    """Updates of every training."""
    gamma_trajectories: int = 4096
    """Trajectories of the γ sweep."""
    default_gamma: float = 0.8
    """γ of the trajectory sweep, and the value that γ is compared with."""
    held_out: int = 100
    """Further trajectories that the error of Q is measured on."""
    work: Path | None = None
    """Folder for the value functions; default beside the lake's index."""
    plot: Path | None = None
    """File for the plot, .svg, .png or .pdf; needs matplotlib (extra `plots`)."""
    out: Path = Path("results/sensitivity")
    """Folder for the result files, one JSON per dial, value, method and seed."""
    summary: Path | None = None
    """File for the figures; default results/sensitivity.yaml with --readme, else a file in --out."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    _check(args)
    bench = opened(args)
    from graftjax.search.engine import Engine

    engine = Engine(bench.index, bench.encoder)
    points: list[Point] = []
    for sweep in dict.fromkeys(args.sweeps):
        make = _trained if sweep in TRAINED else _exact
        for value in values_of(args, sweep):
            points.append(make(bench, engine, args, sweep, value))
            _say(f"{sweep}={value:g}: " + ", ".join(_told(points[-1])))
    exact = {
        method: run_point(
            bench, engine, variant="exact", method=method, budget=args.L, out=args.out, fresh=args.fresh
        )
        for method in dict.fromkeys(args.methods)
    }
    lake = bench.dataset.lake
    defaults = defaults_of(args)
    figures, p_values = dial_figures(lake, args, points, exact, defaults)
    draw_dials(lake, args, figures, defaults)
    place = on_record(args.summary, args, "results/sensitivity.yaml")
    save(
        "sensitivity", args, place, dial_lines(bench.dataset.title, lake, args, figures, defaults),
        figures, bench.place, seeds=tuple(range(args.seed, args.seed + args.runs)),
        over=f"seeds for {', '.join(TRAINED)}, queries for the other dials", encoder=bench.encoder.name,
        guidance=f"learned for {', '.join(TRAINED)}, exact for the other dials",
        details={"p": p_values, "steps": args.steps, "gamma_trajectories": args.gamma_trajectories},
    )  # fmt: skip
    every = [record for point in points for runs in point.runs.values() for record in runs]
    tell_skipped(every)
    return 0


def _check(args: Args) -> None:
    check_common(args)
    check_points(args.methods, [args.L], args.out)
    known = (*TRAINED, *DIALS)
    if not args.sweeps:
        raise UsageError(f"--sweeps needs one or more of {', '.join(known)}")
    for sweep in args.sweeps:
        if sweep not in known:
            raise UsageError(f"--sweeps {sweep}: choose from {', '.join(known)}")
        if not getattr(args, sweep):
            raise UsageError(f"--{sweep.replace('_', '-')} needs one or more values")
    for name in (*COUNTED, "beam", "anchors"):
        if any(value < 1 for value in getattr(args, name)):
            raise UsageError(f"--{name.replace('_', '-')} must be at least 1")
    for name in ("gamma", "hop", "alpha"):
        if any(not 0 <= value <= 1 for value in getattr(args, name)):
            raise UsageError(f"--{name} must lie in [0, 1]")
    if any(not value > 0 for value in args.noise):
        raise UsageError("--noise must be positive")
    for name in ("runs", "steps", "gamma_trajectories", "held_out"):
        if getattr(args, name) < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be at least 1, not {getattr(args, name)}")
    if not 0 <= args.default_gamma <= 1:
        raise UsageError("--default-gamma must lie in [0, 1]")
    if args.plot is not None and args.plot.suffix not in (".svg", ".png", ".pdf"):
        raise UsageError(f"--plot {args.plot}: the name must end with .svg, .png or .pdf")


def _exact(bench: Bench, engine: Any, args: Args, sweep: str, value: float) -> Point:
    """A dial of the search, by exact gains."""
    field, settings = DIALS[sweep].field, engine.settings
    if hasattr(settings, field):
        changed = replace(settings, **{field: value})
    else:
        changed = replace(settings, score=replace(settings.score, **{field: value}))
    runs = {}
    for method in dict.fromkeys(args.methods):
        record = run_point(
            bench, engine.with_settings(changed), variant=f"{sweep}={value:g}", method=method, budget=args.L,
            out=args.out / sweep, config={"sweep": sweep, sweep: value}, fresh=args.fresh,
        )  # fmt: skip
        runs[method] = [record]
    return Point(sweep, value, runs)


def _trained(bench: Bench, engine: Any, args: Args, sweep: str, value: float) -> Point:
    """A dial of the training: a value function for each seed."""
    from graftjax.evaluate.guidance import value_folder
    from graftjax.evaluate.trained_points import guided, train_point
    from graftjax.training.settings import JobSettings

    count, gamma = (int(value), args.default_gamma) if sweep in COUNTED else (args.gamma_trajectories, value)
    texts = sweep == "text_trajectories"
    work = args.work or beside(bench.index.folder, "sensitivity")
    runs: dict[str, list[Any]] = {method: [] for method in dict.fromkeys(args.methods)}
    errors = []
    for seed in range(args.seed, args.seed + args.runs):
        settings = JobSettings(
            seed=seed, trajectories=count, held_out=args.held_out, steps=args.steps, gamma=gamma,
            reads="texts" if texts else None,
        )  # fmt: skip
        read = "-texts" if texts else ""
        folder = work / f"trajectories{count}-gamma{gamma:g}-steps{args.steps}{read}-seed{seed}"
        own = sorted(work.glob(f"trajectories*-seed{seed}"), key=_size, reverse=True)
        trained = train_point(
            bench, folder, settings, [*own, value_folder(bench.index.folder, seed)], fresh=args.fresh,
            progress=sys.stderr.isatty(), say=_say,
        )  # fmt: skip
        error = trained.error()
        errors += [] if error is None else [error]
        for method, records in runs.items():
            record = run_point(
                bench, guided(engine, trained.guidance), variant=f"{sweep}={value:g}", method=method,
                budget=args.L, out=args.out / sweep, seed=seed, fresh=args.fresh,
                config={"sweep": sweep, "trajectories": count, "gamma": gamma, "steps": args.steps},
                guided_by=trained.guidance.record(),
            )  # fmt: skip
            records.append(record)
    return Point(sweep, value, runs, tuple(errors))


def _size(folder: Path) -> int:
    """Trajectories of a folder of this study."""
    return int(folder.name.split("-")[0].removeprefix("trajectories") or 0)


def _told(point: Point) -> list[str]:
    return [
        f"{method} F1 {sum(r['metrics']['f1'] for r in runs) / len(runs):.3f}"
        for method, runs in point.runs.items()
        if all(record["metrics"] for record in runs)
    ]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run_console(main, "sensitivity.py")
