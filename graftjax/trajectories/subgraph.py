"""What is sampled: a connected set of tables with kept columns, values and join edges (H⁺ of Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from graftjax.lake.graph import LakeGraph
from graftjax.types import OperatorKind

NO_EDGE = -1
"""Edge number of a union."""


@dataclass(frozen=True, slots=True)
class Action:
    """One step: table `new` is attached to table `anchor` (lake numbers)."""

    operator: OperatorKind
    anchor: int
    new: int
    edge: int
    """Number of the lake's join edge; NO_EDGE for a union."""


@dataclass(frozen=True)
class Subgraph:
    """H⁺. All numbers are those of the lake graph."""

    tables: tuple[int, ...]
    """In the order of sampling, the seed first."""
    actions: tuple[Action, ...]
    """`actions[i]` brought `tables[i + 1]`."""
    joins: tuple[int, ...]
    """Join edges of H⁺, ascending; union edges are all pairs of sampled tables of one cluster."""
    keys: tuple[tuple[int, ...], ...]
    """Of each table the kept columns that are ends of join edges of H⁺."""
    payload: tuple[tuple[int, ...], ...]
    """Of each table the other kept columns."""
    values: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """(payload column, values that the intent fixes for it)."""

    @cached_property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Kept columns of each table, ascending."""
        return tuple(
            tuple(sorted((*keys, *payload))) for keys, payload in zip(self.keys, self.payload, strict=True)
        )

    def clusters(self, graph: LakeGraph) -> Mapping[int, tuple[int, ...]]:
        """Sampled tables of each cluster, in the order of sampling."""
        found: dict[int, list[int]] = {}
        for table in self.tables:
            found.setdefault(int(graph.unions.table_cluster[table]), []).append(table)
        return {cluster: tuple(tables) for cluster, tables in found.items()}
