from __future__ import annotations

from dataclasses import replace

import jax
import pytest
from small_lakes import encoder, index_of, intent_of

from graftjax.demo import queries_file
from graftjax.errors import UsageError
from graftjax.intent import EMPTY_INTENT, read_queries
from graftjax.search.engine import Engine
from graftjax.search.exact import TooManySyntheses
from graftjax.search.exact_engine import ExactEngine

BUDGET = 8
CLUBS = intent_of(
    {"Club": {"id": [], "name": ["AIB"]}, "Player": {"club id": []}}, ("Club", "id", "Player", "club id")
)


@pytest.fixture(scope="module")
def exact(demo_index):
    return ExactEngine(demo_index, encoder())


def test_the_answer_is_at_least_as_good_as_that_of_the_beam(exact, demo_index):
    engine = Engine(demo_index, encoder())
    alike = []
    for query in list(read_queries(queries_file()))[:8]:
        beam = engine.search(query.question, query.intent, budget=BUDGET)
        found = exact.search(query.question, query.intent, budget=BUDGET)
        assert len(found.tables) == len(set(found.tables)) <= BUDGET
        assert found == exact.search(query.question, query.intent, budget=BUDGET)
        alike.append(set(found.tables) == set(beam.tables))
        if alike[-1]:
            assert found.utility >= beam.utility - 1e-4
    assert sum(alike) >= 5


def test_nothing_compiles_after_the_warm_up(exact):
    exact.warm_up([BUDGET])
    events: list[str] = []
    listening = True

    def listen(event: str, _: float, **__: object) -> None:
        if listening and "backend_compile" in event:
            events.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    exact.search("q", CLUBS, budget=BUDGET)
    exact.search("q", intent_of({"Club": {}}), budget=BUDGET - 1)
    listening = False
    assert not events


def test_a_region_that_is_too_large_is_refused(demo_index):
    small = ExactEngine(demo_index, encoder(), limit=1)
    with pytest.raises(TooManySyntheses, match="more than 1 syntheses to compare at L = 8"):
        small.search("q", CLUBS, budget=BUDGET)


def test_there_is_no_exact_filling(exact):
    with pytest.raises(UsageError, match="graft-fill"):
        exact.search("q", CLUBS, budget=BUDGET, fill=True)


def test_surrogate_rewards_have_no_exact_form(exact):
    other = exact.with_settings(replace(exact.settings, reward="R2"))
    with pytest.raises(UsageError, match="R2"):
        other.search("q", CLUBS, budget=BUDGET)


@pytest.mark.parametrize("stacked", [0, 2])
def test_many_questions_at_once(exact, stacked):
    intents = [CLUBS, EMPTY_INTENT, intent_of({"Club": {}})]
    found = exact.search_many(intents, budget=BUDGET, stacked=stacked)
    assert found == [exact.search("q", intent, budget=BUDGET) for intent in intents]


def test_short_answers_have_a_note(exact):
    assert exact.search("q", EMPTY_INTENT, budget=BUDGET).notes
    empty = ExactEngine(index_of({}), encoder()).search("q", CLUBS, budget=BUDGET)
    assert empty.tables == ()
    assert empty.notes == ("the lake has no tables",)
