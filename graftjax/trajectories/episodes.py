"""Episodes: one self-made intent searched in the lake it came from, with the rewards of what was reached.

The intent is reworded, and the lake is searched for it as for a question of a person: anchors, region and
exact numbers come from the search's own code, so that training sees what the search will see. The reward
does not: where an episode stops, it is U of the part that lies in the sampled subgraph (known by
construction), in the intent's ideal support. A wrong table hence earns nothing and costs a decision.
Letters: W walks, H decisions, n intent nodes, D features of a text vector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.support import NodeSupport
from graftjax.intent.atoms import IntentAtoms
from graftjax.intent.schema import IntentGraph
from graftjax.iql.graph import FIRST, JOIN
from graftjax.lake.record import LakeIndex
from graftjax.search.actions import Dials
from graftjax.search.region import ATOM_BUCKETS, Region, build_region
from graftjax.search.settings import Settings
from graftjax.search.shards import ShardOrder
from graftjax.search.view import NO_TEXT, IntentView, ProblemTexts, intent_view
from graftjax.trajectories.reward import ideal_utility
from graftjax.trajectories.rollout import DECISIONS, Visit, walks

WIDTH = ATOM_BUCKETS[0]
"""Atoms of a self-made intent, at most."""
BUDGET = 10
"""L of the walks; with at most five decisions no walk ever meets it."""
TEXT_SHIFT = NO_TEXT + 1
"""Number of the lake's first text."""


@dataclass(frozen=True)
class WalkSettings:
    """How a problem is explored."""

    recorded: int = 2
    """Walks along the sampled subgraph, its clusters in random order."""
    exploring: int = 6
    """Walks by exact gain with noise; the first without."""
    temperature: float = 0.5
    """Scale of the Gumbel noise, in log-det gain; the last walk has three times as much."""


@dataclass(frozen=True)
class Need:
    """A reworded intent with the clusters that its trees stand for."""

    intent: IntentGraph
    trees: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Episode:
    """States and transitions of one intent as arrays; a state is stored once, however often it was met."""

    intent: IntentView
    intent_vectors: np.ndarray
    """float16 [n, D]."""
    states: dict[str, np.ndarray]
    """Fields of `EvidenceView` (texts as numbers) and `scalars`, one row per state; `utility`: the reward of
    stopping there."""
    transitions: dict[str, np.ndarray]
    """state, next_state (rows of `states`), new, anchor (text numbers), operator, numbers, recorded.

    `recorded`: whether a walk along the sampled subgraph took it.
    """


def explore(
    index: LakeIndex,
    shards: ShardOrder,
    settings: Settings,
    dials: Dials,
    need: Need,
    atoms: IntentAtoms,
    support: NodeSupport,
    intent_vectors: np.ndarray,
    rng: np.random.Generator,
    plan: WalkSettings = WalkSettings(),
) -> Episode:
    """Walk through the problem of one intent; the generator decides orders and noise."""
    evidence = QueryEvidence(atoms, support, index.graph, settings.score)
    region = build_region(evidence, shards, settings, BUDGET)
    position = {int(cluster): i for i, cluster in enumerate(region.clusters) if cluster >= 0}
    right = np.array([position.get(cluster, -2) for cluster in need.trees])
    numbers = ProblemTexts.of(region, index.nodes, TEXT_SHIFT)
    noise, forced = _plan(region, right, rng, plan)
    visits: Visit = jax.device_get(walks(region.problem, numbers, dials, noise, forced))
    view = intent_view(evidence, region.problem.rows.shape[2])
    joins = [(left, right) for _, left, right in evidence.joins]

    def utility(tree_cluster: np.ndarray) -> float:
        known = tree_cluster[: len(right)]
        witnessed = frozenset(np.flatnonzero((known == right[: len(known)]) & (known >= 0)).tolist())
        joined = [j for j, ends in enumerate(joins) if witnessed.issuperset(ends)]
        return ideal_utility(need.intent, witnessed, joined, settings.score.noise)

    states, transitions = _collect(visits, region, numbers.schema, _cached(utility), plan.recorded)
    return Episode(view, intent_vectors.astype(np.float16), states, transitions)


