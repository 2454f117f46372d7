"""A matrix whose rows lie in several arrays, one below the other.

What came to a lake later is laid below what a file holds, and the file stays mapped: to copy it would cost
more than all else that an added table needs.
Letters: n rows, D columns, q vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class StackedRows:
    """Read like an array by numbers of rows; `np.asarray` copies it into one."""

    parts: tuple[np.ndarray, ...]
    """Each [rows, D], of one type; one at least."""

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.parts[0].shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.parts[0].dtype

    def __getitem__(self, numbers: Any) -> np.ndarray:
        """The rows with these numbers, not negative: [*numbers.shape, D]."""
        numbers = np.asarray(numbers)
        found = np.empty((*numbers.shape, self.shape[1]), self.dtype)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(self)):
            raise IndexError(f"there are rows 0 to {len(self) - 1}")
        start = 0
        for part in self.parts:
            here = (numbers >= start) & (numbers < start + len(part))
            found[here] = part[numbers[here] - start]
            start += len(part)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("stacked rows are copied into one array")
        return np.concatenate(self.parts).astype(dtype or self.dtype, copy=False)


Rows = np.ndarray | StackedRows


def stacked(above: Rows, *below: np.ndarray) -> Rows:
    """One matrix of all rows; nothing is copied."""
    parts = above.parts if isinstance(above, StackedRows) else (above,)
    more = tuple(part for part in below if len(part))
    return StackedRows((*parts, *more)) if more else above


def products(vectors: Float[np.ndarray, "q D"], rows: Rows) -> Float[np.ndarray, "q n"]:
    """Dot product of each vector with each row."""
    if isinstance(rows, np.ndarray):
        return vectors @ rows.T
    found, start = np.empty((len(vectors), len(rows)), np.result_type(vectors, rows.dtype)), 0
    for part in rows.parts:
        np.matmul(vectors, part.T, out=found[:, start : start + len(part)])
        start += len(part)
    return found
