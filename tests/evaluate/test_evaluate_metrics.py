from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.errors import GraftError
from graftjax.evaluate.metrics import (
    Score,
    bootstrap_interval,
    f1_of_means,
    mean_scores,
    score,
    score_matrix,
)
from graftjax.types import TableId

IDS = [TableId("db", f"t{number}") for number in range(12)]
tables = st.lists(st.sampled_from(IDS), unique=True)
gold_sets = st.lists(st.sampled_from(IDS), unique=True, min_size=1)


def test_by_hand():
    got = score(IDS[:4], [*IDS[2:4], IDS[7]])  # 2 of 3 gold among 4
    assert astuple(got) == pytest.approx((2 / 3, 0.5, 4 / 7, 0.0))
    assert astuple(score(IDS[:4], IDS[1:3])) == pytest.approx((1.0, 0.5, 2 / 3, 1.0))


def test_nothing_retrieved_is_zero():
    assert score([], IDS[:2]) == Score(0.0, 0.0, 0.0, 0.0)


def test_same_name_in_another_source_is_no_hit():
    assert score([TableId("a", "t")], [TableId("b", "t")]).recall == 0.0


def test_what_can_not_be_scored_is_an_error():
    with pytest.raises(GraftError, match="without gold"):
        score(IDS, [])
    with pytest.raises(GraftError, match="twice"):
        score([IDS[0], IDS[0]], IDS)
    with pytest.raises(GraftError, match="no query"):
        mean_scores(score_matrix([]))
    with pytest.raises(GraftError, match="no query"):
        bootstrap_interval(np.zeros(0))


@given(tables, gold_sets)
def test_relations(retrieved, gold):
    one = score(retrieved, gold)
    assert all(0 <= value <= 1 for value in (one.recall, one.precision, one.f1))
    assert (one.sufficiency == 1) == (one.recall == 1) == set(gold).issubset(retrieved)
    assert one.f1 == pytest.approx(f1_of_means(one.recall, one.precision))
    assert min(one.recall, one.precision) - 1e-12 <= one.f1 <= max(one.recall, one.precision) + 1e-12
    swapped = score(gold, retrieved) if retrieved else None
    assert swapped is None or (swapped.recall, swapped.precision) == (one.precision, one.recall)


@given(tables, gold_sets, st.randoms())
def test_order_plays_no_part(retrieved, gold, random):
    shuffled = list(retrieved)
    random.shuffle(shuffled)
    assert score(shuffled, gold) == score(retrieved, gold)


@given(gold_sets, st.lists(st.sampled_from(IDS), unique=True))
def test_a_further_table_never_lowers_recall_or_sufficiency(gold, retrieved):
    scores = [score(retrieved[:n], gold) for n in range(len(retrieved) + 1)]
    assert [one.recall for one in scores] == sorted(one.recall for one in scores)
    assert [one.sufficiency for one in scores] == sorted(one.sufficiency for one in scores)


def test_f1_is_the_mean_of_the_queries_f1():
    matrix = score_matrix([Score(1.0, 1.0, 1.0, 1.0), Score(0.0, 0.0, 0.0, 0.0), Score(1, 0.1, 2 / 11, 1)])
    means = mean_scores(matrix)
    assert means["f1"] == pytest.approx((1 + 2 / 11) / 3)
    assert f1_of_means(means["recall"], means["precision"]) != pytest.approx(means["f1"])
    assert f1_of_means(0.0, 0.0) == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 5))
def test_interval_lies_within_the_values_and_repeats(values, seed):
    array = np.array(values)
    low, high = bootstrap_interval(array, seed=seed, resamples=200)
    assert array.min() - 1e-12 <= low <= high <= array.max() + 1e-12
    assert (low, high) == bootstrap_interval(array, seed=seed, resamples=200)


def test_interval_covers_like_the_normal_one():
    values = np.random.default_rng(3).normal(0.5, 0.2, size=400)
    low, high = bootstrap_interval(values)
    half = 1.96 * values.std(ddof=1) / 20
    assert (values.mean() - low) == pytest.approx(half, rel=0.1)
    assert (high - values.mean()) == pytest.approx(half, rel=0.1)
