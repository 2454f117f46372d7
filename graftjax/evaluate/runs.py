"""Timed runs of a retriever over test cases, and the JSON file each run leaves.

A query that crashes, or that can't be scored, is listed as skipped with the reason: never a score of 0.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from graftjax.evaluate.cases import Case
from graftjax.evaluate.metrics import (
    METRICS,
    Score,
    bootstrap_interval,
    f1_of_means,
    mean_scores,
    score,
    score_matrix,
)
from graftjax.files import replacing, writing
from graftjax.peers.contract import Retrieval, Retriever, check_retrieval
from graftjax.types import Synthesis, TableId

_COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"


@dataclass(frozen=True, slots=True)
class Scored:
    """One query that was answered."""

    case: Case
    retrieval: Retrieval
    score: Score
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Run:
    """One method at one budget and seed over all cases."""

    method: str
    budget: int
    seed: int
    scored: tuple[Scored, ...]
    skipped: tuple[tuple[str, str], ...]
    """(query id, reason)."""
    recompiles: int
    """Programs compiled while queries were answered, anywhere in the process; 0 after a complete warm-up."""


class _CompileCounter:
    """Counts what XLA compiles; JAX offers no way to remove a listener, so one serves the whole process."""

    def __init__(self) -> None:
        self.total = 0
        self._listening = False

    @contextmanager
    def counting(self) -> Iterator[list[int]]:
        """Yields a list of one number, filled in at the end of the block."""
        import jax

        if not self._listening:
            jax.monitoring.register_event_duration_secs_listener(self._heard)
            self._listening = True
        before, count = self.total, [0]
        try:
            yield count
        finally:
            count[0] = self.total - before

    def _heard(self, event: str, duration_secs: float, **_: Any) -> None:
        self.total += event == _COMPILE_EVENT


_COMPILES = _CompileCounter()


def run_method(
    retriever: Retriever, cases: Sequence[Case], *, budget: int, seed: int = 0, progress: bool = True
) -> Run:
    """Ask all queries of a warmed-up retriever, one after the other.

    The clock runs for `retrieve` alone: intent graphs come with the queries. The first query is asked once
    before the clock starts, so that nothing is timed that only a first call pays.
    """
    scored: list[Scored] = []
    skipped: list[tuple[str, str]] = []
    label = f"{retriever.name} L={budget} seed={seed}"
    with _COMPILES.counting() as recompiles:
        for case in (case for case in cases[:1] if not case.reason):
            _ask(retriever, case, budget, seed)
        for case in tqdm(cases, desc=label, unit="query", disable=not progress):
            if case.reason:
                skipped.append((case.query.id, case.reason))
                continue
            answer = _ask(retriever, case, budget, seed)
            if isinstance(answer, str):
                skipped.append((case.query.id, answer))
            else:
                scored.append(answer)
    return Run(retriever.name, budget, seed, tuple(scored), tuple(skipped), recompiles[0])


def _ask(retriever: Retriever, case: Case, budget: int, seed: int) -> Scored | str:
    """The scored answer, or why there is none."""
    try:
        start = time.perf_counter()
        retrieval = retriever.retrieve(case.query, budget, seed)
        latency_ms = 1000 * (time.perf_counter() - start)
        check_retrieval(retrieval, budget)
        return Scored(case, retrieval, score(retrieval.tables, case.gold), latency_ms)
    except Exception as error:  # whatever a method throws costs this query only, and is reported
        return f"{type(error).__name__}: {error}"


def run_record(
    run: Run,
    *,
    lake: str,
    config: Mapping[str, Any],
    environment: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON object of a run. `more` adds fields of its own (no known name). Without a single scored
    query `metrics` and `latency_ms` are null."""
    matrix = score_matrix([one.score for one in run.scored])
    latencies = np.array([one.latency_ms for one in run.scored])
    means = mean_scores(matrix) if run.scored else None
    return {
        "lake": lake,
        "method": run.method,
        "L": run.budget,
        "seed": run.seed,
        "n_queries": len(run.scored) + len(run.skipped),
        "n_skipped": len(run.skipped),
        "metrics": means,
        "intervals_95": {
            name: bootstrap_interval(matrix[:, position]) for position, name in enumerate(METRICS)
        }
        if means
        else None,
        "f1_of_means": f1_of_means(means["recall"], means["precision"]) if means else None,
        "mean_retrieved": float(np.mean([len(one.retrieval.tables) for one in run.scored]))
        if means
        else None,
        "latency_ms": {
            "mean": float(latencies.mean()),
            "p50": float(np.quantile(latencies, 0.5)),
            "p95": float(np.quantile(latencies, 0.95)),
        }
        if means
        else None,
        "recompiles_after_warmup": run.recompiles,
        **(more or {}),
        "per_query": [_query_record(one) for one in run.scored],
        "skipped": [{"id": id, "reason": reason} for id, reason in run.skipped],
        "config": dict(config),
        "environment": dict(environment),
    }


def _query_record(one: Scored) -> dict[str, Any]:
    return {
        "id": one.case.query.id,
        "retrieved": [_pair(table) for table in one.retrieval.tables],
        "gold": [_pair(table) for table in one.case.gold],
        "recall": one.score.recall,
        "precision": one.score.precision,
        "f1": one.score.f1,
        "sufficient": bool(one.score.sufficiency),
        "latency_ms": one.latency_ms,
        "synthesis": synthesis_record(one.retrieval.synthesis),
        "notes": list(one.retrieval.notes),
    }


def synthesis_record(synthesis: Synthesis | None) -> dict[str, Any] | None:
    """A synthesis as JSON; tables are [source, name] pairs, numbers that are not finite become null."""
    if synthesis is None:
        return None
    return {
        "tables": [_pair(table) for table in synthesis.tables],
        "operators": [
            {
                "kind": step.kind,
                "anchor": _pair(step.anchor),
                "new": _pair(step.new),
                "columns": [list(pair) for pair in step.columns],
                "weight": _number(step.weight),
            }
            for step in synthesis.operators
        ],
        "U": _number(synthesis.utility),
        "support": [
            {**asdict(atom), "support": _number(atom.support), "table": atom.table and _pair(atom.table)}
            for atom in synthesis.support
        ],
        "notes": list(synthesis.notes),
    }


def _pair(table: TableId) -> list[str]:
    return [table.source, table.name]


def _number(value: float) -> float | None:
    value = float(value)
    return value if math.isfinite(value) else None


def record_name(record: Mapping[str, Any]) -> str:
    """`spider_graft_L10_seed0.json`."""
    lake, method = (re.sub(r"[^A-Za-z0-9.-]+", "-", str(record[key])) for key in ("lake", "method"))
    return f"{lake}_{method}_L{record['L']}_seed{record['seed']}.json"


def write_record(folder: Path, record: Mapping[str, Any]) -> Path:
    """Write a run's JSON in one step, so that a killed run leaves the old file or the new one.

    Raises GraftError when the folder can't be written.
    """
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False, default=str)
    path = folder / record_name(record)
    with writing(folder, "results"), replacing(path) as draft:
        draft.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    return path
