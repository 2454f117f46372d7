"""The rewards of Table 7 against their formulas, and step by step against all at once."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from graftjax.kernels.logdet import j_inverse_update
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.igms.exact import covariance
from graftjax.igms.reward import (
    AtomRoles,
    Block,
    append_block,
    block_reward,
    counted,
    no_tally,
    nothing,
    rated_rows,
    rows_reward,
)
from graftjax.igms.surrogates import REWARDS, LinearWeights, surrogate_utility

TABLES, ROWS, WIDTH, ATOMS = 4, 3, 8, 6
"""The last atoms are padding."""
RELATION = np.arange(WIDTH) % 3 == 2
REAL = np.arange(WIDTH) < ATOMS
ROLES = AtomRoles(jnp.asarray(REAL & ~RELATION), jnp.asarray(REAL & RELATION))
WEIGHTS = LinearWeights(0.7, 1.3, 0.4)
NOISE = 0.05


def by_hand(name: str, m: np.ndarray, c: np.ndarray, w: LinearWeights) -> float:
    """Slow and literal."""
    q, a = m.shape
    if name == "R1":
        units = [i for i in range(q) if m[i].any()]
        pairs = [c[i, j] for i in units for j in units if i != j]
        best = [max(m[:, k], default=0.0) for k in range(a)]
        covered = sum(b >= 0.5 for b in best) / a
        redundancy = sum(pairs) / len(pairs) if pairs else 0.0
        return w.relevance * sum(best) / a + w.coverage * covered - w.redundancy * redundancy
    if name == "R4":
        return sum(np.log(1 + row @ row / (1 + NOISE)) for row in m) / a
    if name == "R2":
        c = (1 + NOISE) * np.eye(q)
    j = np.eye(a) + m.T @ np.linalg.inv(c) @ m
    if name == "R3":
        j = np.where(np.equal.outer(RELATION[:a], RELATION[:a]), j, 0.0)
    return np.log(np.linalg.det(j)) / a


@st.composite
def tables(draw):
    """(blocks [n, R, a], clusters): some rows are empty, some tables are copies."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    blocks = rng.random((TABLES, ROWS, WIDTH)).astype(np.float32) * REAL.astype(np.float32)
    blocks[rng.random((TABLES, ROWS)) < 0.3] = 0.0
    cluster = rng.integers(0, 2, TABLES)
    if draw(st.booleans()):
        blocks[1:] = blocks[cluster[1:] * 0]
    return blocks, cluster


def covariance_of(cluster: np.ndarray) -> np.ndarray:
    level = np.full((TABLES, TABLES), 0.9) + 0.1 * np.eye(TABLES)
    return covariance(cluster, level, ROWS, NOISE)


@pytest.mark.parametrize("name", REWARDS)
@given(tables())
@settings(max_examples=15)
def test_each_is_its_formula(name, case):
    blocks, cluster = case
    m, c = blocks.reshape(-1, WIDTH)[:, :ATOMS].astype(np.float64), covariance_of(cluster)
    found = surrogate_utility(name, m, c, NOISE, RELATION[:ATOMS], WEIGHTS)
    assert found == pytest.approx(by_hand(name, m, c, WEIGHTS), rel=1e-9, abs=1e-9)


@partial(jax.jit, static_argnames="reward")
def steps(reward, blocks, c):
    """Rewards of the tables one after the other."""
    progress, gains = nothing(TABLES * ROWS, WIDTH), []
    for i in range(TABLES):
        part = slice(i * ROWS, (i + 1) * ROWS)
        cross = jnp.where(jnp.arange(TABLES * ROWS) < i * ROWS, c[part], 0.0)
        block = Block(blocks[i], c[part, part], cross)
        gains.append(block_reward(reward, block, progress, ROLES, WEIGHTS))
        progress = append_block(reward, block, progress, jnp.asarray(i * ROWS, jnp.int32), ROLES)
    return jnp.stack(gains)


