from __future__ import annotations

import json

import jax
import numpy as np
import pytest
from small_lakes import encoder, index_of, intent_of

from graftjax.demo import queries_file
from graftjax.errors import UsageError
from graftjax.intent import EMPTY_INTENT, lexical_intent, read_queries
from graftjax.search.engine import Engine
from graftjax.types import Synthesis, TableId

BUDGET = 8
CLUBS = intent_of(
    {"Club": {"id": [], "name": ["AIB"]}, "Player": {"club id": []}}, ("Club", "id", "Player", "club id")
)
ODD = ["?!… --- ///", "สโมสรฟุตบอลใดมีคะแนนสูงสุด", "", " \u200b\n"]


@pytest.fixture(scope="module")
def engine(demo_index):
    return Engine(demo_index, encoder())


@pytest.fixture(scope="module")
def queries():
    return {query.id: query for query in read_queries(queries_file())}


@pytest.fixture(scope="module")
def gold():
    with open(queries_file(), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {line["id"]: {TableId(*pair) for pair in line["gold"]} for line in lines}


def small(**tables) -> Engine:
    return Engine(index_of(tables), encoder())


def check(found: Synthesis, engine: Engine, budget: int = BUDGET) -> None:
    """What any answer must keep to."""
    known = set(engine.index.numbers)
    assert len(found.tables) == len(set(found.tables)) <= budget
    assert set(found.tables) <= known
    assert np.isfinite(found.utility)
    assert found.utility >= 0
    place = {table: number for number, table in enumerate(found.tables)}
    for step in found.operators:
        assert place[step.anchor] < place[step.new]
        assert 0 < step.weight <= 1
    for atom in found.support:
        assert 0 <= atom.support <= 1
        assert atom.table is None or atom.table in place
    if len(found.tables) == 0:
        assert found.notes
        assert found.utility == 0


def groups(found: Synthesis) -> tuple[set[frozenset[str]], int]:
    """(tables in unions, number of parts that no operator connects), whatever the order."""
    union = {table: {table} for table in found.tables}
    whole = {table: {table} for table in found.tables}
    for step in found.operators:
        for component in (union, whole) if step.kind == "union" else (whole,):
            merged = component[step.anchor] | component[step.new]
            for table in merged:
                component[table] = merged
    names = {frozenset(table.name for table in part) for part in union.values()}
    return names, len({frozenset(part) for part in whole.values()})


def test_classes_are_numbered_cluster_by_cluster(demo_index):
    """The score takes maxima over runs of classes."""
    owner = demo_index.graph.unions.class_cluster
    assert (np.diff(owner) >= 0).all()


@pytest.mark.parametrize("query_id", ["demo-fig1", "demo-fig4"])
@pytest.mark.parametrize("fill", [False, True])
def test_the_situations_of_the_paper_are_solved(engine, queries, gold, query_id, fill):
    found = engine.search(queries[query_id].question, queries[query_id].intent, budget=BUDGET, fill=fill)
    check(found, engine)
    assert gold[query_id] <= set(found.tables)


def test_figure_1_finds_the_bridge_between_universities_and_instructors(engine, queries):
    found = engine.search(queries["demo-fig1"].question, queries["demo-fig1"].intent, budget=BUDGET)
    bridge = {TableId("exports/2023-11", "teaching_posts"), TableId("shared/reference", "professors")}
    joined = {(step.anchor.name, step.new.name) for step in found.operators if step.kind == "join"}
    touching = {other for pair in joined for other in pair if set(pair) & {table.name for table in bridge}}
    assert {"instructors", "universities"} <= touching
    assert frozenset(table.name for table in bridge) in groups(found)[0]
    assert groups(found)[1] == 1


def test_figure_4_is_a_join_of_clubs_players_and_a_union(engine, queries):
    found = engine.search(queries["demo-fig4"].question, queries["demo-fig4"].intent, budget=BUDGET)
    unions, parts = groups(found)
    assert unions == {
        frozenset({"clubs"}),
        frozenset({"player_club"}),
        frozenset({"game_records_1", "game_records_2"}),
    }
    assert parts == 1


def test_filling_continues_the_answer(engine, queries):
    for query in list(queries.values())[:6]:
        found = engine.search(query.question, query.intent, budget=BUDGET)
        filled = engine.search(query.question, query.intent, budget=BUDGET, fill=True)
        assert filled.tables[: len(found.tables)] == found.tables
        assert len(filled.tables) == BUDGET
        assert filled.utility >= found.utility - 1e-6


def test_the_utility_is_that_of_the_support(engine, queries):
    """U is at least what its best single entry gives alone, and at most what perfect units would."""
    query = queries["demo-fig4"]
    found = engine.search(query.question, query.intent, budget=BUDGET)
    best = max(atom.support for atom in found.support)
    num_atoms = len(found.support)
    own = 1 + engine.settings.score.noise
    assert found.utility * num_atoms >= np.log1p(best**2 / own) - 1e-3
    rows = 8 * len(found.tables)
    assert found.utility <= np.log1p(rows / engine.settings.score.noise)


def test_answers_are_well_formed_and_repeat(engine, queries):
    for query in list(queries.values())[6:12]:
        first = engine.search(query.question, query.intent, budget=BUDGET)
        check(first, engine)
        assert first.support
        assert engine.search(query.question, query.intent, budget=BUDGET) == first


def test_smaller_budgets_are_kept(engine, queries):
    query = queries["demo-fig1"]
    for budget in (6, 7):
        check(engine.search(query.question, query.intent, budget=budget, fill=True), engine, budget)


@pytest.mark.parametrize("budget", [0, -3])
def test_a_budget_below_one_is_a_usage_error(engine, budget):
    with pytest.raises(UsageError, match=f"at least 1, not {budget}"):
        engine.search("q", CLUBS, budget=budget)


def test_nothing_compiles_after_the_warm_up(engine, queries):
    """Intents of one to beyond sixty atoms, with words in several scripts and with long values."""
    engine.warm_up([BUDGET])
    events: list[str] = []
    listening = True

    def listen(event: str, _: float, **__: object) -> None:
        if listening and "compile" in event:
            events.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    compiled = engine.num_compiled()
    wide = {f"entity {i}": {f"attribute {j} of {i}": ["value " * 30] for j in range(5)} for i in range(6)}
    intents = [
        intent_of({"Club": {}}),
        CLUBS,
        queries["demo-fig1"].intent,
        queries["demo-fig4"].intent,
        intent_of({"สโมสร": {"ชื่อ": ["เอไอบี"]}}),
        intent_of({f"entity {i}": {f"attribute {j}": []} for i in range(3) for j in range(4)}),
        intent_of(wide),
    ]
    for intent in intents:
        for fill in (False, True):
            check(engine.search("q", intent, budget=BUDGET, fill=fill), engine)
    listening = False
    assert engine.num_compiled() == compiled
    assert not [event for event in events if "backend_compile" in event]


@pytest.mark.parametrize("fill", [False, True])
def test_what_is_beyond_the_limits_is_said(engine, fill):
    trees = {f"thing {i}": {"a": [], "b": []} for i in range(10)}
    joins = [(f"thing {i}", side, f"thing {i + 1}", side) for i in range(9) for side in "ab"][:10]
    found = engine.search("q", intent_of(trees, *joins), budget=BUDGET, fill=fill)
    check(found, engine)
    assert any("10 trees" in note for note in found.notes)
    assert any("10 joins" in note for note in found.notes)


@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("question", ODD)
def test_questions_without_words(engine, question, fill):
    found = engine.search(question, lexical_intent(question)[0], budget=BUDGET, fill=fill)
    check(found, engine)
    found = engine.search(question, EMPTY_INTENT, budget=BUDGET, fill=fill)
    assert found.tables == ()
    assert found.notes == ("the question names nothing to look for",)


def test_an_intent_that_names_nothing_in_the_lake(engine):
    intent = intent_of({"Qwfpgj": {"zxcvb": ["ztrkl"], "mnbvq": []}, "🙂": {"…": []}})
    for fill in (False, True):
        found = engine.search("q", intent, budget=BUDGET, fill=fill)
        check(found, engine)
        if not fill:
            assert len(found.tables) <= 2


def test_an_empty_lake():
    engine = small()
    for fill in (False, True):
        assert engine.search("q", CLUBS, budget=BUDGET, fill=fill) == Synthesis(
            (), (), 0.0, notes=("the lake has no tables",)
        )


CLUB = {"club_id": [1, 2, 3], "name": ["AIB", "Rovers", "United"]}
PLAYER = {"player_id": [7, 8, 9, 10], "club_id": [1, 2, 3, 3], "surname": ["Dunne", "Keane", "Given", "Duff"]}


@pytest.mark.parametrize("lake", [{"club": CLUB}, {"club": CLUB, "player": PLAYER}], ids=["one", "two"])
def test_a_lake_smaller_than_the_budget(lake):
    engine = small(**lake)
    found = engine.search("q", CLUBS, budget=BUDGET)
    check(found, engine)
    assert TableId("db", "club") in found.tables
    filled = engine.search("q", CLUBS, budget=BUDGET, fill=True)
    check(filled, engine)
    assert set(filled.tables) == {TableId("db", name) for name in lake}
    assert any(f"only {len(lake)} of at most {BUDGET}" in note for note in filled.notes)


def test_two_tables_are_joined_on_their_common_column():
    found = small(club=CLUB, player=PLAYER).search("q", CLUBS, budget=BUDGET)
    assert len(found.tables) == 2
    (step,) = found.operators
    assert step.kind == "join"
    assert step.columns == (("club_id", "club_id"),)


@pytest.mark.parametrize("fill", [False, True])
def test_columns_without_values_and_tables_without_rows(fill):
    empty = {"club_id": [None] * 3, "name": [None] * 3}
    engine = small(club=empty, player={"player_id": [None] * 0, "club_id": [None] * 0}, no_columns={})
    found = engine.search("q", CLUBS, budget=BUDGET, fill=fill)
    check(found, engine)
    assert TableId("db", "club") in found.tables


def test_awkward_names_come_back_as_they_are():
    columns = {"1:00-2:00AM": [1, 2, 3], "a#sep#b": ["x", "y", "z"], "x.y": [0.5, 1.5, 2.5]}
    engine = small(**{"time table": columns, "a.b": columns})
    intent = intent_of({"time table": {"1:00-2:00AM": [], "a#sep#b": ["x"], "x.y": []}})
    found = engine.search("q", intent, budget=BUDGET)
    check(found, engine)
    columns_named = {atom.column for atom in found.support if atom.column}
    assert columns_named == set(columns)


def test_what_is_left_of_the_budget_goes_to_tables_near_the_question(engine, queries):
    """Of a question that was read in part, the intent alone says nothing of what is still missing."""
    part = queries["demo-fig4"].intent.model_copy(update={"rough": True})
    asked = "Which universities are there, and in which state is each of them?"
    without, found = (engine.search(text, part, budget=BUDGET, fill=True) for text in ("", asked))
    named = next(table.id for table in engine.index.tables if table.id.name == "universities")
    assert named in found.tables
    assert named not in without.tables
    answer = engine.search(asked, part, budget=BUDGET).tables
    assert found.tables[: len(answer)] == answer, "the answer itself does not hang on it"
    trusted = engine.search(asked, queries["demo-fig4"].intent, budget=BUDGET, fill=True)
    assert trusted.tables == without.tables, "only an intent that was read by rules is doubted"


def test_many_questions_are_filled_as_one_by_one(engine, queries):
    texts = [query.question for query in list(queries.values())[:5]]
    intents = [lexical_intent(text)[0] for text in texts]
    assert all(intent.rough for intent in intents)
    found = engine.search_many(intents, budget=BUDGET, fill=True, questions=texts)
    alone = [
        engine.search(text, intent, budget=BUDGET, fill=True)
        for text, intent in zip(texts, intents, strict=True)
    ]
    assert [set(one.tables) for one in found] == [set(one.tables) for one in alone]
    with pytest.raises(UsageError, match="1 questions for 5 intents"):
        engine.search_many(intents, budget=BUDGET, questions=texts[:1])
