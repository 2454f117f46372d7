from __future__ import annotations

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_replay import DIM, NUMBERS, SCALARS, SMALL, TRAINING, batch_of, random_replay

from graftjax.errors import UsageError
from graftjax.iql.devices import first_copy, replicate
from graftjax.iql.graph import JOIN, STOP, ActionFeatures, StateGraph, Transition
from graftjax.iql.networks import QNetwork, ValueNetwork, evaluate
from graftjax.iql.update import init_state, make_update

REPLAY = random_replay(32)


@cache
def _start(network, settings):
    return jax.tree.map(np.asarray, init_state(network, settings))


def _run(settings, counts, devices=1, replay=REPLAY, network=SMALL, batch=batch_of):
    chosen = jax.local_devices()[:devices]
    size = len(replay.reward)
    update = make_update(network, settings, batch, size, chosen)
    state, data = replicate(_start(network, settings), chosen), replicate(replay, chosen)
    for count in counts:
        state, metrics = update(state, data, replicate(np.int32(count), chosen))
    return first_copy(state), first_copy(metrics)


def _close(a, b, rtol=1e-3, atol=2e-5):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol)


def test_two_devices_and_microbatches_do_what_one_device_does():
    one, metrics = _run(TRAINING, [1])
    for other in (_run(TRAINING, [1], devices=2), _run(replace(TRAINING, microbatch=2), [1])):
        # Adam's moments are the gradient; parameters follow its sign, which rounding decides around 0.
        _close(one.optimizer, other[0].optimizer, atol=1e-7)
        _close(metrics, other[1])


@pytest.mark.slow
def test_dropout_does_not_depend_on_the_number_of_devices():
    network = replace(SMALL, dropout=0.5)
    one, with_dropout = _run(TRAINING, [1], network=network)
    two, _ = _run(TRAINING, [1], network=network, devices=2)
    _close(one.optimizer, two.optimizer, atol=1e-7)
    _, without = _run(TRAINING, [1])
    assert abs(float(with_dropout.grad_norm - without.grad_norm)) > 1e-3


def test_a_dispatch_of_any_length_is_the_same_program_and_the_same_run():
    traces = []

    def counted(replay, indices):
        traces.append(indices.shape)
        return batch_of(replay, indices)

    chosen = jax.local_devices()[:1]
    update = make_update(SMALL, TRAINING, counted, 32, chosen)
    state, data = replicate(_start(SMALL, TRAINING), chosen), replicate(REPLAY, chosen)
    state, _ = update(state, data, replicate(np.int32(4), chosen))
    after_first = len(traces)
    for count in (1, 2):
        state, _ = update(state, data, replicate(np.int32(count), chosen))
    assert len(traces) == after_first > 0
    whole, _ = _run(TRAINING, [7])
    for a, b in zip(jax.tree.leaves(first_copy(state)), jax.tree.leaves(whole), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_target_is_a_polyak_average_and_a_network_moves_by_its_own_loss():
    settings = replace(TRAINING, polyak=0.75)
    start = _start(SMALL, settings)
    after, _ = _run(settings, [1])
    mean = jax.tree.map(lambda old, new: 0.75 * old + 0.25 * new, start.params["q"], after.params["q"])
    _close(mean, after.target_q, atol=1e-6)


def test_a_policy_head_is_trained_on_request():
    settings = replace(TRAINING, policy=True, policy_negatives=3)
    start, (after, metrics) = _start(SMALL, settings), _run(settings, [2])
    assert set(after.params) == {"q", "v", "policy"}
    assert metrics.loss_policy > 0
    moved = jax.tree.map(
        lambda a, b: float(np.abs(a - b).max()), start.params["policy"], after.params["policy"]
    )
    assert max(jax.tree.leaves(moved)) > 1e-4


def test_a_batch_that_can_not_be_shared_out_is_refused():
    with pytest.raises(UsageError, match="batch 7 is not a multiple of the 2 devices"):
        make_update(SMALL, replace(TRAINING, batch=7), batch_of, 32, jax.local_devices()[:2])
    with pytest.raises(UsageError, match="no transitions"):
        make_update(SMALL, TRAINING, batch_of, 0, jax.local_devices()[:1])


STOP_REWARD = np.array([0.1, 0.9, 0.3, 0.2, 1.5], np.float32)
"""A chain of five states; `join` goes on, and stopping in a state gives its reward."""


def _chain():
    n = len(STOP_REWARD)

    def states(place):
        text = np.zeros((len(place), 2, DIM), np.float32)
        text[np.arange(len(place)), 0, place] = 1.0  # only the table's text says where one is
        return StateGraph(
            text,
            np.tile(np.array([1, 4], np.int32), (len(place), 1)),
            np.zeros((len(place), 2, 2), np.int32),
            np.zeros((len(place), 2, 2), np.float32),
            np.zeros((len(place), SCALARS), np.float32),
        )

    place = np.concatenate([np.arange(n), np.arange(n - 1), [n - 1]])  # the last state can only stop
    stops = np.concatenate([np.ones(n, bool), np.zeros(n - 1, bool), [True]])
    action = ActionFeatures(
        np.zeros((2 * n, DIM), np.float32),
        np.zeros((2 * n, DIM), np.float32),
        np.where(stops, STOP, JOIN).astype(np.int32),
        np.zeros((2 * n, NUMBERS), np.float32),
    )
    reward = np.where(stops, STOP_REWARD[place], 0.0).astype(np.float32)
    return Transition(states(place), action, reward, states(np.minimum(place + 1, n - 1)), stops), states


def test_q_and_v_of_a_chain_converge_to_the_expectile_near_the_maximum():
    replay, states = _chain()
    settings = replace(
        TRAINING, steps=1500, batch=10, learning_rate=1e-2, expectile=0.95, polyak=0.95, weight_decay=0.0
    )
    state, _ = _run(settings, [1500], replay=replay)
    n = len(STOP_REWARD)
    wanted_v, go = np.zeros(n), np.zeros(n)
    wanted_v[-1] = STOP_REWARD[-1]
    for k in range(n - 2, -1, -1):  # the expectile of two equally frequent values
        go[k] = settings.gamma * wanted_v[k + 1]
        wanted_v[k] = 0.95 * max(go[k], STOP_REWARD[k]) + 0.05 * min(go[k], STOP_REWARD[k])
    everywhere = states(np.arange(n))
    v = jax.jit(jax.vmap(lambda s: evaluate(ValueNetwork(SMALL), state.params["v"], s)))(everywhere)
    np.testing.assert_allclose(v, wanted_v, atol=0.08)
    both = ActionFeatures(
        jnp.zeros((2, DIM)), jnp.zeros((2, DIM)), jnp.array([STOP, JOIN]), jnp.zeros((2, NUMBERS))
    )
    q = jax.jit(jax.vmap(lambda s: evaluate(QNetwork(SMALL), state.params["q"], s, both)))(everywhere)
    np.testing.assert_allclose(q[:, 0], STOP_REWARD, atol=0.08)
    np.testing.assert_allclose(q[:-1, 1], go[:-1], atol=0.08)
    assert q[:-1].argmax(-1).tolist() == (go > STOP_REWARD)[:-1].astype(int).tolist()
