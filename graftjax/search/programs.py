"""The compiled searches: from the arrays of a query to those of its answer, without a host round-trip.

Two programs run one after the other, the beam and what follows it. They are compiled once per shape bucket
(atoms, budget, beam) and guidance: exact gains, or a value function. With `many`, problems and outlooks of
one bucket have a leading axis of queries, and so have the answers.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

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


class Values(NamedTuple):
    """A value function on the device."""

    params: Any
    scales: Scales
    gamma: Float[Array, ""]


@partial(jax.jit, static_argnames=("network", "beam", "reward", "many", "based"))
def beam_program(
    problem: Problem,
    outlook: Outlook | None,
    dials: Dials,
    values: Values | None,
    *,
    network: NetworkSettings | None,
    beam: int,
    reward: RewardName = "igms",
    many: bool = False,
    based: bool = False,
) -> tuple[State, Float[Array, "*_ B"]]:
    """The syntheses that stopped, with their scores: by exact gains without `outlook` and `values`.

    `based`: they start with the table of action 0, a program of its own.
    """

    def one(problem: Problem, outlook: Outlook | None) -> tuple[State, Array]:
        if outlook is None or values is None or network is None:
            return beam_by_gain(problem, dials, beam=beam, reward=reward, based=based)
        return beam_by_value(
            problem, outlook, dials, *values, beam=beam, network=network, reward=reward, based=based
        )

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
    programs: tuple[Any, ...] = (beam_program, finish_program)
    return sum(program._cache_size() for program in programs)
