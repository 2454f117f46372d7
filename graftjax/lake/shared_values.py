"""Which values column classes have in common.

Letters: K classes, H known hashes, U distinct ones, P pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int, UInt64

from graftjax.lake.classes import WHOLE, ValueSets
from graftjax.lake.partition import distinct

LEAST_COMPARABLE = 8
"""Comparable values from which a limit is trusted: a handful proves little, all known ones then decide."""
_BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class SharedValues:
    """The values of K classes, numbered over the lake in the order of their hashes."""

    values: ValueSets
    universe: UInt64[np.ndarray, " U"]
    code: Int[np.ndarray, " H"]
    """Position in the universe of each of `values.hashes`."""

    @classmethod
    def of(cls, values: ValueSets) -> SharedValues:
        universe, code = np.unique(values.hashes, return_inverse=True)
        return cls(values, universe, code.astype(np.int32 if len(universe) < 2**31 else np.int64))

    @cached_property
    def holders(self) -> Int[np.ndarray, " U"]:
        """Number of classes that are known to hold each value."""
        return np.bincount(self.code, minlength=len(self.universe))

    def rare_pairs(self, rare: int) -> Int[np.ndarray, " P"]:
        """Codes a·K + b of all ordered pairs that share a value which at most `rare` classes have."""
        size = len(self.values.limit)
        owner = np.repeat(np.arange(size), self.values.counts())[np.argsort(self.code, kind="stable")]
        starts = np.cumsum(self.holders) - self.holders
        codes = []
        for count in range(2, rare + 1):
            rows = owner[starts[self.holders == count][:, None] + np.arange(count)]
            for shift in range(1, count):
                codes.append(distinct((rows * size + np.roll(rows, shift, axis=1)).ravel()))
        return distinct(np.concatenate(codes)) if codes else np.zeros(0, np.int64)

    def confirm(
        self, a: Int[np.ndarray, " P"], b: Int[np.ndarray, " P"]
    ) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
        """Containment of a in b, and how rare the shared values are on average, for each pair.

        A value's rarity is 1 / (number of other classes that have it). Where a set is known only up to
        a limit, both sides are compared below the smaller limit.
        """
        containment, specificity = np.empty(len(a)), np.empty(len(a))
        for start in range(0, len(a), _BLOCK):
            part = slice(start, start + _BLOCK)
            containment[part], specificity[part] = self._confirm(a[part], b[part])
        return containment, specificity

    def _confirm(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        common = self._present[a].multiply(self._present[b]).tocsr()
        pair = np.repeat(np.arange(len(a)), np.diff(common.indptr))
        shared = np.diff(common.indptr).astype(np.float64)
        rare = np.bincount(pair, self._rarity[common.indices], minlength=len(a))
        values, bound = self.values, len(self.universe)
        size = values.counts()[a].astype(np.float64)
        limit = np.minimum(values.limit[a], values.limit[b])
        limited = np.flatnonzero((limit != WHOLE) & (shared > 0))
        if len(limited):
            reach = np.full(len(a), bound)
            reach[limited] = np.searchsorted(self.universe, limit[limited], side="right")
            end = np.searchsorted(self._places, a[limited] * np.int64(bound) + reach[limited])
            known = end - values.offsets[a[limited]]
            below = np.bincount(pair[common.indices < reach[pair]], minlength=len(a))[limited]
            trusted = known >= LEAST_COMPARABLE
            at, known, below = limited[trusted], known[trusted], below[trusted]
            rare[at] *= below / shared[at]
            size[at], shared[at] = known, below
        containment = shared / np.maximum(size, 1.0)
        return np.minimum(containment, 1.0), np.clip(rare / np.maximum(shared, 1.0), 0.0, 1.0)

    @cached_property
    def _present(self) -> sp.csr_matrix:
        shape = (len(self.values.limit), len(self.universe))
        return sp.csr_matrix((np.ones(len(self.code), bool), self.code, self.values.offsets), shape=shape)

    @cached_property
    def _rarity(self) -> Float[np.ndarray, " U"]:
        return 1.0 / np.maximum(1, self.holders - 1)

    @cached_property
    def _places(self) -> Int[np.ndarray, " H"]:
        """owner · U + code of each hash, ascending."""
        owner = np.repeat(np.arange(len(self.values.limit), dtype=np.int64), self.values.counts())
        return owner * len(self.universe) + self.code
