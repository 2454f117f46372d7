"""The training step of implicit Q-learning under `pmap`: many updates in one dispatch.

Letters: B transitions of an update, b of them on one device, m of them in a microbatch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from graftjax.errors import UsageError
from graftjax.iql.devices import AXIS, Device
from graftjax.iql.graph import ActionFeatures, Transition
from graftjax.iql.losses import awr_loss, q_loss, td_target, v_loss
from graftjax.iql.networks import (
    Params,
    PolicyNetwork,
    QNetwork,
    ValueNetwork,
    evaluate,
    init_networks,
)
from graftjax.iql.optimizer import make_optimizer
from graftjax.iql.presets import NetworkSettings, TrainSettings

BatchOf = Callable[[Any, Array], Transition]
"""(replay, indices int32 [m]) → transitions with a leading axis m; traced."""
INIT, INDICES, DROPOUT = range(3)
"""Purposes that the seed's key is split by."""


class TrainState(NamedTuple):
    """All that training changes; what is not in here follows from the settings and `step`."""

    params: dict[str, Params]
    """`q`, `v` and perhaps `policy`."""
    target_q: Params
    """ω̄, the Polyak average of q."""
    optimizer: dict[str, Any]
    """Optimiser state by network."""
    step: Int[Array, ""]
    """Updates so far."""


class Metrics(NamedTuple):
    """Means over the updates of a dispatch."""

    loss_q: Float[Array, ""]
    loss_v: Float[Array, ""]
    loss_policy: Float[Array, ""]
    """0 without a policy."""
    q_mean: Float[Array, ""]
    v_mean: Float[Array, ""]
    grad_norm: Float[Array, ""]
    """Of all networks together, before the clip."""


def purpose_key(seed: int, purpose: int) -> Array:
    """The key that a run's seed gives for one purpose."""
    return jax.random.fold_in(jax.random.key(seed), purpose)


def init_state(network: NetworkSettings, settings: TrainSettings) -> TrainState:
    """The state before the first update; it depends on the settings alone."""
    rng_key = purpose_key(settings.seed, INIT)
    params = init_networks(network, rng_key, policy=settings.policy)
    optimizer = make_optimizer(settings)
    return TrainState(
        params,
        jax.tree.map(jnp.copy, params["q"]),  # a copy: both are donated
        {name: optimizer.init(tree) for name, tree in params.items()},
        jnp.zeros((), jnp.int32),
    )


def make_update(
    network: NetworkSettings,
    settings: TrainSettings,
    batch_of: BatchOf,
    num_transitions: int,
    devices: Sequence[Device],
) -> Callable[[TrainState, Any, Int[Array, " devices"]], tuple[TrainState, Metrics]]:
    """The only place that knows `pmap`: (state, replay, updates) → (state, metrics), all replicated.

    `updates`: how many to run, the same on each device; another number is no reason to compile again. The
    state is donated. `devices` are this host's; gradients are averaged over those of all hosts. Indices are
    drawn for the whole batch from (seed, step), and each device takes its part of them: neither a resumed
    run nor another number of devices sees other batches. Raises UsageError when the batch can not be shared
    out evenly.
    """
    shards = len(devices) * jax.process_count()
    if num_transitions < 1:
        raise UsageError("there are no transitions to train on")
    if settings.batch % shards:
        raise UsageError(f"batch {settings.batch} is not a multiple of the {shards} devices")
    local = settings.batch // shards
    micro = _largest_divisor(local, settings.microbatch or local)
    losses = make_losses(network, settings)
    optimizer = make_optimizer(settings)

    def gradients(state: TrainState, replay: Any) -> tuple[dict[str, Params], Metrics]:
        index_key = jax.random.fold_in(purpose_key(settings.seed, INDICES), state.step)
        dropout_key = jax.random.fold_in(purpose_key(settings.seed, DROPOUT), state.step)
        start = jax.lax.axis_index(AXIS) * local
        indices = jax.random.randint(index_key, (settings.batch,), 0, num_transitions)
        mine = jax.lax.dynamic_slice(indices, (start,), (local,)).reshape(-1, micro)
        places = (start + jnp.arange(local)).reshape(-1, micro)

        def accumulate(total: Any, part: tuple[Array, Array]) -> tuple[Any, None]:
            # One key for each place in the whole batch, whichever device it falls to.
            keys = jax.vmap(lambda place: jax.random.fold_in(dropout_key, place))(part[1])
            grad, metrics = jax.grad(losses, has_aux=True)(
                state.params, state.target_q, batch_of(replay, part[0]), keys
            )
            return jax.tree.map(jnp.add, total, (grad, metrics)), None

        zeros = jax.tree.map(jnp.zeros_like, state.params), Metrics(*[jnp.zeros(())] * len(Metrics._fields))
        total, _ = jax.lax.scan(accumulate, zeros, (mine, places))
        return jax.lax.pmean(jax.tree.map(lambda leaf: leaf / len(mine), total), AXIS)

    def one_update(state: TrainState, replay: Any) -> tuple[TrainState, Metrics]:
        grads, metrics = gradients(state, replay)
        params, states = {}, {}
        for name, tree in state.params.items():
            with jax.numpy_dtype_promotion("standard"):  # Optax raises a float to an integer power
                change, states[name] = optimizer.update(grads[name], state.optimizer[name], tree)
            params[name] = optax.apply_updates(tree, change)
        target = optax.incremental_update(params["q"], state.target_q, 1.0 - settings.polyak)
        metrics = metrics._replace(grad_norm=_norm(grads))
        return TrainState(params, target, states, state.step + 1), metrics

    def dispatch(state: TrainState, replay: Any, updates: Array) -> tuple[TrainState, Metrics]:
        def body(_: Array, carry: Any) -> Any:
            state, total = carry
            state, metrics = one_update(state, replay)
            return state, jax.tree.map(jnp.add, total, metrics)

        zeros = Metrics(*[jnp.zeros(())] * len(Metrics._fields))
        state, total = jax.lax.fori_loop(0, updates, body, (state, zeros))
        return state, jax.tree.map(lambda leaf: leaf / updates.astype(leaf.dtype), total)

    # Over several hosts pmap needs all hosts' devices, which is what it takes when none are named.
    chosen = list(devices) if jax.process_count() == 1 else None
    return jax.pmap(dispatch, axis_name=AXIS, devices=chosen, donate_argnums=(0,))


