"""The attention kernel, run by the interpreter, against its jnp reference; and its lowering for GPUs."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from graftjax.kernels.attention import LOGIT_LIMIT, relation_attention_jnp
from graftjax.kernels.attention_pallas import relation_attention_pallas
from graftjax.kernels.dispatch import with_gradients
from graftjax.kernels.samples import attention_sample

SHAPES = [(1, 1, 1), (2, 40, 16), (3, 32, 5), (2, 65, 33)]
"""(heads, nodes, features): with and without a rest after the last block."""


def interpreted(*arguments):
    return relation_attention_pallas(*arguments, True)


run = jax.jit(with_gradients(interpreted))
run_reference = jax.jit(with_gradients(relation_attention_jnp))


def assert_alike(made, wanted, tolerance=1e-5):
    assert jax.tree.structure(made) == jax.tree.structure(wanted)
    for x, y in zip(jax.tree.leaves(made), jax.tree.leaves(wanted), strict=True):
        scale = 1.0 + np.abs(np.asarray(y, np.float64)).max(initial=0.0)
        np.testing.assert_allclose(np.asarray(x) / scale, np.asarray(y) / scale, rtol=0, atol=tolerance)


def sample(heads=2, nodes=37, features=8, seed=0, **options):
    return attention_sample(np.random.default_rng(seed), heads, nodes, features, **options)


def test_the_reference_is_a_softmax_over_edges_of_weighted_messages():
    q, k, v, bias, scale, weight, slope = (x.astype(np.float64) for x in sample(nodes=9))
    wanted = np.zeros_like(q)
    for h in range(len(q)):
        for i in range(9):
            edges = np.flatnonzero(weight[i] > 0)
            logits = [q[h, i] @ k[h, j] / np.sqrt(8) + bias[h, i, j] + slope[h] * weight[i, j] for j in edges]
            assert np.abs(logits).max(initial=0.0) < LOGIT_LIMIT
            share = np.exp(logits) / np.exp(logits).sum() if len(edges) else []
            for part, j in zip(share, edges, strict=True):
                wanted[h, i] += part * scale[h, i, j] * weight[i, j] * v[h, j]
    assert_alike(relation_attention_jnp(*map(jnp.asarray, sample(nodes=9))), wanted)


@pytest.mark.parametrize(("heads", "nodes", "features"), SHAPES)
def test_results_and_all_gradients_are_those_of_the_reference(heads, nodes, features):
    arrays = sample(heads, nodes, features)
    made = run(*arrays)
    assert_alike(made, run_reference(*arrays))
    assert nodes == 1 or all(np.abs(bar).max() > 0 for bar in made[1])


def test_rows_without_edges_give_zeros_and_no_gradient():
    arrays = sample(edges=0.0)
    result, bars = run(*arrays)
    assert not np.any(result)
    assert not any(np.any(bar) for bar in bars)
    arrays = sample()
    assert not arrays[5][0].any()
    assert arrays[5][1:].any(1).all()
    result = np.asarray(run(*arrays)[0])
    assert not result[:, 0].any()
    assert np.abs(result[:, 1:]).max(-1).min() > 0


def test_what_is_masked_has_no_say():
    q, k, v, bias, scale, weight, slope = sample()
    absent = weight[None] == 0
    changed = np.where(absent, np.float32(1e30), bias), np.where(absent, np.float32(-1e30), scale)
    result, bars = run(q, k, v, bias, scale, weight, slope)
    again, bars_again = run(q, k, v, *changed, weight, slope)
    np.testing.assert_array_equal(result, again)
    for x, y in zip(bars, bars_again, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("size", [1e-20, 1e3, 1e15])
def test_extreme_values_stay_finite_and_alike(size):
    q, k, v, bias, scale, weight, slope = sample()
    arrays = (q * size, k * size, v * size, bias * size, scale, weight, slope)
    arrays = tuple(array.astype(np.float32) for array in arrays)
    made = run(*arrays)
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(made))
    assert_alike(made, run_reference(*arrays))


def test_logits_that_are_cut_off_pass_no_gradient():
    q, k, v, bias, scale, weight, slope = sample(edges=1.0)
    q_bar = run(q, k, v, bias + 100, scale, weight, slope)[1][0]
    assert not np.any(q_bar)


def test_it_batches_under_vmap_also_where_an_argument_is_shared():
    several = [sample(seed=seed) for seed in range(3)]
    shared = several[0][6]
    stacked = [np.stack(arrays) for arrays in zip(*(arrays[:6] for arrays in several), strict=True)]

    def total(function, slope):
        results = jax.vmap(function, in_axes=(0,) * 6 + (None,))(*stacked, slope)
        return (results**2).sum(), results

    made, wanted = (
        jax.jit(jax.value_and_grad(lambda s, f=f: total(f, s), has_aux=True))(shared)
        for f in (interpreted, relation_attention_jnp)
    )
    assert_alike(made, wanted)
    assert_alike(made[0][1][1], relation_attention_jnp(*map(jnp.asarray, (*several[1][:6], shared))))


def test_half_precision_comes_back_as_such():
    arrays = [jnp.asarray(array, jnp.bfloat16) for array in sample()]
    result, bars = run(*arrays)
    assert {x.dtype for x in (result, *bars)} == {jnp.dtype(jnp.bfloat16)}
    wide = relation_attention_jnp(*(array.astype(jnp.float32) for array in arrays))
    assert_alike(result.astype(jnp.float32), wide, 1e-2)


@pytest.mark.parametrize(("heads", "nodes", "features"), SHAPES)
def test_kernel_and_gradient_lower_to_triton_for_gpus(heads, nodes, features):
    several = [np.stack([array] * 3) for array in sample(heads, nodes, features)]
    function = jax.jit(jax.vmap(with_gradients(relation_attention_pallas)))
    program = function.trace(*several).lower(lowering_platforms=("cuda",)).as_text()
    assert program.count("__gpu$xla.gpu.triton") == 2
    grids = re.findall(r"grid_x = (\d+) : i32, grid_y = (\d+) : i32, grid_z = (\d+)", program)
    assert grids == [(str(heads), str(-(-nodes // 32)), "3")] * 2
