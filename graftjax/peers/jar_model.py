"""JAR as a mixed-integer linear program over the candidates of a question (arXiv 2404.09889).

Maximise  w1 Σ F[q,i] d[q,i] + w2 Σ t[q] + w3 Σ C[i,j] c[i,j] + w4 Σ R[i] b[i]  where b says which nodes are
chosen, d which node speaks for which concept (F fine relevance, at most w5·Q such claims), t which concepts
are covered, c which edges hold the choice together (C compatibility), and R is coarse relevance. The
published program has a variable of its own for each pair of columns and for each concept and column
(`jar_published`). This one has one for each pair of nodes and for each concept and node, and the same
optimum:

- Claims. Of a node's columns at most one may speak for a concept, and no column is limited in how many
  concepts it speaks for. The column can be exchanged for the node's best one without breaking a constraint
  or losing value.
- Edges. n chosen nodes receive a unit of flow each, over chosen edges, from one source, and at most n − 1
  edges are chosen: the edges are a spanning tree. So of all pairs of columns of two nodes, in both
  directions, at most one is used; it can be exchanged for the best pair of the two nodes, which takes over
  the flow.
- Twins. Candidates with equal scores (shards of one table) can be exchanged, so those that come first in
  the pool are chosen first. Where the edges among twins weigh no less than their other edges, a heaviest
  spanning tree has the twins in a row (Kruskal's algorithm, the edges among them first among equals), and
  any other edge of theirs may as well start from the first of them, which is chosen if any is. The edges
  left out aren't needed.

The objective is otherwise unchanged, hence equal optima. Bounds are set per variable (d ≤ b, c ≤ b) where
the published ones are sums: the same whole-number solutions, a tighter relaxation.

Two generalisations, neither of which changes the published case. A node may stand for several tables: the
budget counts tables (a node never more than the whole budget); each table brings its relevance, and the
tables of a node hang together by its union edges, so the program is the one over tables for choices that
keep clusters whole. As published exactly L nodes are chosen where each is one table; else tables are at
most L. And with `connected` false there may be several sources, an edge less for each: a forest instead of
a tree.

Letters: P candidates, Q concepts, E edges, V variables, W constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from jaxtyping import Bool, Float, Int
from scipy.optimize import Bounds, LinearConstraint, milp

from graftjax.peers.pool import Pool, twins

LIMIT_REACHED = 1
"""`scipy.optimize.milp`'s status for a solver that ran out of time."""


@dataclass(frozen=True)
class Weights:
    """w1 to w5, as published for Spider."""

    fine: float = 2.0
    covered: float = 8.0
    joins: float = 1.0
    coarse: float = 10.0
    claims: float = 1.0
    """Claims per concept, all concepts together."""


@dataclass(frozen=True, eq=False)
class Program:
    """Maximise value · x within row bounds and 0 ≤ x ≤ upper, some of x whole. The first P of x are b."""

    value: Float[np.ndarray, " V"]
    whole: Bool[np.ndarray, " V"]
    upper: Float[np.ndarray, " V"]
    matrix: sp.csr_array
    low: Float[np.ndarray, " W"]
    high: Float[np.ndarray, " W"]


class Solution(NamedTuple):
    """What the solver says."""

    x: Float[np.ndarray, " V"] | None
    """None when no solution was found."""
    objective: float
    in_time: bool
    """False when the solver ran out of time; x is then the best so far."""


@dataclass
class Rows:
    """Constraints in the making, over variables that are numbered as they are asked for."""

    variables: int = 0
    _row: list[np.ndarray] = field(default_factory=list)
    _column: list[np.ndarray] = field(default_factory=list)
    _factor: list[np.ndarray] = field(default_factory=list)
    _low: list[np.ndarray] = field(default_factory=list)
    _high: list[np.ndarray] = field(default_factory=list)
    _count: int = 0

    def new(self, *shape: int) -> np.ndarray:
        """Numbers of new variables."""
        size = int(np.prod(shape))
        self.variables += size
        return np.arange(self.variables - size, self.variables).reshape(shape)

    def add(self, count: int, *terms: tuple[object, object, object], low: float, high: float) -> None:
        """`count` constraints low ≤ Σ factor · variable ≤ high; a term is (row, variable, factor)."""
        for row, column, factor in terms:
            row, column, factor = np.broadcast_arrays(row, column, factor)  # pyright: ignore
            self._row.append(row.ravel() + self._count)
            self._column.append(column.ravel())
            self._factor.append(factor.ravel().astype(np.float64))
        self._low.append(np.full(count, low))
        self._high.append(np.full(count, high))
        self._count += count

    def program(self, value: np.ndarray, whole: np.ndarray, upper: np.ndarray) -> Program:
        """The program of all constraints so far."""
        entries = (np.concatenate(self._row), np.concatenate(self._column))
        shape = (self._count, self.variables)
        matrix = sp.coo_array((np.concatenate(self._factor), entries), shape=shape).tocsr()
        return Program(value, whole, upper, matrix, np.concatenate(self._low), np.concatenate(self._high))


def node_tables(pool: Pool, budget: int) -> Int[np.ndarray, " P"]:
    """Tables that a node takes of the budget: at most all of it."""
    return np.minimum(pool.sizes, budget)


def node_gain(pool: Pool, budget: int, weights: Weights) -> Float[np.ndarray, " P"]:
    """What choosing a node brings by itself: relevance of its tables, and the edges among them."""
    tables = node_tables(pool, budget).astype(np.float64)
    return weights.coarse * tables * pool.coarse + weights.joins * (tables - 1.0) * pool.inner


