"""How well the trained networks predict values on trajectories that they have not seen.

Letters: Y states, Z transitions, S transitions of a block.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float

from graftjax.iql.graph import STOP
from graftjax.iql.networks import Params, QNetwork
from graftjax.iql.presets import NetworkSettings
from graftjax.training.replay import Replay, batch_of

BLOCK = 256


@dataclass(frozen=True)
class HeldOutError:
    """Errors of Q on held-out trajectories."""

    mape: float
    """Mean |Q − G| / G in percent, over the actions of recorded walks and the stop at their end."""
    mape_stop: float
    """The same over the stop in every state whose utility is not 0."""
    rank_accuracy: float
    """Share of states of recorded walks in which the recorded action has a higher Q than each other one in
    the replay that leads to a lower value."""
    count: int
    """Actions that `mape` is over."""


def best_returns(
    replay: Replay, recorded: np.ndarray, gamma: float
) -> tuple[Float[np.ndarray, " Y"], Float[np.ndarray, " Z"]]:
    """(of each state, of each transition): the best discounted return along recorded transitions.

    Known exactly: stop now, or take a recorded action and go on so.
    """
    utility = np.asarray(replay.utility, np.float64)
    value = utility.copy()
    state, after = np.asarray(replay.state), np.asarray(replay.next_state)
    stops = np.asarray(replay.operator) == STOP
    some = np.flatnonzero(recorded & ~stops)
    for _ in range(16):  # walks are shorter
        before = value.copy()
        np.maximum.at(value, state[some], gamma * value[after[some]])
        if np.array_equal(before, value):
            break
    return value, np.where(stops, utility[state], gamma * value[after])


def predicted(network: NetworkSettings, params: Params, replay: Replay) -> Float[np.ndarray, " Z"]:
    """Q of every transition of a replay."""
    model = QNetwork(network)

    @jax.jit
    def block(params: Params, replay: Replay, indices: jax.Array) -> jax.Array:
        batch = batch_of(replay, indices)
        actions = jax.tree.map(lambda leaf: leaf[:, None], batch.action)
        one = lambda state, action: model.apply({"params": params}, state, action)[0]  # noqa: E731  # pyright: ignore
        return jax.vmap(one)(batch.state, actions)

    device = jax.tree.map(jax.numpy.asarray, replay)
    total = replay.num_transitions
    result = np.zeros(-(-total // BLOCK) * BLOCK, np.float32)
    for start in range(0, total, BLOCK):
        indices = np.minimum(np.arange(start, start + BLOCK), total - 1)
        result[start : start + BLOCK] = block(params, device, indices)
    return result[:total]


def value_error(
    network: NetworkSettings, params: Params, replay: Replay, recorded: np.ndarray, gamma: float
) -> HeldOutError:
    """Errors on a held-out replay; `recorded` [Z] says which transitions a walk along H⁺ took."""
    q = predicted(network, params, replay)
    state_value, returns = best_returns(replay, recorded, gamma)
    state = np.asarray(replay.state)
    stops = np.asarray(replay.operator) == STOP
    on_walk = np.zeros(len(state_value), bool)
    on_walk[state[recorded & ~stops]] = True
    ends = np.zeros(len(state_value), bool)
    ends[np.asarray(replay.next_state)[recorded & ~stops]] = True
    ends &= ~on_walk
    counted = np.where(stops, ends[state], recorded) & (returns > 0)
    error = np.abs(q - returns) / np.maximum(returns, 1e-9)
    known_stop = stops & (returns > 0)
    right = total = 0
    order = np.argsort(state, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(state[order])) + 1):
        chosen, others = group[recorded[group] & ~stops[group]], group[~recorded[group] & ~stops[group]]
        worse = [i for i in others if len(chosen) and returns[i] < returns[chosen].max() - 1e-9]
        if worse:
            total += 1
            right += q[chosen].max() > q[worse].max()
    mean = lambda mask: float(100 * error[mask].mean()) if mask.any() else float("nan")  # noqa: E731
    return HeldOutError(mean(counted), mean(known_stop), right / max(total, 1), int(counted.sum()))
