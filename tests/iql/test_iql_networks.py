from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_replay import (
    NUMBERS,
    SCALARS,
    SMALL,
    batch_of,
    one,
    pad,
    random_actions,
    random_replay,
    random_states,
)

from graftjax.errors import UsageError
from graftjax.iql.attention import GatLayer, TypedProjection, relation_terms
from graftjax.iql.graph import NUM_RELATIONS
from graftjax.iql.networks import QNetwork, ValueNetwork, init_networks, num_parameters
from graftjax.iql.presets import NetworkSettings, TrainSettings, preset, reading
from graftjax.iql.update import make_losses


def _perturbed(network, seed=0):
    """Parameters away from their special first values (zeros and ones)."""
    params = init_networks(network, jax.random.key(seed), policy=True)
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda p: p + 0.3 * rng.normal(size=p.shape).astype(np.float32), params)


PARAMS = _perturbed(SMALL)
Q = jax.jit(lambda params, state, actions: QNetwork(SMALL).apply({"params": params}, state, actions))
V = jax.jit(lambda params, state: ValueNetwork(SMALL).apply({"params": params}, state))


def test_relation_terms_are_the_indexed_table_and_so_is_their_gradient():
    rng = np.random.default_rng(0)
    relation = rng.integers(0, NUM_RELATIONS, (6, 6)).astype(np.int32)
    table = rng.normal(size=(4, NUM_RELATIONS)).astype(np.float32)
    cotangent = rng.normal(size=(4, 6, 6)).astype(np.float32)
    terms, pull = jax.vjp(lambda t: relation_terms(jnp.asarray(relation), t), jnp.asarray(table))
    np.testing.assert_allclose(terms, table[:, relation], rtol=1e-6)
    wanted = np.zeros_like(table)
    np.add.at(wanted, (slice(None), relation), cotangent)
    np.testing.assert_allclose(pull(jnp.asarray(cotangent))[0], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rank", [0, 3])
def test_each_node_is_projected_with_the_weights_of_its_type(rank):
    rng = np.random.default_rng(1)
    x = jnp.asarray(rng.normal(size=(7, 5)), jnp.float32)
    kinds = np.array([0, 1, 2, 0, -1, 1, 2])  # -1 is padding
    module = TypedProjection(4, 3, rank)
    one_hot = jax.nn.one_hot(kinds, 3)
    params = module.init(jax.random.key(0), x, one_hot)["params"]
    out = module.apply({"params": params}, x, one_hot)
    inner = x @ params["shared"]["kernel"] if rank else x
    kernel = np.asarray(params["own"]["kernel"]).reshape(-1, 3, 4)
    for i, kind in enumerate(kinds):
        wanted = inner[i] @ kernel[:, kind] if kind >= 0 else np.zeros(4)
        np.testing.assert_allclose(out[i], wanted, rtol=1e-5, atol=1e-6)


def test_a_layer_does_what_a_loop_over_edges_does():
    rng = np.random.default_rng(2)
    n, hidden, heads = 5, 6, 2
    x = rng.normal(size=(n, hidden)).astype(np.float32)
    weight = np.where(rng.random((n, n)) < 0.5, rng.random((n, n)), 0).astype(np.float32)
    weight[3] = 0  # a node that no edge enters
    bias, scale = rng.normal(size=(2, heads, n, n)).astype(np.float32)
    layer = GatLayer(heads)
    given = [jnp.asarray(value) for value in (x, bias, scale, weight)]
    params = layer.init(jax.random.key(0), *given)["params"]
    out = layer.apply({"params": params}, *given)

    qkv = np.asarray(given[0] @ params["qkv"]["kernel"]).reshape(n, 3, heads, -1)
    mixed = np.zeros((n, heads, hidden // heads))
    for i in range(n):
        for h in range(heads):
            senders = np.flatnonzero(weight[i])
            logits = [
                qkv[i, 0, h] @ qkv[j, 1, h] / np.sqrt(hidden // heads) + bias[h, i, j] + weight[i, j]
                for j in senders
            ]
            share = np.exp(logits) / np.exp(logits).sum()
            for a, j in zip(share, senders, strict=True):
                mixed[i, h] += a * scale[h, i, j] * weight[i, j] * qkv[j, 2, h]
    y = x + mixed.reshape(n, hidden) @ params["out"]["kernel"]
    y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(out, y, rtol=1e-4, atol=1e-5)


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_padding_nodes_and_the_order_of_nodes_change_nothing(seed):
    rng = np.random.default_rng(seed)
    state, actions = one(random_states(1, 4, rng)), random_actions(3, rng)
    q, v = Q(PARAMS["q"], state, actions), V(PARAMS["v"], state)
    wide = pad(state, 3, rng)
    np.testing.assert_allclose(Q(PARAMS["q"], wide, actions), q, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(V(PARAMS["v"], wide), v, rtol=1e-4, atol=1e-4)
    order = rng.permutation(4)
    turned = state._replace(
        nodes=state.nodes[order],
        node_type=state.node_type[order],
        relation=state.relation[np.ix_(order, order)],
        weight=state.weight[np.ix_(order, order)],
    )
    np.testing.assert_allclose(Q(PARAMS["q"], turned, actions), q, rtol=1e-4, atol=1e-4)


def test_every_part_of_the_input_counts():
    rng = np.random.default_rng(5)
    state, actions = one(random_states(1, 4, rng)), random_actions(3, rng)
    state = state._replace(node_type=np.array([1, 2, 4, 5], np.int32))
    q = Q(PARAMS["q"], state, actions)
    changed = [
        (state._replace(**{name: getattr(state, name) + step}), actions)
        for name, step in (("nodes", 0.5), ("weight", 0.3), ("scalars", 0.5))
    ]
    changed += [
        (state._replace(node_type=np.array([2, 1, 4, 5], np.int32)), actions),
        (state._replace(relation=np.where(state.relation > 0, state.relation % 20 + 1, 0)), actions),
    ]
    changed += [
        (state, actions._replace(**{name: getattr(actions, name) + np.float32(0.5)}))
        for name in ("new", "anchor", "numbers")
    ]
    changed.append((state, actions._replace(operator=(actions.operator + 1) % 4)))
    for other_state, other_actions in changed:
        assert np.abs(Q(PARAMS["q"], other_state, other_actions) - q).min() > 1e-5


@pytest.mark.parametrize(
    ("what", "unread", "read"),
    [("texts", ("numbers", "scalars"), "new"), ("numbers", ("new", "nodes"), "numbers")],
)
def test_what_a_network_does_not_read_changes_nothing(what, unread, read):
    rng = np.random.default_rng(7)
    settings = reading(SMALL, what)
    params = _perturbed(settings)
    state, actions = one(random_states(1, 4, rng)), random_actions(3, rng)
    q_of = jax.jit(lambda own, *inputs: QNetwork(settings).apply({"params": own}, *inputs))
    v_of = jax.jit(lambda own, inputs: ValueNetwork(settings).apply({"params": own}, inputs))

    def values(*names):
        changed = [
            part._replace(
                **{name: getattr(part, name) + np.float32(0.5) for name in names if hasattr(part, name)}
            )
            for part in (state, actions)
        ]
        return np.append(q_of(params["q"], *changed), v_of(params["v"], changed[0]))

    np.testing.assert_array_equal(values(*unread), values())
    assert np.abs(values(read) - values())[:-1].min() > 1e-5


def test_one_encoding_serves_all_actions_and_each_has_its_own_value():
    rng = np.random.default_rng(6)
    state, actions = one(random_states(1, 4, rng)), random_actions(5, rng)
    together = Q(PARAMS["q"], state, actions)
    for i in range(5):
        alone = Q(PARAMS["q"], state, jax.tree.map(lambda leaf, i=i: leaf[i : i + 1], actions))
        np.testing.assert_allclose(alone[0], together[i], rtol=1e-5, atol=1e-5)


def test_an_empty_state_has_finite_values_and_gradients():
    replay = random_replay(4)
    empty = replay.state._replace(
        nodes=np.zeros_like(replay.state.nodes),
        node_type=np.zeros_like(replay.state.node_type),
        relation=np.zeros_like(replay.state.relation),
        weight=np.zeros_like(replay.state.weight),
    )
    batch = batch_of(replay._replace(state=empty, next_state=empty), jnp.arange(4))
    losses = make_losses(SMALL, TrainSettings(policy=True))
    value, grads = jax.jit(jax.value_and_grad(losses, has_aux=True))(
        PARAMS, PARAMS["q"], batch, jax.random.split(jax.random.key(0), 4)
    )
    assert np.isfinite(value[0])
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(grads))


def test_no_scatter_in_values_or_gradients():
    losses = make_losses(SMALL, TrainSettings(policy=True))
    batch = batch_of(random_replay(4), jnp.arange(4))
    keys = jax.random.split(jax.random.key(0), 4)
    program = str(jax.make_jaxpr(jax.grad(losses, has_aux=True))(PARAMS, PARAMS["q"], batch, keys))
    assert "scatter" not in program
    assert "dot_general" in program  # it is the program, not an empty one


def test_first_values_are_the_skip():
    network = replace(
        SMALL, q_skip_numbers=(2.0, 0.0), q_skip_scalars=(0.0, 0.0, 1.0), v_skip_scalars=(1.0, 0.0, 0.0)
    )
    params = init_networks(network, jax.random.key(0))
    rng = np.random.default_rng(7)
    state, actions = one(random_states(1, 4, rng)), random_actions(3, rng)
    np.testing.assert_allclose(
        Q(params["q"], state, actions), 2 * actions.numbers[:, 0] + state.scalars[2], rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(V(params["v"], state), state.scalars[0], rtol=1e-5)


def test_the_paper_preset_has_24_million_trainable_parameters():
    network, training = preset("paper", num_scalars=16, num_numbers=12)
    params = jax.eval_shape(lambda: init_networks(network, jax.random.key(0)))
    assert num_parameters(params) == pytest.approx(24e6, rel=0.1)
    assert (network.layers, network.mlp, network.text_dim) == (3, 512, 256)
    assert (training.batch, training.learning_rate, training.weight_decay) == (256, 3e-4, 1e-2)
    assert (training.clip, training.warmup, training.steps) == (1.0, 0.05, 200_000)
    assert (training.expectile, training.polyak, training.gamma) == (0.7, 0.995, 0.8)
    assert training.awr_temperature == 3.0


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(UsageError, match="multiple of heads"):
        NetworkSettings(SCALARS, NUMBERS, hidden=10, heads=4)
    with pytest.raises(UsageError, match="q_skip_numbers has 1 values, but must have 0 or 2"):
        NetworkSettings(SCALARS, NUMBERS, q_skip_numbers=(1.0,))
    with pytest.raises(UsageError, match="texts or numbers"):
        NetworkSettings(SCALARS, NUMBERS, texts=False, numbers=False)
    with pytest.raises(UsageError, match="batch must be at least 1"):
        TrainSettings(batch=0)
    with pytest.raises(UsageError, match="expectile"):
        TrainSettings(expectile=1.0)
