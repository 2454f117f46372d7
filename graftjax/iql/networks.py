"""The networks: Q(s, a) with one encoding of s for all actions, V(s), and a policy head (Sec. 4.1).

Letters: A actions of a state. Everything is for one state; batches come from `jax.vmap`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from graftjax.iql.encoder import Encoded, Encoder
from graftjax.iql.graph import NUM_OPERATORS, ActionFeatures, StateGraph
from graftjax.iql.presets import NetworkSettings
from graftjax.kernels.attention import attention_mass, divide  # pyright: ignore[reportMissingImports]

Params = Any
"""Parameters of one network: a nested dictionary of arrays."""


class ActionHead(nn.Module):
    """g(enc(s), emb(T_anchor), emb(T_new), o): a two-layer MLP whose state part is computed once.

    Besides the paper's inputs it sees the action's numbers, and the intent nodes that the new table's text
    attends to.
    """

    settings: NetworkSettings

    @nn.compact
    def __call__(self, encoded: Encoded, actions: ActionFeatures, train: bool = False) -> Float[Array, " A"]:
        c = self.settings
        actions = jax.tree.map(jnp.asarray, actions)
        operator = jax.nn.one_hot(actions.operator, NUM_OPERATORS)  # one-hot into a matrix: an embedding
        parts = [operator, actions.numbers]
        if c.texts:
            new = nn.Dense(c.hidden, name="new")(actions.new)
            anchor = nn.Dense(c.hidden, name="anchor")(actions.anchor)
            keys = nn.Dense(c.hidden, name="key", use_bias=False)(encoded.nodes)
            slope = self.param("text_slope", nn.initializers.constant(4.0), ())
            logits = new @ keys.T * c.hidden**-0.5 + slope * (actions.new @ encoded.texts.T)
            mass = attention_mass(logits, jnp.broadcast_to(encoded.is_intent[None] > 0, logits.shape))
            wanted = divide(mass @ encoded.nodes, mass.sum(-1))
            parts = [new, anchor, wanted, new * wanted, *parts]
        inner = nn.Dense(c.mlp, name="action")(jnp.concatenate(parts, axis=-1))
        inner += nn.Dense(c.mlp, name="state", use_bias=False)(encoded.state)[None]
        inner = nn.Dropout(c.dropout, deterministic=not train)(jax.nn.gelu(inner))
        # Zeros, so that the first values are the skip's alone.
        return nn.Dense(1, name="value", kernel_init=nn.initializers.zeros)(inner)[:, 0]


class QNetwork(nn.Module):
    """Q(s, a) of every action: the head plus a linear skip from the exact numbers of state and action."""

    settings: NetworkSettings

    @nn.compact
    def __call__(self, state: StateGraph, actions: ActionFeatures, train: bool = False) -> Float[Array, " A"]:
        c = self.settings
        state, actions = _read(c, state), _read(c, actions)
        encoded = Encoder(c, name="encoder")(state, train)
        value = ActionHead(c, name="head")(encoded, actions, train)
        value += actions.numbers @ self.param("skip_numbers", _first(c.q_skip_numbers), (c.num_numbers,))
        return (
            value
            + (state.scalars @ self.param("skip_scalars", _first(c.q_skip_scalars), (c.num_scalars,)))[None]
        )


class ValueNetwork(nn.Module):
    """V(s), with an encoder of its own."""

    settings: NetworkSettings

    @nn.compact
    def __call__(self, state: StateGraph, train: bool = False) -> Float[Array, ""]:
        c = self.settings
        state = _read(c, state)
        encoded = Encoder(c, name="encoder")(state, train)
        inner = jax.nn.gelu(nn.Dense(c.mlp, name="state")(encoded.state))
        inner = nn.Dropout(c.dropout, deterministic=not train)(inner)
        value = nn.Dense(1, name="value", kernel_init=nn.initializers.zeros)(inner)[0]
        return value + state.scalars @ self.param("skip_scalars", _first(c.v_skip_scalars), (c.num_scalars,))


class PolicyNetwork(nn.Module):
    """Unnormalised log-probability of every action; same form as Q, without the skip."""

    settings: NetworkSettings

    @nn.compact
    def __call__(self, state: StateGraph, actions: ActionFeatures, train: bool = False) -> Float[Array, " A"]:
        c = self.settings
        state, actions = _read(c, state), _read(c, actions)
        return ActionHead(c, name="head")(Encoder(c, name="encoder")(state, train), actions, train)


def evaluate(
    network: QNetwork | ValueNetwork | PolicyNetwork,
    params: Params,
    *inputs: StateGraph | ActionFeatures,
    rng_key: Array | None = None,
) -> Array:
    """What the network gives for one state (and its actions); with a key (consumed), dropout is on."""
    if rng_key is None:
        return jnp.asarray(network.apply({"params": params}, *inputs))
    rngs = {"dropout": rng_key}
    return jnp.asarray(network.apply({"params": params}, *inputs, train=True, rngs=rngs))


def example_state(settings: NetworkSettings, num_nodes: int = 2) -> StateGraph:
    """A state of zeros, for shapes; parameters do not depend on `num_nodes`."""
    return StateGraph(
        jnp.zeros((num_nodes, settings.text_dim)),
        jnp.zeros(num_nodes, jnp.int32),
        jnp.zeros((num_nodes, num_nodes), jnp.int32),
        jnp.zeros((num_nodes, num_nodes)),
        jnp.zeros(settings.num_scalars),
    )


def example_actions(settings: NetworkSettings, num_actions: int = 1) -> ActionFeatures:
    """Actions of zeros, for shapes."""
    text = jnp.zeros((num_actions, settings.text_dim))
    return ActionFeatures(
        text, text, jnp.zeros(num_actions, jnp.int32), jnp.zeros((num_actions, settings.num_numbers))
    )


def init_networks(settings: NetworkSettings, rng_key: Array, *, policy: bool = False) -> dict[str, Params]:
    """Fresh parameters by network: `q`, `v` and, if asked for, `policy`. The key is consumed."""
    q_key, v_key, policy_key = jax.random.split(rng_key, 3)
    state, actions = example_state(settings), example_actions(settings)
    params = {
        "q": QNetwork(settings).init(q_key, state, actions)["params"],
        "v": ValueNetwork(settings).init(v_key, state)["params"],
    }
    if policy:
        params["policy"] = PolicyNetwork(settings).init(policy_key, state, actions)["params"]
    return params


def num_parameters(params: Params) -> int:
    """Numbers in a tree of arrays."""
    return sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(params))


_Inputs = TypeVar("_Inputs", StateGraph, ActionFeatures)


def _read(settings: NetworkSettings, inputs: _Inputs) -> _Inputs:
    """The inputs as the network sees them: exact numbers are zeros where it reads none."""
    if settings.numbers:
        return inputs
    hidden = {name: jnp.zeros_like(getattr(inputs, name)) for name in _NUMBERS if hasattr(inputs, name)}
    return inputs._replace(**hidden)


_NUMBERS = ("scalars", "numbers")
"""Fields that hold exact numbers."""


def _first(values: tuple[float, ...]) -> Any:
    """Initialiser of a skip: the given values, or zeros."""

    def init(key: Array, shape: tuple[int, ...]) -> Array:
        del key
        return jnp.asarray(values, jnp.float32) if values else jnp.zeros(shape)

    return init
