"""Small random states and transitions, and the settings of small networks."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from graftjax.encode.compile_cache import use_compile_cache
from graftjax.iql.graph import NUM_RELATIONS, ActionFeatures, StateGraph, Transition
from graftjax.iql.presets import NetworkSettings, TrainSettings

use_compile_cache()

DIM, SCALARS, NUMBERS = 5, 3, 2
SMALL = NetworkSettings(SCALARS, NUMBERS, text_dim=DIM, hidden=8, heads=2, layers=1, mlp=8)
TRAINING = TrainSettings(
    steps=20, batch=8, learning_rate=1e-2, updates_per_dispatch=5, checkpoint_every=10, keep=2, seed=3
)


def random_states(count: int, nodes: int, rng: np.random.Generator, dim: int = DIM) -> StateGraph:
    shape = (count, nodes, nodes)
    relation = np.where(rng.random(shape) < 0.4, rng.integers(1, NUM_RELATIONS, shape), 0).astype(np.int32)
    return StateGraph(
        rng.normal(size=(count, nodes, dim)).astype(np.float32),
        rng.integers(1, 7, (count, nodes)).astype(np.int32),
        relation,
        np.where(relation > 0, rng.uniform(0.1, 1.0, shape), 0.0).astype(np.float32),
        rng.normal(size=(count, SCALARS)).astype(np.float32),
    )


def random_actions(count: int, rng: np.random.Generator, dim: int = DIM) -> ActionFeatures:
    return ActionFeatures(
        rng.normal(size=(count, dim)).astype(np.float32),
        rng.normal(size=(count, dim)).astype(np.float32),
        rng.integers(0, 4, count).astype(np.int32),
        rng.normal(size=(count, NUMBERS)).astype(np.float32),
    )


def random_replay(count: int = 32, nodes: int = 4, seed: int = 0) -> Transition:
    rng = np.random.default_rng(seed)
    return Transition(
        random_states(count, nodes, rng),
        random_actions(count, rng),
        rng.random(count).astype(np.float32),
        random_states(count, nodes, rng),
        rng.random(count) < 0.5,
    )


def batch_of(replay: Transition, indices: jax.Array) -> Transition:
    return jax.tree.map(lambda leaf: jnp.take(leaf, indices, axis=0, mode="clip"), replay)


def one(states: StateGraph, i: int = 0) -> StateGraph:
    return jax.tree.map(lambda leaf: leaf[i], states)


def pad(state: StateGraph, extra: int, rng: np.random.Generator) -> StateGraph:
    """The same state with padding nodes among the others, at random places."""
    n = len(state.node_type)
    place = np.sort(rng.permutation(n + extra)[:n])
    wide = StateGraph(
        np.zeros((n + extra, state.nodes.shape[1]), np.float32),
        np.zeros(n + extra, np.int32),
        np.zeros((n + extra, n + extra), np.int32),
        np.zeros((n + extra, n + extra), np.float32),
        state.scalars,
    )
    wide.nodes[place], wide.node_type[place] = state.nodes, state.node_type
    wide.relation[np.ix_(place, place)] = state.relation
    wide.weight[np.ix_(place, place)] = state.weight
    return wide
