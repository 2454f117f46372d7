"""Which files are believed."""

from __future__ import annotations

import json

import pytest
from made_runs import ALL, HALF, made_run, put  # pyright: ignore[reportMissingImports]

from graftjax.errors import UsageError
from graftjax.results.records import find_runs


def _tampered(change):
    run = made_run(HALF)
    change(run)
    return json.dumps(run)


def _raise_a_score(run):
    run["per_query"][2]["f1"] = 1.0


def _raise_the_mean(run):
    run["metrics"]["f1"] = 1.0


def _lose_a_query(run):
    del run["per_query"][2]


def _repeat_a_query(run):
    run["per_query"][2] = run["per_query"][0]


def _hide_the_skips(run):
    run["skipped"] = [{"id": "q9", "reason": "boom"}]


def _put_nan(run):
    run["metrics"]["f1"] = float("nan")


def _score_a_crash(run):
    run.update(per_query=[], skipped=[], n_queries=0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_tampered(_raise_a_score), "not those of its tables"),
        (_tampered(_raise_the_mean), "its f1 is not the mean"),
        (_tampered(_lose_a_query), "queries are missing"),
        (_tampered(_repeat_a_query), "twice"),
        (_tampered(_hide_the_skips), "queries are missing"),
        (_tampered(_put_nan), "NaN"),
        (_tampered(_score_a_crash), "without a scored query"),
        (_tampered(lambda run: run.pop("per_query")), "'per_query'"),
        (_tampered(lambda run: run.update(L="5")), "'L'"),
        (_tampered(lambda run: run["per_query"][0].pop("gold")), "gold"),
        (json.dumps(made_run(ALL))[:-40], "cut short"),
        ("", "cut short"),
    ],
)
def test_a_file_at_odds_with_itself_is_refused(tmp_path, text, reason):
    (tmp_path / "bad.json").write_text(text)
    put(tmp_path / "good.json", made_run(ALL))
    found = find_runs([str(tmp_path)])
    assert len(found.records) == 1
    (refused,) = found.refused
    assert refused.path.name == "bad.json"
    assert reason in refused.reason


def test_files_folders_and_globs_meet_each_file_once(tmp_path):
    put(tmp_path / "a" / "deep" / "one.json", made_run(ALL))
    put(tmp_path / "b" / "two.json", made_run(HALF))
    put(tmp_path / "b" / "latency_demo_L10_seed0.json", {"lake": "demo", "methods": {}, "L": 10})
    (tmp_path / "b" / ".draft-0123.json").write_text("{")
    patterns = [tmp_path / "a", tmp_path / "b" / "two.json", tmp_path / "*" / "*.json", tmp_path / "**"]
    found = find_runs([str(one) for one in patterns])
    assert [path.name for path in found.paths] == ["one.json", "two.json"]
    assert (found.others, found.refused) == (1, ())


@pytest.mark.parametrize("pattern", ["none", "no*.json", "empty", "other"])
def test_nothing_found_is_a_mistake(tmp_path, pattern):
    (tmp_path / "empty").mkdir()
    put(tmp_path / "other" / "x.json", {"a": 1})
    with pytest.raises(UsageError, match=pattern.replace("*", r"\*")):
        find_runs([str(tmp_path / pattern)])
