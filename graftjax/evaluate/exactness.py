"""How close the beam search by exact gains comes to GRAFT-Exact, question by question, and what each costs.

Only the search itself is timed, from a problem's arrays to the answer's, both warm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

import jax
import numpy as np
from jaxtyping import Array

from graftjax.encode.encoder import Encoder
from graftjax.evaluate.cases import Case
from graftjax.evaluate.evidence_sets import Collector
from graftjax.igms.exact import covariance, utility
from graftjax.lake.record import LakeIndex
from graftjax.search.actions import Dials, dials_of
from graftjax.search.beam import beam_by_gain
from graftjax.search.exact import LIMIT, TooManySyntheses, enumerate_exact
from graftjax.search.finish import Outcome, finish
from graftjax.search.joint import enumerate_joint
from graftjax.search.region import Problem
from graftjax.search.settings import ROWS, Settings

T = TypeVar("T")
SAME_UTILITY = 1e-4
"""Difference of U below which two answers are equally good: the beam computes in float32."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One question; what is None is not known because the enumeration was refused."""

    id: str
    beam_ms: float
    exact_ms: float | None
    num_syntheses: int | None
    num_evaluated: int | None
    decided_gap: float | None
    """U of the best decided set minus U of the beam's: what the beam loses."""
    utility_gap: float | None
    """The same for the completed answers; it may be negative, as completions are no part of the search."""
    same_tables: bool | None
    joint_gap: float | None
    """U of the best synthesis whose completions compete in U, minus U of GRAFT-Exact's answer."""
    joint_same_tables: bool | None
    """Whether those two have the same tables."""


def compare(
    index: LakeIndex,
    encoder: Encoder,
    cases: Sequence[Case],
    budget: int,
    *,
    settings: Settings | None = None,
    limit: int = LIMIT,
) -> list[Compared]:
    """All questions that can be scored and name something, at one budget."""
    settings = settings or Settings()
    collector = Collector(index, encoder, settings)
    regions = [
        (case.query.id, collector.region(case.query.intent, budget))
        for case in cases
        if not case.reason and case.query.intent is not None
    ]
    problems = [(name, found[1].problem) for name, found in regions if found is not None]
    dials = dials_of(settings)
    for problem in {len(p.atom_mask): p for _, p in problems}.values():
        _timed(lambda p=problem: _beam(p, dials, settings.beam))
        _timed(lambda p=problem: _tried(enumerate_exact, p, dials, limit))
    return [_one(name, problem, dials, settings, limit) for name, problem in problems]


def _one(name: str, problem: Problem, dials: Dials, settings: Settings, limit: int) -> Compared:
    (found, decided), beam_ms = _timed(lambda: _beam(problem, dials, settings.beam))
    exact, exact_ms = _timed(lambda: _tried(enumerate_exact, problem, dials, limit))
    joint = _tried(enumerate_joint, problem, dials, limit)
    if exact is None:
        return Compared(name, beam_ms, None, None, None, None, None, None, None, None)
    atoms = max(int(problem.atom_mask.sum()), 1)
    noise = settings.score.noise
    best = _utility(problem, exact.outcome, noise)
    tables = _tables(exact.outcome)
    return Compared(
        id=name,
        beam_ms=beam_ms,
        exact_ms=exact_ms,
        num_syntheses=exact.num_syntheses,
        num_evaluated=exact.num_evaluated,
        decided_gap=exact.decided / atoms - decided,
        utility_gap=best - _utility(problem, found, noise),
        same_tables=tables == _tables(found),
        joint_gap=None if joint is None else _utility(problem, joint.outcome, noise) - best,
        joint_same_tables=None if joint is None else _tables(joint.outcome) == tables,
    )


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = run()
    return result, 1000 * (time.perf_counter() - start)


def _tried(enumerate_: Callable[..., Any], problem: Problem, dials: Dials, limit: int) -> Any:
    """What comes of an enumeration, None where it is refused."""
    try:
        return enumerate_(problem, dials, limit)
    except TooManySyntheses:
        return None


@partial(jax.jit, static_argnames=("beam",))
def _program(problem: Problem, dials: Dials, *, beam: int) -> tuple[Outcome, Array]:
    """What `graft` without a value function compiles to, in one."""
    states, score = beam_by_gain(problem, dials, beam=beam)
    return finish(problem, dials, states, score, fill=False), score


def _beam(problem: Problem, dials: Dials, beam: int) -> tuple[Outcome, float]:
    """(answer, U of the decided set)."""
    outcome, score = jax.device_get(_program(problem, dials, beam=beam))
    return outcome, float(score.max())


def _tables(outcome: Outcome) -> set[tuple[int, int]]:
    count = int(outcome.num_tables)
    return set(zip(outcome.table_cluster[:count].tolist(), outcome.table_shard[:count].tolist(), strict=True))


def _utility(problem: Problem, outcome: Outcome, noise: float) -> float:
    """U in float64 from the units that an answer reports."""
    count = int(outcome.num_tables)
    cluster, shard = outcome.table_cluster[:count], outcome.table_shard[:count]
    jaccard = problem.correlation[cluster[:, None], shard[:, None], shard[None, :]]
    m = outcome.blocks[:count].reshape(count * ROWS, -1)
    return utility(m, covariance(cluster, jaccard, ROWS, noise), max(int(problem.atom_mask.sum()), 1))


def summary(compared: Sequence[Compared]) -> dict[str, Any]:
    """Counts, shares and means over the questions that could be enumerated; numbers are None without any."""
    done = [one for one in compared if one.exact_ms is not None]
    joint = [one for one in done if one.joint_gap is not None]
    column = lambda name, rows=done: np.array([getattr(one, name) for one in rows], float)  # noqa: E731

    def number(values: np.ndarray, of: Callable[[np.ndarray], Any]) -> float | None:
        return float(of(values)) if len(values) else None

    gap, exact_ms = column("decided_gap"), column("exact_ms")
    return {
        "n_questions": len(compared),
        "n_enumerated": len(done),
        "syntheses": {
            "median": number(column("num_syntheses"), np.median),
            "max": number(column("num_syntheses"), np.max),
        },
        "optimum_found": number(gap <= SAME_UTILITY, np.mean),
        "same_tables": number(column("same_tables"), np.mean),
        "decided_gap": {"mean": number(gap, np.mean), "max": number(gap, np.max)},
        "utility_gap": {"mean": number(column("utility_gap"), np.mean)},
        "joint": {
            "n_enumerated": len(joint),
            "same_tables": number(column("joint_same_tables", joint), np.mean),
            "gap_mean": number(column("joint_gap", joint), np.mean),
        },
        "beam_ms": number(column("beam_ms"), np.mean),
        "exact_ms": {"mean": number(exact_ms, np.mean), "max": number(exact_ms, np.max)},
        "time_ratio": number(exact_ms, lambda ms: ms.mean() / column("beam_ms").mean()),
    }


def rows(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    """For a result file."""
    return [asdict(one) for one in compared]
