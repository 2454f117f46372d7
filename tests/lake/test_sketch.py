"""Sketches against exact sets."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.lake import sketch

SIZE = 32  # small, so that sets beyond the limit are cheap
sets = st.frozensets(st.integers(0, 400), max_size=200)


def hashed(values) -> np.ndarray:
    return np.array([sketch.hash_value(str(value)) for value in values], np.uint64)


@given(sets, sets)
def test_exact_while_whole(a, b):
    x, y = sketch.build(hashed(a)), sketch.build(hashed(b))
    assert sketch.distinct(x) == len(a)
    assert sketch.containment(x, y) == (len(a & b) / len(a) if a else 0.0)
    assert sketch.jaccard(x, y) == (len(a & b) / len(a | b) if a | b else 0.0)
    assert all(
        sketch.contains(x, sketch.hash_value(str(value))) is (value in a) for value in range(0, 400, 7)
    )


@given(st.lists(sets, max_size=4))
def test_merge_is_the_sketch_of_the_union(parts):
    merged = sketch.merge([sketch.build(hashed(part), SIZE) for part in parts], SIZE)
    union = sketch.build(hashed(frozenset().union(*parts)), SIZE)
    np.testing.assert_array_equal(merged, union)


@given(sets, sets)
def test_truncated_sketches_stay_in_range_and_never_lie(a, b):
    x, y = sketch.build(hashed(a), SIZE), sketch.build(hashed(b), SIZE)
    for value in (sketch.containment(x, y, SIZE), sketch.jaccard(x, y, SIZE)):
        assert 0.0 <= value <= 1.0
    assert math.isfinite(sketch.distinct(x, SIZE))
    for value in range(0, 400, 7):
        answer = sketch.contains(x, sketch.hash_value(str(value)), SIZE)
        assert answer is None or answer is (value in a)
    if a and a <= b:
        shared, in_a, _ = sketch.overlap(x, y, SIZE)
        assert shared == in_a


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_estimates_of_large_sets(start):
    a = sketch.build(hashed(range(start, start + 6000)))
    b = sketch.build(hashed(range(start + 3000, start + 12000)))
    # Standard error 1/√1024 = 3 %; five of them.
    assert sketch.distinct(a) == pytest.approx(6000, rel=0.16)
    assert sketch.containment(a, b) == pytest.approx(0.5, abs=0.16)
    assert sketch.jaccard(a, b) == pytest.approx(0.25, abs=0.1)
    assert sketch.distinct(sketch.merge([a, b])) == pytest.approx(12000, rel=0.16)


def test_empty():
    assert sketch.distinct(sketch.EMPTY) == 0
    assert sketch.containment(sketch.EMPTY, sketch.EMPTY) == 0
    assert sketch.jaccard(sketch.EMPTY, sketch.EMPTY) == 0
    assert sketch.contains(sketch.EMPTY, 5) is False
    assert len(sketch.merge([])) == 0
    assert len(sketch.hash_texts(pa.array([], pa.large_string()))) == 0


def test_nothing_comparable_is_zero():
    small, large = (
        sketch.build(np.array([2**63], np.uint64), 4),
        sketch.build(np.arange(4, dtype=np.uint64), 4),
    )
    assert sketch.overlap(small, large, 4) == (0, 0, 4)
    assert sketch.containment(small, large, 4) == 0


def test_hash_is_fixed_and_the_same_for_both_forms():
    # XXH3 (64 bit, seed 0) of the empty text, from the algorithm's specification: stored sketches rely on it.
    assert sketch.hash_value("") == 0x2D06800538D394C2
    texts = ["", "oslo", "é", "x" * 1000]
    assert sketch.hash_texts(pa.array(texts, pa.large_string())).tolist() == [
        sketch.hash_value(t) for t in texts
    ]
