"""A question that was read by rules is answered with as many tables as it takes to support what it names."""

from __future__ import annotations

import pytest
from small_lakes import encoder, index_of, intent_of

from graftjax.search.cover import search_covering
from graftjax.search.engine import Engine

BOOKS = [f"B{number:02d}" for number in range(30)]


@pytest.fixture(scope="module")
def engine():
    index = index_of(
        {
            "book": {"book id": BOOKS, "genre": ["Poetry" if i % 3 else "Drama" for i in range(30)]},
            "library_book": {"book id": BOOKS * 2, "library id": [f"L{i % 5}" for i in range(60)]},
            "library": {
                "library id": [f"L{i}" for i in range(5)],
                "city": ["Leeds", "York", "Hull", "Bath", "Ely"],
            },
            "ship": {"ship": [f"ship {i}" for i in range(20)], "tonnage": list(range(100, 120))},
        }
    )
    return Engine(index, encoder())


QUESTION = "Which books of genre Poetry are held by libraries in Leeds?"
MISREAD = intent_of({"book": {"genre": ["Poetry"], "library": ["Leeds"]}})
"""One thing instead of two, as rules read it."""


def _names(answer):
    return {table.name for table in answer.tables}


def test_a_rough_intent_gets_the_tables_of_all_it_names(engine):
    """The default answer to a plain question held one table, and the value Leeds was found nowhere."""
    rough = MISREAD.model_copy(update={"rough": True})
    stopped = engine.search(QUESTION, rough, budget=4)
    answer = search_covering(engine, QUESTION, rough, 4)
    assert "library" in _names(answer)
    assert _names(stopped) <= _names(answer)
    assert "ship" not in _names(answer)


def test_an_intent_that_a_model_read_is_left_to_the_search(engine):
    answer = search_covering(engine, QUESTION, MISREAD, 4)
    assert answer == engine.search(QUESTION, MISREAD, budget=4)


def test_what_the_first_answer_supports_needs_no_more(engine):
    intent = intent_of({"ship": {"tonnage": []}}).model_copy(update={"rough": True})
    assert _names(search_covering(engine, "tonnage of ships", intent, 4)) == {"ship"}
