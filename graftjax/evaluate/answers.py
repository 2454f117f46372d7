"""Answers of SQL over the rows of some shards, and when two answers are the same.

A source database is copied into memory page by page: types, affinities, collations and indexes are its own.
What was not retrieved is deleted in a transaction that is rolled back afterwards. Rows that are left keep
their order in the source, not the random one of the shards: without it ties and LIMIT would tell answers
apart that have the same rows behind them. SQL from the data may read and nothing else.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from graftjax.errors import GraftError
from graftjax.lake.benchmark import Benchmark
from graftjax.lake.open_sqlite import database_copy, sqlite_uri
from graftjax.lake.raw import RawTable
from graftjax.types import TableId

MAX_STEPS = 1_000_000_000
"""Steps of SQLite's virtual machine for one answer, tens of seconds: the same on every machine."""
MAX_ROWS = 1_000_000
"""Rows of one answer."""
TOLERANCE = 1e-9
"""Relative, and near zero absolute: sums depend on the order in which their terms come."""
_TICK = 10_000
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query returned."""

    rows: tuple[Row, ...] = ()
    reason: str = ""
    """Why there is no answer; empty when there is one."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A query as SQLite runs it."""

    sql: str
    ordered: bool
    """Whether it has an ORDER BY of its own, outside of all subqueries."""

    @classmethod
    def read(cls, sql: str, dialect: str = "sqlite") -> Statement:
        """SQL of SQLite is kept as it is, any other is translated. `GraftError` when that is not possible."""
        try:
            parsed = sqlglot.parse_one(sql, read=dialect)
            query = parsed.unnest() if isinstance(parsed, exp.Subquery) else parsed
            ordered = query.args.get("order") is not None
            if dialect != "sqlite":
                sql = parsed.sql(dialect="sqlite", unsupported_level=ErrorLevel.RAISE)
        except (SqlglotError, ValueError, RecursionError) as error:  # ValueError: no such dialect
            raise GraftError(f"can't be read as {dialect}: {_line(error)}") from error
        return cls(sql, ordered)


def same_answer(a: Answer, b: Answer, ordered: bool) -> bool:
    """Whether two answers are equal: as lists of rows when `ordered`, else as multisets.

    Text, bytes, NULL and two whole numbers must be equal exactly, other numbers to `TOLERANCE`. In lists,
    rows that tie in the order asked for count in the order in which SQLite returned them. An answer that
    there is not is equal to none.
    """
    if a.reason or b.reason or len(a.rows) != len(b.rows):
        return False
    if a.rows == b.rows:
        return True
    first, second = (one.rows if ordered else sorted(one.rows, key=_sort_key) for one in (a, b))
    return all(map(_same_row, first, second))


def _same_row(a: Row, b: Row) -> bool:
    return len(a) == len(b) and all(map(_same_value, a, b))


def _same_value(a: Any, b: Any) -> bool:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        whole = isinstance(a, int) and isinstance(b, int)
        return a == b or (not whole and math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE))
    return type(a) is type(b) and a == b


