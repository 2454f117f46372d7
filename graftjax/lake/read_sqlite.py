"""SQLite databases → one raw table per table or view.

Nothing in the file is trusted: it is opened read-only and immutable, extensions stay off, functions in the
schema are restricted (`trusted_schema`), and a view that runs too long is given up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from graftjax.lake.decode import decode
from graftjax.lake.raw import RawTable, column_names
from graftjax.lake.values import float_text, text_column
from graftjax.types import Skip, TableId

_BATCH = 1 << 16
_MAGIC = b"SQLite format 3\x00"
# A view is a query of somebody else's: 2e8 steps of the virtual machine are some seconds.
_VIEW_STEPS = 200_000_000
_VIEW_ROWS = 5_000_000


def read_sqlite(path: Path, source: str, origin: str) -> Iterator[RawTable | Skip]:
    """Read every user table and view of a database, in the order of their names.

    A value keeps its stored type; a column that mixes numbers and text is read as text. What can not be read
    (the file or a single table) is yielded as a Skip, and the rest goes on.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(16)
    except OSError as error:
        yield Skip(origin, f"can not be opened: {error.strerror or error}")
        return
    if magic != _MAGIC:
        yield Skip(origin, "empty file" if not magic else "not a SQLite database (or an encrypted one)")
        return
    log = path.with_name(path.name + "-wal")
    notes = ()
    if log.exists() and log.stat().st_size:
        notes = ("rows still in the write-ahead log (-wal file) are not read",)
    try:
        uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.text_factory = decode
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            entries = _entries(connection)
            if not entries:
                yield Skip(origin, "no tables in the database")
            for name, kind in entries:
                yield _read_table(connection, TableId(source, name), kind, origin, notes)
    except (sqlite3.Error, OSError) as error:
        yield Skip(origin, f"not readable as SQLite: {_line(error)}")


def list_tables(path: Path) -> tuple[str, ...]:
    """Names of the user's tables (no views) in a database, sorted; empty when it can not be read."""
    try:
        uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            return tuple(name for name, kind in _entries(connection) if kind == "table")
    except (sqlite3.Error, OSError):
        return ()


def _entries(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(name, type) of the user's tables and views, shadow tables of virtual ones left out."""
    rows = connection.execute(
        "SELECT name, type FROM sqlite_master"
        " WHERE type IN ('table', 'view') AND substr(name, 1, 7) != 'sqlite_'"
    ).fetchall()
    # table_list is unknown before SQLite 3.37: without it, shadow tables are read too.
    try:
        hidden = {
            row[1]
            for row in connection.execute("PRAGMA table_list")
            if row[0] == "main" and row[2] == "shadow"
        }
    except sqlite3.Error:
        hidden = set()
    return sorted(row for row in rows if row[0] not in hidden)


def _read_table(
    connection: sqlite3.Connection, id: TableId, kind: str, origin: str, notes: tuple[str, ...]
) -> RawTable | Skip:
    steps = 0

    def tick() -> int:
        nonlocal steps
        steps += 100_000
        return int(steps > _VIEW_STEPS)

    connection.set_progress_handler(tick if kind == "view" else None, 100_000)
    try:
        cursor = connection.execute('SELECT * FROM "{}"'.format(id.name.replace('"', '""')))
        headers = tuple(entry[0] for entry in cursor.description)
        parts: list[list[pa.Array]] = [[] for _ in headers]
        n_rows = 0
        while batch := cursor.fetchmany(_BATCH):
            n_rows += len(batch)
            if kind == "view" and n_rows > _VIEW_ROWS:
                return Skip(origin, f"view {id.name}: more than {_VIEW_ROWS} rows")
            for part, values in zip(parts, zip(*batch, strict=True), strict=True):
                part.append(_array(values))
    except (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError) as error:
        reason = "takes too long" if steps > _VIEW_STEPS else f"can not be read: {_line(error)}"
        return Skip(origin, f"{kind} {id.name}: {reason}")
    finally:
        connection.set_progress_handler(None, 0)
    columns = [_join(part) for part in parts]
    return RawTable(id, pa.table(columns, names=column_names(headers)), headers, origin, notes)


def _array(values: tuple) -> pa.Array:
    """One batch of a column: the type is that of the stored values, text where they are mixed."""
    kinds = set(map(type, values)) - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds == {str}:
        return pa.array(values, pa.large_string())
    if kinds == {bytes}:
        return _text_or_bytes(values)
    if kinds == {int, float} and all(abs(v) < 2**53 for v in values if type(v) is int):
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if kinds == {float}:
        return pa.array(values, pa.float64())
    return pa.array([_text(v) for v in values], pa.large_string())


def _text_or_bytes(values: tuple) -> pa.Array:
    data = pa.array(values, pa.large_binary())
    # Text stored as BLOB is common; a NUL or invalid UTF-8 tells a real BLOB.
    if any(v is not None and b"\0" in v for v in values):
        return data
    try:
        return data.cast(pa.large_string())
    except pa.ArrowInvalid:
        return data


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return float_text(value)
    return decode(value) if isinstance(value, bytes) else str(value)


def _join(parts: list[pa.Array]) -> pa.ChunkedArray:
    """Batches of one column under one type; int and float meet as float, anything else as text."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if not kinds:
        return pa.chunked_array(parts, pa.null())
    if len(kinds) == 1:
        kind = kinds.pop()
    elif kinds == {pa.int64(), pa.float64()} and all(_fits_float(part) for part in parts):
        kind = pa.float64()
    else:
        kind = pa.large_string()
        parts = [text_column(part) for part in parts]
    return pa.chunked_array([part.cast(kind) for part in parts], kind)


def _fits_float(part: pa.Array) -> bool:
    try:
        part.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