def _plan(
    region: Region, right: np.ndarray, rng: np.random.Generator, plan: WalkSettings
) -> tuple[np.ndarray, np.ndarray]:
    """(noise [W, H, A], forced [W, H])."""
    problem, count = region.problem, plan.recorded + plan.exploring
    single = problem.action_valid & (problem.witnesses.sum(1) == 1)
    wanted = []
    for tree, cluster in enumerate(right.tolist()):
        if tree < problem.witnesses.shape[1]:
            wanted += np.flatnonzero(single & problem.witnesses[:, tree] & (problem.cluster == cluster))[
                :1
            ].tolist()
    forced = np.full((count, DECISIONS), -1, np.int32)
    for walk in range(plan.recorded):
        order = rng.permutation(wanted)[:DECISIONS]
        forced[walk, : len(order)] = order
    noise = rng.gumbel(size=(count, DECISIONS, len(problem.cluster))) * plan.temperature
    if plan.exploring:
        noise[plan.recorded] = 0.0
        noise[-1] *= 3.0
    return noise.astype(np.float32), forced


def _cached(utility: Callable[[np.ndarray], float]) -> Callable[[np.ndarray], float]:
    known: dict[bytes, float] = {}

    def look_up(tree_cluster: np.ndarray) -> float:
        key = tree_cluster.tobytes()
        if key not in known:
            known[key] = utility(tree_cluster)
        return known[key]

    return look_up


def _collect(
    visits: Visit,
    region: Region,
    schema: np.ndarray,
    utility: Callable[[np.ndarray], float],
    num_recorded: int,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """States and transitions without repeats."""
    fields = visits.evidence._fields
    rows: dict[tuple[Any, ...], int] = {}
    places: list[tuple[int, int]] = []
    steps: dict[tuple[int, int], tuple[Any, ...]] = {}

    def state(walk: int, at: int) -> int:
        key = (visits.tree_cluster[walk, at].tobytes(), int(visits.signature[walk, at]))
        if key not in rows:
            rows[key] = len(places)
            places.append((walk, at))
        return rows[key]

    for walk in range(visits.action.shape[0]):
        for at in range(DECISIONS):
            action = int(visits.action[walk, at])
            if action < 0:
                break
            before, after = state(walk, at), state(walk, at + 1)
            anchor = int(visits.anchor[walk, at])
            steps.setdefault(
                (before, action),
                (
                    before,
                    after,
                    int(schema[region.problem.cluster[action]]),
                    int(schema[anchor]) if anchor >= 0 else NO_TEXT,
                    JOIN if anchor >= 0 else FIRST,
                    walk < num_recorded,
                    visits.numbers[walk, at],
                ),
            )
    if not places:
        places.append((0, 0))
    walk, at = np.array(places).T
    states: dict[str, Any] = {name: getattr(visits.evidence, name)[walk, at] for name in fields}
    states["scalars"] = visits.scalars[walk, at]
    states["utility"] = np.array([utility(row) for row in visits.tree_cluster[walk, at]], np.float32)
    states["align"], states["omega"] = states["align"].astype(np.float16), states["omega"].astype(np.float16)
    columns = list(zip(*steps.values(), strict=True)) if steps else [[]] * 7
    names = ("state", "next_state", "new", "anchor", "operator", "recorded")
    transitions: dict[str, Any] = {name: np.asarray(columns[i], np.int32) for i, name in enumerate(names)}
    num_numbers = visits.numbers.shape[-1]
    transitions["numbers"] = np.asarray(columns[6], np.float32).reshape(-1, num_numbers)
    return states, transitions


__all__ = ["BUDGET", "WIDTH", "Episode", "Need", "WalkSettings", "explore"]
