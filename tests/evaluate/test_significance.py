from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.errors import GraftError
from graftjax.evaluate.metrics import METRICS, bootstrap_interval, f1_of_means
from graftjax.evaluate.significance import COMPARED, average_gain, compare, scores_by_query

SMALL = 200
"""Resamples where the number of them plays no part."""
shares = st.integers(0, 8).map(lambda n: n / 8)
row = st.tuples(shares, shares, shares, st.booleans())
pairs = st.lists(st.tuples(row, row), min_size=1, max_size=20)


def record(method, rows, *, lake="spider", budget=5, seed=0, skipped=(), gold="t"):
    """A run's record with what a comparison reads; `rows`: id → (recall, precision, f1, sufficient)."""
    rows = dict(enumerate(rows)) if not isinstance(rows, dict) else rows
    keys = ("recall", "precision", "f1", "sufficient")
    per_query = [
        {"id": f"q{id}", "gold": [["db", gold]], **dict(zip(keys, values, strict=True))}
        for id, values in rows.items()
    ]
    left_out = [{"id": f"q{id}", "reason": "crash"} for id in skipped]
    return {
        "method": method, "lake": lake, "L": budget, "seed": seed, "per_query": per_query, "skipped": left_out
    }  # fmt: skip


def ends(estimate) -> tuple[Any, Any]:
    return estimate.low, estimate.high


def numbers(estimate) -> tuple[float, float, float]:
    """Value and interval; none of them may be missing."""
    assert None not in (estimate.value, estimate.low, estimate.high)
    return estimate.value, estimate.low, estimate.high


def constant(method, value, n=6, **more):
    return record(method, [(value, value, value, value > 0.5)] * n, **more)


@given(pairs, st.integers(0, 3))
def test_the_difference_is_antisymmetric(pairs, seed):
    a, b = ([record(name, side)] for name, side in zip("ab", zip(*pairs, strict=True), strict=True))
    forth, back = (compare(x, y, seed=seed, resamples=SMALL) for x, y in ((a, b), (b, a)))
    assert forth.p_value == back.p_value
    for metric in COMPARED:
        value, low, high = numbers(back.difference[metric])
        assert numbers(forth.difference[metric]) == (-value, -high, -low)


@given(pairs)
@settings(max_examples=40)
def test_intervals_hold_the_value_and_agree_with_the_p_value(pairs):
    a, b = ([record(name, side)] for name, side in zip("ab", zip(*pairs, strict=True), strict=True))
    found = compare(a, b)
    for metric in COMPARED:
        value, low, high = numbers(found.difference[metric])
        if metric != "f1_of_means":  # which is no mean: its resamples may lie to one side of it
            assert low - 1e-9 <= value <= high + 1e-9
        assert 2 / 2001 <= found.p_value[metric] <= 1
        if low > 0 or high < 0:
            assert found.p_value[metric] <= 0.051
        elif low < 0 < high:
            assert found.p_value[metric] >= 0.049
    json.dumps(asdict(found), allow_nan=False)


@given(st.lists(row, min_size=1, max_size=20))
def test_methods_that_score_the_same_do_not_differ(rows):
    found = compare([record("a", rows)], [record("b", rows)], resamples=SMALL)
    for metric, value in scores_by_query([record("a", rows)]).items():
        assert len(value) == len(METRICS), metric
    assert set(found.p_value.values()) == {1.0}
    assert all(numbers(one) == (0, 0, 0) for one in found.difference.values())
    for one in found.gain.values():
        assert one.value in (0.0, None)
        assert one.low is None or one.low <= 0
        assert one.high is None or one.high == 0


@given(pairs, st.integers(0, 5))
def test_the_same_seed_gives_the_same_result(pairs, seed):
    a, b = ([record(name, side)] for name, side in zip("ab", zip(*pairs, strict=True), strict=True))
    assert compare(a, b, seed=seed, resamples=SMALL) == compare(a, b, seed=seed, resamples=SMALL)
    assert average_gain(a, b, seed=seed, resamples=SMALL) == average_gain(a, b, seed=seed, resamples=SMALL)


def test_seeds_differ():
    rng = np.random.default_rng(0)
    a, b = ([record(name, [tuple(r) for r in rng.random((30, 4))])] for name in "ab")
    assert compare(a, b, seed=1).difference != compare(a, b, seed=2).difference


