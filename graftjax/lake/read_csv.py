"""Delimited text files (CSV, TSV, TXT), however messy → raw tables."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from graftjax.errors import GraftError
from graftjax.lake.decode import TextLines
from graftjax.lake.dialect import Dialect, detect, first_row, has_header, head_records, trimmed
from graftjax.lake.raw import RawTable, column_names
from graftjax.lake.rows import Rows
from graftjax.lake.sample import RowSample
from graftjax.lake.unpack import packed_otherwise
from graftjax.lake.values import numbers_from_text
from graftjax.types import TableId

MAX_COLUMNS = 1 << 16
"""A file with more columns is no table."""
_FETCH = 1 << 10
_FETCH_CHARACTERS = 1 << 22
"""Records are taken from the parser `_FETCH` at a time, fewer if that is more than so much text."""


def read_csv(path: Path, id: TableId, origin: str) -> RawTable:
    """Read one delimited text file, packed or not.

    Encoding, delimiter, quoting, title lines and header are detected. Only the empty cell is NULL. A column
    is numeric if all its values are plain numbers (no leading zeros; the words for missing then are NULL,
    with a note), else text as spelled. Of a table too large for memory every second, fourth, ... row is
    kept (`RowSample`). Whatever is not read literally is told in the notes.

    Raises GraftError for a file without content, with binary content, or (.txt) without a delimiter.
    """
    try:
        lines = TextLines(path)
        if not lines.head:
            raise GraftError("empty file")
        dialect = detect(lines.head_text())
        if not dialect.divides and ".txt" in (s.lower() for s in path.suffixes):
            raise GraftError("plain text without a delimiter, not a table")
        notes = packed_otherwise(path)
        try:
            return _read(lines, dialect, id, origin, notes)
        except csv.Error as error:
            plain = Dialect(dialect.delimiter, quote=None)
            notes += (f"quotes are read as plain text: {error}",)
            return _read(lines, plain, id, origin, notes)
    except FileNotFoundError as error:
        raise GraftError("has vanished") from error
    except OSError as error:
        raise GraftError(f"can not be read: {error.strerror or _line(error)}") from error
    except (EOFError, UnicodeError, csv.Error, ValueError) as error:
        raise GraftError(f"can not be read: {_line(error)}") from error


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _read(lines: TextLines, dialect: Dialect, id: TableId, origin: str, notes: tuple[str, ...]) -> RawTable:
    found = list(notes)
    head = head_records(dialect, lines)
    if not any(trimmed(row) for row in head):
        raise GraftError("no content but white space")
    start = first_row(head)
    titles = [" ".join(filter(None, (cell.strip() for cell in row))) for row in head[:start]]
    if titles:
        found.append(f"{start} lines before the header: {' / '.join(filter(None, titles))[:200]}")
    body = [row for row in head[start + 1 :] if row]
    headed = has_header(head[start], body)
    width = len(trimmed(head[start])) if headed else max(len(trimmed(row)) for row in head[start:])
    # A column with a blank header is padding only if it is blank all the way down.
    reach = max((len(trimmed(row)) for row in body), default=0)
    width = max(width, min(len(head[start]), reach))
    if width > MAX_COLUMNS:
        raise GraftError(f"{width:,} columns: not a table")
    headers = [*head[start][:width]] if headed else [""] * width
    if headed and body and all(len(row) == len(head[start]) + 1 and row[-1].strip() for row in body):
        headers = ["", *headers]
        found.append("the header has one cell less than every row: the first column has no name")
    if not headed:
        found.append("no header row")
    if len(trimmed(head[start])) < len(head[start]) and width < len(head[start]):
        found.append(f"{len(head[start]) - width} blank cells at the end of the header are padding")

    rows = Rows(len(headers), RowSample())
    skipped = start + headed
    for batch in dialect.batches(lines, _Pace(lines)):
        rows.add(batch[skipped:])
        skipped = max(0, skipped - len(batch))
    columns, extra = rows.finish(found)
    headers += [""] * extra
    if dialect.skip_space:
        found.append("blanks after delimiters are left out")
    if lines.bad_bytes:
        found.append(f"{lines.bad_bytes} bytes are not valid {lines.encoding} and were read as Latin-1")
    if lines.encoding not in ("utf-8", "utf-8-sig"):
        found.append(f"encoding {lines.encoding}")
    names = column_names(headers)
    typed = []
    for name, column in zip(names, columns, strict=True):
        column, note = numbers_from_text(column, decimal_comma=dialect.delimiter != ",")
        typed.append(column)
        if note:
            found.append(f"column {name}: {note}")
    return RawTable(id, pa.table(typed, names=names), tuple(headers), origin, tuple(found))


class _Pace:
    """How many records to take from the parser at once: fewer where they are large."""

    def __init__(self, lines: TextLines) -> None:
        self.lines, self.count, self.before = lines, 8, 0

    def __call__(self) -> int:
        fetched, self.before = self.lines.characters - self.before, self.lines.characters
        small = fetched < _FETCH_CHARACTERS
        self.count = min(_FETCH, 2 * self.count) if small else max(1, self.count // 2)
        return self.count
