"""Boxes with rows and the links between them: an intent graph, and a retrieved subgraph of the lake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from graftjax.intent.schema import IntentGraph
from graftjax.lake.names import counted, plain_name
from graftjax.types import Synthesis, Table, TableId

ROWS = 12
"""Columns that a box names; what joins or answers the question comes first."""
FULL_STACK = 4
"""In a union of more tables only the first one names its columns."""
_WANTED = ("attribute: ", "value: ")
"""How the labels of atoms begin that ask for something to be read from a column."""

Mark = Literal["", "key", "asked"]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a box."""

    text: str
    mark: Mark = ""
    """`key`: a join compares it; `asked`: the question asks for it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A table, or a tree of an intent graph."""

    title: str
    below: str = ""
    """A smaller line under the title."""
    rows: tuple[Row, ...] = ()
    bridge: bool = False
    more: int = 0
    """Rows that are left out."""


@dataclass(frozen=True, slots=True)
class Link:
    """From a row of a box to a row of another; row −1 is the title."""

    kind: Literal["join", "union"]
    start: tuple[int, int]
    end: tuple[int, int]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes in stacks; joins link stacks, unions the boxes of one."""

    boxes: tuple[Box, ...]
    stacks: tuple[tuple[int, ...], ...]
    links: tuple[Link, ...]


def intent_picture(intent: IntentGraph) -> Picture:
    """A box per tree, its attributes with their values as rows; joins between attributes."""
    boxes, row_of, box_of = [], {}, {}
    for number, tree in enumerate(intent.trees):
        rows = []
        box_of[tree.tree_id] = number
        for attribute in tree.attributes:
            row_of[tree.tree_id, attribute.attribute_id] = len(rows)
            values = f" = {' or '.join(attribute.values)}" if attribute.values else ""
            rows.append(Row(plain_name(attribute.name + values), "asked" if values else ""))
        boxes.append(Box(plain_name(tree.entity), rows=tuple(rows)))
    links = tuple(
        Link(
            "join",
            (box_of[join.from_tree], row_of[join.from_tree, join.from_attribute]),
            (box_of[join.to_tree], row_of[join.to_tree, join.to_attribute]),
        )
        for join in intent.joins
    )
    return Picture(tuple(boxes), tuple((number,) for number in range(len(boxes))), links)


def lake_picture(synthesis: Synthesis, tables: Mapping[TableId, Table]) -> Picture:
    """A box per table, unioned ones in one stack; a table that only connects others is a bridge."""
    keys, asked = key_columns(synthesis), _asked_columns(synthesis)
    place = {table: number for number, table in enumerate(synthesis.tables)}
    stacks = _stacks(synthesis)
    bridges = bridge_tables(synthesis)
    boxes, rows_of = [], []
    for table in synthesis.tables:
        stack = next(stack for stack in stacks if place[table] in stack)
        folded = len(stack) > FULL_STACK and place[table] != stack[0]
        columns = tables[table].columns if table in tables else ()
        names = [column.name for column in columns]
        marks: dict[str, Mark] = {
            name: "key" if (table, name) in keys else "asked" if (table, name) in asked else ""
            for name in names
        }
        first = sorted(range(len(names)), key=lambda i: (not marks[names[i]], i))[: 0 if folded else ROWS]
        shown = [names[i] for i in sorted(first)]
        rows_of.append({name: row for row, name in enumerate(shown)})
        count = tables[table].n_rows if table in tables else None
        n_rows = "" if count is None else counted(count, "row")
        below = " · ".join(part for part in (plain_name(table.source), n_rows) if part)
        rows = tuple(Row(plain_name(name), marks[name]) for name in shown)
        more = 0 if folded else len(names) - len(shown)
        boxes.append(Box(plain_name(table.name), below, rows, table in bridges, more))
    links = []
    for step in synthesis.operators:
        if step.anchor not in place or step.new not in place:
            continue
        a, b = place[step.anchor], place[step.new]
        left, right = step.columns[0] if step.kind == "join" and step.columns else ("", "")
        start, end = (a, rows_of[a].get(left, -1)), (b, rows_of[b].get(right, -1))
        links.append(Link(step.kind, start, end, f"{step.weight:.2f}"))
    return Picture(tuple(boxes), stacks, tuple(links))


def key_columns(synthesis: Synthesis) -> set[tuple[TableId, str]]:
    """The columns that joins compare."""
    joins = [step for step in synthesis.operators if step.kind == "join"]
    left = {(step.anchor, a) for step in joins for a, _ in step.columns}
    return left | {(step.new, b) for step in joins for _, b in step.columns}


def bridge_tables(synthesis: Synthesis) -> set[TableId]:
    """Tables that are joined with two others or more and give the question nothing but the keys for it."""
    keys = key_columns(synthesis)
    partners: dict[TableId, int] = {}
    for step in synthesis.operators:
        if step.kind == "join":
            for table in (step.anchor, step.new):
                partners[table] = partners.get(table, 0) + 1
    giving = {table for table, column in _asked_columns(synthesis) if (table, column) not in keys}
    return {table for table, count in partners.items() if count > 1 and table not in giving}


def _asked_columns(synthesis: Synthesis) -> set[tuple[TableId, str]]:
    """The columns that an attribute or a value of the question was found in."""
    return {
        (atom.table, atom.column)
        for atom in synthesis.support
        if atom.table is not None and atom.column is not None and atom.atom.startswith(_WANTED)
    }


def _stacks(synthesis: Synthesis) -> tuple[tuple[int, ...], ...]:
    """Tables that unions connect, by the place of their first one."""
    place = {table: number for number, table in enumerate(synthesis.tables)}
    first = list(range(len(place)))
    for step in synthesis.operators:
        if step.kind == "union" and step.anchor in place and step.new in place:
            kept, gone = sorted((first[place[step.anchor]], first[place[step.new]]))
            first = [kept if root == gone else root for root in first]
    members: dict[int, list[int]] = {}
    for number, root in enumerate(first):
        members.setdefault(root, []).append(number)
    return tuple(map(tuple, members.values()))