def most_nodes(pool: Pool, budget: int) -> int:
    """Nodes that fit into the budget at most."""
    return int((np.cumsum(np.sort(node_tables(pool, budget))) <= budget).sum())


def add_budget(rows: Rows, chosen: np.ndarray, pool: Pool, budget: int) -> None:
    """Exactly L nodes where each is one table and there are as many; else at most L tables. Where the user
    starts from a table, its node is chosen."""
    tables = node_tables(pool, budget)
    exact = bool((pool.sizes == 1).all()) and len(chosen) >= budget
    rows.add(1, (0, chosen, tables), low=budget if exact else -np.inf, high=budget)
    if pool.started:
        rows.add(1, (0, chosen[:1], 1), low=1, high=1)


def needed_edges(pool: Pool, first: Int[np.ndarray, " P"]) -> Bool[np.ndarray, "P P"]:
    """Pairs (the earlier candidate first) that a heaviest spanning tree of a choice may need.

    `first` as `twins` gives it; twins are taken to be chosen in the order of the pool.
    """
    group = first[:, None] == first[None, :]
    np.fill_diagonal(group, False)
    inner = np.where(group, pool.joins, np.inf).min(1)  # all of a group's inner edges weigh the same
    outer = np.where(group, 0.0, pool.joins).max(1)
    heavy = (inner > 0) & (inner >= outer) & group.any(1)
    needed = np.triu(pool.joins, 1) > 0
    in_row = _before(first)[None, :] == np.arange(len(first))[:, None]
    needed &= ~(group & heavy[:, None]) | in_row
    spare = heavy & (first != np.arange(len(first)))
    needed &= group | ~(spare[:, None] | spare[None, :])
    return needed


def _before(first: np.ndarray) -> np.ndarray:
    """The twin that comes just before each candidate; −1 where there is none."""
    before = np.full(len(first), -1, np.int64)
    last: dict[int, int] = {}
    for place, group in enumerate(first.tolist()):
        before[place] = last.get(group, -1)
        last[group] = place
    return before


def reduced(pool: Pool, budget: int, weights: Weights, *, connected: bool = True) -> Program:
    """The program with one variable for each pair of nodes, and each concept and node."""
    num_concepts, size = pool.fine.shape
    first = twins(pool)
    left, right = np.nonzero(needed_edges(pool, first))
    edges, most = len(left), most_nodes(pool, budget)
    rows = Rows()
    chosen, covered = rows.new(size), rows.new(num_concepts)
    claims, edge, source = rows.new(num_concepts, size), rows.new(edges), rows.new(size)
    flow, inflow = rows.new(2, edges), rows.new(size)  # flow left to right and back

    add_budget(rows, chosen, pool, budget)
    nodes, each = np.arange(size), np.arange(edges)
    before = _before(first)
    later = np.flatnonzero(before >= 0)
    place = np.arange(len(later))
    rows.add(len(later), (place, chosen[later], 1), (place, chosen[before[later]], -1), low=-np.inf, high=0)
    claim_rows = np.arange(claims.size).reshape(claims.shape)
    rows.add(claims.size, (claim_rows, claims, 1), (claim_rows, chosen, -1), low=-np.inf, high=0)
    concept = np.arange(num_concepts)
    rows.add(num_concepts, (concept, covered, 1), (concept[:, None], claims, -1), low=-np.inf, high=0)
    rows.add(1, (0, claims, 1), low=-np.inf, high=weights.claims * num_concepts)

    rows.add(1, (0, edge, 1), (0, source, 1), (0, chosen, -1), low=-np.inf, high=0)
    for end in (left, right):
        rows.add(edges, (each, edge, 1), (each, chosen[end], -1), low=-np.inf, high=0)
    rows.add(edges, (each, flow, 1), (each, edge, -(most - 1)), low=-np.inf, high=0)
    if connected:
        rows.add(1, (0, source, 1), low=1, high=1)
    rows.add(size, (nodes, source, 1), (nodes, chosen, -1), low=-np.inf, high=0)
    rows.add(size, (nodes, inflow, 1), (nodes, source, -most), low=-np.inf, high=0)
    into, out = np.stack([right, left]), np.stack([left, right])
    rows.add(size, (nodes, inflow, 1), (into, flow, 1), (out, flow, -1), (nodes, chosen, -1), low=0, high=0)

    value = np.zeros(rows.variables)
    value[chosen] = node_gain(pool, budget, weights)
    value[covered] = weights.covered
    value[claims] = weights.fine * pool.fine
    value[edge] = weights.joins * pool.joins[left, right]
    whole = np.arange(rows.variables) < flow.min(initial=int(inflow[0]))
    upper = np.where(whole, 1.0, float(most))
    return rows.program(value, whole, upper)


def solve(program: Program, *, relaxed: bool, seconds: float, gap: float) -> Solution:
    """Optimum of the program, or of its relaxation to fractions; by HiGHS.

    `seconds` caps the solver, `gap` is the relative distance from the optimum at which it may stop.
    """
    options = {"time_limit": seconds, "mip_rel_gap": gap}
    result = milp(
        -program.value,
        integrality=np.zeros(len(program.whole)) if relaxed else program.whole.astype(np.float64),
        bounds=Bounds(0.0, program.upper),  # pyright: ignore[reportArgumentType]
        constraints=LinearConstraint(program.matrix, program.low, program.high),  # pyright: ignore[reportArgumentType]
        options=options,
    )
    objective = float("-inf") if result.x is None else float(program.value @ result.x)
    return Solution(result.x, objective, result.status != LIMIT_REACHED)
