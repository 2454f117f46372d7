"""A base table and what was retrieved for it → one table to train on, through `graftjax.fuse`.

Unions first, then left joins, as in any fusion; all methods' tables go this way. A joined cluster that has a
key more than once is brought to one row per key before it is joined, so no join adds rows: numbers by their
mean, all else by the most frequent value (of equally frequent ones the first in order).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from graftjax.encode.text import words
from graftjax.enrich.links import JoinedCluster, Links
from graftjax.errors import GraftError
from graftjax.fuse import FuseSettings, MemorySource, RawSource, fuse
from graftjax.types import Operator, Synthesis, TableId

BASE_ROW = "__base_row__"
"""Column of the fused table that numbers the base's rows; empty for rows of other tables."""
SAME_AS_TARGET, LEAST_KNOWN = 0.99, 10
"""A joined column is the target itself when it agrees with it in this share of at least so many base rows."""


@dataclass(frozen=True, eq=False)
class Enriched:
    """Rows of the base, in their order, then the rows that unions add."""

    features: Mapping[str, list[Any]]
    """Column → its values; the target and a key that says nothing are no features."""
    target: list[Any]
    keys: list[Any]
    """Key of each row; None where a table has no such column."""
    num_base: int
    notes: tuple[str, ...] = ()

    @property
    def num_rows(self) -> int:
        return len(self.target)


def integrate(links: Links, source: RawSource, *, target: str, key: str, key_is_feature: bool) -> Enriched:
    """Fuse; columns are those of the base, then what the joins add.

    Dropped are the columns that joins compare, and joined columns that are the target under whatever name
    (by their words, or because they agree with it). Columns that different clusters add under the same
    words and that never hold a value in the same row are one column.

    Raises GraftError when a table can not be read or a join would still multiply rows.
    """
    data = dict(source.read((links.base, *links.usable)))
    base = data[links.base]
    numbered = {links.base: base.append_column(BASE_ROW, pa.array(np.arange(base.num_rows)))}
    operators = list(Links(links.base, links.unions, (), ()).operators())
    notes: list[str] = []
    rows = base.num_rows
    for table, _ in links.unions:
        numbered[table] = data[table]
        rows += data[table].num_rows
    for cluster in links.joins:
        made, again = _one_row_per_key(cluster, data)
        numbered.update(made)
        if again:
            notes.append(f"{cluster.tables[0]}: {again}")
        own = Links(links.base, (), (cluster,), ()).operators()
        operators += [step for step in own if step.new in made]
    fused = _fuse(tuple(numbered), tuple(operators), numbered)
    table = fused.to_arrow()
    if table.num_rows != rows:
        raise GraftError(f"{links.base}: {table.num_rows} rows after the joins instead of {rows}")
    order = np.argsort(_row_numbers(table, fused.columns), kind="stable")
    columns = {
        column.name: (column.origins, table[column.name].take(pa.array(order)).to_pylist())
        for column in fused.columns
    }
    return _without_leaks(
        columns,
        base.num_rows,
        links,
        notes,
        target=target,
        key=key,
        key_is_feature=key_is_feature,
    )


def _fuse(tables: Sequence[TableId], operators: tuple[Operator, ...], data: Mapping[TableId, pa.Table]):
    synthesis = Synthesis(tuple(tables), operators, 0.0)
    settings = FuseSettings(kind="left", source_column="", preview=0)
    return fuse(synthesis, MemorySource(data), settings=settings)


def _row_numbers(table: pa.Table, columns: Sequence[Any]) -> np.ndarray:
    """Number of each base row; rows of unions come after them."""
    (name,) = (column.name for column in columns if column.origins[0][1] == BASE_ROW)
    found = table[name].to_pylist()
    return np.array([table.num_rows if number is None else number for number in found], np.int64)


