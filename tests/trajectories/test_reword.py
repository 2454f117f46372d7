"""Other words, the same intent."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.encode.text import words
from graftjax.intent.atoms import atoms_of
from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentJoin, IntentTree
from graftjax.trajectories.abbreviations import ABBREVIATIONS
from graftjax.trajectories.reword import UNCHANGED, RewordSettings, reword
from graftjax.trajectories.synonyms import Synonyms

THESAURUS = Synonyms(
    ("country", "nation", "language", "singer", "vocalist"),
    np.array([[1, -1], [0, -1], [-1, -1], [4, -1], [3, -1]], np.int32),
)


def tree(name: str, entity: str, *headers: str, values: tuple[str, ...] = ()) -> IntentTree:
    attributes = tuple(
        IntentAttribute(attribute_id=f"a{i}", name=header, values=values) for i, header in enumerate(headers)
    )
    return IntentTree(tree_id=name, entity=entity, attributes=attributes)


def one(entity: str, *headers: str, values: tuple[str, ...] = ()) -> IntentGraph:
    return IntentGraph(trees=(tree("t1", entity, *headers, values=values),))


def pair() -> IntentGraph:
    join = IntentJoin(from_tree="t1", from_attribute="a0", to_tree="t2", to_attribute="a0")
    return IntentGraph(
        trees=(tree("t1", "flights_3", "Airline", "FlightNo"), tree("t2", "airlines", "uid", "Abbr")),
        joins=(join,),
    )


def only(**chances: float) -> RewordSettings:
    return dataclasses.replace(UNCHANGED, **chances)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_without_changes_the_intent_is_the_same() -> None:
    assert reword(pair(), rng(), THESAURUS, UNCHANGED, [("t2", "a0")]) == pair()


def test_names_are_split_and_entities_lose_their_shard_number() -> None:
    out = reword(one("CountryLanguages_12", "IsOfficial"), rng(), None, only(split=1.0))
    assert out.trees[0].entity == "Country Language"
    assert words(out.trees[0].attributes[0].name) == "is official"


def test_fused_words_are_cut_where_both_parts_are_known() -> None:
    out = reword(one("countrylanguage", "zzzlanguage"), rng(), THESAURUS, only(split=1.0))
    assert out.trees[0].entity == "Country Language"
    assert out.trees[0].attributes[0].name == "zzzlanguage"


def test_abbreviations_are_written_out() -> None:
    out = reword(one("emp", "dept_no", "fname"), rng(), None, only(split=1.0, expand=1.0))
    assert out.trees[0].entity == "Employee"
    assert [words(a.name) for a in out.trees[0].attributes] == ["department number", "first name"]


@pytest.mark.parametrize(
    ("entity", "header", "expected"),
    [
        ("Courses", "course_name", "name"),
        ("student_courses", "course_name", "name"),
        ("Singer", "name_singer", "name"),
        ("singer", "Singer", "singer"),
    ],
)
def test_the_tables_words_are_left_out_of_a_header(entity: str, header: str, expected: str) -> None:
    out = reword(one(entity, header), rng(), None, only(split=1.0, drop_entity=1.0))
    assert words(out.trees[0].attributes[0].name) == expected


def test_a_reference_is_named_after_what_it_refers_to() -> None:
    names = set()
    for seed in range(60):
        out = reword(pair(), rng(seed), None, only(split=1.0, key_name=1.0), [("t2", "a0")])
        assert words(out.trees[0].attributes[0].name) == "airline id"
        names.add(out.trees[1].attributes[0].name)
    assert names == {"id", "code", "number"}


def test_a_join_of_two_keys_or_none_keeps_its_headers() -> None:
    for keys in ([], [("t1", "a0"), ("t2", "a0")]):
        out = reword(pair(), rng(), None, only(key_name=1.0), keys)
        assert out == pair()


def test_a_synonym_replaces_a_known_word_only() -> None:
    out = reword(one("Singer", "country", "fee"), rng(), THESAURUS, only(split=1.0, synonym=1.0))
    assert out.trees[0].entity == "Vocalist"
    assert [a.name for a in out.trees[0].attributes] == ["nation", "fee"]


def test_head_noun_phrase_short_form_and_left_out_word() -> None:
    assert reword(one("car_makers", "x"), rng(), None, only(split=1.0, head_noun=1.0)).trees[0].entity == (
        "Maker"
    )
    phrase = reword(one("Singer", "name"), rng(2), None, only(split=1.0, phrase=1.0)).trees[0].attributes[0]
    assert words(phrase.name) != "name"
    assert "name" in words(phrase.name).split()
    short = (
        reword(one("x", "department"), rng(), None, only(split=1.0, abbreviate=1.0)).trees[0].attributes[0]
    )
    assert short.name in {"dep", "depa", "dprtmnt"}
    less = reword(one("x", "big red dog"), rng(), None, only(split=1.0, drop_word=1.0)).trees[0].attributes[0]
    assert words(less.name) in {"big red", "big dog", "red dog"}


def test_values_of_another_shard_and_no_values() -> None:
    intent = one("Singer", "name", values=("Ann",))
    other = reword(intent, rng(), None, only(other_values=1.0), (), {("t1", "a0"): ("Bob", "Cid")})
    assert other.trees[0].attributes[0].values in {("Bob",), ("Cid",)}
    assert reword(intent, rng(), None, only(drop_values=1.0)).trees[0].attributes[0].values == ()


def test_attributes_are_left_out_except_those_that_joins_need() -> None:
    out = reword(pair(), rng(), None, only(drop_attribute=1.0))
    assert [[a.attribute_id for a in t.attributes] for t in out.trees] == [["a0"], ["a0"]]
    assert len(reword(one("x", "a", "b"), rng(), None, only(drop_attribute=1.0)).trees[0].attributes) == 1
    assert not reword(one("x", "a", "b"), rng(), None, only(entity_only=1.0)).trees[0].attributes


def test_abbreviations_are_short_words_with_a_different_meaning() -> None:
    assert len(ABBREVIATIONS) > 100
    for short, meaning in ABBREVIATIONS.items():
        assert words(meaning) not in ("", short)
        assert short.isalpha()


NAMES = st.text("abcDEF_ .1é's", min_size=1, max_size=14).filter(lambda text: bool(text.strip()))


@given(
    st.lists(st.tuples(NAMES, st.lists(NAMES, min_size=1, max_size=3)), min_size=2, max_size=3),
    st.integers(0),
)
def test_ids_order_and_joins_stay(parts: list[tuple[str, list[str]]], seed: int) -> None:
    trees = tuple(tree(f"t{i}", entity, *headers) for i, (entity, headers) in enumerate(parts))
    join = IntentJoin(from_tree="t0", from_attribute="a0", to_tree="t1", to_attribute="a0")
    intent = IntentGraph(trees=trees, joins=(join,))
    often = RewordSettings(**dict.fromkeys(RewordSettings.__dataclass_fields__, 0.5))
    out, again = (reword(intent, rng(seed), THESAURUS, often, [("t1", "a0")]) for _ in range(2))
    assert out == again
    assert out.joins == intent.joins
    assert [t.tree_id for t in out.trees] == [t.tree_id for t in intent.trees]
    for old, new in zip(intent.trees, out.trees, strict=True):
        order = [a.attribute_id for a in old.attributes]
        assert [a.attribute_id for a in new.attributes] == [
            i for i in order if i in {a.attribute_id for a in new.attributes}
        ]
    assert atoms_of(out).num_atoms
