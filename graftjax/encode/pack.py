"""Packing token sequences of different lengths into rows of one fixed shape.

Letters: N sequences, B rows, R tokens a row, S sequences a row at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

SMALL_ROW = 32
"""Row length of a small request: finer steps of work, so a query waits for less padding."""
BULK_ROW = 64
"""Shortest row of a large request: long enough that 12 to 40 tokens pack with a few per cent of waste."""
SMALL_REQUEST = 512
"""Tokens up to which a request counts as small."""
ROW_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
"""Numbers of rows that are compiled: a bounded list, at most a third of the rows empty."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One fixed shape of work. Padding has token 0, segment 0, position 0."""

    tokens: Int[np.ndarray, "B R"]
    segment: Int[np.ndarray, "B R"]
    positions: Int[np.ndarray, "B R"]
    n_segments: int
    """S, the same for every batch of this R."""
    members: Int[np.ndarray, " M"]
    """Which sequences are in here, row by row."""
    slots: Int[np.ndarray, " M"]
    """Where each member's result lies in the [B·S] results."""


def segments_per_row(row: int) -> int:
    """S for rows of `row` tokens: a text of one word piece has three tokens with its marks."""
    return max(1, row // 3)


def row_counts(row: int, batch_tokens: int) -> tuple[int, ...]:
    """Numbers of rows that may be used for rows of `row` tokens, ascending; never empty."""
    full = max(1, batch_tokens // row)
    if row == SMALL_ROW:
        full = min(full, 2 * SMALL_REQUEST // SMALL_ROW)  # rows are at least half full
    return (*(n for n in ROW_COUNTS if n < full), full)


def fill_rows(lengths: Int[np.ndarray, " N"], row: int) -> list[list[int]]:
    """Sequence numbers per row: each row starts with the longest left and takes the longest that still fits.

    Every sequence is placed exactly once; needs 1 <= length <= row. O(N · row) steps at worst.
    """
    most = segments_per_row(row)
    by_length: list[list[int]] = [[] for _ in range(row + 1)]
    for index in range(len(lengths) - 1, -1, -1):  # reversed, so that pop() gives the first
        by_length[int(lengths[index])].append(index)
    rows: list[list[int]] = []
    longest = row
    while True:
        while longest and not by_length[longest]:
            longest -= 1
        if not longest:
            return rows
        members: list[int] = []
        room = fit = row
        while len(members) < most:
            fit = min(fit, room, longest)
            while fit and not by_length[fit]:
                fit -= 1
            if not fit:
                break
            members.append(by_length[fit].pop())
            room -= fit
        rows.append(members)


def plan(lengths: Int[np.ndarray, " N"]) -> list[tuple[int, Int[np.ndarray, " K"]]]:
    """Row lengths to use, longest first, with the K sequences that go to each.

    A small request of short texts uses rows of 32; otherwise a text goes to the shortest of 64, 128, 256,
    ... that holds it.
    """
    if not len(lengths):
        return []
    if int(lengths.max()) <= SMALL_ROW and int(lengths.sum()) <= SMALL_REQUEST:
        return [(SMALL_ROW, np.arange(len(lengths)))]
    row_of = np.full(len(lengths), BULK_ROW)
    while (short := row_of < lengths).any():
        row_of[short] *= 2
    return [(int(row), np.flatnonzero(row_of == row)) for row in np.unique(row_of)[::-1]]


def pack(sequences: Sequence[Int[np.ndarray, " _"]], batch_tokens: int) -> Iterator[Batch]:
    """Batches of about `batch_tokens` tokens that hold every sequence exactly once, long ones first."""
    lengths = np.fromiter((len(s) for s in sequences), np.int64, len(sequences))
    for row, chosen in plan(lengths):
        rows = fill_rows(lengths[chosen], row)
        counts = row_counts(row, batch_tokens)
        for start in range(0, len(rows), counts[-1]):
            part = rows[start : start + counts[-1]]
            n_rows = next(n for n in counts if n >= len(part))
            yield _batch(sequences, [[int(chosen[i]) for i in members] for members in part], n_rows, row)


def empty_batch(n_rows: int, row: int) -> Batch:
    """A batch of padding only, for compiling ahead of time."""
    return _batch([], [], n_rows, row)


def _batch(sequences: Sequence[np.ndarray], rows: list[list[int]], n_rows: int, row: int) -> Batch:
    tokens, segment, positions = (np.zeros((n_rows, row), np.int32) for _ in range(3))
    most = segments_per_row(row)
    members: list[int] = []
    slots: list[int] = []
    for r, inside in enumerate(rows):
        start = 0
        for s, index in enumerate(inside):
            ids = sequences[index]
            end = start + len(ids)
            tokens[r, start:end] = ids
            segment[r, start:end] = s + 1
            positions[r, start:end] = np.arange(len(ids))
            members.append(index)
            slots.append(r * most + s)
            start = end
    return Batch(tokens, segment, positions, most, np.asarray(members, np.int64), np.asarray(slots, np.int64))
