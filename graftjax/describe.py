"""Answers and indexes as plain text for a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from graftjax.types import Skip, Synthesis, TableId

if TYPE_CHECKING:
    from graftjax.lake.record import LakeIndex

SHOWN_SKIPS = 50
SHOWN_COLUMNS = 10


def plan(synthesis: Synthesis) -> str:
    """How the tables are integrated, for example `a ⋈ b ⋈ (c ∪ d)`.

    Tables that unions connect stand in one bracket, and neighbours in the plan are joined wherever the joins
    form a chain; it starts from an end, a single table if there is one. Groups that no join connects are
    separated by `;`, in the order of retrieval.

    >>> from graftjax.types import Operator
    >>> a, b, c = (TableId("", name) for name in "abc")
    >>> steps = (Operator("join", a, b, (("id", "a_id"),), 0.9), Operator("union", b, c, (("x", "x"),), 0.8))
    >>> plan(Synthesis((a, b, c), steps, 1.0))
    'a ⋈ (b ∪ c)'
    """
    steps = synthesis.operators
    union_of = _components(synthesis.tables, [(s.anchor, s.new) for s in steps if s.kind == "union"])
    whole_of = _components(synthesis.tables, [(s.anchor, s.new) for s in steps])
    parts: dict[TableId, dict[TableId, list[TableId]]] = {}
    for table in synthesis.tables:
        parts.setdefault(whole_of[table], {}).setdefault(union_of[table], []).append(table)
    joins = [(union_of[s.anchor], union_of[s.new]) for s in steps if s.kind == "join"]
    return " ; ".join(
        " ⋈ ".join(_bracket(groups[g]) for g in _walk(groups, joins)) for groups in parts.values()
    )


def _walk(groups: dict[TableId, list[TableId]], joins: list[tuple[TableId, TableId]]) -> list[TableId]:
    """The groups along the joins, depth first from an end."""
    near: dict[TableId, list[TableId]] = {group: [] for group in groups}
    for a, b in joins:
        if a in near and b in near:
            near[a].append(b)
            near[b].append(a)
    start = min(groups, key=lambda group: (len(near[group]) > 1, len(groups[group])))
    order: list[TableId] = []
    stack = [start]
    while stack:
        group = stack.pop()
        if group not in order:
            order.append(group)
            stack.extend(reversed(near[group]))
    return order


def _bracket(tables: list[TableId]) -> str:
    return str(tables[0]) if len(tables) == 1 else f"({' ∪ '.join(map(str, tables))})"


def _components(tables: tuple[TableId, ...], links: list[tuple[TableId, TableId]]) -> dict[TableId, TableId]:
    """Each table to the first retrieved table of its connected component."""
    place = {table: number for number, table in enumerate(tables)}
    first = {table: table for table in tables}
    for a, b in links:
        if a not in place or b not in place:
            continue  # shown among the steps all the same
        kept, gone = sorted((first[a], first[b]), key=place.__getitem__)
        first = {table: kept if root == gone else root for table, root in first.items()}
    return first


def answer(synthesis: Synthesis) -> str:
    """Tables, plan, steps with their columns, the support of each atom, and the notes."""
    if not synthesis.tables:
        return "\n".join(["no tables", *_notes(synthesis)])
    lines = [f"tables ({len(synthesis.tables)})"]
    lines += [f"  {number}. {table}" for number, table in enumerate(synthesis.tables, start=1)]
    lines += ["plan", f"  {plan(synthesis)}"]
    if synthesis.operators:
        lines.append("steps")
    for step in synthesis.operators:
        sign = "⋈" if step.kind == "join" else "∪"
        columns = ", ".join(f"{a} = {b}" if step.kind == "join" else f"{a} | {b}" for a, b in step.columns)
        lines.append(f"  {step.anchor} {sign} {step.new} on {columns} (weight {step.weight:.2f})")
    if synthesis.support:
        lines.append("why")
    for atom in synthesis.support:
        place = f"{atom.table}.{atom.column}" if atom.column else str(atom.table)
        where = "not in the lake" if atom.table is None else place
        lines.append(f"  {atom.support:.2f} {atom.atom}: {where}")
    lines.append(f"U = {synthesis.utility:.3f}")
    return "\n".join([*lines, *_notes(synthesis)])


def _notes(synthesis: Synthesis) -> list[str]:
    return [f"note: {note}" for note in synthesis.notes]


def statistics(index: LakeIndex) -> str:
    """Counts of an index, one a line."""
    counts = index.statistics()
    width = max(map(len, counts))
    return "\n".join(f"{name.replace('_', ' '):<{width}}  {count:>10,}" for name, count in counts.items())


def skips(found: tuple[Skip, ...], title: str) -> str:
    """What was left out or bent, with the reasons; an empty text when there is nothing."""
    if not found:
        return ""
    lines = [f"{title} ({len(found)})", *(f"  {skip.origin}: {skip.reason}" for skip in found[:SHOWN_SKIPS])]
    if len(found) > SHOWN_SKIPS:
        lines.append(f"  and {len(found) - SHOWN_SKIPS} more")
    return "\n".join(lines)


def joinable_columns(index: LakeIndex) -> str:
    """The columns with the most join partners; a column that union clusters share is named once."""
    joins, column_class = index.graph.joins, index.graph.unions.column_class
    partners: Counter[int] = Counter()
    partners.update(int(k) for k in joins.refers)
    partners.update(int(k) for k in joins.referred)
    first: dict[int, int] = {}
    for column, found in enumerate(column_class):
        first.setdefault(int(found), column)
    lines = ["most joinable columns"] if partners else ["no joinable columns"]
    for found, count in sorted(partners.items(), key=lambda item: (-item[1], item[0]))[:SHOWN_COLUMNS]:
        column = first[found]
        table = index.tables[int(index.graph.column_table[column])]
        lines.append(f"  {count:>4}  {table.id}.{index.column_names[column]}")
    return "\n".join(lines)
