"""JAR's program with a variable for every pair of columns, as its paper and code spell it out.

Equation numbers are those of the released code (`ilp.py`). It has the optimum of `jar_model.reduced`, at a
far higher price, and is kept as the reference and for the comparison of times. The budget of tables is
written as in `jar_model`; for single tables it is the published one, L nodes and at most L − 1 edges.

Letters: P candidates, Q concepts, X columns of the candidates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graftjax.peers.jar_model import Program, Rows, Weights, add_budget, most_nodes, node_gain
from graftjax.peers.pool import Pool

BIG = 1e6
"""The published M."""


def published(
    pool: Pool,
    budget: int,
    weights: Weights,
    columns: Callable[[int, int], np.ndarray],
    *,
    connected: bool = True,
) -> Program:
    """The program over the columns of the candidates.

    `columns` gives the compatibility of all pairs of columns of two nodes.
    """
    size, (num_concepts, num_columns) = len(pool.nodes), pool.column_fine.shape
    most = most_nodes(pool, budget)
    ends, scores = _column_pairs(pool, columns)
    pairs = len(scores)
    rows = Rows()
    chosen, covered = rows.new(size), rows.new(num_concepts)
    claims, source = rows.new(num_concepts, num_columns), rows.new(size)
    edge = rows.new(2, pairs)  # one of each direction: from the first node and back
    flow, inflow, outflow = rows.new(2, pairs), rows.new(size), rows.new(size)
    nodes, each, concept = np.arange(size), np.arange(pairs), np.arange(num_concepts)

    add_budget(rows, chosen, pool, budget)  # (2)
    # The published right side is k − 1, which is this for one source and k chosen nodes.
    rows.add(1, (0, edge, 1), (0, chosen, -1), (0, source, 1), low=-np.inf, high=0)
    two = (each, edge[0], 2), (each, edge[1], 2)
    rows.add(
        pairs, *two, (each, chosen[ends[0]], -1), (each, chosen[ends[1]], -1), low=-np.inf, high=0
    )  # (3)
    _, neighbours = np.unique(ends[0] * size + ends[1], return_inverse=True)
    between = int(neighbours.max(initial=-1)) + 1
    for way in (0, 1):
        rows.add(between, (neighbours, edge[way], 1), low=-np.inf, high=1)  # (4)
        rows.add(pairs, (each, flow[way], 1 / most), (each, edge[way], -1), low=-np.inf, high=0)  # (15)
        rows.add(pairs, (each, edge[way], 1), (each, flow[way], -BIG), low=-np.inf, high=0)
    one = concept[:, None] * size + pool.column_place
    rows.add(num_concepts * size, (one, claims, 1), low=-np.inf, high=1)  # (5)
    column = np.arange(num_columns)
    owner = chosen[pool.column_place]
    rows.add(num_columns, (column, claims, 1 / num_concepts), (column, owner, -1), low=-np.inf, high=0)  # (6)
    rows.add(num_concepts, (concept, covered, 1), (concept[:, None], claims, -1), low=-np.inf, high=0)  # (9)
    rows.add(1, (0, claims, 1), low=-np.inf, high=weights.claims * num_concepts)  # (10)
    into, out = ends[::-1], ends
    rows.add(
        size, (nodes, inflow, 1), (into, flow, 1), (nodes, outflow, -1), (out, flow, -1), low=0, high=0
    )  # (12)
    rows.add(1, (0, outflow, 1), (0, chosen, -1), low=0, high=0)  # (13)
    if connected:
        rows.add(1, (0, source, 1), low=1, high=1)  # (14)
        rows.add(size, (nodes, source, 1), (nodes, chosen, -BIG), low=-np.inf, high=0)
    else:  # a source that supplies nobody must not be left over, so M won't do
        rows.add(size, (nodes, source, 1), (nodes, chosen, -1), low=-np.inf, high=0)
    rows.add(size, (nodes, inflow, 1), (nodes, source, -most), low=-np.inf, high=0)

    value = np.zeros(rows.variables)
    value[chosen] = node_gain(pool, budget, weights)
    value[covered] = weights.covered
    value[claims] = weights.fine * pool.column_fine
    value[edge] = weights.joins * scores
    whole = np.arange(rows.variables) < flow.min(initial=int(inflow[0]))
    upper = np.where(whole, 1.0, float(most))
    upper[outflow] = 1.0
    return rows.program(value, whole, upper)


def _column_pairs(pool: Pool, columns: Callable[[int, int], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Both nodes (positions, the smaller first) and score of each pair of columns that go together at all."""
    found: list[np.ndarray] = [np.zeros(0, np.float32)]
    owners: list[np.ndarray] = [np.zeros((2, 0), np.int64)]
    for i, j in zip(*np.nonzero(np.triu(pool.joins, 1) > 0), strict=True):
        scores = columns(int(pool.nodes[i]), int(pool.nodes[j]))
        scores = scores[scores > 0]
        found.append(scores)
        owners.append(np.repeat([[i], [j]], len(scores), axis=1))
    return np.concatenate(owners, axis=1), np.concatenate(found)
