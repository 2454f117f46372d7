"""Delimited text files (CSV, TSV, TXT), however messy → raw tables."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

import csv
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from graftjax.errors import GraftError
from graftjax.lake.decode import TextLines
from graftjax.lake.dialect import Dialect, detect, first_row, has_header, head_records, trimmed
from graftjax.lake.raw import RawTable, column_names
from graftjax.lake.values import numbers_from_text
from graftjax.types import TableId

_BATCH = 1 << 15
_KEPT_SHARE = 0.1
"""Cells beyond the header become columns if at least this share of the rows, and two rows, fill them."""


def read_csv(path: Path, id: TableId, origin: str) -> RawTable:
    """Read one delimited text file, compressed or not.

    Encoding, delimiter, quoting, title lines and header are detected. Only the empty cell is NULL. A column
    is numeric if all its values are plain numbers (no leading zeros; the words for missing then are NULL,
    with a note), else text as spelled. Whatever is not read literally is told in the notes.

    Raises GraftError for a file without content, with binary content, or (.txt) without a delimiter.
    """
    csv.field_size_limit(2**31 - 1)  # the default refuses a cell of more than 128 kB
    try:
        lines = TextLines(path)
        if not lines.head:
            raise GraftError("empty file")
        dialect = detect(lines.head_text())
        if dialect.delimiter not in ",;\t|" and ".txt" in (s.lower() for s in path.suffixes):
            raise GraftError("plain text without a delimiter, not a table")
        try:
            return _read(lines, dialect, id, origin, ())
        except csv.Error as error:
            plain = Dialect(dialect.delimiter, quote=None)
            return _read(lines, plain, id, origin, (f"quotes are read as plain text: {error}",))
    except (OSError, EOFError, UnicodeError, csv.Error, ValueError) as error:
        raise GraftError(
            f"can not be read: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from error


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
    headers = [*head[start][:width]] if headed else [""] * width
    if headed and body and all(len(row) == len(head[start]) + 1 and row[-1].strip() for row in body):
        headers = ["", *headers]
        found.append("the header has one cell less than every row: the first column has no name")
    if not headed:
        found.append("no header row")
    if len(trimmed(head[start])) < len(head[start]) and width < len(head[start]):
        found.append(f"{len(head[start]) - width} blank cells at the end of the header are padding")

    collector = _Collector(len(headers))
    records = dialect.records(lines)
    for _ in range(start + headed):
        next(records)
    while batch := list(islice(records, _BATCH)):
        collector.add(batch)
    columns, extra = collector.finish(found)
    headers += [""] * extra
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


class _Collector:
    """Gathers records of uneven length into text columns and keeps account of what did not fit."""

    def __init__(self, width: int):
        self.width = width
        self.parts: list[list[pa.Array]] = [[] for _ in range(width)]
        self.n_rows = self.short = self.blank = 0
        self.first_short = 0
        self.beyond: dict[int, dict[int, str]] = {}
        """Position past the header → row → non-blank cell."""

    def add(self, batch: list[list[str]]) -> None:
        width = self.width
        rows = [row for row in batch if row]
        self.blank += len(batch) - len(rows)
        if any(len(row) != width for row in rows):
            rows = [self._fit(self.n_rows + i, row) for i, row in enumerate(rows)]
        if rows:
            for part, cells in zip(self.parts, zip(*rows, strict=True), strict=True):
                part.append(_blank_to_null(pa.array(cells, pa.large_string())))
        self.n_rows += len(rows)

    def _fit(self, row_number: int, row: list[str]) -> list[str]:
        if len(row) == self.width:
            return row
        if len(row) < self.width:
            if not self.short:
                self.first_short = row_number
            self.short += 1
            return row + [""] * (self.width - len(row))
        for position, cell in enumerate(row[self.width :]):
            if cell.strip():
                self.beyond.setdefault(position, {})[row_number] = cell
        return row[: self.width]

    def finish(self, notes: list[str]) -> tuple[list[pa.ChunkedArray], int]:
        """All columns, and how many of them stand beyond the header."""
        columns = [pa.chunked_array(part, pa.large_string()) for part in self.parts]
        enough = max(2, _KEPT_SHARE * self.n_rows)
        kept = max(
            (position + 1 for position, cells in self.beyond.items() if len(cells) >= enough), default=0
        )
        for position in range(kept):
            values: list[str | None] = [None] * self.n_rows
            for row, cell in self.beyond.get(position, {}).items():
                values[row] = cell
            columns.append(pa.chunked_array([pa.array(values, pa.large_string())]))
        if kept:
            notes.append(f"{kept} columns beyond the header are kept without a name")
        lost = [
            (row, cell)
            for position in self.beyond
            if position >= kept
            for row, cell in self.beyond[position].items()
        ]
        if lost:
            row, cell = min(lost)
            notes.append(
                f"{len({r for r, _ in lost})} rows have cells beyond the header, which are left out "
                f"(first: row {row + 1}, {cell[:40]!r})"
            )
        if self.short:
            notes.append(
                f"{self.short} rows are short, filled up with NULL (first: row {self.first_short + 1})"
            )
        if self.blank:
            notes.append(f"{self.blank} blank lines left out")
        return columns, kept


def _blank_to_null(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(pc.binary_length(column), _ZERO), _NULL, column)


_ZERO = pa.scalar(0, pa.int64())
_NULL = pa.scalar(None, pa.large_string())
