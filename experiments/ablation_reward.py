"""What the parts of the reward are worth: R1 to R4 instead of IGMS, the paper's Table 7.

Command:   python experiments/ablation_reward.py --readme README.md
Hardware:  2 CPU cores
Time:      about 3 min on Spider with a built index; with --tune 15 min more
Expected:  results/ablation_reward.yaml as it is in the repository

Everything but the reward is the same: lake, questions, recorded intent graphs, beam, and exact gains (no
value function, so nothing was trained for one of the rewards). The stop rule's two thresholds are on a
reward's own scale; each reward has those that --tune chose for it, by one grid and the F1 of graft at L =
5, 10, 15 on `spider/tuning.jsonl` (graftjax/evaluate/reward_thresholds.yaml). The benchmark's questions
choose nothing. Differences to IGMS are paired by question. graft-fill spends the budget whatever a gain is
worth.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _points import (
    PointArgs,
    check_common,
    difference_figure,
    on_record,
    opened,
    paired,
    point_figures,
    save,
    shown,
    tell_skipped,
)

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import data_directory
from graftjax.evaluate.markdown import table
from graftjax.evaluate.variants import check_points, open_bench, run_point
from graftjax.igms.surrogates import REWARDS
from graftjax.results.expected import Figure, figure_name

PAPER = {"igms": 0.668, "R1": 0.582, "R2": 0.612, "R3": 0.598, "R4": 0.625}
"""F1 on Spider at L = 10, Table 7."""
PAPER_L = 10
WHAT = {
    "igms": "IGMS",
    "R1": "R1, linear combination",
    "R2": "R2, no redundancy",
    "R3": "R3, no coupling of nodes and relations",
    "R4": "R4, additive",
}


@dataclass(frozen=True)
class Args(PointArgs):
    """Arguments of the reward ablation."""

    L: tuple[int, ...] = (5, 10, 15)
    """Budgets: at most this many tables per query; one or more."""
    rewards: tuple[str, ...] = REWARDS
    """Rewards to run, one or more of igms, R1, R2, R3, R4; the others are compared with igms."""
    tune: bool = False
    """Choose the thresholds of these rewards again first, on the tuning questions of Spider."""
    tuned: Path | None = None
    """File for what --tune chooses; default the one in the package."""
    out: Path = Path("results/ablation_reward")
    """Folder for the result files, one JSON per reward, method and budget."""
    summary: Path | None = None
    """File for the figures; default results/ablation_reward.yaml with --readme, else a file in --out."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    check_common(args)
    check_points(args.methods, args.L, args.out)
    for name in args.rewards:
        if name not in REWARDS:
            raise UsageError(f"--rewards {name}: choose from {', '.join(REWARDS)}")
    if not args.rewards:
        raise UsageError(f"--rewards needs one or more of {', '.join(REWARDS)}")
    if args.tuned is not None and not args.tune:
        raise UsageError("--tuned names a file for --tune: give both")
    if args.tune:
        _tune(args)
    bench = opened(args)
    from graftjax.evaluate.reward_thresholds import THRESHOLDS, settings_of
    from graftjax.search.engine import Engine

    base = Engine(bench.index, bench.encoder)
    runs: dict[tuple[str, str], dict[int, list[Any]]] = {}
    thresholds = {}
    for reward in dict.fromkeys(args.rewards):
        settings = settings_of(reward)  # pyright: ignore[reportArgumentType]
        thresholds[reward] = {name: getattr(settings, name) for name in THRESHOLDS}
        engine = base.with_settings(settings)
        for method in dict.fromkeys(args.methods):
            for budget in sorted(set(args.L)):
                record = run_point(
                    bench, engine, variant=reward, method=method, budget=budget, out=args.out,
                    config={"reward": reward, **thresholds[reward]}, fresh=args.fresh,
                    progress=sys.stderr.isatty(),
                )  # fmt: skip
                runs.setdefault((reward, method), {})[budget] = [record]
    lake = bench.dataset.lake
    figures, p_values = _figures(lake, runs)
    from graftjax.evaluate.reward_gains import gain_agreement

    # Why a reward costs nothing, where it does: its gains are those of IGMS.
    others = [reward for reward in dict.fromkeys(args.rewards) if reward != "igms"]
    agreement = {
        reward: found._asdict()
        for reward, found in gain_agreement(base, bench.cases, max(args.L), others).items()
    }
    place = on_record(args.summary, args, "results/ablation_reward.yaml")
    save(
        "ablation_reward", args, place, _lines(bench.dataset.title, lake, args, thresholds, figures),
        figures, bench.place, encoder=bench.encoder.name, guidance="exact",
        details={"thresholds": thresholds, "p": p_values, "gains_beside_igms": agreement},
    )  # fmt: skip
    every = [record for own in runs.values() for records in own.values() for record in records]
    tell_skipped(every)
    return 0


