"""Stage 1 of Algorithm 1: balanced parts of the lake (METIS), degree quantiles, seeds.

Letters: N tables.
"""

from __future__ import annotations

import numpy as np
import pymetis
from jaxtyping import Int

from graftjax.errors import GraftError
from graftjax.trajectories.structure import Structure

_PIECES_PER_PART = 4
"""A cluster larger than this fraction of a part is cut; whole parts could not be packed evenly."""


def partition(lake: Structure, num_parts: int) -> Int[np.ndarray, " N"]:
    """Part of each table, numbered from 0 without gaps.

    What METIS sees is the table graph with every cluster drawn together to one vertex: weighed by its
    tables, joined by an edge that counts the pairs of tables it stands for. Where clusters stay whole
    this has the cut and the balance of the table graph, without its cliques. A cluster of more
    than a quarter of a part is cut into pieces of that size, linked in a ring of heavy edges.

    Raises `GraftError` when METIS refuses the graph.
    """
    count = len(lake.tables)
    if not count:
        return np.zeros(0, np.int64)
    piece, sizes = _pieces(lake, -(-count // (_PIECES_PER_PART * num_parts)))
    num_parts = min(num_parts, len(sizes))
    if num_parts == 1:
        return np.zeros(count, np.int64)
    start, end, weight = _contracted(lake, piece, sizes)
    cut, part = pymetis.part_graph(
        num_parts,
        pymetis.CSRAdjacency(start, end),
        vweights=sizes.tolist(),
        eweights=weight,
    )
    if cut < 0 or len(part) != len(sizes):
        raise GraftError("METIS could not partition the lake graph")
    return np.unique(np.asarray(part, np.int64)[piece], return_inverse=True)[1]


def _pieces(lake: Structure, largest: int) -> tuple[np.ndarray, np.ndarray]:
    """(vertex of each table, tables of each vertex)."""
    piece, sizes = np.zeros(len(lake.tables), np.int64), []
    for members in lake.graph.members:
        for part in np.array_split(members, -(-len(members) // largest)):
            piece[part] = len(sizes)
            sizes.append(len(part))
    return piece, np.asarray(sizes, np.int64)


def _contracted(
    lake: Structure, piece: np.ndarray, sizes: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """(offset of each vertex's edges, their other ends, their weights); every edge is there both ways."""
    pairs: set[tuple[int, int]] = set()
    pieces = [np.unique(piece[members]).tolist() for members in lake.graph.members]
    for cluster, joined in lake.graph.cluster_joins.items():
        own = pieces[cluster]
        pairs.update((own[i - 1], own[i]) for i in range(len(own)))
        pairs.update((a, b) for other in joined for a in own for b in pieces[other])
    both = sorted({(a, b) for pair in pairs for a, b in (pair, pair[::-1]) if a != b})
    near, far = np.array(both, np.int64).reshape(-1, 2).T
    offsets = np.searchsorted(near, np.arange(len(sizes) + 1))
    return offsets.tolist(), far.tolist(), (sizes[near] * sizes[far]).tolist()


def strata(lake: Structure, num_parts: int, num_quantiles: int) -> tuple[np.ndarray, ...]:
    """Tables of each degree quantile of each part, none empty: one seed is drawn from each.

    Quantiles hold equal numbers of tables as far as that goes; a part with fewer tables than quantiles
    has one for each table.
    """
    part = partition(lake, num_parts)
    found: list[np.ndarray] = []
    for k in range(int(part.max(initial=-1)) + 1):
        tables = np.flatnonzero(part == k)
        tables = tables[np.argsort(lake.degree[tables], kind="stable")]
        found += [group for group in np.array_split(tables, num_quantiles) if len(group)]
    return tuple(found)
