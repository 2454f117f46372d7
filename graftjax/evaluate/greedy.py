"""A plain greedy search over whole tables: a slow reference that takes any covariance of units.

It has no beam, no bridges and no rule when to stop, so its scores are for comparing readings of "column set"
with each other, not with the search. Letters: N candidate tables, R rows per table, a atoms, q rows so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graftjax.evaluate.column_sets import READINGS, Reading, jaccard
from graftjax.evaluate.evidence_sets import OPERATOR, Collector, pack
from graftjax.igms.evidence import QueryEvidence
from graftjax.search.region import Region
from graftjax.types import TableId

CLUSTERS, SHARDS = 16, 10
"""Candidates: so many clusters, the strongest by their first gain, with so many tables of each."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The same tables for every reading."""

    tables: Int[np.ndarray, " N"]
    action: Int[np.ndarray, " N"]
    blocks: Float[np.ndarray, "N R a"]
    jaccard: dict[Reading, Float[np.ndarray, "N*R N*R"]]
    """Per reading the Jaccard of all units; zero rows and columns for units without support."""


def candidates_of(collector: Collector, evidence: QueryEvidence, region: Region) -> Candidates | None:
    """The strongest clusters of a region, each in the role in which it would gain most."""
    problem, atoms = region.problem, evidence.atoms.num_atoms
    gain = np.log1p((problem.rows**2).sum(2)).sum(1)
    role: dict[int, int] = {}
    for action in np.argsort(-gain, kind="stable").tolist():
        if problem.action_valid[action] and problem.fragment[action] < 0:
            role.setdefault(int(problem.cluster[action]), action)
    chosen = list(role.items())[:CLUSTERS]
    tables = [
        (int(table), action)
        for position, action in chosen
        for table in collector.shards.tables[region.clusters[position]][:SHARDS]
    ]
    if not tables:
        return None
    numbers, actions = np.array(tables).T
    blocks = problem.rows[actions][:, :, :atoms].astype(np.float64)
    images = [region.images[action] for action in actions]
    units = pack(collector.index, numbers.tolist(), blocks, images, [()] * len(numbers))
    place = units.table * blocks.shape[1] + units.row
    full: dict[Reading, np.ndarray] = {}
    for reading in READINGS:
        full[reading] = np.zeros((len(numbers) * blocks.shape[1],) * 2)
        full[reading][np.ix_(place, place)] = jaccard(reading, collector.index, units)
    return Candidates(numbers, actions, blocks, full)


def greedy(
    collector: Collector,
    evidence: QueryEvidence,
    region: Region,
    found: Candidates,
    reading: Reading,
    budget: int,
) -> tuple[TableId, ...]:
    """Up to `budget` tables, each time the one with the largest log det gain; ties by order.

    The first table of a cluster comes with an operator unit for its direct joins with the witnesses that are
    there; it correlates with nothing.
    """
    problem, noise = region.problem, collector.settings.score.noise
    rows = found.blocks.shape[1]
    cluster = problem.cluster[found.action]
    l_inverse, white = np.zeros((0, 0)), np.zeros((0, found.blocks.shape[2]))
    j_inverse = np.eye(found.blocks.shape[2])
    kept = np.zeros(0, int)
    witness: dict[int, int] = {}
    taken: list[int] = []
    own = found.jaccard[reading].reshape(len(found.tables), rows, len(found.tables), rows)
    own = own[np.arange(len(found.tables)), :, np.arange(len(found.tables))].copy()
    index = np.arange(rows)
    own[:, index, index] = 1.0 + noise
    for _ in range(min(budget, len(found.tables))):
        blocks = found.blocks.copy()
        fresh = ~np.isin(cluster, cluster[taken])
        blocks[fresh, OPERATOR] = _joined(problem, found.action, cluster, witness, blocks.shape[2])[fresh]
        cross = found.jaccard[reading][:, kept].reshape(len(blocks), rows, -1)
        carry = cross @ l_inverse.T
        lower = np.linalg.cholesky(own - carry @ carry.transpose(0, 2, 1))
        rest = np.linalg.solve(lower, blocks - carry @ white)
        inner = np.eye(rows) + rest @ j_inverse @ rest.transpose(0, 2, 1)
        gain = np.linalg.slogdet(inner)[1]
        gain[taken] = -1.0
        best = int(gain.argmax())
        if gain[best] <= 0.0:
            break
        taken.append(best)
        inverse = np.linalg.inv(lower[best])
        old = np.concatenate([l_inverse, np.zeros((len(l_inverse), rows))], axis=1)
        new = np.concatenate([-inverse @ carry[best] @ l_inverse, inverse], axis=1)
        l_inverse, white = np.concatenate([old, new]), np.concatenate([white, rest[best]])
        kept = np.concatenate([kept, best * rows + index])
        half = rest[best] @ j_inverse
        j_inverse = j_inverse - half.T @ np.linalg.solve(inner[best], half)
        for tree in np.flatnonzero(problem.witnesses[found.action[best]]):
            witness.setdefault(int(tree), int(cluster[best]))
    return tuple(collector.index.tables[found.tables[i]].id for i in taken)


def _joined(
    problem, action: np.ndarray, cluster: np.ndarray, witness: dict[int, int], width: int
) -> Float[np.ndarray, "N a"]:
    """Operator rows: per join atom √(ψ(u)·ψ(v))·ω for a candidate and the witness at the other end."""
    result = np.zeros((len(action), width))
    for atom, left, right in problem.joins:
        for mine, other in ((left, right), (right, left)):
            if atom >= 0 and int(other) in witness:
                far = witness[int(other)]
                ends = problem.entity[mine, cluster] * problem.entity[other, far]
                value = problem.direct[cluster, far] * np.sqrt(ends)
                claims = problem.witnesses[action, mine]
                result[:, atom] = np.maximum(result[:, atom], np.where(claims, value, 0.0))
    return result
