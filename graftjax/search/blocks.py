"""The blocks of units that syntheses are made of, numbered so that a synthesis is a few numbers.

A block is what one table appends to M. Letters: E blocks, R rows, a atoms, T trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from graftjax.search.region import Problem
from graftjax.search.settings import MAX_TREES, ROWS
from graftjax.search.state import EMPTY

KEY_STEPS = 1e6
"""Units that agree to one in this many are the same unit."""


class BlockArrays(NamedTuple):
    cluster: Int[np.ndarray, " E"]
    support: Float[np.ndarray, "E a"]
    gram: Float[np.ndarray, "E a a"]
    trees: Int[np.ndarray, "E T"]


class Blocks:
    """The distinct blocks met so far; number 0 is none."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._numbers: dict[bytes, int] = {}
        width = len(problem.atom_mask)
        self.cluster = [EMPTY]
        self.action = [EMPTY]
        self.rows = [np.zeros((ROWS, width), np.float32)]
        self._gram = [np.zeros((width, width))]
        self._trees = [np.full(MAX_TREES, EMPTY)]
        self._arrays: BlockArrays | None = None

    def number(self, cluster: int, action: int, rows: Float[np.ndarray, "R a"]) -> int:
        """Number of a block, new when it is."""
        rounded = np.rint(rows * KEY_STEPS).astype(np.int32)
        key = np.array([cluster, action], np.int32).tobytes() + rounded.tobytes()
        known = self._numbers.get(key)
        if known is not None:
            return known
        wide = rows.astype(np.float64)
        claims = self._problem.witnesses[action] if action != EMPTY else np.zeros(MAX_TREES, bool)
        self.cluster.append(cluster)
        self.action.append(action)
        self.rows.append(rows)
        self._gram.append(wide.T @ wide)
        self._trees.append(np.where(claims, cluster, EMPTY))
        self._numbers[key] = len(self.rows) - 1
        return len(self.rows) - 1

    def arrays(self) -> BlockArrays:
        """All blocks as arrays; made anew only when there are more."""
        if self._arrays is None or len(self._arrays.cluster) < len(self.rows):
            rows = np.stack(self.rows)
            self._arrays = BlockArrays(
                np.array(self.cluster), rows.max(1), np.stack(self._gram), np.stack(self._trees)
            )
        return self._arrays
