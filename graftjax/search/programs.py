"""The compiled searches: from the arrays of a query to those of its answer, without a host round-trip.

Two programs run one after the other, the beam and what follows it; they are compiled once per shape bucket
(atoms, budget, beam). Those for many queries take problems of one bucket with a leading axis.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
from jaxtyping import Array, Float

from graftjax.igms.surrogates import RewardName
from graftjax.iql.presets import NetworkSettings
from graftjax.search.actions import Dials
from graftjax.search.beam import beam_by_gain
from graftjax.search.finish import Outcome, finish
from graftjax.search.guide import Outlook, Scales
from graftjax.search.guided import beam_by_value
from graftjax.search.region import Problem
from graftjax.search.state import State


@partial(jax.jit, static_argnames=("beam", "reward", "many"))
def gain_program(
    problem: Problem, dials: Dials, *, beam: int, reward: RewardName = "igms", many: bool = False
) -> tuple[State, Float[Array, "*_ B"]]:
    """The beam by exact gains; `many`: arrays have a leading axis of queries."""

    def one(problem: Problem) -> tuple[State, Array]:
        return beam_by_gain(problem, dials, beam=beam, reward=reward)

    return (jax.vmap(one) if many else one)(problem)


@partial(jax.jit, static_argnames=("beam", "network", "reward", "many"))
def value_program(
    problem: Problem,
    outlook: Outlook,
    dials: Dials,
    params: Any,
    scales: Scales,
    gamma: Array,
    *,
    beam: int,
    network: NetworkSettings,
    reward: RewardName = "igms",
    many: bool = False,
) -> tuple[State, Float[Array, "*_ B"]]:
    """The beam by a value function."""

    def one(problem: Problem, outlook: Outlook) -> tuple[State, Array]:
        return beam_by_value(problem, outlook, dials, params, scales, gamma, beam=beam, network=network)

    return (jax.vmap(one) if many else one)(problem, outlook)


@partial(jax.jit, static_argnames=("fill", "reward", "many"))
def finish_program(
    problem: Problem,
    dials: Dials,
    states: State,
    score: Float[Array, "*_ B"],
    *,
    fill: bool,
    reward: RewardName = "igms",
    many: bool = False,
) -> Outcome:
    """From the beam to the answer."""

    def one(problem: Problem, states: State, score: Array) -> Outcome:
        return finish(problem, dials, states, score, fill=fill, reward=reward)

    return (jax.vmap(one) if many else one)(problem, states, score)


def num_compiled() -> int:
    """Programs compiled so far."""
    programs: tuple[Any, ...] = (gain_program, value_program, finish_program)
    return sum(program._cache_size() for program in programs)
