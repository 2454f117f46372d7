"""Runs of enrichment: retrieval by every method, reference rows, and the predictor's score of each answer.

Reference rows: `base` retrieves nothing, `oracle` all gold pieces (whatever their number), `random` as many
tables as the budget allows, drawn from the whole lake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftjax.enrich.score import Scorer
from graftjax.enrich.source import TASKS, Task
from graftjax.evaluate.cases import Case
from graftjax.evaluate.metrics import bootstrap_interval, score
from graftjax.evaluate.runs import Run, Scored, run_method, run_record
from graftjax.lake.record import LakeIndex
from graftjax.peers.contract import Retrieval, Retriever
from graftjax.types import TableId

REFERENCES = ("base", "random", "oracle")
RANDOM_DRAWS = 3
DOWNSTREAM: Mapping[Task, tuple[str, ...]] = {
    "regression": ("nrmse", "rmse"),
    "classification": ("accuracy",),
}
"""Metrics of the predictor; the first is the one that is averaged over sources in fairness."""
LOWER_IS_BETTER = frozenset({"nrmse", "rmse"})
LABELS: Mapping[Task, str] = {
    "regression": "enrichment_regression",
    "classification": "enrichment_classification",
}
"""Lakes' labels in result files: those of the paper's tables."""


@dataclass(frozen=True, slots=True)
class TaskRun:
    """The answers to the questions of one task."""

    task: Task
    run: Run
    fold_seeds: tuple[int, ...]
    """Each gives a record; the retrieval is the same."""


def method_runs(
    retrievers: Iterable[Retriever], cases: Sequence[Case], budgets: Sequence[int], seeds: Sequence[int]
) -> list[TaskRun]:
    """Ask all questions of each retriever at each budget; the methods draw nothing at random, so `seeds` are
    the predictor's."""
    found = []
    for retriever in retrievers:
        retriever.warm_up(budgets)
        for budget in budgets:
            for task in TASKS:
                own = [case for case in cases if case.query.db_id == task]
                if own:
                    run = run_method(retriever, own, budget=budget, seed=seeds[0])
                    found.append(TaskRun(task, run, tuple(seeds)))
    return found


def reference_runs(
    index: LakeIndex, cases: Sequence[Case], budgets: Sequence[int], seeds: Sequence[int]
) -> list[TaskRun]:
    """The reference rows, at each budget beside the methods."""
    found = []
    for task in TASKS:
        own = [case for case in cases if case.query.db_id == task]
        for budget in budgets if own else ():
            found.append(TaskRun(task, _made("base", budget, 0, own, lambda _: ()), tuple(seeds)))
            found.append(TaskRun(task, _made("oracle", budget, 0, own, lambda case: case.gold), tuple(seeds)))
            for draw in range(RANDOM_DRAWS):
                drawn = {case.query.id: _random(index, case, budget, draw) for case in own}
                run = _made("random", budget, draw, own, lambda case, drawn=drawn: drawn[case.query.id])
                found.append(TaskRun(task, run, (seeds[0],)))
    return found


def _made(
    name: str, budget: int, seed: int, cases: Sequence[Case], answer: Callable[[Case], tuple[TableId, ...]]
) -> Run:
    scored = []
    for case in cases:
        tables = answer(case)
        scored.append(Scored(case, Retrieval(tables), score(tables, case.gold), 0.0))
    return Run(name, budget, seed, tuple(scored), (), 0)


def _random(index: LakeIndex, case: Case, budget: int, draw: int) -> tuple[TableId, ...]:
    start = None if case.query.base is None else index.numbers.get(case.query.base)
    others = np.array([number for number in range(len(index.tables)) if number != start])
    rng = np.random.default_rng([draw, budget, *case.query.id.encode()])
    chosen = rng.choice(others, min(budget, len(others)), replace=False)
    return tuple(index.tables[number].id for number in chosen.tolist())


def scored_records(
    runs: Sequence[TaskRun],
    scorer: Scorer,
    *,
    workers: int,
    label: Callable[[Task], str],
    config: Mapping[str, Any],
    environment: Mapping[str, Any],
    more: Mapping[str, Any],
    progress: bool = True,
) -> list[dict[str, Any]]:
    """One record for each run and seed of folds, as `run_record` makes it, with the predictor's scores.

    A question whose enriched table could not be scored is skipped in its record, with the reason.
    """
    jobs = {
        (position, seed, one.case.query.id): scorer.job(one.case.query.id, one.retrieval.tables, seed)
        for position, own in enumerate(runs)
        for seed in own.fold_seeds
        for one in own.run.scored
    }
    scores = scorer.scores(jobs.values(), workers=workers, progress=progress)
    records = []
    for position, own in enumerate(runs):
        for seed in own.fold_seeds:
            outcomes = {
                one.case.query.id: scores[jobs[position, seed, one.case.query.id]] for one in own.run.scored
            }
            used = {
                one.case.query.id: len(jobs[position, seed, one.case.query.id].tables)
                for one in own.run.scored
            }
            number = own.run.seed if own.run.method == "random" else seed
            record = _record(own, number, outcomes, used, label(own.task), config, environment, more)
            records.append(record)
    return records


def _record(
    own: TaskRun,
    seed: int,
    outcomes: Mapping[str, Mapping[str, Any]],
    used: Mapping[str, int],
    lake: str,
    config: Mapping[str, Any],
    environment: Mapping[str, Any],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    run = own.run
    failed = tuple((id, f"predictor: {one['error']}") for id, one in outcomes.items() if "error" in one)
    lost = {id for id, _ in failed}
    kept = tuple(one for one in run.scored if one.case.query.id not in lost)
    whole = Run(run.method, run.budget, seed, kept, (*run.skipped, *failed), run.recompiles)
    record = run_record(
        whole, lake=lake, config=config, environment=environment, more={**more, "task": own.task}
    )
    for one in record["per_query"]:
        outcome = outcomes[one["id"]]
        one["usable"] = used[one["id"]]
        one["downstream"] = {name: outcome[name] for name in ("rmse", "nrmse", "accuracy", "trivial")}
        one["enriched"] = {name: outcome[name] for name in ("rows", "columns", "notes")}
    if record["per_query"]:
        for name in DOWNSTREAM[own.task]:
            values = np.array([one["downstream"][name] for one in record["per_query"]])
            record["metrics"][name] = float(values.mean())
            record["intervals_95"][name] = bootstrap_interval(values)
        record["mean_usable"] = float(np.mean([one["usable"] for one in record["per_query"]]))
    return record
