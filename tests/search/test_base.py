"""A search that starts with the user's own table: its shards, and what joins it, beside the budget."""

from __future__ import annotations

import pytest
from small_lakes import encoder, index_of, intent_of

from graftjax.errors import UsageError
from graftjax.search.engine import Engine
from graftjax.types import TableId

CODES = [f"T{number:03d}" for number in range(60)]


def _towns(start):
    rows = range(start, 60, 3)
    return {
        "town code": [CODES[i] for i in rows],
        "population": [1000 + 37 * i for i in rows],
        "mayor": [f"mayor {i}" for i in rows],
    }


@pytest.fixture(scope="module")
def engine():
    index = index_of(
        {
            "town_1": _towns(0),
            "town_2": _towns(1),
            "town_3": _towns(2),
            "weather": {"town code": CODES, "rain": [i % 17 for i in range(60)]},
            "rent": {"town code": CODES, "monthly rent": [500 + i for i in range(60)]},
            "film": {"title": [f"film {i}" for i in range(50)], "population": list(range(50))},
        }
    )
    return Engine(index, encoder())


INTENT = intent_of({"town": {"population": [], "rain": []}})


def _found(engine, base, **options):
    synthesis = engine.search("what helps to predict population", INTENT, base=TableId("db", base), **options)
    return synthesis, [table.name for table in synthesis.tables]


def test_the_base_comes_first_and_its_shards_and_joins_follow(engine):
    synthesis, names = _found(engine, "town_2", budget=4, fill=True)
    assert names[0] == "town_2"
    assert set(names[1:]) == {"town_1", "town_3", "weather", "rent"}
    assert len(synthesis.operators) == 4
    assert {operator.kind for operator in synthesis.operators} == {"join", "union"}


def test_a_named_feature_comes_before_other_joins(engine):
    _, names = _found(engine, "town_1", budget=3, fill=True)
    assert set(names) == {"town_1", "town_2", "town_3", "weather"}


def test_a_search_that_stops_by_itself_never_takes_what_has_no_part(engine):
    _, names = _found(engine, "town_1", budget=5)
    assert {"town_1", "town_2", "town_3"} <= set(names) <= {"town_1", "town_2", "town_3", "weather", "rent"}


def test_without_a_base_nothing_changes(engine):
    before = engine.search("population of towns", INTENT, budget=5, fill=True)
    _found(engine, "town_3", budget=5, fill=True)
    assert engine.search("population of towns", INTENT, budget=5, fill=True) == before


def test_a_base_that_the_lake_does_not_have_is_a_usage_error(engine):
    with pytest.raises(UsageError, match="not in the lake"):
        _found(engine, "village", budget=3)


def test_a_warm_search_with_a_base_compiles_nothing(engine):
    engine.warm_up([3, 4], [INTENT], based=True)
    _found(engine, "town_1", budget=4, fill=True)  # the encoder's shapes of these texts
    before = engine.num_compiled()
    for budget in (3, 4):
        for fill in (False, True):
            _found(engine, "town_2", budget=budget, fill=fill)
    assert engine.num_compiled() == before
