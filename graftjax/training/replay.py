"""The replay of offline IQL: states and transitions of many episodes, on the device, batched by index.

Letters: P problems, n intent nodes, D features of a text vector, X texts, Y states, Z transitions, B batch,
K, R, S, F as in `search.view` and `search.numbers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from graftjax.iql.graph import STOP, ActionFeatures, StateGraph, Transition
from graftjax.search.guide import Scales
from graftjax.search.view import NO_TEXT, EvidenceView, IntentView, state_graph
from graftjax.trajectories.episodes import Episode


class Replay(NamedTuple):
    """Everything that training reads; a pytree of arrays."""

    vectors: Any
    """float16 [X, D]: vectors of the lake's texts; the first is zero and stands for none."""
    intent_vectors: Any
    """float16 [P, n, D]."""
    intent: IntentView
    """[P, ...]."""
    problem: Any
    """int32 [Y]: problem of each state."""
    evidence: EvidenceView
    """[Y, ...]; texts as numbers."""
    scalars: Any
    """float32 [Y, S], scaled."""
    utility: Any
    """float32 [Y]: reward of stopping."""
    state: Any
    """int32 [Z]."""
    next_state: Any
    """int32 [Z]."""
    new: Any
    """int32 [Z]: text of the new table, NO_TEXT for stop."""
    anchor: Any
    """int32 [Z]."""
    operator: Any
    """int32 [Z]."""
    numbers: Any
    """float32 [Z, F], scaled; zero for stop."""

    @property
    def num_transitions(self) -> int:
        return len(self.state)


def merge(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Stacked episodes (see `stack`) one after the other."""
    if len(parts) == 1:
        return parts[0]
    problems = np.cumsum([0, *(len(part["intent_vectors"]) for part in parts)])
    states = np.cumsum([0, *(len(part["problem"]) for part in parts)])
    moved = []
    for part, first_problem, first_state in zip(parts, problems, states, strict=False):
        shifted = dict(part)
        shifted["problem"] = part["problem"] + first_problem
        for name in ("state", "next_state"):
            shifted[name] = part[name] + first_state
        moved.append(shifted)
    return {name: np.concatenate([part[name] for part in moved]) for name in parts[0]}


def stack(episodes: Sequence[Episode]) -> dict[str, np.ndarray]:
    """Episodes as arrays for one file; at least one episode."""
    parts = []
    for one in episodes:
        intent = {f"intent_{name}": value[None] for name, value in one.intent._asdict().items()}
        count = len(one.states["utility"])
        parts.append(
            {
                "intent_vectors": one.intent_vectors[None],
                **intent,
                "problem": np.zeros(count, np.int32),
                **one.states,
                **one.transitions,
            }
        )
    return merge(parts)


def scales_of(arrays: dict[str, np.ndarray]) -> Scales:
    """Means and deviations of the numbers of the states and of the actions."""
    floor = lambda x: np.maximum(x, 1e-3).astype(np.float32)  # noqa: E731
    scalars, numbers = arrays["scalars"], arrays["numbers"]
    if not len(numbers):
        numbers = np.zeros((1, numbers.shape[1]), np.float32)
    return Scales(
        scalars.mean(0).astype(np.float32), floor(scalars.std(0)),
        numbers.mean(0).astype(np.float32), floor(numbers.std(0)),
    )  # fmt: skip


def make_replay(arrays: dict[str, np.ndarray], vectors: np.ndarray, scales: Scales) -> Replay:
    """A replay with a stop transition for every state beside the recorded ones.

    `vectors` float32 [X − 1, D]: of the lake's texts. The utility of stopping is known exactly for every
    prefix and costs nothing; Algorithm 1 as printed would never train Q(s, stop).
    """
    count = len(arrays["problem"])
    own = np.arange(count, dtype=np.int32)
    none = np.full(count, NO_TEXT, np.int32)
    table = np.zeros((len(vectors) + 1, vectors.shape[1]), np.float16)
    table[1:] = vectors
    join = lambda name, stops: np.concatenate([arrays[name].astype(np.int32), stops])  # noqa: E731
    numbers = scales.numbers(arrays["numbers"])
    return Replay(
        vectors=table,
        intent_vectors=arrays["intent_vectors"],
        intent=IntentView(*(arrays[f"intent_{name}"] for name in IntentView._fields)),
        problem=arrays["problem"].astype(np.int32),
        evidence=EvidenceView(*(arrays[name] for name in EvidenceView._fields)),
        scalars=scales.scalars(arrays["scalars"]).astype(np.float32),
        utility=arrays["utility"].astype(np.float32),
        state=join("state", own),
        next_state=join("next_state", own),
        new=join("new", none),
        anchor=join("anchor", none),
        operator=join("operator", np.full(count, STOP, np.int32)),
        numbers=np.concatenate([numbers, np.zeros((count, numbers.shape[1]))]).astype(np.float32),
    )


def graph_of(replay: Replay, state: Int[Array, ""]) -> StateGraph:
    """The dense graph of one stored state."""
    problem = replay.problem[state]
    pick = lambda leaf: leaf[problem]  # noqa: E731
    evidence = jax.tree.map(lambda leaf: leaf[state], replay.evidence).with_vectors(replay.vectors)
    intent = jax.tree.map(pick, replay.intent)
    return state_graph(
        pick(replay.intent_vectors).astype(jnp.float32), intent, evidence, replay.scalars[state]
    )


def batch_of(replay: Replay, indices: Int[Array, " B"]) -> Transition:
    """Transitions by index, with a leading axis; traced by the training step."""

    def one(index: Array) -> Transition:
        state, next_state = replay.state[index], replay.next_state[index]
        operator = replay.operator[index]
        stops = operator == STOP
        vector = lambda numbers: replay.vectors[numbers].astype(jnp.float32)  # noqa: E731
        action = ActionFeatures(
            vector(replay.new[index]), vector(replay.anchor[index]), operator, replay.numbers[index]
        )
        return Transition(
            graph_of(replay, state),
            action,
            jnp.where(stops, replay.utility[state], 0.0),
            graph_of(replay, next_state),
            stops,
        )

    return jax.vmap(one)(indices)
