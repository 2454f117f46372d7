"""Column classes: the aligned columns of a union cluster, with the pooled values of all its tables.

A single shard holds a fraction of the keys, so joins and value look-ups work on classes, never on
the columns of one table. Letters: K classes, S slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt64

from graftjax.lake.partition import distinct, members_of
from graftjax.lake.sketch import SKETCH_SIZE
from graftjax.types import Column

WHOLE = np.iinfo(np.uint64).max


@dataclass(frozen=True, eq=False)
class ValueSets:
    """Pooled values of K classes as hashes in one flat array."""

    hashes: UInt64[np.ndarray, " H"]
    """Class after class; sorted inside each."""
    offsets: Int[np.ndarray, " K1"]
    """Class k owns hashes[offsets[k] : offsets[k + 1]]; K1 = K + 1."""
    limit: UInt64[np.ndarray, " K"]
    """Up to this hash every value of the class is known; WHOLE when all are."""
    filled: Int[np.ndarray, " K"]
    """Non-null cells."""

    def of(self, k: int) -> np.ndarray:
        """All known hashes of class k."""
        return self.hashes[self.offsets[k] : self.offsets[k + 1]]

    def counts(self) -> Int[np.ndarray, " K"]:
        """Known distinct values per class."""
        return np.diff(self.offsets)

    def distinct(self) -> Float[np.ndarray, " K"]:
        """Distinct values per class: exact where all are known, else estimated from the known part."""
        counts = self.counts().astype(np.float64)
        below = counts.copy()
        for k in np.flatnonzero(self.limit != WHOLE).tolist():
            below[k] = np.searchsorted(self.of(k), self.limit[k], side="right")
        share = (self.limit.astype(np.float64) + 1.0) / 2.0**64
        return np.where(self.limit == WHOLE, counts, np.maximum(counts, below / share))

    def uniqueness(self) -> Float[np.ndarray, " K"]:
        """Distinct values per non-null cell, in [0, 1]: 1 for a key, 0 for a class without values."""
        return np.minimum(1.0, self.distinct() / np.maximum(1, self.filled))


def pool(columns: Sequence[Column], n_rows: Sequence[int]) -> tuple[np.ndarray, np.uint64, int]:
    """(known hashes, limit, filled cells) of the union of the columns' values."""
    parts = [column.sketch for column in columns]
    limits = [part[-1] for part in parts if len(part) >= SKETCH_SIZE]
    limit = min(limits) if limits else np.uint64(WHOLE)
    if len(parts) == 1:
        hashes = parts[0]  # a sketch is sorted and has no repeats
    else:
        hashes = distinct(np.concatenate(parts)) if parts else np.empty(0, np.uint64)
    filled = sum(
        round((1.0 - column.null_share) * rows) for column, rows in zip(columns, n_rows, strict=True)
    )
    return hashes, np.uint64(limit), filled


def pool_classes(
    columns: Sequence[Column], n_rows: Sequence[int], column_class: Int[np.ndarray, " C"], num_classes: int
) -> ValueSets:
    """Pool the columns of each class; `n_rows` are those of each column's table."""
    hashes, limits, filled = [], np.empty(num_classes, np.uint64), np.empty(num_classes, np.int64)
    for k, members in enumerate(members_of(column_class, num_classes)):
        known, limits[k], filled[k] = pool([columns[i] for i in members], [n_rows[i] for i in members])
        hashes.append(known)
    offsets = np.concatenate([[0], np.cumsum([len(known) for known in hashes])]).astype(np.int64)
    flat = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
    return ValueSets(flat.astype(np.uint64), offsets, limits, filled)