def make_losses(network: NetworkSettings, settings: TrainSettings) -> Callable[..., tuple[Array, Metrics]]:
    """(params, target q, transitions, keys) → sum of the networks' mean losses, and the metrics.

    No network's loss has a gradient in another's parameters, so one sum serves all.
    """
    q_network, v_network, policy = QNetwork(network), ValueNetwork(network), PolicyNetwork(network)

    def losses(
        params: dict[str, Params], target_q: Params, batch: Transition, keys: Array
    ) -> tuple[Array, Metrics]:
        def example(one: Transition, key: Array) -> tuple[Array, ...]:
            q_key, v_key = jax.random.split(key)
            actions = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], one.action)
            q = evaluate(q_network, params["q"], one.state, actions, rng_key=q_key)[0]
            v = evaluate(v_network, params["v"], one.state, rng_key=v_key)
            next_v = evaluate(v_network, params["v"], one.next_state)
            frozen = evaluate(q_network, target_q, one.state, actions)[0]
            target = td_target(one.reward, one.terminal, next_v, settings.gamma)
            return q_loss(q, target), v_loss(frozen, v, settings.expectile), q, v, frozen - v

        loss_q, loss_v, q, v, advantage = jax.vmap(example)(batch, keys)
        loss_policy = jnp.zeros(())
        if "policy" in params:
            candidates = _candidates(batch.action, settings.policy_negatives)

            def policy_example(one: Any, actions: ActionFeatures, advantage: Array, key: Array) -> Array:
                logits = evaluate(policy, params["policy"], one, actions, rng_key=key)
                return awr_loss(logits, advantage, settings.awr_temperature)

            loss_policy = jax.vmap(policy_example)(batch.state, candidates, advantage, keys).mean()
        means = Metrics(loss_q.mean(), loss_v.mean(), loss_policy, q.mean(), v.mean(), jnp.zeros(()))
        return means.loss_q + means.loss_v + means.loss_policy, means

    return losses


def _candidates(action: ActionFeatures, negatives: int) -> ActionFeatures:
    """Each transition's action, then those of the next ones of the (micro)batch, in a circle."""
    size = action.operator.shape[0]
    count = min(negatives + 1, size)
    return jax.tree.map(
        lambda leaf: jnp.stack([jnp.roll(leaf, -shift, axis=0) for shift in range(count)], axis=1), action
    )


def _norm(tree: Any) -> Array:
    return jnp.sqrt(jnp.stack([jnp.sum(leaf * leaf) for leaf in jax.tree.leaves(tree)]).sum())


def _largest_divisor(number: int, limit: int) -> int:
    return max(size for size in range(1, min(number, limit) + 1) if number % size == 0)
