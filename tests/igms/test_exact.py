from __future__ import annotations

import numpy as np
import pytest
from evidence_maker import evidences
from hypothesis import given
from hypothesis import strategies as st

from graftjax.igms.exact import covariance, log_det, utility

SEEDS = st.integers(0, 2**31)


@given(SEEDS, st.integers(1, 12), st.integers(1, 9))
def test_is_equation_6(seed, q, a):
    rng = np.random.default_rng(seed)
    m, mix = rng.random((q, a)), rng.normal(size=(q, q))
    c = mix @ mix.T + 0.1 * np.eye(q)
    direct = np.log(np.linalg.det(np.eye(a) + m.T @ np.linalg.inv(c) @ m))
    assert log_det(m, c) == pytest.approx(direct, rel=1e-6, abs=1e-8)
    assert utility(m, c, a) == pytest.approx(direct / a, rel=1e-6, abs=1e-8)


@given(evidences())
def test_appending_a_unit_never_lowers_it(case):
    """Prop. 1 of the paper: old rows of M and C stay as they are."""
    m, c, _ = case
    along = [log_det(m[:k], c[:k, :k]) for k in range(len(m) + 1)]
    assert (np.diff(along) >= -1e-9).all()


@given(evidences(), SEEDS)
def test_the_order_of_the_units_makes_no_difference(case, seed):
    m, c, _ = case
    order = np.random.default_rng(seed).permutation(len(m))
    assert log_det(m[order], c[np.ix_(order, order)]) == pytest.approx(log_det(m, c), rel=1e-9, abs=1e-9)


@given(evidences(), SEEDS)
def test_gains_shrink_where_no_two_units_correlate(case, seed):
    """Prop. 2 of the paper holds for independent noise: log det of a sum of rank-one terms."""
    m, _, noise = case
    if not len(m):
        return
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(m))
    large, unit = order[:-1], order[-1:]
    small = large[: rng.integers(0, len(large) + 1)]

    def gain(units: np.ndarray) -> float:
        value = lambda rows: log_det(m[rows], (1 + noise) * np.eye(len(rows)))  # noqa: E731
        return value(np.r_[units, unit]) - value(units)

    assert gain(small) >= gain(large) - 1e-9


@given(SEEDS, st.integers(1, 6), st.sampled_from([1e-3, 0.01, 0.1]))
def test_a_copy_whose_row_agrees_gains_at_most_half_the_noise(seed, a, noise):
    """Prop. 3 of the paper where it holds: two readings of one thing are one reading with less noise."""
    m = np.repeat(np.random.default_rng(seed).random((1, a)), 2, axis=0)
    c = np.ones((2, 2)) + noise * np.eye(2)
    gain = log_det(m, c) - log_det(m[:1], c[:1, :1])
    assert -1e-12 <= gain <= np.log((1 + noise) / (1 + noise / 2)) + 1e-12


def test_nothing_has_the_value_zero():
    assert log_det(np.zeros((0, 3)), np.zeros((0, 0))) == 0.0
    assert log_det(np.zeros((2, 0)), np.eye(2)) == 0.0
    assert log_det(np.zeros((2, 3)), np.eye(2)) == 0.0
    assert utility(np.zeros((0, 0)), np.zeros((0, 0)), 0) == 0.0


def test_gains_may_grow_so_the_score_is_not_submodular():
    """Prop. 2 of the paper does not hold under correlated noise, nor Prop. 3's limit at Jaccard 1.

    Two equally noisy readings of the same columns that speak for different atoms: their difference has
    hardly any noise, so the second is worth more after the first than alone.
    """
    m = np.array([[1.0, 0.0], [0.0, 1.0]])
    c = np.ones((2, 2)) + 0.1 * np.eye(2)
    alone = log_det(m[1:], c[1:, 1:])
    after = log_det(m, c) - log_det(m[:1], c[:1, :1])
    assert alone == pytest.approx(np.log(1 + 1 / 1.1)) == pytest.approx(0.647, abs=5e-4)
    assert after == pytest.approx(np.log(1 + 7.506), abs=1e-3) == pytest.approx(2.140, abs=1e-3)


def test_a_copy_that_agrees_is_worth_little():
    """Where the rows of M agree too, the second reading only takes away noise."""
    c = np.ones((2, 2)) + 0.1 * np.eye(2)
    m = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert log_det(m, c) - log_det(m[:1], c[:1, :1]) < 0.05


@pytest.mark.parametrize("bad", [np.zeros((2, 2)), -np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])])
def test_a_covariance_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="positive definite"):
        log_det(np.eye(2), bad)


@given(SEEDS, st.integers(1, 6), st.integers(1, 5), st.sampled_from([1e-3, 0.01, 0.1]))
def test_covariance_of_shards_and_copies_is_positive_definite(seed, n, rows, noise):
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 3, n)
    # Row sets of the tables; some tables are exact copies of others.
    kinds = rng.integers(0, 3, n)
    level = rng.choice([0.5, 0.98])
    jaccard = np.where(np.equal.outer(kinds, kinds), 1.0, level)
    c = covariance(cluster, jaccard, rows, noise)
    assert c.shape == (n * rows, n * rows)
    assert np.array_equal(c, c.T)
    assert np.linalg.eigvalsh(c).min() >= noise * (1 - 1e-6)


def test_only_the_same_unit_of_tables_of_one_cluster_correlates():
    c = covariance(np.array([0, 0, 1]), np.full((3, 3), 0.9), 2, 0.1)
    # The diagonal is the Jaccard that is given for a table with itself, and the noise.
    expected = np.zeros((6, 6))
    for i, j in [(0, 2), (1, 3)]:
        expected[i, j] = expected[j, i] = 0.9
    assert c - np.diag(np.diagonal(c)) == pytest.approx(expected)
    assert np.diagonal(c) == pytest.approx(1.0)
