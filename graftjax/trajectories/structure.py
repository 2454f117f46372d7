"""The lake as the samplers see it: who can be joined or unioned with whom, table by table.

Letters: F tables in reach, N tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from graftjax.lake.graph import LakeGraph
from graftjax.lake.partition import members_of
from graftjax.lake.record import LakeIndex
from graftjax.lake.sketch import EMPTY
from graftjax.trajectories.subgraph import NO_EDGE, Action
from graftjax.types import Column, Table

_KEPT = 1 << 14
"""Answers of `Structure.reach` that are kept, the latest ones: a few hundred MB for the worst of lakes."""


class Reach(NamedTuple):
    """Tables at the other end of join edges."""

    tables: Int[np.ndarray, " F"]
    """Ascending."""
    weight: Float[np.ndarray, " F"]
    """ω of the strongest edge that leads there."""


@dataclass(frozen=True, eq=False)
class Structure:
    """Graph and profiles of a lake without what only a search needs, small enough to hand to a process."""

    graph: LakeGraph
    tables: tuple[Table, ...]
    """Profiles without sketches."""
    _reach: dict[tuple[int, frozenset[int]], Reach] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, index: LakeIndex) -> Structure:
        """Structure of an indexed lake."""
        bare = lambda table: tuple(replace(column, sketch=EMPTY) for column in table.columns)  # noqa: E731
        return cls(index.graph, tuple(replace(table, columns=bare(table)) for table in index.tables))

    @cached_property
    def cluster_of(self) -> list[int]:
        """Cluster of each table."""
        return self.graph.unions.table_cluster.tolist()

    @cached_property
    def table_columns(self) -> tuple[dict[int, int], ...]:
        """Per table: column class to the number of its column."""
        classes = self.graph.unions.column_class
        return tuple({int(classes[c]): int(c) for c in columns[::-1]} for columns in self.graph.columns)

    @cached_property
    def table_classes(self) -> tuple[frozenset[int], ...]:
        """Column classes that each table has."""
        return tuple(map(frozenset, self.table_columns))

    @cached_property
    def tables_with(self) -> tuple[np.ndarray, ...]:
        """Tables that have a column of each class."""
        unions = self.graph.unions
        owner = self.graph.column_table
        return tuple(np.unique(owner[c]) for c in members_of(unions.column_class, unions.num_classes))

    @cached_property
    def edges(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """Per cluster its join edges (own class, other class, edge), strongest first."""
        joins, owner = self.graph.joins, self.graph.unions.class_cluster
        found: list[list[tuple[int, int, int]]] = [[] for _ in range(self.graph.unions.num_clusters)]
        for edge in np.argsort(-joins.weight, kind="stable").tolist():
            a, b = int(joins.refers[edge]), int(joins.referred[edge])
            if owner[a] != owner[b]:  # an edge inside a cluster leads nowhere
                found[owner[a]].append((a, b, edge))
                found[owner[b]].append((b, a, edge))
        return tuple(map(tuple, found))

    def reach(self, cluster: int, classes: Iterable[int]) -> Reach:
        """Tables of other clusters that join with some column of these classes of the cluster."""
        key = (cluster, frozenset(classes))
        if key not in self._reach:
            best: dict[int, float] = {}
            for own, other, edge in self.edges[cluster]:
                if own in key[1]:
                    weight = float(self.graph.joins.weight[edge])
                    for table in self.tables_with[other].tolist():
                        best.setdefault(table, weight)
            while len(self._reach) >= _KEPT:
                self._reach.pop(next(iter(self._reach)))
            tables = np.array(sorted(best), np.int64)
            self._reach[key] = Reach(tables, np.array([best[t] for t in tables.tolist()], np.float64))
        return self._reach[key]

    @cached_property
    def degree(self) -> Int[np.ndarray, " N"]:
        """Structural neighbours of each table: tables that it can be joined or unioned with."""
        size = [len(members) for members in self.graph.members]
        return np.array(
            [
                size[cluster] - 1 + len(self.reach(cluster, classes).tables)
                for cluster, classes in zip(self.cluster_of, self.table_classes, strict=True)
            ],
            np.int64,
        )

    def edge_between(self, left: Iterable[int], right: Iterable[int], cluster: int) -> int | None:
        """Strongest join edge between classes `left` of the cluster and classes `right` of another one."""
        left, right = frozenset(left), frozenset(right)
        for own, other, edge in self.edges[cluster]:
            if own in left and other in right:
                return edge
        return None

    def link(self, anchor: int, new: int) -> tuple[float, Action] | None:
        """Best operator between two tables with its weight; None when nothing connects them."""
        cluster = self.cluster_of[anchor]
        if cluster == self.cluster_of[new]:
            score = self.graph.unions.table_score
            return float(min(score[anchor], score[new])), Action("union", anchor, new, NO_EDGE)
        edge = self.edge_between(self.table_classes[anchor], self.table_classes[new], cluster)
        if edge is None:
            return None
        return float(self.graph.joins.weight[edge]), Action("join", anchor, new, edge)

    def best_link(self, anchors: Iterable[int], new: int) -> Action:
        """Best (operator, anchor) that connects a table to a set, to some table of which it must be linked.

        Of equal ones a union comes first, then the earliest anchor.
        """
        found = [link for anchor in anchors if (link := self.link(anchor, new)) is not None]
        return max(found, key=lambda link: (link[0], link[1].operator == "union"))[1]

    def column(self, number: int) -> Column:
        """Profile of a column by its lake number."""
        table = int(self.graph.column_table[number])
        return self.tables[table].columns[number - int(self.graph.columns[table][0])]
