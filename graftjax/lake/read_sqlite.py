"""SQLite databases → one raw table per table or view.

Nothing in the file is trusted: it is opened read-only, extensions stay off, functions in the schema are
restricted (`trusted_schema`), and a view that runs too long is given up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pyarrow as pa

from graftjax.lake.decode import decode
from graftjax.lake.names import plain_name
from graftjax.lake.open_sqlite import database_copy, is_database, sqlite_uri
from graftjax.lake.raw import RawTable, column_names
from graftjax.lake.sample import RowSample
from graftjax.lake.values import float_text, text_column
from graftjax.types import Skip, TableId

_BATCH = 1 << 16
_FETCH = 1 << 10
_BATCH_BYTES = 1 << 28
"""Rows become columns when there are `_BATCH` of them, or when they take about so much."""
_VALUE_LIMIT = 1 << 28
"""A table with a longer value (256 MiB) is not read."""
# A view is a query of somebody else's: 2e8 steps of the virtual machine are some seconds.
_VIEW_STEPS = 200_000_000
_VIEW_ROWS = 5_000_000
_ROW_BYTES = 2
"""A row takes at least so much of the file; more rows than fit are a page that refers back to itself."""


def read_sqlite(path: Path, source: str, origin: str) -> Iterator[RawTable | Skip]:
    """Read every user table and view of a database, in the order of their names.

    A value keeps its stored type; a column that mixes numbers and text is read as text. Changes in a
    write-ahead log or journal beside the file are read in a copy, the lake itself is never written to. Of
    a table too large for memory every second, fourth, ... row is kept (`RowSample`). What can not be read
    (the file or a single table) is yielded as a Skip, and the rest goes on.
    """
    try:
        before = _state(path)
        reason = is_database(path)
    except OSError as error:
        reason = f"can not be opened: {error.strerror or error}"
    if reason:
        yield Skip(origin, reason)
        return
    try:
        with ExitStack() as stack:
            place, notes = stack.enter_context(database_copy(path))
            connection = stack.enter_context(
                closing(sqlite3.connect(sqlite_uri(place, place == path), uri=True))
            )
            connection.text_factory = decode
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_LIMIT)
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            entries = _entries(connection)
            if not entries:
                yield Skip(origin, "; ".join(("no tables in the database", *notes)))
            for name, kind in entries:
                id = TableId(source, plain_name(name))
                table = _read_table(connection, name, kind, id, origin, notes, place.stat().st_size)
                if _state(path) != before:
                    table = Skip(origin, f"{kind} {id.name}: the database changed while it was read")
                yield table
    except (sqlite3.Error, OSError, UnicodeError) as error:
        yield Skip(origin, f"not readable as SQLite: {_line(error)}")


def _state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def list_tables(path: Path) -> tuple[str, ...]:
    """Names of the user's tables (no views) in a database, sorted; empty when it can not be read."""
    try:
        with closing(sqlite3.connect(sqlite_uri(path, True), uri=True)) as connection:
            return tuple(name for name, kind in _entries(connection) if kind == "table")
    except (sqlite3.Error, OSError, UnicodeError):
        return ()


def _entries(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(name, type) of the user's tables and views, shadow tables of virtual ones left out."""
    rows = connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"
        " AND typeof(name) = 'text' AND substr(name, 1, 7) != 'sqlite_'"
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
    connection: sqlite3.Connection,
    name: str,
    kind: str,
    id: TableId,
    origin: str,
    notes: tuple[str, ...],
    size: int,
) -> RawTable | Skip:
    """One table or view, `name` in the database of `size` bytes."""
    steps = 0

    def tick() -> int:
        nonlocal steps
        steps += 100_000
        return int(steps > _VIEW_STEPS)

    connection.set_progress_handler(tick if kind == "view" else None, 100_000)
    sample = RowSample()
    try:
        cursor = connection.execute('SELECT * FROM "{}"'.format(name.replace('"', '""')))
        headers = tuple(entry[0] for entry in cursor.description)
        for batch in _batches(cursor):
            rows = batch[sample.pick(len(batch))]
            if kind == "view" and sample.seen > _VIEW_ROWS:
                return Skip(origin, f"view {id.name}: more than {_VIEW_ROWS:,} rows")
            if kind == "table" and sample.seen > max(1000, size // _ROW_BYTES):
                return Skip(origin, f"table {id.name}: damaged, it has more rows than the file has room for")
            if rows:
                sample.add([_array(values) for values in zip(*rows, strict=True)])
            while sample.thin():
                pass
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        reason = "takes too long" if steps > _VIEW_STEPS else f"can not be read: {_line(error)}"
        return Skip(origin, f"{kind} {id.name}: {reason}")
    finally:
        connection.set_progress_handler(None, 0)
    columns = [_join(part) for part in sample.columns(len(headers))]
    data = pa.table(columns, names=column_names(headers))
    return RawTable(id, data, headers, origin, (*notes, *sample.notes()))


def _batches(cursor: sqlite3.Cursor) -> Iterator[list[tuple]]:
    """The rows, so many at a time as fit into memory."""
    batch: list[tuple] = []
    count, size = min(16, _BATCH), 0
    while rows := cursor.fetchmany(count):
        batch.extend(rows)
        # Every eighth row tells how large values are; the fetches are small until that is known.
        fetched = 8 * sum(len(value) for row in rows[::8] for value in row if isinstance(value, (str, bytes)))
        size += fetched
        count = min(_FETCH, 2 * count) if fetched < _BATCH_BYTES >> 3 else max(1, count // 2)
        if len(batch) >= _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        count = min(count, _BATCH - len(batch))
    if batch:
        yield batch


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
    if isinstance(error, UnicodeError):  # SQLite quotes a name in its message
        return "damaged, a name is not text"
    return (str(error).splitlines() or [type(error).__name__])[0]
