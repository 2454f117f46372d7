from __future__ import annotations

import pytest
from small_lakes import encoder, index_of, intent_of  # pyright: ignore[reportMissingImports]

from graftjax.evaluate.cases import Case
from graftjax.evaluate.reward_gains import gain_agreement
from graftjax.intent.query import Query
from graftjax.search.engine import Engine
from graftjax.types import TableId

INTENT = intent_of(
    {"Club": {"id": [], "name": ["AIB"]}, "Game": {"club id": [], "points": []}},
    ("Club", "id", "Game", "club id"),
)
CASE = Case(Query("q", "Points of AIB?", intent=INTENT), (TableId("db", "clubs"),))


@pytest.fixture(scope="module")
def engine():
    games = lambda first: {"club_id": [f"c{n % 3}" for n in range(20)], "points": [*range(first, first + 20)]}  # noqa: E731
    return Engine(
        index_of(
            {
                "clubs": {"club_id": ["c0", "c1", "c2"], "club_name": ["AIB", "Rovers", "Town"]},
                "members": {"club_id": ["c0", "c1", "c2"], "name": ["Ada", "Bo", "Cy"]},
                "games_1": games(0),
                "games_2": games(50),
            }
        ),
        encoder(),
    )


def test_the_reward_itself_and_one_on_another_scale(engine):
    found = gain_agreement(engine, [CASE], 5, ["igms", "R1"])
    assert found["igms"].decisions > 0
    assert found["igms"].same_decisions == 1.0
    assert found["igms"].same_unions in (None, 1.0)
    assert found["R1"].same_decisions == 0.0


def test_nothing_to_compare(engine):
    found = gain_agreement(engine, [Case(CASE.query, reason="no gold")], 5, ["R2"])["R2"]
    assert found == (0, None, None, 0, None)
