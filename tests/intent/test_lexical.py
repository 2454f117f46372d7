"""The lexical extractor: the constructions it reads, and that nothing makes it fail."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.intent import atoms_of, extract, lexical_intent, parse_intent


def shape(question, lake=None):
    """{entity: {attribute: values}} without the keys that joins add."""
    graph, notes = lexical_intent(question, lake)
    assert notes == ()
    return {tree.entity: {a.name: list(a.values) for a in tree.attributes} for tree in graph.trees}


def joined(question):
    graph, _ = lexical_intent(question)
    name = {tree.tree_id: tree.entity for tree in graph.trees}
    return [
        (
            f"{name[j.from_tree]}.{graph.attribute(j.from_tree, j.from_attribute).name}",
            f"{name[j.to_tree]}.{graph.attribute(j.to_tree, j.to_attribute).name}",
        )
        for j in graph.joins
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the name of each ferry?", {"Ferry": {"name": []}}),
        ("List the harbour's depth and opening year.", {"Harbour": {"depth": [], "opening_year": []}}),
        ("Show the depth for each harbour.", {"Harbour": {"depth": []}}),
        ("Give the average tonnage of all cargo ships.", {"Cargo Ship": {"tonnage": []}}),
        ("How many lighthouses are there?", {"Lighthouse": {"id": []}}),
        (
            "Find the captain names whose nationality is 'Norwegian'.",
            {"Captain": {"name": [], "nationality": ["Norwegian"]}},
        ),
        (
            "What are the names of harbours with a depth of more than 12?",
            {"Harbour": {"name": [], "depth": ["> 12"]}},
        ),
        (
            "Which bridges have a length between 200 and 300?",
            {"Bridge": {"name": [], "length": ["between 200 and 300"]}},
        ),
        ("Who are the sailors older than 40?", {"Sailor": {"age": ["> 40"]}}),
        (
            "Which sensors reported a temperature above 30 degrees?",
            {"Sensor": {"name": [], "temperature": ["> 30 degrees"]}},
        ),
        ("List sailors sorted by age.", {"Sailor": {"age": []}}),
        (
            "What is the phone number of harbour 'Old Pier'?",
            {"Harbour": {"phone_number": [], "name": ["Old Pier"]}},
        ),
        ("Which festivals took place in 2019?", {"Festival": {"name": [], "year": ["2019"]}}),
        ("Count the female sailors.", {"Sailor": {"gender": ["female"]}}),
        (
            "Find the ids of boats with color Red or Blue.",
            {"Boat": {"id": [], "color": ["Red", "Blue"]}},
        ),
    ],
)
def test_one_tree(question, expected):
    assert shape(question) == expected


@pytest.mark.parametrize(
    ("question", "joins"),
    [
        ("Which captains have at least 3 boats?", [("Captain.id", "Boat.captain_id")]),
        ("Show the names of captains who own a boat.", [("Captain.id", "Boat.captain_id")]),
        (
            "Find the depth of harbours that serve ferries with a weight above 300.",
            [("Harbour.id", "Ferry.harbour_id")],
        ),
        (
            "List the names of sailors who joined crews of ships.",
            [("Sailor.id", "Crew.sailor_id"), ("Crew.id", "Ship.crew_id")],
        ),
    ],
)
def test_trees_are_joined_with_what_led_to_them(question, joins):
    assert joined(question) == joins


def test_each_entity_is_one_tree():
    graph, _ = lexical_intent(
        "Which boats are owned by captains? List each boat's name and the captain's age."
    )
    assert [tree.entity for tree in graph.trees] == ["Boat", "Captain"]
    assert "name" in [a.name for a in graph.trees[0].attributes]
    assert "age" in [a.name for a in graph.trees[1].attributes]


def test_lake_terms_decide_what_a_word_is():
    class Lake:
        def is_table_term(self, words):
            return words == "country"

        def is_column_term(self, words):
            return words == "mooring"

    assert list(shape("Which country has ferries?")) == ["Ferry"]
    assert list(shape("Which country has ferries?", Lake())) == ["Country", "Ferry"]
    assert "mooring" in shape("Which ferries have a mooring?", Lake())["Ferry"]


@pytest.mark.parametrize("question", ["", "   ", "?!...", "\u2014 \u2026", "\0"])
def test_no_words_give_an_empty_graph_with_a_reason(question):
    graph, notes = lexical_intent(question)
    assert graph.trees == ()
    assert "empty" in notes[0]
    assert atoms_of(graph).num_atoms == 0


@pytest.mark.parametrize(
    "question",
    [
        "มีสนามบินกี่แห่งในประเทศไทย",
        "各空港のフライト数は?",
        "Сколько рейсов в каждом аэропорту?",
        "Quel est le nom du bateau qui transporte des passagers vers Oslo chaque semaine ?",
        "How many of the?",
    ],
)
def test_a_question_without_rules_is_one_tree_with_a_note(question):
    graph, notes = lexical_intent(question)
    assert [tree.entity for tree in graph.trees] == [question]
    assert "one entity" in notes[0]


def test_a_very_long_question_is_cut_with_a_note():
    graph, notes = lexical_intent("List the names of boats " * 5000)
    assert graph.trees
    assert "2000 characters" in notes[0]


WORDS = (
    *("what", "is", "the", "names", "of", "boats", "'s", "whose", ",", "and", "Oslo", "'x'", "12", "2019"),
    *(
        "between",
        "or",
        "by",
        "each",
        "two",
        "more",
        "than",
        "?",
        ".",
        "who",
        "have",
        "not",
        "number",
        "order",
    ),
)
fragments = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


@given(fragments | st.text(max_size=60))
def test_any_text_gives_a_valid_graph(question):
    graph, notes = lexical_intent(question)
    assert graph.rough == bool(graph.trees)
    assert parse_intent(graph.model_dump(mode="json")) == graph.model_copy(update={"rough": False})
    assert graph.trees or notes
    assert (graph, notes) == lexical_intent(question)


def test_sources_are_tried_in_order():
    recorded = parse_intent({"trees": [{"tree_id": "t1", "entity": "Boat"}]})
    assert extract("How many ferries are there?", recorded=recorded).source == "recorded"
    found = extract("How many ferries are there?")
    assert (found.source, found.intent.trees[0].entity) == ("lexical", "Ferry")
    empty = extract("x", recorded=parse_intent({"trees": []}))
    assert empty.notes == ("the recorded intent graph is empty",)


def test_importing_the_package_loads_neither_jax_nor_the_client():
    code = "import sys, graftjax.intent; print(sorted({'jax', 'openai', 'flax'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
