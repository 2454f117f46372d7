"""How much faster the incremental gains are than `slogdet` of every candidate, side by side in one run.

`make bench` prints the figures. The bounds are those that the search is planned with, on two CPU cores.
"""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from evidence_maker import evidence
from graftjax.kernels.cholesky import rank_one_update
from graftjax.kernels.gain import RELATIVE_ERROR, Candidates, append_unit, beam_gains, no_units

pytestmark = pytest.mark.benchmark
BEAMS, CANDIDATES, UNITS, ATOMS = 16, 64, 160, 32
NOISE = 0.01
LEAST_RATIO = 20.0
MOST_MS = 1.5


def median_ms(function, *arguments, repeats: int) -> float:
    jax.block_until_ready(function(*arguments))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


@pytest.fixture(scope="module")
def beams():
    """(M, C of all units and candidates, float64) per beam, and the kernel's arguments in float32."""
    whole = [
        evidence("ill-conditioned", UNITS + CANDIDATES, ATOMS, NOISE, np.random.default_rng(beam))
        for beam in range(BEAMS)
    ]
    support, covariance = (np.stack(parts) for parts in zip(*whole, strict=True))
    noise = jnp.asarray(NOISE, jnp.float32)

    @jax.jit
    @jax.vmap
    def grow(m, c):
        def step(k, factors):
            return append_unit(factors, m[k], c[k], c[k, k], noise)

        return jax.lax.fori_loop(0, UNITS, step, no_units(UNITS, ATOMS))

    m, c = jnp.asarray(support, jnp.float32), jnp.asarray(covariance, jnp.float32)
    factors = grow(m[:, :UNITS], c[:, :UNITS, :UNITS])
    candidates = Candidates(
        m[:, UNITS:], c[:, UNITS:, :UNITS], jnp.full((BEAMS, CANDIDATES), 1.0 + NOISE, jnp.float32),
        jnp.ones((BEAMS, CANDIDATES), bool),
    )  # fmt: skip
    return support, covariance, factors, candidates, noise


def slogdet_gains(m, c):
    """log det(I + Mᵀ C⁻¹ M) with each candidate, minus that without.

    As log det(C + M Mᵀ) − log det C: with a batched `solve` for C⁻¹ M it takes minutes on CPU, not a second.
    """

    def log_det(rows, noise):
        return jnp.linalg.slogdet(noise + rows @ rows.T)[1] - jnp.linalg.slogdet(noise)[1]

    def one(m, c):
        def with_unit(unit):
            chosen = jnp.concatenate([jnp.arange(UNITS), unit[None]])
            return log_det(m[chosen], c[chosen][:, chosen])

        alone = log_det(m[:UNITS], c[:UNITS, :UNITS])
        return jax.vmap(with_unit)(jnp.arange(UNITS, UNITS + CANDIDATES)) - alone

    return jax.vmap(one)(m, c)


def test_all_candidates_of_all_beams_beside_slogdet(beams, benchmark, capsys):
    support, covariance, factors, candidates, noise = beams
    m, c = jnp.asarray(support, jnp.float32), jnp.asarray(covariance, jnp.float32)
    slow = median_ms(jax.jit(slogdet_gains), m, c, repeats=3)
    fast = median_ms(beam_gains, factors, candidates, noise, repeats=100)
    gains = benchmark(lambda: jax.block_until_ready(beam_gains(factors, candidates, noise)))
    with jax.enable_x64(True):
        exact = np.asarray(jax.jit(slogdet_gains)(jnp.asarray(support), jnp.asarray(covariance)))
    error = float((np.abs(np.asarray(gains, np.float64) - exact) / exact).max())
    with capsys.disabled():
        print(
            f"\n{BEAMS} beams x {CANDIDATES} candidates, q = {UNITS}, a = {ATOMS}: {fast:.2f} ms,"
            f" slogdet {slow:.0f} ms, ratio {slow / fast:.0f}, largest relative error {error:.1e}"
        )
    assert slow / fast >= LEAST_RATIO
    assert error <= RELATIVE_ERROR
    assert fast <= MOST_MS


def test_inverses_beside_triangular_solves(beams, capsys):
    """Why the kernel keeps L⁻¹ and J⁻¹ rather than L and R."""
    _, covariance, factors, candidates, noise = beams
    lower = jnp.linalg.cholesky(jnp.asarray(covariance[:, :UNITS, :UNITS], jnp.float32))

    @jax.jit
    @jax.vmap
    def factor_of_j(white):
        start = jnp.eye(ATOMS)
        return jax.lax.fori_loop(0, UNITS, lambda k, factor: rank_one_update(factor, white[k]), start)

    @jax.jit
    @jax.vmap
    def by_solves(lower, white, factor, candidates):
        solve = jax.scipy.linalg.solve_triangular
        carry = solve(lower, candidates.cross.T, lower=True)
        rho = jnp.maximum(candidates.variance - (carry**2).sum(0), noise)
        rest = (candidates.support.T - white.T @ carry) / jnp.sqrt(rho)[None, :]
        return jnp.log1p((solve(factor, rest, lower=True) ** 2).sum(0))

    arguments = lower, factors.white, factor_of_j(factors.white), candidates
    solves = median_ms(by_solves, *arguments, repeats=50)
    products = median_ms(beam_gains, factors, candidates, noise, repeats=50)
    difference = by_solves(*arguments) - beam_gains(factors, candidates, noise)
    with capsys.disabled():
        print(f"\ninverses {products:.2f} ms, triangular solves {solves:.2f} ms")
    assert float(jnp.abs(difference).max()) <= 1e-3
    assert products <= solves
