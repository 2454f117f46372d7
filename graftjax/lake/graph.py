"""The lake graph: tables, columns and value summaries with containment, join and union edges (Sec. 3.1).

Letters: N tables, C columns, K column classes, M clusters, J join edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int

from graftjax.lake.joins import JoinEdges
from graftjax.lake.partition import members_of
from graftjax.lake.unions import UnionClusters


@dataclass(frozen=True, eq=False)
class LakeGraph:
    """Structure of a lake.

    Union edges are kept as clusters (all pairs inside one are edges), join edges between column classes
    (all pairs of tables of the two clusters are edges): the graph of a sharded lake stays as small as
    that of its sources.
    """

    unions: UnionClusters
    joins: JoinEdges
    column_table: Int[np.ndarray, " C"]
    """Columns are numbered table by table."""

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """Tables of each cluster, ascending."""
        return members_of(self.unions.table_cluster, self.unions.num_clusters)

    @cached_property
    def classes(self) -> tuple[np.ndarray, ...]:
        """Column classes of each cluster, ascending."""
        return members_of(self.unions.class_cluster, self.unions.num_clusters)

    @cached_property
    def columns(self) -> tuple[np.ndarray, ...]:
        """Columns of each table, ascending."""
        return members_of(self.column_table, len(self.unions.table_cluster))

    @cached_property
    def cluster_joins(self) -> dict[int, dict[int, int]]:
        """Per cluster: neighbour cluster to the number of the strongest join edge between the two."""
        best: dict[int, dict[int, int]] = {cluster: {} for cluster in range(self.unions.num_clusters)}
        owner = self.unions.class_cluster
        for edge in np.argsort(-self.joins.weight, kind="stable"):
            a, b = int(owner[self.joins.refers[edge]]), int(owner[self.joins.referred[edge]])
            best[a].setdefault(b, int(edge))
            best[b].setdefault(a, int(edge))
        return best

    def column_of(self, table: int, column_class: int) -> int | None:
        """Number of the table's column in a class; None when the table lacks it."""
        for column in self.columns[table]:
            if self.unions.column_class[column] == column_class:
                return int(column)
        return None

    def union_pairs(self) -> Iterator[tuple[int, int, float]]:
        """All union edges (table, table, weight), the first table below the second."""
        score = self.unions.table_score
        for tables in self.members:
            for i, a in enumerate(tables):
                for b in tables[i + 1 :]:
                    yield int(a), int(b), float(min(score[a], score[b]))

    def mean_join_degree(self) -> float:
        """Mean number of clusters that a cluster can be joined with."""
        neighbours = self.cluster_joins
        return sum(map(len, neighbours.values())) / max(1, len(neighbours))
