from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.lake.classes import WHOLE, ValueSets
from graftjax.lake.shared_values import LEAST_COMPARABLE, SharedValues

_sets = st.lists(st.sets(st.integers(0, 40), max_size=30), min_size=1, max_size=6)


def _values(sets, limits) -> ValueSets:
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
    flat = np.array([value for one in sets for value in sorted(one)], np.uint64)
    return ValueSets(flat, offsets, np.array(limits, np.uint64), np.diff(offsets))


def _slow(sets, limits, a, b):
    """(containment, specificity) of one pair, by sets."""
    holders = lambda value: sum(value in one for one in sets)  # noqa: E731
    common = sets[a] & sets[b]
    shared, size = len(common), len(sets[a])
    rare = sum(1 / max(1, holders(value) - 1) for value in common)
    limit = min(limits[a], limits[b])
    known = [value for value in sets[a] if value <= limit]
    if limit != WHOLE and shared and len(known) >= LEAST_COMPARABLE:
        below = sum(value <= limit for value in common)
        rare, shared, size = rare * below / shared, below, len(known)
    return min(1.0, shared / max(size, 1)), min(1.0, rare / max(shared, 1))


@given(_sets, st.data())
def test_confirm_agrees_with_sets(sets, data):
    limits = [data.draw(st.sampled_from([int(WHOLE), 15, 25])) for _ in sets]
    a, b = (part.ravel() for part in np.indices((len(sets), len(sets))))
    containment, specificity = SharedValues.of(_values(sets, limits)).confirm(a, b)
    slow = np.array([_slow(sets, limits, i, j) for i, j in zip(a, b, strict=True)])
    assert containment == pytest.approx(slow[:, 0])
    assert specificity == pytest.approx(slow[:, 1])


@given(_sets, st.integers(2, 4))
def test_rare_pairs_share_a_value_of_few(sets, rare):
    size = len(sets)
    codes = SharedValues.of(_values(sets, [int(WHOLE)] * size)).rare_pairs(rare)
    wanted = {
        i * size + j
        for i in range(size)
        for j in range(size)
        if i != j and any(sum(v in one for one in sets) <= rare for v in sets[i] & sets[j])
    }
    assert codes.tolist() == sorted(wanted)
