"""Answers and fused tables as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graftjax.lake.names import plain_name
from graftjax.overview import skip_lines, statistics_lines
from graftjax.preview import table_text
from graftjax.types import Skip, Synthesis, TableId

if TYPE_CHECKING:
    from graftjax.fuse import Fused
    from graftjax.lake.record import LakeIndex


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
        return _text(["no tables", *_notes(synthesis.notes)])
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
        where = "nowhere in these tables" if atom.table is None else place
        lines.append(f"  {atom.support:.2f} {atom.atom}: {where}")
    lines.append(f"U = {synthesis.utility:.3f}")
    return _text([*lines, *_notes(synthesis.notes)])


def fusion(fused: Fused) -> str:
    """SQL, rows after each step, the first rows, and the notes; then the parts that nothing connects with it.

    Characters that a terminal would act on are spelled out, in the SQL too: `fuse --json` has it literally.
    """
    width = max((len(plain_name(step.step)) for step in fused.steps), default=0)
    lines = ["SQL", *(f"  {line}" for line in fused.sql.split("\n"))]
    lines.append("rows")
    lines += [f"  {plain_name(step.step):<{width}}  {step.rows:>10,}" for step in fused.steps]
    if fused.n_rows > fused.preview.num_rows:
        lines.append(f"the first {fused.preview.num_rows} of {fused.n_rows:,} rows")
    else:
        lines.append({0: "no rows", 1: "one row"}.get(fused.n_rows, f"all {fused.n_rows} rows"))
    lines += table_text(fused.preview)
    lines += _notes(fused.notes)
    text = _text(lines)
    for other in fused.others:
        names = ", ".join(map(str, other.inputs.values()))
        text = "\n".join([text, _text([f"not connected with it: {names}"]), fusion(other)])
    return text


def notes(synthesis: Synthesis) -> str:
    """One a line; an empty text without any."""
    return _text(_notes(synthesis.notes))


def _notes(found: Iterable[str]) -> list[str]:
    return [f"note: {note}" for note in found]


def _text(lines: Iterable[str]) -> str:
    """Lines in which nothing from a lake or a question can move the cursor or turn the direction of text."""
    return "\n".join(map(plain_name, lines))


def statistics(index: LakeIndex) -> str:
    """Counts of an index, one a line."""
    return _text(statistics_lines(index.statistics()))


def skips(found: tuple[Skip, ...], title: str) -> str:
    """What was left out or bent, with the reasons; an empty text when there is nothing."""
    return _text(skip_lines(found, title))