@pytest.mark.parametrize("name", REWARDS)
@given(tables())
@settings(max_examples=15)
def test_step_by_step_they_add_up_to_it(name, case):
    blocks, cluster = case
    c = covariance_of(cluster)
    with jax.numpy_rank_promotion("raise"):
        gains = np.asarray(steps(name, jnp.asarray(blocks), jnp.asarray(c, jnp.float32)))
    m = blocks.reshape(-1, WIDTH)[:, :ATOMS].astype(np.float64)
    for count in range(1, TABLES + 1):
        q = count * ROWS
        exact = ATOMS * surrogate_utility(name, m[:q], c[:q, :q], NOISE, RELATION[:ATOMS], WEIGHTS)
        assert gains[:count].sum() == pytest.approx(exact, rel=1e-3, abs=1e-4)


@partial(jax.jit, static_argnames="reward")
def cluster_steps(reward, rows, level):
    """Rewards of tables of one cluster with equal rows: J grows by multiples of them, no L⁻¹ is kept."""
    jaccard = level * jnp.ones((TABLES, TABLES)) + (1.0 - level) * jnp.eye(TABLES)
    half = jax.scipy.linalg.solve_triangular(
        jnp.linalg.cholesky(jaccard + NOISE * jnp.eye(TABLES)), jnp.ones(TABLES), lower=True
    )
    variance, units = jnp.full(ROWS, 1.0 + NOISE), (rows > 0).any(1).sum().astype(rows.dtype)
    tally, j_inverse, gains = no_tally(WIDTH), jnp.eye(WIDTH), []
    for i in range(TABLES):
        white, overlap = rows * half[i], 2.0 * units * i * level
        gains.append(rows_reward(reward, rows, white, variance, overlap, j_inverse, tally, ROLES, WEIGHTS))
        j_inverse = j_inverse_update(rated_rows(reward, rows, white, variance, ROLES), j_inverse)
        tally = counted(tally, rows, overlap)
    return jnp.stack(gains)


@pytest.mark.parametrize("name", REWARDS)
def test_tables_of_one_cluster_need_no_inverse_of_c(name):
    """How the search sees them, against `surrogate_utility` of all units at once."""
    rows = (np.random.default_rng(3).random((ROWS, WIDTH)) * REAL).astype(np.float32)
    rows[1] = 0.0
    gains = np.asarray(cluster_steps(name, jnp.asarray(rows), jnp.float32(0.9)))
    c = covariance_of(np.zeros(TABLES, int))
    m = np.tile(rows, (TABLES, 1))[:, :ATOMS].astype(np.float64)
    for count in range(1, TABLES + 1):
        q = count * ROWS
        exact = ATOMS * surrogate_utility(name, m[:q], c[:q, :q], NOISE, RELATION[:ATOMS], WEIGHTS)
        assert gains[:count].sum() == pytest.approx(exact, rel=1e-3, abs=1e-4)


def test_what_each_surrogate_lacks():
    """A copy: to R2 and R4 it is as good as new, to IGMS hardly anything."""
    m = np.array([[0.9, 0.8], [0.9, 0.8]])
    c = np.ones((2, 2)) + NOISE * np.eye(2)
    relation = np.array([False, True])

    def gain(name: str) -> float:
        return surrogate_utility(name, m, c, NOISE, relation) - surrogate_utility(
            name, m[:1], c[:1, :1], NOISE, relation
        )

    alone = surrogate_utility("R4", m[:1], c[:1, :1], NOISE, relation)
    assert gain("igms") < 0.02 < gain("R2") < gain("R4") == pytest.approx(alone)
    assert gain("R1") == pytest.approx(-1.0)
    # Without coupling one row that speaks for a node and a relation counts as two.
    one = m[:1], c[:1, :1], NOISE, relation
    assert surrogate_utility("R3", *one) > surrogate_utility("igms", *one)


def test_nothing_has_the_value_zero():
    for name in REWARDS:
        assert surrogate_utility(name, np.zeros((0, 2)), np.zeros((0, 0)), NOISE, np.zeros(2, bool)) == 0.0
        assert surrogate_utility(name, np.zeros((2, 0)), np.eye(2), NOISE, np.zeros(0, bool)) == 0.0
