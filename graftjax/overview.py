"""What is in a lake: counts, what was left out, union clusters, joinable columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from graftjax.lake.names import plain_name
from graftjax.lake.record import LakeIndex
from graftjax.types import Skip

SHOWN_SKIPS = 50
"""Skipped files that are named on a terminal."""
SHOWN_MEMBERS = 4
"""Tables of a union cluster that are named on a terminal."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Tables that hold rows of one relation."""

    tables: tuple[str, ...]
    columns: tuple[str, ...]
    """Of the first table."""
    rows: int
    weight: float
    """Least confidence that a table belongs to it, in (0, 1]."""


@dataclass(frozen=True, slots=True)
class JoinablePair:
    """Two columns that join; a cluster of unioned tables is named by its first one."""

    refers: str
    """The column whose values lie in the other one."""
    referred: str
    weight: float
    """Confidence in (0, 1]."""
    containment: float
    """Share of the values of `refers` that `referred` has, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A lake in a few lists."""

    statistics: dict[str, int]
    skips: tuple[Skip, ...]
    notes: tuple[Skip, ...]
    """What was bent to read a table."""
    clusters: tuple[Cluster, ...]
    """Of several tables, the largest first."""
    keys: tuple[tuple[str, int], ...]
    """Columns with the number of those that join with them, the most first."""
    joins: tuple[JoinablePair, ...]
    """The surest first."""

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "keys": [{"column": name, "partners": count} for name, count in self.keys]}


def overview_of(index: LakeIndex, most: int = 10) -> Overview:
    """The overview with at most `most` clusters, keys and joins; files that were skipped are all there."""
    names, joins = _class_names(index), index.graph.joins
    partners: Counter[int] = Counter([*joins.refers.tolist(), *joins.referred.tolist()])
    keys = sorted(partners.items(), key=lambda item: (-item[1], item[0]))[:most]
    order = np.lexsort((joins.referred, joins.refers, -joins.containment, -joins.weight))[:most]
    pairs = tuple(
        JoinablePair(
            names[int(joins.refers[edge])],
            names[int(joins.referred[edge])],
            round(float(joins.weight[edge]), 4),
            round(float(joins.containment[edge]), 4),
        )
        for edge in order.tolist()
    )
    return Overview(
        index.statistics(),
        index.skips,
        index.notes,
        _clusters(index, most),
        tuple((names[column], count) for column, count in keys),
        pairs,
    )


def _class_names(index: LakeIndex) -> dict[int, str]:
    """A column class by its first column."""
    names: dict[int, str] = {}
    for column, found in enumerate(index.graph.unions.column_class.tolist()):
        if found not in names:
            table = index.tables[int(index.graph.column_table[column])]
            names[found] = f"{table.id}.{index.column_names[column]}"
    return names


def _clusters(index: LakeIndex, most: int) -> tuple[Cluster, ...]:
    members = [tables for tables in index.graph.members if len(tables) > 1]
    members.sort(key=lambda tables: (-len(tables), int(tables[0])))
    score = index.graph.unions.table_score
    return tuple(
        Cluster(
            tuple(str(index.tables[t].id) for t in tables.tolist()),
            tuple(column.name for column in index.tables[int(tables[0])].columns),
            sum(index.tables[t].n_rows for t in tables.tolist()),
            round(float(min(score[t] for t in tables.tolist())), 4),
        )
        for tables in members[:most]
    )


def overview_text(found: Overview) -> str:
    """For a terminal."""
    lines = [*statistics_lines(found.statistics)]
    lines += skip_lines(found.skips, "skipped") + skip_lines(found.notes, "read with changes")
    if found.clusters:
        lines.append("largest union clusters (tables, rows, weight)")
    for cluster in found.clusters:
        more = len(cluster.tables) - SHOWN_MEMBERS
        names = " ∪ ".join(cluster.tables[:SHOWN_MEMBERS]) + (f" ∪ {more} more" if more > 0 else "")
        lines.append(f"  {len(cluster.tables):>4} {cluster.rows:>9,}  {cluster.weight:.2f}  {names}")
    lines.append("columns that join with the most others" if found.keys else "no joinable columns")
    lines += [f"  {count:>4}  {name}" for name, count in found.keys]
    if found.joins:
        lines.append("most joinable pairs (weight, share of values found)")
    for pair in found.joins:
        lines.append(f"  {pair.weight:.2f}  {pair.containment:4.0%}  {pair.refers} → {pair.referred}")
    return "\n".join(map(plain_name, lines))


def statistics_lines(counts: dict[str, int]) -> list[str]:
    """Counts, one a line."""
    width = max(map(len, counts), default=0)
    return [f"{name.replace('_', ' '):<{width}}  {count:>10,}" for name, count in counts.items()]


def skip_lines(found: Sequence[Skip], title: str) -> list[str]:
    """What was left out or bent, with the reasons; nothing where there is nothing."""
    if not found:
        return []
    lines = [f"{title} ({len(found)})", *(f"  {skip.origin}: {skip.reason}" for skip in found[:SHOWN_SKIPS])]
    if len(found) > SHOWN_SKIPS:
        lines.append(f"  and {len(found) - SHOWN_SKIPS} more")
    return lines
