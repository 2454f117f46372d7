"""The two thresholds of the stop rule, for each reward of Table 7 on its own scale.

`Settings.least_gain` and `least_fragment_gain` say which gain is worth a table. They are on the scale of log
det, and a surrogate's gains are on another, so each reward gets its own pair by one procedure: coordinate
search for the F1 of `graft` on tuning questions, by exact gains, the same grid for all. What was chosen lies
in reward_thresholds.yaml.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from graftjax.evaluate.cases import Case
from graftjax.evaluate.metrics import score
from graftjax.evaluate.tuning import Trial, Tuned, coordinate_search
from graftjax.files import replacing, writing
from graftjax.igms.surrogates import RewardName
from graftjax.intent.atoms import atoms_of
from graftjax.search.engine import Engine
from graftjax.search.finish import Outcome
from graftjax.search.question import Question
from graftjax.search.settings import Settings
from graftjax.types import TableId

THRESHOLDS: tuple[str, ...] = ("least_gain", "least_fragment_gain")
SCALE = (0.05, 0.1, 0.2, 0.4, 0.8, 1.1, 1.3, 1.6, 2.0, 2.6, 3.4, 4.5, 6.0)
"""Gains that are tried for either threshold: enough to hold the scales of all five rewards."""
FILE = "reward_thresholds.yaml"


@cache
def known_thresholds() -> dict[str, dict[str, float]]:
    """Reward → its thresholds, as far as they were chosen."""
    text = files("graftjax.evaluate").joinpath(FILE).read_text(encoding="utf-8")
    return (yaml.safe_load(text) or {}).get("rewards", {})


def settings_of(reward: RewardName, settings: Settings | None = None) -> Settings:
    """The search under a reward, with that reward's thresholds; all else as in `settings`."""
    from dataclasses import replace

    chosen = known_thresholds().get(reward, {})
    return replace(
        settings or Settings(), reward=reward, **{name: chosen[name] for name in THRESHOLDS if name in chosen}
    )


def tune_thresholds(
    engine: Engine,
    cases: Sequence[Case],
    budgets: Sequence[int],
    rewards: Sequence[RewardName],
    *,
    sweeps: int = 2,
    told: Callable[[str, Trial, bool], None] = lambda reward, trial, best: None,
) -> dict[RewardName, Tuned]:
    """Thresholds of each reward that give the highest mean F1 of `graft` over cases and budgets.

    Evidence and region of a question don't depend on either threshold or reward: they are made once.
    """
    asked = [(case, budget) for case in cases if case.query.intent for budget in budgets]
    atoms = {case.query.id: atoms_of(case.query.intent) for case, _ in asked if case.query.intent}
    encoded = engine.encode(list(atoms.values()))
    prepared = [engine.prepare(atoms[case.query.id], encoded, budget) for case, budget in asked]
    defaults = {name: getattr(Settings(), name) for name in THRESHOLDS}
    grid = dict.fromkeys(THRESHOLDS, SCALE)
    found: dict[RewardName, Tuned] = {}
    for reward in rewards:

        def measure(changed: dict[str, Any], reward: RewardName = reward) -> float:
            tried = engine.with_settings(Settings(reward=reward, **changed))
            total = 0.0
            for (case, _), question in zip(asked, prepared, strict=True):
                outcome = tried.solve(question.region.problem, question.outlook, fill=False)
                total += score(retrieved(tried, question, outcome), case.gold).f1
            return total / len(asked)

        hear = lambda trial, best, reward=reward: told(reward, trial, best)  # noqa: E731
        found[reward] = coordinate_search(grid, defaults, measure, sweeps=sweeps, told=hear)
    return found


def retrieved(engine: Engine, question: Question, outcome: Outcome) -> tuple[TableId, ...]:
    """The tables of an outcome, without operators and reasons."""
    count = int(outcome.num_tables)
    clusters = question.region.clusters[outcome.table_cluster[:count]]
    shards = outcome.table_shard[:count].tolist()
    numbers = [int(engine.shards.tables[c][s]) for c, s in zip(clusters.tolist(), shards, strict=True)]
    return tuple(engine.index.tables[number].id for number in numbers)


def write_thresholds(tuned: dict[RewardName, Tuned], about: dict[str, Any], path: Path | None = None) -> None:
    """Put what was chosen into the package (or another file), beside what is known of other rewards."""
    place = path or Path(__file__).with_name(FILE)
    defaults = {name: getattr(Settings(), name) for name in THRESHOLDS}
    rewards = dict(known_thresholds()) if path is None else {}
    for reward, one in tuned.items():
        rewards[reward] = {**defaults, **one.settings, "f1": round(one.value, 4)}
    text = yaml.safe_dump({**about, "rewards": rewards}, sort_keys=False, allow_unicode=True)
    with writing(place), replacing(place) as draft:
        draft.write_text(f"# Written by experiments/ablation_reward.py --tune.\n{text}", encoding="utf-8")
    known_thresholds.cache_clear()
