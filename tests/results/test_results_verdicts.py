"""OK, NEAR, OFF and not run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.results.expected import Expected, Figure
from graftjax.results.quick import Repeated, verdicts_of
from graftjax.results.verdicts import counts, judge, lines

EXPECTED = Figure(value=0.5, n=100, tolerance=0.02)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (0.5, "OK"),
        (0.52, "OK"),
        (0.48, "OK"),
        (0.5201, "NEAR"),
        (0.54, "NEAR"),
        (0.46, "NEAR"),
        (0.5401, "OFF"),
    ],
)
def test_limits_belong_to_the_better_side(value, status):
    assert judge("x", EXPECTED, Figure(value=value, n=100)).status == status


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1))
def test_further_away_is_never_better(value, other, tolerance):
    order = ["OK", "NEAR", "OFF"]
    expected = Figure(value=0.0, tolerance=tolerance)
    near, far = sorted((value, other), key=abs)
    found = [order.index(judge("x", expected, Figure(value=one)).status) for one in (near, far)]
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("ours", "why"),
    [(Figure(value=0.5, n=99, skipped=1), "1 queries skipped"), (Figure(value=0.5, n=99), "99 queries")],
)
def test_the_right_mean_of_fewer_queries_is_off(ours, why):
    verdict = judge("x", EXPECTED, ours)
    assert verdict.status == "OFF"
    assert why in verdict.why


def _on_record():
    names = (
        "spider/graft/L10/f1",
        "spider/dtr/L10/f1",
        "spider/jar/L10/f1",
        "spider/dtr/L5/f1",
        "demo/dtr/L10/f1",
    )
    return Expected(
        experiment="x",
        command="x",
        date="2026-01-01",
        environment={},
        encoder="e",
        figures=dict.fromkeys(names, EXPECTED) | {"spider/dtr/L10/ms_mean": Figure(value=9)},
        details={"titles": {"spider": "Spider"}},
    )


def test_what_was_not_run_is_never_ok():
    repeated = Repeated(
        "spider", "Spider", "e", {"spider/dtr/L10/f1": EXPECTED}, unlearned="no value function: train"
    )
    found = {one.name: one for one in verdicts_of(repeated, [_on_record()])}
    assert {name: one.status for name, one in found.items()} == {
        "spider/graft/L10/f1": "not run",
        "spider/dtr/L10/f1": "OK",
    }
    assert "train" in found["spider/graft/L10/f1"].why


@pytest.mark.parametrize(
    ("repeated", "why"),
    [
        (Repeated("spider", why="no data"), "no data"),
        (Repeated("spider", "Spider subset", "e", {"spider/dtr/L10/f1": EXPECTED}), "Spider subset"),
        (Repeated("spider", "Spider", "other", {"spider/dtr/L10/f1": EXPECTED}), "encoder"),
    ],
)
def test_other_data_and_encoders_are_not_compared(repeated, why):
    found = verdicts_of(repeated, [_on_record()])
    assert {one.status for one in found} == {"not run"}
    assert all(why in one.why for one in found if "dtr" in one.name)


def test_a_method_that_crashes_is_off():
    repeated = Repeated("spider", "Spider", "e", crashed={"dtr": "ValueError: boom"})
    found = {one.name: one.status for one in verdicts_of(repeated, [_on_record()])}
    assert found["spider/dtr/L10/f1"] == "OFF"


def test_one_line_a_figure_and_the_counts():
    verdicts = [judge("a/f1", EXPECTED, Figure(value=0.51, n=100)), judge("b", EXPECTED, None, "no data")]
    first, second, last = lines(verdicts)
    assert " ".join(first.split()) == "OK a/f1 ours 0.5100 expected 0.5000 difference +0.0100 tolerance 0.02"
    assert second.endswith("(no data)")
    assert last == "1 OK, 0 NEAR, 0 OFF, 1 not run"
    assert sum(counts(verdicts).values()) == 2
