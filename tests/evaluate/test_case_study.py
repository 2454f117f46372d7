from __future__ import annotations

import xml.etree.ElementTree as Xml

import pytest
from small_lakes import encoder, index_of, intent_of  # pyright: ignore[reportMissingImports]

from graftjax.evaluate.case_picture import case_picture
from graftjax.evaluate.case_study import answer_of, gold_synthesis, walk
from graftjax.intent.query import Query
from graftjax.report.boxes import bridge_tables
from graftjax.search.engine import Engine
from graftjax.types import TableId

INTENT = intent_of(
    {
        "Club": {"id": [], "name": ["AIB"]},
        "Player": {"id": [], "club id": []},
        "Game": {"player id": [], "points": []},
    },
    ("Club", "id", "Player", "club id"),
    ("Player", "id", "Game", "player id"),
)
QUESTION = Query("q", "What points have players of AIB?", intent=INTENT)
NAMES = ("clubs", "player_club", "game_records_1", "game_records_2")


@pytest.fixture(scope="module")
def index():
    games = lambda first: {  # noqa: E731
        "player_id": [f"p{n}" for n in range(first, first + 20)],
        "points": [n % 9 for n in range(20)],
        "season": ["2020"] * 20,
    }
    return index_of(
        {
            "clubs": {"club_id": ["c1", "c2", "c3"], "club_name": ["AIB", "Rovers", "Town"]},
            "player_club": {
                "player_id": [f"p{n}" for n in range(40)],
                "club_id": [f"c{n % 3 + 1}" for n in range(40)],
            },
            "game_records_1": games(0),
            "game_records_2": games(20),
            "harbours": {"harbour": ["Kiel", "Cork"], "depth": [3.5, 9.1]},
        }
    )


@pytest.fixture(scope="module")
def found(index):
    return walk(Engine(index, encoder()), QUESTION, 5)


def ids(*names):
    return tuple(TableId("db", name) for name in names)


def test_the_steps_add_up_to_the_answer(found):
    assert tuple(step.table for step in found.steps) == found.synthesis.tables
    assert found.steps[0].kind == "first"
    assert found.steps[-1].utility == pytest.approx(found.synthesis.utility)
    atoms = len(found.synthesis.support)
    assert sum(step.gain for step in found.steps) == pytest.approx(atoms * found.synthesis.utility)
    assert all(step.gain >= -1e-9 for step in found.steps)


def test_rivals_are_other_clusters_by_falling_gain(found):
    assert any(step.rivals for step in found.steps)
    for step in found.steps:
        gains = [rival.gain for rival in step.rivals]
        assert gains == sorted(gains, reverse=True)
        assert step.table not in [rival.table for rival in step.rivals]


def test_a_search_without_steps(index):
    empty = Query("q", "?", intent=INTENT.model_copy(update={"trees": (), "joins": ()}))
    assert walk(Engine(index, encoder()), empty, 5).steps == ()


def test_the_gold_tables_with_their_links(index):
    gold = gold_synthesis(index, ids("game_records_2", "clubs", "player_club", "game_records_1"))
    assert set(gold.tables) == set(ids(*NAMES))
    kinds = sorted(step.kind for step in gold.operators)
    assert kinds == ["join", "join", "union"]
    assert bridge_tables(gold) >= set(ids("player_club"))


def test_what_is_missing_is_said(index):
    bridges = set(ids("player_club"))
    answer = answer_of("some", ids("clubs", "game_records_1", "harbours"), ids(*NAMES), index, bridges)
    assert answer.missed == ids("player_club", "game_records_2")
    assert answer.others == 1
    assert "bridge" in answer.failings[0]
    assert "shard" in answer.failings[1]
    assert answer.score is not None
    assert answer.score.recall == 0.5
    unknown = answer_of("some", ids("clubs"), (), index)
    assert (unknown.score, unknown.failings, unknown.others) == (None, (), 0)


def test_the_picture_is_well_formed_and_escapes_names(index, found):
    gold = gold_synthesis(index, ids(*NAMES))
    answers = [answer_of("a<b", ids("clubs"), ids(*NAMES), index)]
    tables = {table.id: table for table in index.tables}
    text = case_picture("Who & <what>?", INTENT, found.synthesis, tables, gold, answers)
    root = Xml.fromstring(text)
    said = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Who & <what>?", "a<b", "1 of 4 gold tables, 0 others"} <= set(said)
    assert text.count('stroke-dasharray="5 3"') == 3  # the missed tables
    assert text == case_picture("Who & <what>?", INTENT, found.synthesis, tables, gold, answers)
    nothing = case_picture("?", INTENT, found.synthesis, tables, gold_synthesis(index, ()), answers)
    assert "gold tables," not in nothing
