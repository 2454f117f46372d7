"""Algorithm 3 without a beam: every admissible sequence of actions, in float64 and plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from graftjax.search.region import Problem


@dataclass(frozen=True)
class Rules:
    noise: float
    power: float
    supported: float
    least_gain: float
    least_fragment_gain: float


@dataclass(frozen=True, eq=False)
class Partial:
    """Tables as (cluster, shard, rows of M); the witness of each tree."""

    tables: tuple[tuple[int, int, np.ndarray], ...] = ()
    trees: tuple[tuple[int, int], ...] = ()

    @property
    def names(self) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((cluster, shard) for cluster, shard, _ in self.tables))

    def taken(self, cluster: int) -> int:
        return sum(c == cluster for c, _, _ in self.tables)


def log_det(problem: Problem, partial: Partial, noise: float) -> float:
    if not partial.tables:
        return 0.0
    m = np.concatenate([rows for _, _, rows in partial.tables])
    count, rows = len(partial.tables), len(partial.tables[0][2])
    c = np.zeros((count * rows, count * rows))
    for i, (a, s, _) in enumerate(partial.tables):
        for j, (b, t, _) in enumerate(partial.tables):
            level = 1.0 if i == j else float(problem.correlation[a, s, t]) if a == b else 0.0
            c[i * rows : (i + 1) * rows, j * rows : (j + 1) * rows] = level * np.eye(rows)
    c += noise * np.eye(len(c))
    inner = np.eye(m.shape[1]) + m.T @ np.linalg.solve(c, m)
    return float(np.linalg.slogdet(inner)[1])


def _operator(problem: Problem, partial: Partial, action: int, rules: Rules) -> tuple[np.ndarray, int]:
    """(operator row, bridge or −1)."""
    trees, own = dict(partial.trees), int(problem.cluster[action])
    found = []
    for atom, left, right in problem.joins:
        if atom < 0 or not (problem.witnesses[action, left] or problem.witnesses[action, right]):
            continue
        x = own if problem.witnesses[action, left] else trees.get(int(left), -1)
        y = own if problem.witnesses[action, right] else trees.get(int(right), -1)
        if x < 0 or y < 0:
            continue
        ends = float(problem.entity[left, x] * problem.entity[right, y]) ** rules.power
        via = int(problem.bridge[x, y])
        missing = via >= 0 and not partial.taken(via)
        found.append(
            (problem.path[x, y] * ends, problem.direct[x, y] * ends, int(atom), via if missing else -1)
        )
    row, bridge = np.zeros(problem.rows.shape[2]), -1
    if found and max(value for value, *_ in found) > 0 and len(partial.tables) + 2 <= int(problem.budget):
        bridge = max(found, key=lambda item: item[0])[3]
    for value, direct, atom, via in found:
        row[atom] = max(row[atom], value if via in (-1, bridge) else direct)
    return row, bridge


def steps(problem: Problem, partial: Partial, rules: Rules) -> Iterator[tuple[Partial, bool]]:
    """(what comes of an action, whether the action is one that `graft` would take)."""
    trees, before = dict(partial.trees), log_det(problem, partial, rules.noise)
    room = int(problem.budget) - len(partial.tables)
    found: list[tuple[Partial, bool, float, float]] = []
    support = np.max([rows.max(0) for _, _, rows in partial.tables], axis=0, initial=0.0)
    for action in np.flatnonzero(problem.action_valid):
        cluster, tree = int(problem.cluster[action]), int(problem.fragment[action])
        claims = [int(t) for t in np.flatnonzero(problem.witnesses[action])]
        known = any(t in trees for t in claims)
        if partial.taken(cluster) or room < 1 or (known and len(claims) > 1):
            continue
        rows = problem.rows[action].astype(np.float64)
        row, bridge = _operator(problem, partial, int(action), rules)
        if tree >= 0:
            home = trees.get(tree, -1)
            if home < 0 or home == cluster or problem.direct[cluster, home] <= 0:
                continue
            scale = np.where(problem.edge_mask, problem.entity[tree, home], 1.0)
            scale = scale * np.sqrt(problem.direct[cluster, home])
            rows = rows * np.where(support >= rules.supported, 0.0, scale)
        between = ()
        if bridge >= 0:
            middle = np.zeros_like(rows)
            middle[-1] = row
            between = ((bridge, 0, middle),)
        else:
            rows[-1] = row
        new = {**dict.fromkeys(claims, cluster), **trees}
        after = Partial((*partial.tables, *between, (cluster, 0, rows)), tuple(sorted(new.items())))
        gain = log_det(problem, after, rules.noise) - before
        least = rules.least_gain if tree < 0 else rules.least_fragment_gain
        found.append((after, not known, gain, least))
    best = max((gain for _, _, gain, _ in found), default=0.0)
    for after, claims_all, gain, least in found:
        yield after, claims_all and gain >= (least if partial.tables else min(least, best))
    for cluster in {c for c, _, _ in partial.tables}:
        taken = partial.taken(cluster)
        if room >= 1 and taken < problem.shards[cluster]:
            rows = next(rows for c, _, rows in partial.tables if c == cluster)
            after = replace(partial, tables=(*partial.tables, (cluster, taken, rows)))
            yield after, taken < problem.fresh[cluster]


def all_outcomes(problem: Problem, rules: Rules) -> list[tuple[tuple[tuple[int, int], ...], float]]:
    """(tables, log det) of every sequence of `graft`'s actions that cannot be continued."""
    outcomes, seen, waiting = [], set(), [Partial()]
    while waiting:
        partial = waiting.pop()
        key = (tuple(sorted((c, s, rows.tobytes()) for c, s, rows in partial.tables)), partial.trees)
        if key in seen:
            continue
        seen.add(key)
        following = [after for after, regular in steps(problem, partial, rules) if regular]
        waiting += following
        if not following:
            outcomes.append((partial.names, log_det(problem, partial, rules.noise)))
    return outcomes
