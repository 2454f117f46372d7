from __future__ import annotations

import json

import pytest
from small_lakes import encoder, index_of, intent_of

from graftjax.evaluate.latency import quantiles, stage_times
from graftjax.evaluate.report import latency_table
from graftjax.intent import EMPTY_INTENT
from graftjax.search.engine import Engine

CLUBS = intent_of({"Club": {"name": ["AIB"]}, "Player": {"club id": []}})


@pytest.fixture(scope="module")
def engine():
    lake = {
        "club": {"id": [1, 2], "name": ["AIB", "BNP"]},
        "player": {"id": [5, 6], "club_id": [1, 2], "points": [3, 4]},
    }
    return Engine(index_of(lake), encoder())


def test_stages_are_measured(engine):
    times = stage_times(engine, [CLUBS, EMPTY_INTENT, CLUBS], 2)
    assert set(times) == {"encode", "prepare", "search", "explain"}
    assert all(0 < one["p50"] <= one["p95"] for one in times.values())


def test_quantiles_by_hand():
    assert quantiles([1.0, 2.0, 3.0]) == pytest.approx({"mean": 2.0, "p50": 2.0, "p95": 2.9})


def test_the_table_shows_the_papers_figure_and_what_was_skipped():
    row = {
        "latency_ms": {"mean": 12.34, "p50": 11.0, "p95": 20.0}, "recompiles_after_warmup": 0,
        "n_queries": 3, "n_skipped": 1, "metrics": None, "guided": True,
    }  # fmt: skip
    exact = {
        "n_enumerated": 0, "n_questions": 3, "optimum_found": None, "decided_gap": {"mean": None},
        "time_ratio": None, "beam_ms": 1.0, "exact_ms": {"mean": None},
    }  # fmt: skip
    record = {
        "L": 10, "methods": {"graft": row, "dtr": {**row, "latency_ms": None, "guided": False}},
        "stages_ms": {"encode": {"mean": 1.0}}, "queries_per_second": {"threads": 60.4, "stacked": 30.2},
        "exact_against_beam": exact, "peak_memory_mib": 900.0, "index_mib": 50.0, "compile_s": None,
    }  # fmt: skip
    assert json.dumps(record)
    text = latency_table(record, "a lake")
    assert "graft (learned)  12.3  11.0  20.0  1        0           3500" in text
    assert "60 in threads, 30 stacked" in text
    assert "graft-exact enumerated" not in text
