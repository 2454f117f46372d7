"""Rows of a table that is too large for memory: every second, fourth, eighth, ..., from the first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

MAX_BYTES = 1 << 29
"""A table is read whole as long as its columns take at most this many bytes in memory (512 MiB)."""


class RowSample:
    """Columns of rows as they come, thinned evenly whenever they outgrow `MAX_BYTES`.

    The rows that are kept are 0, stride, 2 · stride, ...: they depend on the file alone, stand for all of it,
    and the number of rows seen stays exact.
    """

    def __init__(self) -> None:
        self.stride = 1
        self.seen = 0
        """Rows so far, kept or not."""
        self.kept = 0
        self.bytes = 0
        self.parts: list[list[pa.Array]] = []
        """One list of columns per batch of rows."""

    def pick(self, count: int) -> slice:
        """Which of the next `count` rows are wanted; they count as seen from now on."""
        start = -self.seen % self.stride
        self.seen += count
        return slice(start, count, self.stride)

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Take the rows that `pick` asked for, as columns of one length."""
        if columns and len(columns[0]):
            self.parts.append(list(columns))
            self.kept += len(columns[0])
            self.bytes += sum(column.nbytes for column in columns)

    def thin(self, beside: int = 0) -> bool:
        """Drop every second row if the rows, and `beside` bytes more, are too large; whether it did."""
        if self.bytes + beside <= MAX_BYTES or self.kept < 2:
            return False
        parts, place = self.parts, 0
        self.parts, self.kept, self.bytes = [], 0, 0
        self.stride *= 2
        while parts:
            columns = parts.pop(0)
            count = len(columns[0])
            wanted = pa.array(np.arange(place % 2, count, 2))
            self.add([column.take(wanted) for column in columns])
            place += count
        return True

    def columns(self, width: int) -> list[list[pa.Array]]:
        """The parts of each of `width` columns; leaves the sample empty."""
        columns = [[part[position] for part in self.parts] for position in range(width)]
        self.parts = []
        return columns

    def notes(self) -> tuple[str, ...]:
        """What was left out, in words."""
        if self.stride == 1:
            return ()
        return (
            f"too large to keep whole: {self.kept:,} of {self.seen:,} rows were read "
            f"(every {self.stride}th from the first)".replace(" 2th", " 2nd"),
        )
