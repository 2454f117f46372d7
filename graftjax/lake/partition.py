"""From "which group is each item in" to "which items has each group", and sets as sorted arrays."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int


def members_of(owner: Int[np.ndarray, " n"], count: int) -> tuple[np.ndarray, ...]:
    """Positions of the items of each of `count` owners, ascending; an owner without items has none."""
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(count + 1))
    return tuple(order[bounds[i] : bounds[i + 1]] for i in range(count))


def distinct(items: np.ndarray) -> np.ndarray:
    """The distinct items, ascending: `np.unique` of whole numbers by sorting, several times as fast."""
    ordered = np.sort(items)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered
