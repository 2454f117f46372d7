"""How far the gains of a surrogate are from those of IGMS, on the actions that a search really has.

A surrogate that gives every action the gain that IGMS gives it can't cost F1, whatever it leaves out. So the
gains of both are compared before each table of the answers that IGMS finds: over new clusters that IGMS
admits (the decisions), and over further tables of clusters that are there (the unions).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from graftjax.evaluate.case_study import rated, states_along
from graftjax.evaluate.cases import Case
from graftjax.igms.surrogates import RewardName
from graftjax.intent.atoms import atoms_of
from graftjax.search.engine import Engine

SAME = 1e-3
"""Relative difference up to which two gains count as equal; they are computed in float32."""


class GainAgreement(NamedTuple):
    """Shares are of the compared actions or states; None without any."""

    decisions: int
    """Admissible new clusters that were compared."""
    same_decisions: float | None
    """Share of them whose gain is that of IGMS."""
    same_best: float | None
    """Share of states with a choice in which both have the same best new cluster."""
    unions: int
    same_unions: float | None


def gain_agreement(
    engine: Engine, cases: Sequence[Case], budget: int, rewards: Sequence[Any]
) -> dict[str, GainAgreement]:
    """Agreement of each reward with IGMS. `engine`: by exact gains under IGMS."""
    dials = engine._dials

    def gains(problem: Any, state: Any, name: Any) -> Any:
        return jax.device_get(rated(problem, state, dials, reward=name)[:2])

    # What is kept of J differs between rewards: each has states of its own.
    counts = {name: np.zeros(6) for name in rewards}
    asked = [case.query.intent for case in cases if case.query.intent and not case.reason]
    many = [atoms for atoms in map(atoms_of, asked) if atoms.num_atoms]
    encoded = engine.encode(many)
    others = {name: _under(engine, name) for name in rewards}
    for atoms in many if engine.index.tables else ():
        question = engine.prepare(atoms, encoded, budget)
        problem = question.region.problem
        size = len(problem.cluster)
        outcome = engine.solve(problem, question.outlook, fill=False)
        mine = [gains(problem, state, "igms") for state in states_along(engine, question, outcome)]
        for name in rewards:
            states = states_along(others[name], question, outcome)
            for (gain, regular), state in zip(mine, states, strict=True):
                other = gains(problem, state, name)[0]
                alike = np.abs(other - gain) <= SAME * np.maximum(np.abs(gain), SAME)
                new, more = np.flatnonzero(regular[:size]), size + np.flatnonzero(regular[size:])
                count = counts[name]
                count[:2] += len(new), alike[new].sum()
                if len(new) > 1:
                    count[2:4] += 1, new[gain[new].argmax()] == new[other[new].argmax()]
                count[4:] += len(more), alike[more].sum()
    share = lambda part, whole: round(float(part / whole), 4) if whole else None  # noqa: E731
    return {
        name: GainAgreement(int(c[0]), share(c[1], c[0]), share(c[3], c[2]), int(c[4]), share(c[5], c[4]))
        for name, c in counts.items()
    }


def _under(engine: Engine, reward: RewardName) -> Engine:
    from dataclasses import replace

    return engine.with_settings(replace(engine.settings, reward=reward))
