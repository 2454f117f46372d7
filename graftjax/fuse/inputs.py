"""Raw tables as DuckDB takes them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from graftjax.fuse.errors import FuseError
from graftjax.fuse.kinds import plain
from graftjax.fuse.names import BEFORE, NEW, Names, spelt
from graftjax.types import TableId


@dataclass(frozen=True, eq=False)
class Input:
    """One table of a synthesis."""

    id: TableId
    name: str
    """In SQL; unique in the fusion."""
    data: pa.Table
    """Plain columns under their names in SQL."""
    columns: Mapping[str, str]
    """Name in the index → name in SQL, the same but for characters that SQL refuses."""

    def column(self, name: str) -> str:
        """Name in SQL of a column; FuseError when the table has none of that name."""
        try:
            return self.columns[name]
        except KeyError:
            raise FuseError(
                f"{self.id} has no column {name!r}: the index may be stale, build it again"
            ) from None

    def empty(self, column: str) -> bool:
        """Whether a column (named as in SQL) has no value at all."""
        return self.data[column].null_count == self.data.num_rows


def inputs_of(tables: Sequence[TableId], data: Mapping[TableId, pa.Table]) -> dict[TableId, Input]:
    """Inputs in the order of `tables`."""
    names, inputs = Names((BEFORE, NEW)), {}
    for id in tables:
        raw = data[id]
        if not raw.num_columns:
            raise FuseError(f"{id} has no columns")
        if len(set(raw.column_names)) < raw.num_columns:
            raise FuseError(f"{id} has several columns of one name")
        own = Names()
        columns = {name: own.free(spelt(name)) for name in raw.column_names}
        table = pa.table([plain(column) for column in raw.columns], names=list(columns.values()))
        inputs[id] = Input(id, names.free(str(id)), table, columns)
    return inputs
