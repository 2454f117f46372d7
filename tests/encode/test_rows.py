"""Rows in several arrays read like one array."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.encode.rows import StackedRows, products, stacked

SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=4)


def _parts(sizes: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(len(sizes))
    return [rng.normal(size=(size, 3)).astype(np.float32) for size in sizes]


@given(sizes=SIZES, seed=st.integers(0, 9), shape=st.sampled_from([(), (0,), (5,), (2, 3)]))
def test_as_the_one_array(sizes, seed, shape):
    parts = _parts(sizes)
    whole, rows = np.concatenate(parts), stacked(parts[0], *parts[1:])
    assert len(rows) == len(whole)
    assert rows.shape == whole.shape
    np.testing.assert_array_equal(np.asarray(rows), whole)
    np.testing.assert_array_equal(np.asarray(rows, np.float64), whole.astype(np.float64))
    if len(whole):
        numbers = np.random.default_rng(seed).integers(len(whole), size=shape)
        np.testing.assert_array_equal(rows[numbers], whole[numbers])
    vectors = np.random.default_rng(seed).normal(size=(2, 3)).astype(np.float32)
    np.testing.assert_allclose(products(vectors, rows), vectors @ whole.T, rtol=1e-5, atol=1e-6)


def test_nothing_is_copied_and_nothing_is_stacked_in_vain():
    first, second, third = _parts([2, 1, 1])
    assert stacked(first, second[:0]) is first
    rows = stacked(stacked(first, second), third)
    assert isinstance(rows, StackedRows)
    assert [part is given for part, given in zip(rows.parts, (first, second, third), strict=True)] == [
        True
    ] * 3


@pytest.mark.parametrize("number", [-1, 3])
def test_a_row_that_is_not_there(number):
    rows = StackedRows(tuple(_parts([2, 1])))
    with pytest.raises(IndexError, match="rows 0 to 2"):
        rows[[0, number]]
