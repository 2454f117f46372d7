"""Factors that grow, against factorisations from nothing in float64."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from graftjax.kernels.cholesky import bordered_row, rank_one_update, rank_one_update_inverse
from hypothesis import given
from hypothesis import strategies as st

update, update_inverse = jax.jit(rank_one_update), jax.jit(rank_one_update_inverse)
SIZES = st.sampled_from([1, 2, 9, 32])


def positive_definite(size: int, power: float, rng: np.random.Generator) -> np.ndarray:
    """Eigenvalues from 1 to 10^power."""
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return (basis * np.geomspace(1.0, 10.0**power, size)) @ basis.T


@given(
    st.integers(0, 2**31), SIZES, st.sampled_from([0.0, 1.0, 4.0]), st.sampled_from([0.0, 1e-4, 1.0, 30.0])
)
def test_a_rank_one_update_is_the_factor_of_the_sum(seed, size, power, length):
    rng = np.random.default_rng(seed)
    matrix = positive_definite(size, power, rng)
    vector = length * rng.normal(size=size)
    factor = np.linalg.cholesky(matrix)
    exact = np.linalg.cholesky(matrix + np.outer(vector, vector))
    found = update(jnp.asarray(factor, jnp.float32), jnp.asarray(vector, jnp.float32))
    assert (np.triu(found, 1) == 0).all()
    scale = np.abs(exact).max()
    assert np.asarray(found, np.float64) == pytest.approx(exact, abs=3e-4 * scale)
    inverse = np.tril(np.linalg.inv(factor))
    found = update_inverse(jnp.asarray(inverse, jnp.float32), jnp.asarray(vector, jnp.float32))
    assert (np.triu(found, 1) == 0).all()
    exact = np.linalg.inv(exact)
    assert np.asarray(found, np.float64) == pytest.approx(exact, abs=3e-3 * np.abs(inverse).max())


def test_updates_in_float64_are_exact_to_the_last_digits():
    rng = np.random.default_rng(1)
    matrix, vector = positive_definite(32, 6.0, rng), rng.normal(size=32)
    with jax.enable_x64(True):
        found = rank_one_update(jnp.asarray(np.linalg.cholesky(matrix)), jnp.asarray(vector))
    assert found.dtype == np.float64
    found = np.asarray(found)
    assert found @ found.T == pytest.approx(matrix + np.outer(vector, vector), rel=1e-9, abs=1e-7)


def test_updates_batch_under_vmap():
    rng = np.random.default_rng(2)
    factors = np.stack([np.linalg.cholesky(positive_definite(5, 1.0, rng)) for _ in range(4)])
    vectors = rng.normal(size=(4, 5))
    together = jax.vmap(rank_one_update)(jnp.asarray(factors, jnp.float32), jnp.asarray(vectors, jnp.float32))
    for factor, vector, found in zip(factors, vectors, together, strict=True):
        exact = np.linalg.cholesky(factor @ factor.T + np.outer(vector, vector))
        assert np.asarray(found) == pytest.approx(exact, abs=1e-4)


@given(st.integers(0, 2**31), st.sampled_from([0, 1, 8]))
def test_a_bordered_row_extends_the_inverse_factor(seed, size):
    rng = np.random.default_rng(seed)
    matrix = positive_definite(size + 1, 2.0, rng)
    whole = np.linalg.inv(np.linalg.cholesky(matrix))
    inverse = whole[:size, :size]
    carry = inverse @ matrix[:size, size]
    row, diagonal = bordered_row(
        jnp.asarray(carry, jnp.float32),
        jnp.asarray(matrix[size, size] - carry @ carry, jnp.float32),
        jnp.asarray(inverse, jnp.float32),
    )
    assert np.asarray(row) == pytest.approx(whole[size, :size], abs=2e-4)
    assert float(diagonal) == pytest.approx(whole[size, size], rel=2e-4)


def test_a_border_without_information_is_finite():
    """An exact copy whose Schur complement is rounded below zero."""
    row, diagonal = bordered_row(jnp.ones(1), jnp.asarray(-1e-7), jnp.ones((1, 1)))
    assert np.isfinite(row).all()
    assert 0.0 < float(diagonal) <= 1e3 * (1 + 1e-6)
