"""Schema groups: tables that agree in name and headers, before anything is compared by meaning.

Row shards of one table nearly always agree to the letter, so grouping them first makes every later
step (encoding, matching, joins) cost per schema instead of per shard. Letters: N tables, C columns,
G groups, S slots (columns of groups).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from graftjax.encode.text import table_text, words
from graftjax.types import Table

SAMPLE_SIZE = 10


@dataclass(frozen=True, eq=False)
class SchemaGroups:
    """A partition of the tables with the columns of each group aligned by header."""

    table_group: Int[np.ndarray, " N"]
    column_table: Int[np.ndarray, " C"]
    """Columns are numbered table by table, in their order."""
    column_slot: Int[np.ndarray, " C"]
    slot_group: Int[np.ndarray, " S"]
    """Slots are numbered group by group; in the order of the group's first table."""
    first_table: Int[np.ndarray, " G"]
    first_column: Int[np.ndarray, " S"]
    """The column of the group's first table."""

    @property
    def num_groups(self) -> int:
        return len(self.first_table)

    @property
    def num_slots(self) -> int:
        return len(self.slot_group)


def group_by_schema(tables: Sequence[Table], *, headers: bool = True) -> SchemaGroups:
    """Group tables by the words of their name and their headers, in any order of columns.

    With `headers=False` headers are unknown: the kinds of the columns in their order take their place.
    """
    groups: dict[tuple, int] = {}
    table_group, column_table, column_slot = [], [], []
    slot_group: list[int] = []
    first_table: list[int] = []
    first_column: list[int] = []
    slots_of_group: list[dict[tuple[str, int], int]] = []
    for number, table in enumerate(tables):
        if headers:
            names = numbered([words(column.name) for column in table.columns])
        else:
            names = [(f"{position} {column.kind}", 0) for position, column in enumerate(table.columns)]
        key = (table_text(table.id.name), tuple(sorted(names)))
        group = groups.setdefault(key, len(groups))
        start = len(column_table)
        if group == len(first_table):
            first_table.append(number)
            slots_of_group.append({name: len(slot_group) + i for i, name in enumerate(names)})
            slot_group.extend([group] * len(names))
            first_column.extend(range(start, start + len(names)))
        table_group.append(group)
        column_table.extend([number] * len(names))
        column_slot.extend(slots_of_group[group][name] for name in names)
    as_int = lambda values: np.asarray(values, np.int32)  # noqa: E731
    return SchemaGroups(
        *map(as_int, (table_group, column_table, column_slot, slot_group, first_table, first_column))
    )


def numbered(names: Sequence[str]) -> list[tuple[str, int]]:
    """Names with a running number among equals, so that repeated headers stay apart."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        numbered.append((name, seen[name]))
    return numbered


def pooled_sample(samples: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Up to ten distinct values taken from the samples in turn (first of each, second of each, ...)."""
    pooled: dict[str, None] = {}
    for rank in range(SAMPLE_SIZE):
        for sample in samples:
            if rank < len(sample):
                pooled.setdefault(sample[rank])
                if len(pooled) == SAMPLE_SIZE:
                    return tuple(pooled)
    return tuple(pooled)
