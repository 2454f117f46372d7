"""JAR: join-aware retrieval of several tables by mathematical programming (Chen et al., arXiv 2404.09889).

`jar` solves the mixed-integer program (`jar_model`), `jar-lp` its relaxation to fractions, the form in
which the paper compares with it, extended there and here by unionability (`compatibility`). Where JAR's
released code departs from its paper or stops short, this is what is done here: any budget L instead of k =
2; no question is left out (the code skips those that need one table); a time limit of one's own (`seconds`,
there 60); at the limit the best solution so far counts, without one the rounded relaxation, and without
that the order of relevance; where no L candidates hang together (the published program then has no
solution, its answer is empty) connected parts are chosen. Differences in compatibility are told in its
module.

Rounding takes nodes by falling b, ties by coarse relevance. The program's choice is answered in the order
of coarse relevance, and the rest of the pool after it, so that the budget is always spent. Answers are the
same on each run as long as the solver isn't stopped by the clock.

Letters: P candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.sparse.csgraph import connected_components

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.compatibility import Joins
from graftjax.peers.jar_model import Solution, Weights, node_tables, reduced, solve
from graftjax.peers.jar_published import published
from graftjax.peers.join_aware import JoinAware
from graftjax.peers.peer import Ranking
from graftjax.peers.pool import Pool

SAME = 6
"""Decimals to which fractions of the relaxation are told apart."""


@dataclass(frozen=True)
class JarSettings:
    """Dials of JAR; the weights are those published for Spider."""

    pool: int = 20
    """Candidates."""
    fine: float = 2.0
    covered: float = 8.0
    joins: float = 1.0
    coarse: float = 10.0
    claims: float = 1.0
    """w1 to w5 (see `jar_model.Weights`)."""
    compatibility: Joins = "columns"
    """JAR's formula, or the join edges of the lake graph."""
    unions: bool = True
    """Whether union edges count as compatibility."""
    connected: bool = True
    """Whether the choice must hang together, as published."""
    nodes: int = 0
    """How many nodes are chosen, whatever tables they have (the published k is 2); 0: by the budget."""
    formulation: Literal["reduced", "published"] = "reduced"
    """Both have the same optimum; the published one is slow."""
    seconds: float = 10.0
    """When the solver is to stop with a query. It looks at the clock between its steps only: on programs of
    100,000 variables it has taken six times as long."""
    gap: float = 1e-4
    """Relative distance from the optimum at which the solver may stop."""

    GRID: ClassVar[dict[str, tuple[object, ...]]] = {
        "nodes": (0, 2),
        "coarse": (0.5, 1.0, 3.0, 10.0),
        "fine": (2.0, 5.0, 12.0),
        "covered": (0.0, 8.0),
        "joins": (0.3, 1.0, 3.0, 10.0),
        "claims": (1.0, 2.0),
        "compatibility": ("columns", "lake"),
        "unions": (True, False),
        "connected": (True, False),
        "pool": (20, 50),
    }
    """What the tuning tries."""

    @property
    def weights(self) -> Weights:
        return Weights(self.fine, self.covered, self.joins, self.coarse, self.claims)


class Jar(JoinAware):
    """JAR by its mixed-integer program."""

    method = "jar"
    relaxed: ClassVar[bool] = False

    def __init__(self, catalog: Catalog, settings: JarSettings = JarSettings()) -> None:
        super().__init__(catalog, settings)
        self.settings = settings

    def rank(self, query: Query, budget: int, seed: int) -> Ranking:
        """The program's choice, or nodes by their fraction in its relaxation; then the rest by relevance."""
        pool = self.candidates(query, budget)
        order, notes = self._order(pool, budget)
        return Ranking((*pool.nodes[order].tolist(), *pool.beyond), notes)

    def _order(self, pool: Pool, budget: int) -> tuple[np.ndarray, tuple[str, ...]]:
        """Positions in the pool, best first."""
        if self.settings.nodes:
            one_each = np.ones_like(pool.sizes)
            pool, budget = replace(pool, sizes=one_each, inner=0.0 * pool.inner), self.settings.nodes
            budget += pool.started  # the base table's node is one more
        if node_tables(pool, budget).sum() <= budget:
            return np.arange(len(pool.nodes)), ()  # all of them
        connected, notes = self.settings.connected, ()
        if connected and not _hang_together(pool, budget):
            connected, notes = (
                False,
                ("no such number of candidates hangs together: connected parts instead",),
            )
        relaxed = self.relaxed
        solution = self._solve(pool, budget, relaxed=relaxed, connected=connected)
        if not solution.in_time:
            notes = (*notes, f"the solver stopped after {self.settings.seconds:g} s")
        if solution.x is None and not relaxed:
            notes = (*notes, "no solution was found: the rounded relaxation instead")
            relaxed = True
            solution = self._solve(pool, budget, relaxed=True, connected=connected)
        if solution.x is None:
            return np.arange(len(pool.nodes)), (*notes, "the relaxation was not solved: by relevance instead")
        chosen = solution.x[: len(pool.nodes)]
        chosen = chosen.round(SAME) if relaxed else (chosen > 0.5).astype(np.float64)
        return np.argsort(-chosen, kind="stable"), notes

    def _solve(self, pool: Pool, budget: int, *, relaxed: bool, connected: bool) -> Solution:
        settings = self.settings
        if settings.formulation == "reduced":
            program = reduced(pool, budget, settings.weights, connected=connected)
        else:
            columns = self.compatibility.columns
            program = published(pool, budget, settings.weights, columns, connected=connected)
        return solve(program, relaxed=relaxed, seconds=settings.seconds, gap=settings.gap)


class JarLp(Jar):
    """JAR by the relaxation of its program, rounded."""

    method = "jar-lp"
    relaxed = True


def _hang_together(pool: Pool, budget: int) -> bool:
    """Whether the program with one source has a solution: where L nodes are chosen, L in one piece."""
    if (pool.sizes > 1).any() or len(pool.nodes) < budget:
        return True
    _, part = connected_components(pool.joins > 0, directed=False)
    return bool(np.bincount(part).max() >= budget)
