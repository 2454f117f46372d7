"""The incremental log det against float64 `slogdet`, on the hard cases: copies, near copies, empty rows."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from graftjax.kernels.cholesky import cholesky, lower_inverse
from graftjax.kernels.logdet import block_gain, j_inverse_update, whiten
from hypothesis import given, settings
from hypothesis import strategies as st

factor_of, inverse_of = jax.jit(cholesky), jax.jit(lower_inverse)
gain_of, update_of = jax.jit(block_gain), jax.jit(j_inverse_update)

ROWS, WIDTH, BLOCKS = 4, 6, 5
ENTRIES = st.floats(0.0, 1.0, width=32)


def covariance(jaccard: np.ndarray, noise: float, rows: int = ROWS) -> np.ndarray:
    """C of blocks whose rows correlate with the same row of other blocks."""
    return np.kron(jaccard, np.eye(rows)) + noise * np.eye(len(jaccard) * rows)


def log_det(rows: np.ndarray, noise: np.ndarray) -> float:
    rows = rows.astype(np.float64)
    return float(np.linalg.slogdet(np.eye(rows.shape[1]) + rows.T @ np.linalg.solve(noise, rows))[1])


@jax.jit
def appended(blocks, noise_matrix):
    """Gains of appending all blocks one after the other, from nothing."""
    count, rows, width = blocks.shape
    q = count * rows
    l_inverse, white = jnp.zeros((q, q)), jnp.zeros((q, width))
    j_inverse, gains = jnp.eye(width), []
    for i in range(count):
        part = slice(i * rows, (i + 1) * rows)
        known = (jnp.arange(q) < i * rows)[None, :]
        new = whiten(
            blocks[i], noise_matrix[part, part], jnp.where(known, noise_matrix[part], 0.0), l_inverse, white
        )
        gains.append(block_gain(new.rows, j_inverse))
        l_inverse = l_inverse.at[part].set(-(new.carry @ l_inverse)).at[part, part].set(new.inverse)
        white = white.at[part].set(new.rows)
        j_inverse = j_inverse_update(new.rows, j_inverse)
    return jnp.stack(gains), l_inverse, j_inverse


@st.composite
def evidence(draw):
    """(blocks, C): random rows among which are empty ones, exact copies and near copies."""
    seed, noise = draw(st.integers(0, 2**31)), draw(st.sampled_from([0.01, 0.1, 1.0]))
    rng = np.random.default_rng(seed)
    blocks = rng.random((BLOCKS, ROWS, WIDTH)).astype(np.float32) ** draw(st.sampled_from([1, 8]))
    jaccard = np.eye(BLOCKS)
    for i in range(1, BLOCKS):
        kind = draw(st.sampled_from(["new", "copy", "near copy", "shard", "empty"]))
        if kind == "empty":
            blocks[i] = 0.0
        if kind in ("new", "empty"):
            continue
        other = draw(st.integers(0, i - 1))
        # A Jaccard scaled from that of the original keeps C positive definite.
        level = {"copy": 1.0, "near copy": 0.999, "shard": 0.9}[kind]
        jaccard[i, :i] = level * jaccard[other, :i]
        jaccard[:i, i] = jaccard[i, :i]
        blocks[i] = blocks[other] if kind == "copy" else blocks[other] * np.float32(0.99)
    return blocks, covariance(jaccard, noise), noise


@given(evidence())
@settings(max_examples=60)
def test_appending_block_by_block_gives_the_log_det_of_the_whole(case):
    blocks, matrix, _ = case
    gains, l_inverse, j_inverse = appended(jnp.asarray(blocks), jnp.asarray(matrix, jnp.float32))
    assert np.isfinite(l_inverse).all()
    for count in range(1, BLOCKS + 1):
        q = count * ROWS
        exact = log_det(blocks[:count].reshape(q, -1), matrix[:q, :q])
        assert float(gains[:count].sum()) == pytest.approx(exact, rel=1e-3, abs=1e-3)
    m = blocks.reshape(-1, WIDTH).astype(np.float64)
    exact_inverse = np.linalg.inv(np.eye(WIDTH) + m.T @ np.linalg.solve(matrix, m))
    assert j_inverse == pytest.approx(exact_inverse, abs=1e-4)


@given(evidence())
@settings(max_examples=60)
def test_no_table_lowers_the_score(case):
    blocks, matrix, _ = case
    gains, _, _ = appended(jnp.asarray(blocks), jnp.asarray(matrix, jnp.float32))
    assert (np.asarray(gains) >= 0.0).all()
    empty = ~blocks.any((1, 2))
    assert np.asarray(gains)[empty & (np.asarray(matrix)[:, ::ROWS][::ROWS].sum(1) < 1.5)] == pytest.approx(
        0.0
    )


@given(st.integers(0, 2**31), st.integers(-3, 3))
def test_factor_and_inverse_of_ill_conditioned_matrices(seed, power):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(ROWS, ROWS)))[0]
    matrix = (basis * np.geomspace(1.0, 10.0**power, ROWS)) @ basis.T
    matrix = 0.5 * (matrix + matrix.T)
    factor = np.asarray(factor_of(jnp.asarray(matrix, jnp.float32)), np.float64)
    assert (np.triu(factor, 1) == 0).all()
    scale = np.abs(matrix).max()
    assert factor @ factor.T == pytest.approx(matrix, abs=2e-6 * scale)
    exact = float(np.linalg.slogdet(matrix)[1])
    assert 2 * np.log(np.diagonal(factor)).sum() == pytest.approx(exact, abs=5e-3)
    inverse = np.asarray(inverse_of(jnp.asarray(factor, jnp.float32)), np.float64)
    assert inverse @ factor == pytest.approx(np.eye(ROWS), abs=1e-3)


@pytest.mark.parametrize(
    "matrix",
    [np.zeros((3, 3)), np.ones((3, 3)), -np.eye(3), np.diag([1.0, 0.0, 1.0]), np.full((3, 3), 1e-30)],
    ids=["zero", "copies", "negative", "one empty", "tiny"],
)
def test_a_matrix_without_a_factor_gives_finite_numbers(matrix):
    factor = factor_of(jnp.asarray(matrix, jnp.float32))
    assert np.isfinite(factor).all()
    assert (np.diagonal(factor) > 0).all()
    assert np.isfinite(inverse_of(factor)).all()


@given(st.lists(ENTRIES, min_size=2, max_size=2))
def test_one_atom_is_the_scalar_formula(entries):
    m = np.asarray(entries, np.float32).reshape(2, 1)
    noise = np.float32(0.1)
    white = m / np.sqrt(np.float32(1.1))
    first = gain_of(jnp.asarray(white[:1]), jnp.eye(1))
    assert float(first) == pytest.approx(np.log1p(entries[0] ** 2 / (1 + noise)), abs=1e-5)
    inverse = update_of(jnp.asarray(white[:1]), jnp.eye(1))
    second = gain_of(jnp.asarray(white[1:]), inverse)
    both = np.log1p((entries[0] ** 2 + entries[1] ** 2) / (1 + noise))
    assert float(first + second) == pytest.approx(both, abs=1e-5)


def test_without_earlier_rows_only_the_own_noise_counts():
    rows = jnp.asarray([[1.0, 0.0], [0.0, 0.5]])
    noise = 1.21 * jnp.eye(2)
    new = whiten(rows, noise, jnp.zeros((2, 0)), jnp.zeros((0, 0)), jnp.zeros((0, 2)))
    assert np.asarray(new.rows) == pytest.approx(np.asarray(rows) / 1.1)
    assert new.carry.shape == (2, 0)


def test_an_exact_copy_has_the_noise_as_its_whole_information():
    """Two readings of one column that agree: together they are one reading with half the noise on top."""
    noise = 0.01
    block = np.zeros((2, 1, 1), np.float32)
    block[:] = 0.8
    matrix = np.ones((2, 2)) + noise * np.eye(2)
    gains, _, _ = appended(jnp.asarray(block), jnp.asarray(matrix, jnp.float32))
    assert float(gains.sum()) == pytest.approx(np.log1p(0.64 / (1 + noise / 2)), rel=1e-4)
    assert 0.0 <= float(gains[1]) < 0.01


def test_batched_results_are_those_of_single_calls():
    rng = np.random.default_rng(0)
    blocks = jnp.asarray(rng.random((3, BLOCKS, ROWS, WIDTH)), jnp.float32)
    levels = (0.0, 0.9, 1.0)
    noise = jnp.asarray(
        np.stack([covariance(np.eye(BLOCKS) * (1 - level) + level, 0.05) for level in levels]), jnp.float32
    )
    batched = jax.vmap(appended)(blocks, noise)
    for i in range(len(levels)):
        for together, alone in zip(batched, appended(blocks[i], noise[i]), strict=True):
            assert np.asarray(together[i]) == pytest.approx(np.asarray(alone), rel=1e-4, abs=1e-4)