def _sort_key(row: Row) -> tuple:
    """Numbers last: whatever differs exactly decides first, so that what is merely close stays in step."""
    exact = [("", b"") if _is_number(v) else (type(v).__name__, _bytes(v)) for v in row]
    return exact, [v for v in row if _is_number(v)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _bytes(value: Any) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value or b""


class PartialDatabase:
    """One source database of a benchmark in memory, which answers over all its rows or those of some shards.

    `GraftError` when the file can't be read.
    """

    def __init__(self, benchmark: Benchmark, path: Path) -> None:
        self._benchmark, self._path = benchmark, path
        self._name = path.stem
        self._rows: dict[str, dict[TableId, list[Row]]] = {}
        self._connection = _in_memory(path)
        self._tables = frozenset(table for database, table in benchmark.sources if database == self._name)

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()

    def full(self, sql: str) -> Answer:
        """The answer over the whole database."""
        return self._run(sql, frozenset())

    def partial(self, sql: str, tables: Collection[str], shards: Collection[TableId]) -> Answer:
        """The answer over `tables` (lower-case names) with the rows of `shards` alone.

        Another table of the database is as good as not there: SQL that reads it fails.
        """
        connection = self._connection
        connection.execute("BEGIN")
        try:
            for table in tables:
                self._delete(table, shards)
            return self._run(sql, self._tables - set(tables))
        except sqlite3.Error as error:
            return Answer(reason=_line(error))
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _delete(self, table: str, shards: Collection[TableId]) -> None:
        """Delete the rows of `table` that are in none of `shards`."""
        dealt = self._dealt(table)
        spelt, keys = self._quoted(table), self._keys(table)
        if all(shard not in shards for shard in dealt):
            self._connection.execute(f"DELETE FROM {spelt}")
            return
        gone = [row for shard, rows in dealt.items() if shard not in shards for row in rows]
        condition = " AND ".join(f"{key} IS ?" for key in keys)
        before = self._connection.total_changes
        self._connection.executemany(f"DELETE FROM {spelt} WHERE {condition}", gone)
        if self._connection.total_changes - before != len(gone):
            raise GraftError(f"{self._path}: rows of table {table} can't be told apart")

    def _dealt(self, table: str) -> dict[TableId, list[Row]]:
        """The keys of a table's rows by shard."""
        if table not in self._rows:
            keys = self._keys(table)
            # All columns are read, so that the rows come in the order in which the lake's reader met them.
            rows = self._connection.execute(f"SELECT {', '.join(keys)}, * FROM {self._quoted(table)}")
            found = [row[: len(keys)] for row in rows]
            if len(found) != self._lake_rows.get(table):
                raise GraftError(f"{self._path}: the lake has not all rows of table {table}")
            places = pa.table({"row": np.arange(len(found))})
            whole = RawTable(TableId(self._name, table), places, ("row",), "")
            self._rows[table] = {
                shard.id: [found[place] for place in shard.data["row"].to_pylist()]
                for shard in self._benchmark.deal(whole)
            }
        return self._rows[table]

    @cached_property
    def _lake_rows(self) -> Mapping[str, int]:
        """Number of rows of each table as the lake's reader reads it."""
        tables = self._benchmark.source_tables(self._path)
        return {raw.id.name.lower(): raw.data.num_rows for raw in tables if isinstance(raw, RawTable)}

    def _quoted(self, table: str) -> str:
        return _quote(self._benchmark.sources[self._name, table])

    def _keys(self, table: str) -> list[str]:
        """Columns that tell the rows of a table apart: the row id, else (WITHOUT ROWID) the primary key."""
        columns = self._connection.execute(f"PRAGMA table_info({self._quoted(table)})").fetchall()
        named = {column[1].lower() for column in columns}
        for alias in ("rowid", "_rowid_", "oid"):
            if alias not in named:
                try:
                    self._connection.execute(f"SELECT {alias} FROM {self._quoted(table)} LIMIT 0")
                    return [alias]
                except sqlite3.OperationalError:
                    break
        return [_quote(column[1]) for column in columns if column[5]]

    def _run(self, sql: str, hidden: Collection[str]) -> Answer:
        steps, refused = 0, ""

        def allow(action: int, first: str | None, *_: str | None) -> int:
            nonlocal refused
            name = (first or "").lower()
            if action == sqlite3.SQLITE_READ and name in hidden:
                refused = f"reads {name}, which is not among the query's tables"
            elif action not in _READING:
                refused = "does more than read"
            return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK

        def tick() -> int:
            nonlocal steps
            steps += _TICK
            return int(steps > MAX_STEPS)

        connection = self._connection
        connection.set_authorizer(allow)
        connection.set_progress_handler(tick, _TICK)
        try:
            with closing(connection.cursor()) as cursor:
                rows = cursor.execute(sql).fetchmany(MAX_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:  # ValueError: no text for SQLite
            endless = f"more than {MAX_STEPS:,} steps" if steps > MAX_STEPS else ""
            return Answer(reason=endless or refused or _line(error))
        finally:
            connection.set_progress_handler(None, 0)
            connection.set_authorizer(None)
        return Answer(reason=f"more than {MAX_ROWS:,} rows") if len(rows) > MAX_ROWS else Answer(tuple(rows))


def _in_memory(path: Path) -> sqlite3.Connection:
    """A copy of a database that knows neither triggers nor foreign keys; statements begin no transaction."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    # Bytes that are not UTF-8 stay as they are: text is compared exactly.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    try:
        with (
            database_copy(path) as (place, _),
            closing(sqlite3.connect(sqlite_uri(place, place == path), uri=True)) as file,
        ):
            file.backup(connection)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA foreign_keys = OFF")
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {_quote(name)}")
    except (sqlite3.Error, OSError, UnicodeError) as error:
        connection.close()
        raise GraftError(f"{path}: not readable as SQLite: {_line(error)}") from error
    return connection


def _quote(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
