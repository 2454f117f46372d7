"""A layer of the encoder through the attention kernel as training runs it: vmap, gradient, pmap."""

from __future__ import annotations

import jax
import numpy as np
from graftjax.kernels.dispatch import VARIABLE
from graftjax.kernels.samples import attention_sample

from graftjax.iql.attention import GatLayer

NODES, HEADS = 12, 2


def test_a_layer_learns_the_same_through_the_interpreted_kernel(monkeypatch):
    rng = np.random.default_rng(0)
    states = [attention_sample(rng, HEADS, NODES, 4) for _ in range(4)]
    _, _, _, bias, scale, weight, _ = (np.stack(arrays) for arrays in zip(*states, strict=True))
    data = (rng.normal(size=(4, NODES, 8)).astype(np.float32), bias, scale, weight)
    layer = GatLayer(HEADS)
    params = layer.init(jax.random.key(0), *(jax.numpy.asarray(array[0]) for array in data))
    halves = jax.tree.map(lambda array: array.reshape(2, 2, *array.shape[1:]), data)

    def learned(path):
        monkeypatch.setenv(VARIABLE, path)

        def loss(params, *states):
            return (jax.vmap(lambda *one: layer.apply(params, *one))(*states) ** 3).mean()

        program = str(jax.make_jaxpr(jax.grad(loss))(params, *data))
        assert program.count("pallas_call") == (2 if path == "interpret" else 0)
        gradient = lambda *given: jax.lax.pmean(jax.grad(loss)(*given), "device")  # noqa: E731
        return jax.pmap(gradient, "device", in_axes=(None, 0, 0, 0, 0))(params, *halves)

    made, wanted = learned("interpret"), learned("jnp")
    for x, y in zip(jax.tree.leaves(made), jax.tree.leaves(wanted), strict=True):
        assert np.abs(y).max() > 0
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6)