def _figures(lake: str, runs: dict[tuple[str, str], Any]) -> tuple[dict[str, Figure], dict[str, float]]:
    """Means with intervals, differences to IGMS, and their p values."""
    figures: dict[str, Figure] = {}
    p_values: dict[str, float] = {}
    for (reward, method), own in runs.items():
        label = f"{reward}/{method}"
        known = {PAPER_L: PAPER[reward]} if (lake, method) == ("spider", "graft-fill") else None
        figures |= point_figures(lake, label, own, known)
        for budget, records in own.items() if reward != "igms" and ("igms", method) in runs else ():
            found = paired(records, runs["igms", method][budget])
            if found is not None:
                name = figure_name(lake, label, budget, "f1-difference")
                figures[name] = difference_figure(found)
                p_values[name] = round(found.p_value["f1"], 4)
    return figures, p_values


def _lines(
    title: str, lake: str, args: Args, thresholds: dict[str, Any], figures: dict[str, Figure]
) -> list[str]:
    """A Markdown table: rewards down, F1 and its difference to IGMS by method and budget across."""
    columns = [(method, budget) for method in dict.fromkeys(args.methods) for budget in sorted(set(args.L))]
    heads = [part for method, budget in columns for part in (f"{method} L={budget} F1", "difference to IGMS")]
    rows = [[title, "thresholds", *heads, f"*paper*, L={PAPER_L}"]]
    for reward in dict.fromkeys(args.rewards):
        cells = []
        for method, budget in columns:
            mean, change = (
                figures.get(figure_name(lake, f"{reward}/{method}", budget, metric))
                for metric in ("f1", "f1-difference")
            )
            cells += [shown(mean), shown(change, "+") if reward != "igms" else ""]
        dials = ", ".join(f"{value:g}" for value in thresholds[reward].values())
        rows.append([WHAT[reward], dials, *cells, f"{PAPER[reward]:.3f}"])
    return table(rows)


def _tune(args: Args) -> None:
    queries = data_directory(args.data_dir) / "spider" / "tuning.jsonl"
    if not queries.is_file():
        raise UsageError(f"--tune: {queries} not found; --data-dir names the data")
    bench = open_bench(
        "spider", data_dir=args.data_dir, encoder=args.encoder, queries=queries, limit=args.limit
    )
    from graftjax.evaluate.reward_thresholds import SCALE, tune_thresholds, write_thresholds
    from graftjax.search.engine import Engine

    cases = [case for case in bench.cases if not case.reason]
    engine = Engine(bench.index, bench.encoder)
    found = tune_thresholds(engine, cases, sorted(set(args.L)), _known(args.rewards), told=_tell)
    about = {
        "measure": "mean F1 of graft by exact gains",
        "questions": f"spider/tuning.jsonl ({len(cases)})",
        "L": sorted(set(args.L)),
        "grid": list(SCALE),
        "encoder": bench.encoder.name,
        "date": datetime.date.today().isoformat(),
    }
    write_thresholds(found, about, args.tuned)


def _known(rewards: Sequence[str]) -> list[Any]:
    return list(dict.fromkeys(rewards))


def _tell(reward: str, trial: Any, best: bool) -> None:
    print(f"{reward:5} F1 {trial.value:.4f}{' *' if best else '  '} {trial.settings}", flush=True)


if __name__ == "__main__":
    run_console(main, "ablation_reward.py")
