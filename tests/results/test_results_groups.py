"""Which runs make one row, and what is said of those that can't be compared."""

from __future__ import annotations

import numpy as np
import pytest
from made_runs import ALL, HALF, made_run  # pyright: ignore[reportMissingImports]

from graftjax.errors import UsageError
from graftjax.evaluate.metrics import bootstrap_interval
from graftjax.results.groups import summarise


def test_seeds_are_averaged_query_by_query():
    runs = [made_run(ALL), made_run(HALF, seed=1)]
    (row,) = summarise(runs).rows
    f1 = [[1.0, 1.0, 1.0], [0.5, 1.0, 0.0]]
    found = row.metrics["f1"]
    assert (row.runs, row.queries, row.skipped) == (2, 3, 0)
    assert found.mean == pytest.approx(np.mean(f1))
    assert (found.low, found.high) == bootstrap_interval(np.mean(f1, axis=0))
    assert found.sd == pytest.approx(np.std(np.mean(f1, axis=1), ddof=1))


def test_a_swept_field_is_found_and_what_follows_from_seeds_is_not():
    def config(intents, seed):
        return {
            "intents": intents,
            "copy_of_intents": intents,
            "out": f"results/{intents}",
            "command": intents,
            "guided_by": {"guidance": "learned", "checkpoint": f"value{seed}", "training_seed": seed},
        }

    runs = [
        made_run(found, seed=seed, config=config(intents, seed))
        for intents, found in (("recorded", ALL), ("lexical", HALF))
        for seed in (0, 1)
    ]
    summary = summarise(runs)
    assert summary.by == ("intents",)
    assert [(row.by["intents"], row.runs) for row in summary.rows] == [("lexical", 2), ("recorded", 2)]
    assert summary.remarks == ()


def test_numbers_are_in_order_and_nested_fields_have_dotted_names():
    runs = [made_run(ALL, config={"search": {"beams": beams}}) for beams in (16, 2, 128)]
    summary = summarise(runs)
    assert [row.by["search.beams"] for row in summary.rows] == [2, 16, 128]
    assert len(summarise(runs, ["search.beams"]).rows) == 3
    with pytest.raises(UsageError, match=r"--by beams.*search\.beams"):
        summarise(runs, ["beams"])


def test_a_skipped_query_is_counted_and_in_no_mean():
    whole, partly = made_run(ALL), made_run({"q0": ["a", "b"]}, skipped=("q1", "q2"), seed=1)
    (row,) = summarise([whole, partly]).rows
    assert (row.queries, row.skipped, row.metrics["f1"].mean) == (1, 2, 1.0)
    assert any("2 queries skipped" in remark for remark in summarise([whole, partly]).remarks)


def test_a_run_that_crashed_throughout_has_no_score():
    summary = summarise([made_run({}, skipped=("q0", "q1", "q2"))])
    (row,) = summary.rows
    assert (row.metrics, row.queries, row.skipped) == ({}, 0, 3)
    assert "not one query has a score" in summary.remarks[0]


def test_lakes_of_one_name_and_other_sizes_are_kept_apart():
    summary = summarise([made_run(ALL, tables=10), made_run(HALF, tables=12, seed=1)])
    assert [row.lake for row in summary.rows] == ["spider (10 tables)", "spider (12 tables)"]
    assert [row.runs for row in summary.rows] == [1, 1]
    assert "different sizes" in summary.remarks[0]


def test_different_questions_in_one_row_give_no_score():
    runs = [made_run(ALL), made_run({"q0": ["a"]}, seed=1)]
    summary = summarise(runs)
    assert summary.rows[0].metrics == {}
    assert any("different questions" in remark for remark in summary.remarks)


def test_different_gold_tables_in_one_row_give_no_score():
    other = made_run({"q0": ["a", "b"], "q1": ["c"], "q2": ["d"]}, gold={**ALL, "q2": ["d"]}, seed=1)
    summary = summarise([made_run(ALL), other])
    assert summary.rows[0].metrics == {}
    assert any("gold tables" in remark for remark in summary.remarks)


def test_rows_of_different_questions_are_told_and_can_share():
    runs = [made_run(HALF), made_run({"q0": ["a", "b"]}, method="dtr")]
    apart, shared = summarise(runs), summarise(runs, shared=True)
    assert any("can't be compared" in remark for remark in apart.remarks)
    assert {row.method: row.metrics["f1"].mean for row in apart.rows} == {"graft": 0.5, "dtr": 1.0}
    assert {row.method: (row.queries, row.metrics["f1"].mean) for row in shared.rows} == {
        "graft": (1, 0.5),
        "dtr": (1, 1.0),
    }


def test_runs_that_nothing_tells_apart_are_mentioned():
    summary = summarise([made_run(ALL), made_run(HALF)])
    assert summary.rows[0].runs == 2
    assert "2 runs have seed 0" in summary.remarks[0]
