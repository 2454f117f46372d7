"""Search with a value function: shapes, budgets, and parameters that are no numbers."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest
from small_lakes import encoder, intent_of

from graftjax.search.engine import Engine

pytestmark = pytest.mark.slow  # a run has to be made first
BUDGET = 5
INTENTS = [
    intent_of({"student": {"name": [], "birth year": []}}),
    intent_of({"ship": {"name": ["ship a harbour"]}}),
    intent_of(
        {"ship": {"ship id": [], "name": []}, "call": {"ship id": [], "day": []}},
        ("ship", "ship id", "call", "ship id"),
    ),
    intent_of({"zeppelin": {"gas": ["helium"]}}),
]


@pytest.fixture(scope="module")
def guided(lake, run):
    engine = Engine(lake, encoder(), guide=run[1].guide)
    engine.warm_up([BUDGET], INTENTS)
    return engine


def search(engine, intent, **more):
    return engine.search("q", intent, budget=BUDGET, **more)


@pytest.mark.parametrize("fill", [False, True])
def test_answers_keep_the_budget_repeat_and_compile_nothing(guided, fill):
    compiled = guided.num_compiled()
    for intent in INTENTS:
        found = search(guided, intent, fill=fill)
        assert len(found.tables) == len(set(found.tables)) <= BUDGET
        assert np.isfinite(found.utility)
        assert search(guided, intent, fill=fill) == found
    assert guided.num_compiled() == compiled


def test_a_subject_that_is_in_the_lake_is_found(guided):
    assert {table.name for table in search(guided, INTENTS[0]).tables} >= {"students"}


@pytest.mark.parametrize("fill", [False, True])
def test_parameters_that_are_no_numbers_do_not_win(guided, fill):
    broken = jax.tree.map(lambda leaf: np.full(np.shape(leaf), np.nan, np.float32), guided.guide.params)
    engine = Engine(guided.index, encoder(), guide=replace(guided.guide, params=broken))
    for intent in INTENTS:
        found = search(engine, intent, fill=fill)
        assert np.isfinite(found.utility)
        assert found.tables or found.notes
        assert len(found.tables) <= BUDGET
