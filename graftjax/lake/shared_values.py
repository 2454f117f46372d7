"""Which values column classes have in common.

Letters: K classes, H known hashes, U distinct ones, P pairs, n some classes.
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
_SCANNED = 1 << 18
_LOW = np.uint64(0xFFFF)
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class SharedValues:
    """The values of K classes, numbered over the lake in the order of their hashes."""

    values: ValueSets
    universe: UInt64[np.ndarray, " U"]
    present: sp.csr_matrix
    """bool [K, U]: which class is known to hold which value of the universe."""

    @classmethod
    def of(cls, values: ValueSets) -> SharedValues:
        """All values of the lake."""
        universe, code = np.unique(values.hashes, return_inverse=True)
        return cls(values, universe, _presence(values.offsets, code, len(universe)))

    @classmethod
    def around(cls, values: ValueSets, classes: Int[np.ndarray, " n"]) -> SharedValues:
        """Only the values that some classes hold: enough for pairs with one of them."""
        universe = distinct(np.concatenate([values.of(k) for k in classes.tolist()]))
        low = np.zeros(1 << 16, bool)
        low[(universe & _LOW).astype(np.int64)] = True
        # Nearly all of a lake's values are told apart by sixteen of their bits. In parts, since fresh memory
        # costs more than the comparison.
        places = [_NONE]
        for start in range(0, len(values.hashes), _SCANNED):
            bits = values.hashes[start : start + _SCANNED] & _LOW
            places.append(start + np.flatnonzero(low[bits.astype(np.int64)]))
        places = np.concatenate(places)
        code = np.searchsorted(universe, values.hashes[places])
        held = universe[np.minimum(code, len(universe) - 1)] == values.hashes[places]
        places, code = places[held], code[held]
        return cls(values, universe, _presence(np.searchsorted(places, values.offsets), code, len(universe)))

    @cached_property
    def holders(self) -> Int[np.ndarray, " U"]:
        """Number of classes that are known to hold each value."""
        return np.bincount(self.present.indices, minlength=len(self.universe))

    def rare_pairs(self, rare: int) -> Int[np.ndarray, " P"]:
        """Codes a·K + b of all ordered pairs that share a value which at most `rare` classes have."""
        size = len(self.values.limit)
        owners = np.repeat(np.arange(size), np.diff(self.present.indptr))
        owner = owners[np.argsort(self.present.indices, kind="stable")]
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
        common = self.present[a].multiply(self.present[b]).tocsr()
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
            known = self._known_up_to(a[limited], limit[limited])
            below = np.bincount(pair[common.indices < reach[pair]], minlength=len(a))[limited]
            trusted = known >= LEAST_COMPARABLE
            at, known, below = limited[trusted], known[trusted], below[trusted]
            rare[at] *= below / shared[at]
            size[at], shared[at] = known, below
        containment = shared / np.maximum(size, 1.0)
        return np.minimum(containment, 1.0), np.clip(rare / np.maximum(shared, 1.0), 0.0, 1.0)

    def _known_up_to(self, a: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """How many values of each class are known up to a limit."""
        if self.present.nnz == len(self.values.hashes):
            reach = np.searchsorted(self.universe, limit, side="right")
            end = np.searchsorted(self._places, a * np.int64(len(self.universe)) + reach)
            return end - self.values.offsets[a]
        pairs = zip(a.tolist(), limit, strict=True)
        return np.array([np.searchsorted(self.values.of(k), most, side="right") for k, most in pairs])

    @cached_property
    def _rarity(self) -> Float[np.ndarray, " U"]:
        return 1.0 / np.maximum(1, self.holders - 1)

    @cached_property
    def _places(self) -> Int[np.ndarray, " H"]:
        """owner · U + code of each hash, ascending."""
        owner = np.repeat(np.arange(len(self.values.limit), dtype=np.int64), self.values.counts())
        return owner * len(self.universe) + self.present.indices


def _presence(offsets: np.ndarray, code: np.ndarray, size: int) -> sp.csr_matrix:
    code = code.astype(np.int32 if size < 2**31 else np.int64)
    return sp.csr_matrix((np.ones(len(code), bool), code, offsets), shape=(len(offsets) - 1, size))
