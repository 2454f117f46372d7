"""Joins of a sample with its bridges deleted (Algorithm 2, steps 2 and 3), on the level of clusters."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from graftjax.lake.graph import LakeGraph


class Hop(NamedTuple):
    """A join edge as seen from one of its clusters."""

    own: int
    """Column class here."""
    other: int
    weight: float


Hops = Mapping[int, Mapping[int, Sequence[Hop]]]
"""Per cluster and joined cluster the edges between the two, strongest first."""


class TreeJoin(NamedTuple):
    """A join between two surviving clusters, directly or through bridges."""

    ends: tuple[int, int]
    """Clusters."""
    classes: tuple[int, int]
    """Column classes that are joined, one of each end."""
    via: tuple[int, ...]
    """Bridges in between, from the first end to the second."""


def hops_of(graph: LakeGraph, joins: Sequence[int], clusters: Collection[int]) -> Hops:
    """The given join edges of the lake by cluster; edges inside one cluster are left out."""
    owner = graph.unions.class_cluster
    hops: dict[int, dict[int, list[Hop]]] = {cluster: {} for cluster in clusters}
    for edge in sorted(joins, key=lambda e: (-float(graph.joins.weight[e]), e)):
        a, b, weight = (
            int(graph.joins.refers[edge]),
            int(graph.joins.referred[edge]),
            graph.joins.weight[edge],
        )
        if owner[a] != owner[b]:
            hops[int(owner[a])].setdefault(int(owner[b]), []).append(Hop(a, b, float(weight)))
            hops[int(owner[b])].setdefault(int(owner[a]), []).append(Hop(b, a, float(weight)))
    return hops


def tree_joins(hops: Hops, order: Sequence[int], bridges: Collection[int]) -> tuple[TreeJoin, ...]:
    """Joins of the clusters of `order` that are no bridges, pair by pair.

    Two clusters with an edge of their own are joined by it, one join for each edge. Others are joined
    along the paths whose interior lies in bridges, strongest first by (∏ω)^(1/|p|); a path counts only if
    it ends in other columns than those before and does not contain the bridges of one of them.
    """
    found: list[TreeJoin] = []
    for a, b in combinations([cluster for cluster in order if cluster not in bridges], 2):
        if b in hops[a]:
            ends = dict.fromkeys((hop.own, hop.other) for hop in hops[a][b])
            found += [TreeJoin((a, b), classes, ()) for classes in ends]
            continue
        paths = [(*_ends(hops, path), tuple(path[1:-1])) for path in _paths(hops, a, b, bridges)]
        kept: list[TreeJoin] = []
        for _, classes, via in sorted(paths, key=lambda path: (-path[0], len(path[2]), path[1:])):
            if all(classes != join.classes and not set(join.via) <= set(via) for join in kept):
                kept.append(TreeJoin((a, b), classes, via))
        found += kept
    return tuple(found)


def _paths(hops: Hops, start: int, end: int, bridges: Collection[int]) -> Iterator[list[int]]:
    """Simple paths of clusters with at least one bridge and nothing but bridges in between."""
    stack = [[start]]
    while stack:
        path = stack.pop()
        for near in hops[path[-1]]:
            if near == end and len(path) > 1:
                yield [*path, end]
            elif near in bridges and near not in path:
                stack.append([*path, near])


def _ends(hops: Hops, path: list[int]) -> tuple[float, tuple[int, int]]:
    """(strength, column classes at both ends) of a path along its strongest edges."""
    steps = [hops[a][b][0] for a, b in pairwise(path)]
    return math.prod(step.weight for step in steps) ** (1 / len(steps)), (steps[0].own, steps[-1].other)


def bridges_among(hops: Hops, order: Sequence[int], bare: Collection[int]) -> frozenset[int]:
    """Those of the clusters without payload that are bridges.

    Algorithm 2 deletes every cluster whose columns are all keys. Here one stays, as a tree with its keys,
    if no join goes through it (a dead end, or a detour between clusters with a join of their own): its
    tables would stand for nothing in the intent. The least connected stay first, then the earliest of
    `order`, so a sample of nothing but keys keeps its ends and bridges what lies between them.
    """
    bridges = set(bare)
    rank = {cluster: (len(hops[cluster]), position) for position, cluster in enumerate(order)}
    while True:
        used = {bridge for join in tree_joins(hops, order, bridges) for bridge in join.via}
        idle = bridges - used
        if not idle:
            return frozenset(bridges)
        bridges.remove(min(idle, key=rank.__getitem__))
