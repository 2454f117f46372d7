"""How retrieved tables hang on to the base table: by the lake graph's own unions and joins, for all methods.

A table of the base's union cluster adds rows. A table of a cluster that a join edge connects with the base's
cluster adds columns, by the strongest such edge whose columns both tables have. An edge
of the target is none: what is found by the value that is to be predicted gives it away. Anything else has no
use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graftjax.lake.record import LakeIndex
from graftjax.types import Operator, TableId

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class JoinedCluster:
    """Tables of one cluster, to be put under one another and then joined with the base."""

    tables: tuple[TableId, ...]
    keys: tuple[tuple[str, str], ...]
    """(column of the base, column of the table), one pair a table."""
    aligned: tuple[Pairs, ...]
    """Columns of the first table with those of each table, itself included."""
    weight: float


@dataclass(frozen=True, slots=True)
class Links:
    """What can be done with a set of retrieved tables."""

    base: TableId
    unions: tuple[tuple[TableId, Pairs], ...]
    """Tables that add rows, with the base's columns that they have."""
    joins: tuple[JoinedCluster, ...]
    ignored: tuple[TableId, ...]

    @property
    def usable(self) -> tuple[TableId, ...]:
        """Sorted."""
        joined = (table for cluster in self.joins for table in cluster.tables)
        return tuple(sorted([*(table for table, _ in self.unions), *joined]))

    def operators(self) -> tuple[Operator, ...]:
        """As a synthesis has them."""
        found = [Operator("union", self.base, table, pairs, 1.0) for table, pairs in self.unions]
        for cluster in self.joins:
            first = cluster.tables[0]
            found.append(Operator("join", self.base, first, cluster.keys[:1], cluster.weight))
            rest = zip(cluster.tables[1:], cluster.aligned[1:], strict=True)
            found += [Operator("union", first, table, pairs, 1.0) for table, pairs in rest]
        return tuple(found)


def link(index: LakeIndex, base: TableId, tables: Sequence[TableId], target: str) -> Links:
    """Sort out what each of the tables adds to the base, in the order of the lake.

    `target`: the column of the base table that nothing is joined by.
    """
    graph, numbers = index.graph, index.numbers
    cluster_of = graph.unions.table_cluster
    start = numbers[base]
    home = int(cluster_of[start])
    members: dict[int, list[int]] = {}
    for number in sorted({numbers[table] for table in tables} - {start}):
        members.setdefault(int(cluster_of[number]), []).append(number)
    unions = tuple((index.tables[n].id, _pairs(index, start, n)) for n in members.pop(home, []))
    joins: list[JoinedCluster] = []
    used: set[int] = set()
    for cluster, own in members.items():
        made = _joined(index, start, home, cluster, own, target)
        if made is not None:
            joins.append(made)
            used.update(numbers[table] for table in made.tables)
    ignored = [index.tables[n].id for own in members.values() for n in own if n not in used]
    return Links(base, unions, tuple(joins), tuple(ignored))


def _joined(
    index: LakeIndex, start: int, home: int, cluster: int, own: list[int], target: str
) -> JoinedCluster | None:
    names = index.column_names
    for near, far, weight in _edges(index, home, cluster):
        here = index.graph.column_of(start, near)
        there = {number: index.graph.column_of(number, far) for number in own}
        kept = [number for number in own if there[number] is not None]
        if here is None or names[here] == target or not kept:
            continue
        return JoinedCluster(
            tuple(index.tables[number].id for number in kept),
            tuple((names[here], names[there[number]]) for number in kept),  # type: ignore[index]
            tuple(_pairs(index, kept[0], number) for number in kept),
            weight,
        )
    return None


def _edges(index: LakeIndex, home: int, cluster: int) -> list[tuple[int, int, float]]:
    """(class of the one cluster, class of the other, weight) of their join edges, the strongest first."""
    joins, owner = index.graph.joins, index.graph.unions.class_cluster
    a, b = owner[joins.refers], owner[joins.referred]
    found = []
    for edge in np.flatnonzero(((a == home) & (b == cluster)) | ((a == cluster) & (b == home))).tolist():
        ends = int(joins.refers[edge]), int(joins.referred[edge])
        near, far = ends if a[edge] == home else ends[::-1]
        found.append((near, far, float(joins.weight[edge])))
    return sorted(found, key=lambda edge: -edge[2])


def _pairs(index: LakeIndex, a: int, b: int) -> Pairs:
    """Columns of two tables of one cluster that are of one class."""
    graph, names = index.graph, index.column_names
    place = {int(graph.unions.column_class[column]): int(column) for column in graph.columns[b]}
    pairs = []
    for column in graph.columns[a].tolist():
        other = place.get(int(graph.unions.column_class[column]))
        if other is not None:
            pairs.append((names[column], names[other]))
    return tuple(pairs)
