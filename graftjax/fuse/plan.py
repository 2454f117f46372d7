"""A synthesis → trees of groups: unions inside a group, joins between groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graftjax.fuse.align import Group, align
from graftjax.fuse.errors import FuseError
from graftjax.fuse.inputs import Input
from graftjax.fuse.names import Names, label_of
from graftjax.types import Operator, Synthesis, TableId


@dataclass(frozen=True, slots=True)
class Join:
    """Node `new` is attached to node `anchor`, which is in the tree already."""

    anchor: int
    new: int
    keys: tuple[tuple[str, str], ...]
    """Columns of the two groups that must be equal, all of them."""


@dataclass(frozen=True, eq=False)
class Part:
    """A tree of groups: node 0 is the root and join j attaches node j + 1."""

    groups: tuple[Group, ...]
    """Per node; a group that is joined with itself comes twice."""
    labels: tuple[str, ...]
    """Per node: what it is called in SQL."""
    joins: tuple[Join, ...]

    @property
    def tables(self) -> tuple[TableId, ...]:
        return tuple(dict.fromkeys(table for group in self.groups for table in group.tables))

    def find(self, table: TableId, column: str) -> tuple[int, str] | None:
        """(node, its column) of a table's column; None when the table is elsewhere or lacks it."""
        for node, group in enumerate(self.groups):
            if (table, column) in group.places:
                return node, group.places[table, column]
        return None


def parts_of(
    synthesis: Synthesis, inputs: Mapping[TableId, Input], source_column: str
) -> tuple[list[Part], list[str]]:
    """The parts that operators connect, in the order of their first table, and notes.

    A join whose columns are unknown connects nothing; a join between groups that are connected already
    is left out, except that a group may be joined with itself.
    """
    notes: list[str] = []
    for step in synthesis.operators:
        for table in (step.anchor, step.new):
            if table not in inputs:
                raise FuseError(f"an operator uses {table}, which is not a table of the synthesis")
    unions = [step for step in synthesis.operators if step.kind == "union" and step.anchor != step.new]
    root = _roots(synthesis.tables, unions)
    members: dict[TableId, list[TableId]] = {}
    for table in inputs:
        members.setdefault(root[table], []).append(table)
    groups = {
        first: align(
            [inputs[table] for table in tables],
            [step for step in unions if root[step.anchor] == first],
            source_column,
        )
        for first, tables in members.items()
    }
    joins = []
    for step in synthesis.operators:
        if step.kind == "join":
            if step.columns:
                joins.append(step)
            else:
                notes.append(f"the columns that join {step.anchor} with {step.new} are not known: not joined")
    parts, left = [], list(groups)
    while left:
        part = _tree(left[0], groups, root, joins, notes)
        parts.append(part)
        left = [first for first in left if groups[first].tables[0] not in part.tables]
    return parts, notes


def _roots(tables: Sequence[TableId], unions: Sequence[Operator]) -> dict[TableId, TableId]:
    """Each table to the first one of its group."""
    place = {table: number for number, table in enumerate(dict.fromkeys(tables))}
    root = {table: table for table in place}
    for step in unions:
        kept, gone = sorted((root[step.anchor], root[step.new]), key=place.__getitem__)
        root = {table: kept if first == gone else first for table, first in root.items()}
    return root


def _tree(
    start: TableId,
    groups: Mapping[TableId, Group],
    root: Mapping[TableId, TableId],
    steps: Sequence[Operator],
    notes: list[str],
) -> Part:
    """Everything that joins connect with the group `start`, in the order of the operators."""
    order, joins, node = [start], [], {start: 0}
    waiting = list(steps)
    while True:
        step = next((s for s in waiting if root[s.anchor] in node or root[s.new] in node), None)
        if step is None:
            break
        waiting.remove(step)
        a, b = root[step.anchor], root[step.new]
        pairs = tuple(
            (groups[a].place(step.anchor, x), groups[b].place(step.new, y)) for x, y in step.columns
        )
        if a != b and a in node and b in node:
            notes.append(f"{step.anchor} and {step.new} are connected already: a further join is left out")
            continue
        if a not in node:
            a, b, pairs = b, a, tuple((y, x) for x, y in pairs)
        joins.append(Join(node[a], len(order), pairs))
        node.setdefault(b, len(order))
        order.append(b)
    names = Names()
    labels = tuple(names.free(label_of(groups[first].tables)) for first in order)
    return Part(tuple(groups[first] for first in order), labels, tuple(joins))