def _without_leaks(
    columns: Mapping[str, tuple[tuple[tuple[TableId, str], ...], list[Any]]],
    num_base: int,
    links: Links,
    notes: list[str],
    *,
    target: str,
    key: str,
    key_is_feature: bool,
) -> Enriched:
    compared = {
        (table, pair[1])
        for cluster in links.joins
        for table, pair in zip(cluster.tables, cluster.keys, strict=True)
    }
    added = {table for table, _ in links.unions}
    own: dict[str, list[Any]] = {}
    joined: dict[str, list[Any]] = {}
    wanted: list[Any] = []
    keys: list[Any] = []
    for name, (origins, values) in columns.items():
        here = next((column for table, column in origins if table == links.base), None)
        if here == target:
            wanted = values
        if here == key:
            keys = values
        if here in (BASE_ROW, target) or (here == key and not key_is_feature):
            continue
        if here is not None:
            own[here] = values
        elif not (added.intersection(table for table, _ in origins) or compared.intersection(origins)):
            joined[name] = values
    for name in list(joined):
        header = next(column for _, column in columns[name][0])
        if words(header) == words(target) or _same(joined[name][:num_base], wanted[:num_base]):
            notes.append(f"{name}: left out, it is the target")
            del joined[name]
    merged = _merged(joined, {name: words(columns[name][0][0][1]) for name in joined})
    return Enriched(
        {**own, **{f"+{name}": v for name, v in merged.items()}}, wanted, keys, num_base, tuple(notes)
    )


def _same(values: Sequence[Any], target: Sequence[Any]) -> bool:
    """Whether a column is the target: it agrees with it nearly always."""
    known = [(a, b) for a, b in zip(values, target, strict=True) if a is not None and b is not None]
    agree = sum(a == b or str(a) == str(b) for a, b in known)
    return len(known) >= LEAST_KNOWN and agree >= SAME_AS_TARGET * len(known)


def _merged(joined: Mapping[str, list[Any]], spelt: Mapping[str, str]) -> dict[str, list[Any]]:
    """Columns of the same words and kind that never hold a value in the same row become one."""
    found: dict[str, list[Any]] = {}
    first: dict[tuple[str, bool], list[str]] = {}
    for name, values in joined.items():
        kind = any(isinstance(value, str) for value in values)
        for other in first.setdefault((spelt[name], kind), []):
            if all(a is None or b is None for a, b in zip(found[other], values, strict=True)):
                found[other] = [b if a is None else a for a, b in zip(found[other], values, strict=True)]
                break
        else:
            first[spelt[name], kind].append(name)
            found[name] = values
    return found


def _one_row_per_key(
    cluster: JoinedCluster, data: Mapping[TableId, pa.Table]
) -> tuple[dict[TableId, pa.Table], str]:
    """The cluster's tables as they are, or, when a key comes twice, the first one with all rows put together;
    and what was done."""
    keys = [
        _plain(value)
        for table, (_, column) in zip(cluster.tables, cluster.keys, strict=True)
        for value in data[table][column].to_pylist()
        if value is not None
    ]
    if len(set(keys)) == len(keys):
        return {table: data[table] for table in cluster.tables}, ""
    first = cluster.tables[0]
    names = data[first].column_names
    key = cluster.keys[0][1]
    groups: dict[Any, list[list[Any]]] = {}
    for table, pairs in zip(cluster.tables, cluster.aligned, strict=True):
        here = dict(pairs)
        rows = data[table].num_rows
        own = [data[table][here[name]].to_pylist() if name in here else [None] * rows for name in names]
        for row in zip(*own, strict=True):
            value = row[names.index(key)]
            if value is not None:
                cells = groups.setdefault(_plain(value), [[] for _ in names])
                for cell, held in zip(row, cells, strict=True):
                    if cell is not None:
                        held.append(cell)
    columns = []
    for number, name in enumerate(names):
        if name == key:
            columns.append(pa.array([cells[number][0] for cells in groups.values()]))
        else:
            columns.append(_array([_typical(cells[number]) for cells in groups.values()]))
    note = f"{len(keys):,} rows brought to one for each of {len(groups):,} values of {key}"
    return {first: pa.table(columns, names=names)}, note


def _plain(value: Any) -> Any:
    """A key as joins compare it: without case and outer spaces, 7 as 7.0."""
    if isinstance(value, str):
        value = value.strip().casefold()
        try:
            number = float(value)
        except ValueError:
            return value
        plain = value.lstrip("+-")
        return number if math.isfinite(number) and (plain == "0" or not plain.startswith("0")) else value
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _typical(values: Sequence[Any]) -> Any:
    if not values:
        return None
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return float(np.mean(values))
    count = Counter(values)
    most = max(count.values())
    return min((value for value in count if count[value] == most), key=str)


def _array(values: Sequence[Any]) -> pa.Array:
    if len({type(value) for value in values if value is not None}) > 1:
        return pa.array([None if value is None else str(value) for value in values])
    return pa.array(values)
