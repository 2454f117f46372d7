"""The gain kernel, run by the interpreter, against its jnp reference; and its lowering for GPUs."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from graftjax.kernels.gain import NEVER, marginal_gains
from graftjax.kernels.gain_pallas import marginal_gains_pallas
from graftjax.kernels.samples import beam_sample

NOISE = np.float32(0.01)
SHAPES = [(5, 7, 3, (0, 7)), (40, 70, 33, (70, 33, 12)), (16, 32, 16, (32, 31)), (1, 1, 1, (1, 0))]
"""(candidates, units, atoms, units that each beam holds): with and without a rest after the last block."""

reference = jax.jit(jax.vmap(marginal_gains, in_axes=(0, 0, None)))


def interpreted(factors, candidates, noise):
    return marginal_gains_pallas(factors, candidates, noise, True)


kernel = jax.jit(jax.vmap(interpreted, in_axes=(0, 0, None)))


def beams(count, units, atoms, filled):
    rng = np.random.default_rng(0)
    several = [beam_sample(rng, count, units, atoms, held, float(NOISE)) for held in filled]
    return jax.tree.map(lambda *arrays: np.stack(arrays), *several)


@pytest.mark.parametrize(("count", "units", "atoms", "filled"), SHAPES)
def test_gains_are_those_of_the_reference(count, units, atoms, filled):
    factors, candidates = beams(count, units, atoms, filled)
    made = np.asarray(kernel(factors, candidates, NOISE))
    wanted = np.asarray(reference(factors, candidates, NOISE))
    assert made.shape == (len(filled), count)
    assert ((made == NEVER) == ~candidates.valid).all()
    np.testing.assert_allclose(made, wanted, rtol=1e-3, atol=1e-5)


def test_gains_are_differences_of_log_determinants():
    """Against float64 `slogdet` of the whole, built from what the beam holds."""
    factors, candidates = beam_sample(np.random.default_rng(1), 9, 20, 6, 20, 0.1)
    l_inverse = factors.l_inverse.astype(np.float64)
    root = np.linalg.inv(l_inverse)
    covariance, support = root @ root.T, root @ factors.white.astype(np.float64)

    def log_det(c, m):
        return np.linalg.slogdet(np.eye(6) + m.T @ np.linalg.solve(c, m))[1]

    made = np.asarray(jax.jit(interpreted)(factors, candidates, np.float32(0.1)))
    for i in np.flatnonzero(candidates.valid):
        cross = candidates.cross[i].astype(np.float64)
        corner = np.full((1, 1), candidates.variance[i], np.float64)
        whole = np.block([[covariance, cross[:, None]], [cross[None, :], corner]])
        more = np.concatenate([support, candidates.support[i][None]])
        assert made[i] == pytest.approx(log_det(whole, more) - log_det(covariance, support), abs=1e-3)


def test_an_exact_copy_and_one_beyond_rounding_give_finite_gains():
    factors, candidates = beams(16, 32, 16, (32, 31))
    impossible = candidates._replace(variance=candidates.variance * np.float32(0.0))
    for given in (candidates, impossible):
        made = np.asarray(kernel(factors, given, NOISE))
        assert np.isfinite(made).all()
        assert (made[given.valid] >= 0).all()
        np.testing.assert_allclose(made, reference(factors, given, NOISE), rtol=1e-3, atol=1e-5)


def test_one_bad_candidate_does_not_spoil_the_others():
    factors, candidates = beams(16, 32, 16, (32, 31))
    candidates = candidates._replace(valid=np.ones_like(candidates.valid))
    good = np.asarray(kernel(factors, candidates, NOISE))
    support = candidates.support.copy()
    support[0, 3] = np.nan
    made = np.asarray(kernel(factors, candidates._replace(support=support), NOISE))
    assert made[0, 3] == NEVER
    assert (np.flatnonzero(made != good) == 3).all()


def test_covariances_with_units_that_are_not_there_are_ignored():
    filled = (0, 33, 12)
    factors, candidates = beams(40, 70, 33, filled)
    cross = candidates.cross.copy()
    for i, held in enumerate(filled):
        cross[i, :, held:] = 7.0
    made = kernel(factors, candidates._replace(cross=cross), NOISE)
    np.testing.assert_array_equal(made, kernel(factors, candidates, NOISE))


@pytest.mark.parametrize(("count", "units", "atoms", "filled"), SHAPES)
def test_it_lowers_to_triton_for_gpus(count, units, atoms, filled):
    function = jax.jit(jax.vmap(marginal_gains_pallas, in_axes=(0, 0, None)))
    traced = function.trace(*beams(count, units, atoms, filled), NOISE)
    program = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert program.count("__gpu$xla.gpu.triton") == 1
    assert f"grid_x = {-(-count // 16)} : i32, grid_y = {len(filled)} : i32" in program
