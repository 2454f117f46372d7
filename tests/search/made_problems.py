"""Small made-up problems; all share one bucket of budgets and one of widths, so one compiled program each."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from brute_force import Rules
from jaxtyping import Array

from graftjax.search.actions import Dials
from graftjax.search.beam import beam_by_gain
from graftjax.search.finish import Outcome, finish
from graftjax.search.region import ATOM_BUCKETS, Problem, empty_problem
from graftjax.search.shards import added_weights
from graftjax.search.state import State

BUDGET, WIDTH, WIDE = 8, ATOM_BUCKETS[0], 64
RULES = Rules(noise=0.1, power=0.5, supported=0.5, least_gain=0.3, least_fragment_gain=0.2)


def dials(rules: Rules = RULES) -> Dials:
    numbers = (rules.noise, rules.power, rules.supported, rules.least_gain, rules.least_fragment_gain, 0.0)
    return Dials(*(jnp.asarray(number, jnp.float32) for number in numbers))


@jax.jit
def wide_beam(problem: Problem) -> tuple[State, Array, Outcome]:
    """(syntheses that stopped, their U, the answer) of a beam that drops nothing in these problems."""
    states, score = beam_by_gain(problem, dials(), beam=WIDE)
    return states, score, finish(problem, dials(), states, score, fill=False)


def empty(budget: int = BUDGET) -> Problem:
    problem = empty_problem(WIDTH, BUDGET)._replace(budget=np.asarray(budget, np.int32))
    problem.atom_mask[:] = True
    problem.direct[np.diag_indices_from(problem.direct)] = 1.0
    problem.path[np.diag_indices_from(problem.path)] = 1.0
    return weighed(problem)


def weighed(problem: Problem, rules: Rules = RULES) -> Problem:
    """With what further tables add, as their Jaccards say."""
    problem.added[:] = added_weights(problem.correlation, rules.noise)
    problem.overlap[:] = np.tril(problem.correlation, -1).sum(2)
    return problem


def shards(problem: Problem, cluster: int, count: int, fresh: int, level: float) -> None:
    """Tables of a cluster with one Jaccard for each two of them."""
    problem.shards[cluster], problem.fresh[cluster] = count, fresh
    problem.correlation[cluster] = level + (1 - level) * np.eye(problem.correlation.shape[1])


def names(outcome: Outcome) -> tuple[tuple[int, int], ...]:
    count = int(outcome.num_tables)
    pairs = zip(outcome.table_cluster[:count].tolist(), outcome.table_shard[:count].tolist(), strict=True)
    return tuple(sorted(pairs))


def add(
    problem: Problem,
    action: int,
    cluster: int,
    trees: tuple[int, ...] = (),
    fragment: int = -1,
    **rows: float,
):
    """An action whose unit number i supports atoms as told: `r1a3=0.5` is unit 1, atom 3."""
    problem.cluster[action], problem.fragment[action], problem.action_valid[action] = cluster, fragment, True
    problem.witnesses[action, list(trees)] = True
    problem.shards[cluster] = problem.fresh[cluster] = max(problem.shards[cluster], 1)
    for name, value in rows.items():
        row, atom = name[1:].split("a")
        problem.rows[action, int(row), int(atom)] = value


def link(problem: Problem, a: int, b: int, omega: float) -> None:
    problem.direct[a, b] = problem.direct[b, a] = omega
    problem.path[a, b] = problem.path[b, a] = omega


def bridge(problem: Problem, a: int, b: int, via: int, weight: float) -> None:
    problem.path[a, b] = problem.path[b, a] = weight
    problem.bridge[a, b] = problem.bridge[b, a] = via
    problem.shards[via] = problem.fresh[via] = max(problem.shards[via], 1)


def drawn(seed: int, trees: int = 3, each: int = 2, atoms: int = 12, budget: int = BUDGET) -> Problem:
    """A random problem with all that there is.

    Every tree has `each` candidate clusters; one cluster witnesses two trees, a fragment completes one, some
    clusters join, directly or over a bridge, and some have several tables, with near copies among them.
    """
    rng = np.random.default_rng(seed)
    problem = empty(budget)
    for number in range(trees * each):
        tree = number // each
        add(problem, number, number, (tree,))
        problem.rows[number, 0, tree] = rng.random()
        problem.rows[number, 1:3, :atoms] = rng.random((2, atoms)) * (rng.random((2, atoms)) < 0.4)
    last = trees * each
    problem.entity[:trees, :last] = rng.random((trees, last))
    problem.bound[:trees] = 3.0 * rng.random(trees)
    for tree in range(trees - 1):
        problem.joins[tree] = WIDTH - 1 - tree, tree, tree + 1
    if trees > 1:
        add(problem, last, 0, (0, 1))
        problem.rows[last] = np.maximum(problem.rows[0], rng.random() * problem.rows[each])
    add(problem, last + 1, last, fragment=trees - 1, r1a9=0.9, r1a10=0.8)
    problem.edge_mask[10] = True
    via = last + 1
    for a in range(last + 1):
        for b in range(a):
            kind = rng.random()
            if kind < 0.4:
                link(problem, a, b, float(rng.random()))
            elif kind < 0.6:
                bridge(problem, a, b, via, float(rng.random()))
                via += 1
    for cluster in range(via):
        if rng.random() < 0.4:
            count = int(rng.integers(2, 5))
            problem.shards[cluster], problem.fresh[cluster] = count, rng.integers(1, count + 1)
            level = rng.choice([0.2, 0.5, 0.9])
            size = problem.correlation.shape[1]
            problem.correlation[cluster] = level + (1 - level) * np.eye(size)
    return weighed(problem)


def witnesses(rng: np.random.Generator, trees: int, each: int, atoms: int = 12) -> Problem:
    """`each` candidate clusters for every tree, with random units over the tree's own and common atoms."""
    problem = empty()
    for tree in range(trees):
        for k in range(each):
            number = tree * each + k
            add(problem, number, number, (tree,))
            problem.rows[number, 0, tree] = rng.random()
            problem.rows[number, 1:3, :atoms] = rng.random((2, atoms)) * (rng.random((2, atoms)) < 0.4)
    problem.entity[:trees, : trees * each] = rng.random((trees, trees * each))
    problem.bound[:trees] = 3.0 * rng.random(trees)
    return problem


def mixed(seed: int) -> Problem:
    """Everything at once: alternatives, a cluster for two trees, joins, bridges, a fragment, shards."""
    rng = np.random.default_rng(1000 + seed)
    problem = witnesses(rng, 3, 2)
    problem.joins[:2] = [(13, 0, 1), (14, 1, 2)]
    add(problem, 6, 0, (0, 1))
    problem.rows[6] = np.maximum(problem.rows[0], 0.5 * problem.rows[2])
    add(problem, 7, 6, fragment=1, r1a9=0.9, r1a10=0.8)
    problem.edge_mask[10] = True
    link(problem, 6, 2, 0.8)
    link(problem, 0, 2, rng.random())
    link(problem, 2, 4, rng.random())
    bridge(problem, 1, 3, 7, rng.random())
    bridge(problem, 3, 5, 8, rng.random())
    for cluster in (0, 7):
        shards(problem, cluster, 3, 2, 0.9)
    return problem