def test_against_a_slow_bootstrap():
    """The difference of means is the mean difference, whose plain bootstrap interval is known."""
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 60, 4))
    first[:, 0] += 0.15
    a, b = ([record(name, [tuple(r) for r in rows])] for name, rows in (("a", first), ("b", second)))
    found = compare(a, b, resamples=20_000)
    for position, metric in enumerate(("recall", "precision", "f1")):
        values = first[:, position] - second[:, position]
        assert found.difference[metric].value == pytest.approx(values.mean())
        interval = bootstrap_interval(values, resamples=20_000)
        assert ends(found.difference[metric]) == pytest.approx(interval, abs=0.006)
    slow = []
    for _ in range(4000):
        draw = rng.integers(0, 60, 60)
        slow.append(first[draw, 0].mean() / second[draw, 0].mean() - 1)
    interval = tuple(np.quantile(slow, [0.025, 0.975]))
    assert ends(found.gain["recall"]) == pytest.approx(interval, abs=0.03)
    means = first.mean(axis=0), second.mean(axis=0)
    theirs = f1_of_means(means[1][0], means[1][1])
    assert found.gain["f1_of_means"].value == pytest.approx(f1_of_means(*means[0][:2]) / theirs - 1)


def test_p_values_of_no_difference_are_spread_evenly():
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(200):
        a, b = ([record(name, [tuple(r) for r in rng.random((40, 4))])] for name in "ab")
        p_values.append(compare(a, b, resamples=400).p_value["f1"])
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.11
    assert 0.4 <= np.mean(p_values) <= 0.6


def test_seeds_are_averaged_query_by_query_and_the_rest_is_counted():
    a = [
        record("a", {0: (1, 1, 1, True), 1: (1, 1, 1, True), 5: (1, 1, 1, True)}),
        record("a", {0: (0, 0, 0, False)}, seed=1, skipped=(1,)),
    ]
    b = [record("b", {0: (0.5, 0.5, 0.5, False), 1: (0.5, 0.5, 0.5, False)}, skipped=(7,))]
    assert scores_by_query(a)["q0"] == (0.5, 0.5, 0.5, 0.5)
    found = compare(a, b)
    assert (found.n_queries, found.n_left_out) == (2, 2)  # q5 has no score of b, q7 none at all
    assert found.difference["recall"].value == pytest.approx(0.25)
    assert found.gain["sufficiency"].value is None


def test_a_zero_denominator_gives_none():
    zero, some = constant("b", 0.0), constant("a", 0.25)
    found = compare([some], [zero])
    assert found.gain["recall"] == found.gain["sufficiency"]
    assert found.gain["recall"].value is found.gain["recall"].high is None
    # One query in three carries all of b's score: resamples without it have no finite gain.
    b = record("b", [(0, 0, 0, False)] * 2 + [(1, 1, 1, True)])
    one = compare([constant("a", 0.25, 3)], [b]).gain["recall"]
    assert one.value == pytest.approx(-0.25)
    assert one.low == pytest.approx(-0.75)
    assert one.high is None
    average = average_gain([some, constant("a", 0.5, lake="bird")], [zero, constant("b", 0.5, lake="bird")])
    assert average.gain["recall"].value is None
    assert average.by_cell[0]["recall"] == 0.0  # bird
    json.dumps(asdict(found), allow_nan=False)


def test_gains_are_averaged_over_cells():
    a, b = [], []
    for lake, n in (("spider", 40), ("bird", 25)):
        for budget in (5, 10):
            rng = np.random.default_rng(n)  # the same scores at each budget
            for name, side, shift in (("a", a, 0.1), ("b", b, 0.0)):
                rows = [tuple(r) for r in rng.random((n, 4)) * 0.5 + shift]
                side.append(record(name, rows, lake=lake, budget=budget))
    found = average_gain(a, b)
    assert found.cells == (("bird", 5), ("bird", 10), ("spider", 5), ("spider", 10))
    assert found.n_queries == {"bird": 25, "spider": 40}
    for metric in COMPARED:
        gains = [numbers(compare([x], [y]).gain[metric])[0] for x, y in zip(a, b, strict=True)]
        assert found.gain[metric].value == pytest.approx(np.mean(gains))
        value, low, high = numbers(found.gain[metric])
        assert low < value < high
    # The same scores at a second budget are no further evidence: the interval is as wide without them.
    halved = average_gain(a[::2], b[::2])
    for metric in COMPARED:
        assert ends(found.gain[metric]) == pytest.approx(ends(halved.gain[metric]))
    json.dumps(asdict(found), allow_nan=False)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([], [constant("b", 1)], "one method"),
        ([constant("a", 1), constant("c", 1)], [constant("b", 1)], "a, c"),
        ([constant("a", 1)], [constant("b", 1, budget=10)], "one lake and one L"),
        ([constant("a", 1)], [constant("b", 1, lake="bird")], "one lake and one L"),
        ([constant("a", 1)], [record("b", {}, skipped=range(6))], "no query"),
        ([constant("a", 1)], [constant("b", 1, gold="another")], "gold set of q0"),
    ],
)
def test_what_can_not_be_compared(a, b, message):
    with pytest.raises(GraftError, match=message):
        compare(a, b)


def test_a_cell_of_one_method_alone_is_an_error():
    with pytest.raises(GraftError, match=r"only one of a and b was run for \('spider', 10\)"):
        average_gain([constant("a", 1), constant("a", 1, budget=10)], [constant("b", 1)])
