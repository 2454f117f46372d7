"""Tables that unions connect → one group of aligned columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graftjax.fuse.errors import FuseError
from graftjax.fuse.inputs import Input
from graftjax.fuse.kinds import Kind, common_kind
from graftjax.fuse.names import Names
from graftjax.types import Operator, TableId


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column of a group."""

    name: str
    kind: Kind
    members: tuple[str | None, ...]
    """Name in SQL of each input's own column; None where an input lacks it."""
    uniform: bool
    """All members that have values (or all, when none has) are of one type."""
    source: bool = False
    """It is the one that names the table of each row."""


@dataclass(frozen=True, eq=False)
class Group:
    """Inputs whose rows belong under one another; often a single one."""

    inputs: tuple[Input, ...]
    columns: tuple[GroupColumn, ...]
    places: Mapping[tuple[TableId, str], str]
    """(table, column's name in the index) → name of the group's column."""

    @property
    def tables(self) -> tuple[TableId, ...]:
        return tuple(part.id for part in self.inputs)

    @property
    def n_rows(self) -> int:
        return sum(part.data.num_rows for part in self.inputs)

    def column(self, name: str) -> GroupColumn:
        """The column of that name, which must be there."""
        return next(column for column in self.columns if column.name == name)

    def place(self, table: TableId, column: str) -> str:
        """The group's name for a column of one of its tables; FuseError when the table lacks it."""
        next(part for part in self.inputs if part.id == table).column(column)
        return self.places[table, column]


def align(inputs: Sequence[Input], unions: Sequence[Operator], source_column: str) -> Group:
    """Align all inputs onto the column names of the first one.

    Columns that an operator pairs become one; what no operator pairs joins a column that is spelt alike
    (case ignored), else it becomes a column of its own, NULL for the other tables.
    """
    first, by_id = inputs[0], {part.id: part for part in inputs}
    names = Names(first.columns.values())
    slots: list[str] = list(first.columns.values())
    held: dict[TableId, dict[str, int]] = {
        first.id: {name: slot for slot, name in enumerate(first.columns.values())}
    }
    waiting = list(unions)
    while waiting:
        step = next((s for s in waiting if s.anchor in held or s.new in held), None)
        if step is None:
            raise FuseError("unions do not connect the tables of their group")
        waiting.remove(step)
        known, new, pairs = step.anchor, step.new, step.columns
        if known not in held:
            known, new, pairs = new, known, tuple((b, a) for a, b in pairs)
        if new in held:
            continue
        held[new] = _placed(by_id[known], held[known], by_id[new], pairs, slots, names)
    members = {table: {slot: name for name, slot in placed.items()} for table, placed in held.items()}
    columns = []
    for slot, name in enumerate(slots):
        own = [members[part.id].get(slot) for part in inputs]
        pairs = [(part, member) for part, member in zip(inputs, own, strict=True) if member is not None]
        filled = [pair for pair in pairs if not pair[0].empty(pair[1])] or pairs
        types = tuple(part.data.schema.field(member).type for part, member in filled)
        columns.append(GroupColumn(name, common_kind(types), tuple(own), len(set(types)) == 1))
    if len(inputs) > 1 and source_column:
        nothing = (None,) * len(inputs)
        columns.append(GroupColumn(names.free(source_column), "text", nothing, True, source=True))
    places = {
        (part.id, raw): slots[held[part.id][name]] for part in inputs for raw, name in part.columns.items()
    }
    return Group(tuple(inputs), tuple(columns), places)


def _placed(
    known: Input,
    known_slots: Mapping[str, int],
    new: Input,
    pairs: Sequence[tuple[str, str]],
    slots: list[str],
    names: Names,
) -> dict[str, int]:
    """Slot of each column of the new input; columns without one get slots at the end."""
    placed: dict[str, int] = {}
    for a, b in pairs:
        slot, column = known_slots[known.column(a)], new.column(b)
        if column not in placed and slot not in placed.values():
            placed[column] = slot
    spelt = {name.casefold(): slot for slot, name in enumerate(slots)}
    for column in new.columns.values():
        slot = spelt.get(column.casefold())
        if column not in placed and slot is not None and slot not in placed.values():
            placed[column] = slot
    for column in new.columns.values():
        if column not in placed:
            placed[column] = len(slots)
            slots.append(names.free(column))
    return placed
