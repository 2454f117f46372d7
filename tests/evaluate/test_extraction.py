from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lakes import intent_of  # pyright: ignore[reportMissingImports]

from graftjax.evaluate.extraction import agreement, f1_of
from graftjax.evaluate.weak_intents import damaged_intent, intent_as_words, words_intent
from graftjax.intent.schema import EMPTY_INTENT

NEAR = {"pupil": "student", "colour": "hue"}


class Encoder:
    """Words are orthogonal; the pairs of `NEAR` have a cosine of 0.8."""

    def encode(self, texts):
        rows = []
        for text in texts:
            row = np.zeros(64, np.float32)
            row[sum(map(ord, NEAR.get(text, text))) % 62] = 0.8 if text in NEAR else 1.0
            row[63] = 0.6 if text in NEAR else 0.0
            rows.append(row)
        return np.stack(rows)


GOLD = intent_of(
    {"student": {"id": [], "age": ["20"]}, "pet": {"student id": [], "hue": ["red"]}},
    ("student", "id", "pet", "student id"),
)


def test_the_same_graph_agrees_in_all():
    found = agreement(GOLD, GOLD, Encoder())
    assert found.matched == found.found == found.gold == (2, 4, 2, 1)
    assert found.f1 == 1


def test_counts_of_a_partial_graph():
    read = intent_of({"pupil": {"age": ["> 20"], "name": []}, "house": {"hue": ["red"]}})
    found = agreement(read, GOLD, Encoder())
    assert found.matched == (1, 1, 1, 0)  # `house` is no `pet`, so nothing in it counts
    assert found.found == (2, 3, 2, 0)
    assert found.f1 == pytest.approx(2 * 3 / (7 + 9))


def test_one_found_tree_matches_one_gold_tree():
    read = intent_of({"student": {}, "pupil": {}})
    assert agreement(read, GOLD, Encoder()).matched == (1, 0, 0, 0)


def test_a_join_counts_by_its_trees():
    read = intent_of({"pet": {"owner": []}, "pupil": {"key": []}}, ("pet", "owner", "pupil", "key"))
    assert agreement(read, GOLD, Encoder()).matched[3] == 1


def test_names_whose_words_are_contained_are_alike():
    read = intent_of({"student": {"student id": []}})
    assert agreement(read, GOLD, Encoder()).matched == (1, 1, 0, 0)


def test_empty_graphs():
    assert agreement(EMPTY_INTENT, EMPTY_INTENT, Encoder()).f1 == 1
    assert agreement(EMPTY_INTENT, GOLD, Encoder()).f1 == 0
    assert f1_of(0, 0, 0) == 1


@given(share=st.floats(0, 1), seed=st.integers(0, 99))
def test_a_damaged_graph_is_a_part_of_the_whole(share, seed):
    damaged = damaged_intent(GOLD, share, np.random.default_rng(seed))
    found = agreement(damaged, GOLD, Encoder())
    assert damaged.trees
    assert found.matched == found.found  # nothing is added or changed
    assert damaged == damaged_intent(GOLD, share, np.random.default_rng(seed))
    if share == 0:
        assert damaged == GOLD


def test_a_graph_as_words_keeps_them_all():
    words = intent_as_words(GOLD)
    assert [tree.entity for tree in words.trees] == ["student id age 20 pet hue red"]
    assert words.rough
    assert intent_as_words(EMPTY_INTENT) == EMPTY_INTENT


def test_words_of_a_question():
    intent = words_intent("Show the names of all students who own a dog")
    assert [tree.entity for tree in intent.trees] == ["names students own dog"]
    assert intent.rough
    assert words_intent("who is it?").trees[0].entity == "who is it?"
    assert words_intent(" ?! ") == EMPTY_INTENT
