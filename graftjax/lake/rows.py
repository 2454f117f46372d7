"""Records of uneven length → text columns, with an account of what did not fit."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from graftjax.lake.names import counted
from graftjax.lake.sample import RowSample

_KEPT_SHARE = 0.1
"""Cells beyond the header become columns if at least this share of the rows, and two rows, fill them."""
_BEYOND = 1 << 12
"""So many cells of a row beyond the header are looked at."""
_CELL_BYTES = 200
"""What a cell beyond the header takes in memory beside its text."""

_PART_ROWS, _PART_BYTES = 1 << 15, 1 << 26
"""Rows become Arrow columns when there are so many, or when they take so much."""
_STRING_BYTES = 57
"""What Python adds to a text."""


class Rows:
    """Gathers the records of a table whose header has `width` cells; rows count from 0."""

    def __init__(self, width: int, sample: RowSample):
        self.width = width
        self.sample = sample
        self.open: list[list[str]] = [[] for _ in range(width)]
        self.open_rows = self.open_bytes = 0
        """Cells that are not Arrow columns yet, and what they take."""
        self.short = self.blank = 0
        self.first_short = 0
        self.beyond: dict[int, dict[int, str]] = {}
        """Position past the header → row → non-blank cell."""
        self.beyond_bytes = 0

    def add(self, batch: list[list[str]]) -> None:
        width, sample = self.width, self.sample
        rows = [row for row in batch if row]
        self.blank += len(batch) - len(rows)
        first, wanted = sample.seen, sample.pick(len(rows))
        numbers = range(first, first + len(rows))[wanted]
        rows = rows[wanted]
        if any(len(row) != width for row in rows):
            rows = [self._fit(number, row) for number, row in zip(numbers, rows, strict=True)]
        if rows:
            columns = list(zip(*rows, strict=True))
            # Many small lists, as rows are, would keep the garbage collector busy.
            for cells, more in zip(self.open, columns, strict=True):
                cells.extend(more)
            self.open_rows += len(rows)
            self.open_bytes += (
                sum(sum(map(len, cells)) for cells in columns) + _STRING_BYTES * len(rows) * width
            )
        if self.open_rows >= _PART_ROWS or self.open_bytes >= _PART_BYTES:
            self._close()

    def _close(self) -> None:
        """Turn the rows so far into Arrow columns, which take less room."""
        if self.open_rows:
            self.sample.add([_blank_to_null(pa.array(cells, pa.large_string())) for cells in self.open])
            self.open = [[] for _ in range(self.width)]
            self.open_rows = self.open_bytes = 0
        while self.sample.thin(self.beyond_bytes):
            self._thin()

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
                self.beyond_bytes += len(cell) + _CELL_BYTES
                if position >= _BEYOND:
                    break
        return row[: self.width]

    def _thin(self) -> None:
        stride = self.sample.stride
        self.beyond_bytes = 0
        for position, cells in self.beyond.items():
            kept = {row: cell for row, cell in cells.items() if row % stride == 0}
            self.beyond[position] = kept
            self.beyond_bytes += sum(len(cell) + _CELL_BYTES for cell in kept.values())

    def finish(self, notes: list[str]) -> tuple[list[pa.ChunkedArray], int]:
        """All columns, and how many of them stand beyond the header."""
        self._close()
        n_rows, stride = self.sample.kept, self.sample.stride
        columns = [pa.chunked_array(part, pa.large_string()) for part in self.sample.columns(self.width)]
        enough = max(2, _KEPT_SHARE * n_rows)
        kept = max(
            (
                position + 1
                for position, cells in self.beyond.items()
                if len(cells) >= enough and position < _BEYOND
            ),
            default=0,
        )
        for position in range(kept):
            values: list[str | None] = [None] * n_rows
            for row, cell in self.beyond.get(position, {}).items():
                values[row // stride] = cell
            columns.append(pa.chunked_array([pa.array(values, pa.large_string())]))
        if kept:
            beyond = counted(kept, "column beyond the header is", "columns beyond the header are")
            notes.append(f"{beyond} kept without a name")
        lost = [
            (row, cell)
            for position in self.beyond
            if position >= kept
            for row, cell in self.beyond[position].items()
        ]
        if lost:
            row, cell = min(lost)
            rows = counted(len({r for r, _ in lost}), "row has", "rows have")
            notes.append(
                f"{rows} cells beyond the header, which are left out (first: row {row + 1}, {cell[:40]!r})"
            )
        if self.short:
            rows = counted(self.short, "row is", "rows are")
            notes.append(f"{rows} short, filled up with NULL (first: row {self.first_short + 1})")
        if self.blank:
            notes.append(f"{self.blank} blank lines left out")
        notes.extend(self.sample.notes())
        return columns, kept


def _blank_to_null(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(pc.binary_length(column), _ZERO), _NULL, column)


_ZERO = pa.scalar(0, pa.int64())
_NULL = pa.scalar(None, pa.large_string())
