"""Marginal gains of single units against float64 `slogdet`, and what they must never do."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from evidence_maker import KINDS, evidence, evidences
from graftjax.kernels.gain import (
    ABSOLUTE_ERROR,
    NEVER,
    RELATIVE_ERROR,
    Candidates,
    Factors,
    append_unit,
    beam_gains,
    marginal_gains,
    no_units,
)
from hypothesis import given, settings

from graftjax.igms.exact import log_det

ROOM, WIDTH = 24, 24


def near(exact, noise: float):
    """What the documented bound allows a float32 gain to be."""
    more = 1.0 if noise >= 0.01 else 3.0
    return pytest.approx(exact, rel=more * RELATIVE_ERROR, abs=more * ABSOLUTE_ERROR)


gains_of = jax.jit(marginal_gains)


def padded(
    support: np.ndarray, covariance: np.ndarray, size: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    m, c = np.zeros((size, width)), np.zeros((size, size))
    q, a = support.shape
    m[:q, :a], c[:q, :q] = support, covariance
    return m, c


@jax.jit
def grown(support, covariance, count, noise) -> Factors:
    """Factors after the first `count` units, one by one."""
    size, width = support.shape

    def step(k, factors):
        return append_unit(factors, support[k], covariance[k], covariance[k, k], noise)

    return jax.lax.fori_loop(0, count, step, no_units(size, width, support.dtype))


def as_candidates(support, covariance, dtype=jnp.float32) -> Candidates:
    """Every unit as a candidate, those that are there as well."""
    return Candidates(
        jnp.asarray(support, dtype),
        jnp.asarray(covariance, dtype),
        jnp.asarray(np.diagonal(covariance), dtype),
        jnp.ones(len(support), bool),
    )


def exact_gain(support, covariance, count, unit) -> float:
    before = list(range(count))
    after = [*before, unit]
    return log_det(support[after], covariance[np.ix_(after, after)]) - log_det(
        support[before], covariance[np.ix_(before, before)]
    )


@given(evidences())
@settings(max_examples=60)
def test_the_next_unit_gains_what_slogdet_says(case):
    support, covariance, noise = case
    q = len(support)
    m, c = padded(support, covariance, ROOM, WIDTH)
    for count in {0, q // 2, max(0, q - 1)}:
        factors = grown(jnp.asarray(m, jnp.float32), jnp.asarray(c, jnp.float32), count, jnp.float32(noise))
        gains = np.asarray(gains_of(factors, as_candidates(m, c), jnp.float32(noise)), np.float64)
        assert (gains >= 0.0).all()  # Prop. 1, padding included
        for unit in range(count, q):
            exact = exact_gain(support, covariance, count, unit)
            assert gains[unit] == near(exact, noise)


@given(evidences(most=12))
@settings(max_examples=30)
def test_in_float64_it_is_exact(case):
    support, covariance, noise = case
    count = len(support) // 2
    m, c = padded(support, covariance, ROOM, WIDTH)
    with jax.enable_x64(True):
        factors = grown(jnp.asarray(m), jnp.asarray(c), count, jnp.asarray(noise))
        gains = gains_of(factors, as_candidates(m, c, jnp.float64), jnp.asarray(noise))
        assert gains.dtype == np.float64
        gains = np.asarray(gains)
    for unit in range(count, len(support)):
        assert gains[unit] == pytest.approx(exact_gain(support, covariance, count, unit), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [0.001, 0.01])
def test_the_error_stays_in_its_bound_over_160_units(kind, noise):
    q, more = 160, 4
    support, covariance = evidence(kind, q + more, 32, noise, np.random.default_rng(5))
    whole = covariance[: q + more, :q]
    m, c = jnp.asarray(support[:q], jnp.float32), jnp.asarray(covariance[:q, :q], jnp.float32)
    factors = grown(m, c, q, jnp.float32(noise))
    candidates = Candidates(
        jnp.asarray(support[q:], jnp.float32),
        jnp.asarray(whole[q:], jnp.float32),
        jnp.full(more, 1.0 + noise, jnp.float32),
        jnp.ones(more, bool),
    )
    gains = np.asarray(gains_of(factors, candidates, jnp.float32(noise)))
    exact = [exact_gain(support, covariance, q, unit) for unit in range(q, q + more)]
    assert gains == near(exact, noise)


@pytest.mark.parametrize("row", [[0.0, 0.0], [0.5, 1.0]], ids=["no support", "copy"])
def test_a_unit_over_and_over_stays_finite_and_gains_less(row):
    """Copies without an end, at a noise that float32 cannot see beside 1."""
    noise = jnp.float32(1e-8)
    factors, gains = no_units(6, 2), []
    one = Candidates(jnp.asarray([row]), jnp.ones((1, 6)), jnp.ones(1) + noise, jnp.ones(1, bool))
    for _ in range(6):
        gains.append(float(gains_of(factors, one, noise)[0]))
        factors = append_unit(factors, one.support[0], one.cross[0], one.variance[0], noise)
    assert all(np.isfinite(leaf).all() for leaf in factors)
    assert (np.diff(gains) <= 1e-6).all()
    assert gains[1] <= 1e-3


def test_padding_and_broken_numbers_never_win():
    support = jnp.asarray([[1.0], [jnp.nan], [jnp.inf], [1.0], [0.2]])
    cross = jnp.zeros((5, 3)).at[3, 0].set(jnp.nan)
    valid = jnp.asarray([False, True, True, True, True])
    gains = gains_of(no_units(3, 1), Candidates(support, cross, jnp.ones(5), valid), jnp.float32(0.1))
    assert np.asarray(gains[:4]).tolist() == [np.float32(NEVER)] * 4
    assert int(jax.lax.top_k(gains, 1)[1][0]) == 4


def test_what_is_said_of_units_that_are_not_there_is_ignored():
    candidate = Candidates(jnp.asarray([[0.5]]), jnp.asarray([[0.3, 0.9]]), jnp.ones(1), jnp.ones(1, bool))
    noise = jnp.float32(0.1)
    factors = append_unit(no_units(2, 1), jnp.ones(1), jnp.asarray([0.7, 0.7]), jnp.float32(1.0), noise)
    bare = candidate._replace(cross=jnp.asarray([[0.3, 0.0]]))
    assert gains_of(factors, candidate, noise) == gains_of(factors, bare, noise)


def test_a_full_buffer_stays_as_it_is():
    noise = jnp.float32(0.1)
    full = append_unit(no_units(1, 1), jnp.ones(1), jnp.zeros(1), jnp.float32(1.1), noise)
    again = append_unit(full, jnp.ones(1), jnp.ones(1), jnp.float32(1.1), noise)
    assert all(np.array_equal(new, old) for new, old in zip(again, full, strict=True))


def test_all_beams_at_once_are_the_beams_one_by_one():
    noise, beams = jnp.float32(0.01), []
    for i, kind in enumerate(KINDS):
        m, c = evidence(kind, 12, 6, 0.01, np.random.default_rng(i))
        m, c = jnp.asarray(m, jnp.float32), jnp.asarray(c, jnp.float32)
        beams.append((grown(m, c, 5 + i, noise), as_candidates(np.asarray(m), np.asarray(c))))
    factors, candidates = jax.tree.map(lambda *leaves: jnp.stack(leaves), *beams)
    together = beam_gains(factors, candidates, noise)
    alone = [gains_of(*beam, noise) for beam in beams]
    assert np.asarray(together) == pytest.approx(np.asarray(alone), rel=1e-4, abs=1e-5)
