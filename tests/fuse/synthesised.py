"""Syntheses written by hand over tables in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from graftjax.fuse import Fused, FuseSettings, MemorySource, fuse
from graftjax.types import AtomSupport, Operator, Synthesis, TableId

Tables = Mapping[str, Mapping[str, Any] | pa.Table]


def id_of(name: str) -> TableId:
    """`db/t` is table t of source db; without a source it is in `db`."""
    source, _, table = name.rpartition("/")
    return TableId(source or "db", table)


def union(anchor: str, new: str, *columns: tuple[str, str]) -> Operator:
    return Operator("union", id_of(anchor), id_of(new), columns, 1.0)


def join(anchor: str, new: str, *columns: tuple[str, str]) -> Operator:
    return Operator("join", id_of(anchor), id_of(new), columns, 1.0)


def synthesis(tables: Sequence[str], *operators: Operator, support: Sequence[AtomSupport] = ()) -> Synthesis:
    return Synthesis(tuple(id_of(name) for name in tables), operators, 1.0, tuple(support))


def source(tables: Tables) -> MemorySource:
    return MemorySource(
        {
            id_of(name): data if isinstance(data, pa.Table) else pa.table(dict(data))
            for name, data in tables.items()
        }
    )


def fused(
    tables: Tables, *operators: Operator, support: Sequence[AtomSupport] = (), intent=None, **settings: Any
) -> Fused:
    """The fusion of all the tables in their order."""
    return fuse(
        synthesis(list(tables), *operators, support=support),
        source(tables),
        intent=intent,
        settings=FuseSettings(**settings),
    )


def rows(found: Fused | pa.Table) -> list[tuple]:
    """Rows in an order of their own, so that they can be compared."""
    data = found if isinstance(found, pa.Table) else found.to_arrow()
    return sorted(zip(*data.to_pydict().values(), strict=True), key=repr)


def again(found: Fused) -> pa.Table:
    """The SQL text, run in a database that knows nothing but the tables."""
    with duckdb.connect(":memory:") as connection:
        for name, data in found.tables.items():
            connection.register(name, data)
        return connection.sql(found.sql).to_arrow_table()
