"""jar_setting.py with the real index over a tiny benchmark and an encoder of random weights."""

from __future__ import annotations

import json
import sys

import pytest
from scripts import imported  # pyright: ignore[reportMissingImports]
from tiny_benchmark import SHARDS, write_benchmark  # pyright: ignore[reportMissingImports]
from tiny_bert import write_model  # pyright: ignore[reportMissingImports]

from graftjax.errors import UsageError

DEV = [
    ("Which pupils have a pet?", "school", "SELECT * FROM Student JOIN Has_Pet"),
    ("How many pupils are there?", "school", "SELECT count(*) FROM Student"),
    ("Students and others?", "clash", "SELECT * FROM student JOIN student_1"),
    ("Of no lake?", "school", "SELECT * FROM Student JOIN cage"),
]


@pytest.fixture(scope="module")
def jar_setting():
    with imported("jar_setting") as module:
        yield module


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Spider and BIRD with the same three small databases."""
    data_dir = tmp_path_factory.mktemp("data")
    for name, sql in (("spider", "query"), ("bird", "SQL")):
        folder = write_benchmark(data_dir, name, {"seed": 5, "shards": SHARDS})
        entries = [{"question": q, "db_id": d, sql: text, "evidence": "a hint"} for q, d, text in DEV]
        (folder / "dev.json").write_text(json.dumps(entries))
    return data_dir


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture
def run(jar_setting, data, encoder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAFTJAX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*argv):
        common = ["jar_setting.py", "--data-dir", str(data), "--encoder", str(encoder)]
        monkeypatch.setattr(sys, "argv", [*common, *argv])
        return jar_setting.main()

    return run


def read(path):
    return json.loads(path.read_text())


def test_both_lakes_are_run_and_printed(run, tmp_path, capsys):
    assert run("--methods", "dtr", "--L", "2", "5", "--guidance", "exact") == 0
    captured = capsys.readouterr()
    for lake, title in (("spider-dev", "Spider"), ("bird-dev", "BIRD")):
        for budget in (2, 5):
            assert f"k={budget}   lake: {title} dev databases, unsharded" in captured.out
            record = read(tmp_path / "results" / f"{lake}_dtr_L{budget}_seed0.json")
            assert (record["lake"], record["n_queries"], record["n_skipped"]) == (lake, 2, 0)
            assert record["config"]["intent_sources"] == {"lexical": 2}
            assert record["config"]["lake_statistics"]["left out, gold table not at hand"] == 1
            assert [one["id"] for one in record["per_query"]] == [f"{lake}-0000", f"{lake}-0002"]
        # Five tables in all: with five of them nothing can be missing.
        assert record["metrics"] == pytest.approx(
            {"recall": 1, "precision": 0.4, "f1": 4 / 7, "sufficiency": 1}
        )
    assert "left out, fewer than two gold tables: 1" in captured.out
    assert "school.cage" in captured.err
    assert "4 result files" in captured.out


def test_columns_are_those_of_jar(jar_setting):
    def one(id, recall, precision, f1, sufficient):
        return {"id": id, "recall": recall, "precision": precision, "f1": f1, "sufficient": sufficient}

    def record(method, per_query, seed=0):
        times = {"mean": 3.0} if per_query else None
        return {
            "method": method, "L": 2, "seed": seed, "per_query": per_query, "latency_ms": times,
            "mean_retrieved": 2.0, "n_skipped": 0, "n_queries": 2, "recompiles_after_warmup": 0,
        }  # fmt: skip

    first = [one("a", 1.0, 0.5, 2 / 3, True), one("b", 0.0, 0.0, 0.0, False)]
    second = [one("a", 0.0, 0.0, 0.0, False), one("b", 0.0, 0.0, 0.0, False)]
    records = [record("some", first), record("some", second, seed=1), record("none", [])]
    lines = jar_setting.jar_table(records, "Lake").splitlines()
    assert lines[0] == "k=2   lake: Lake"
    assert lines[1].split("  ")[0] == "method"
    names = [cell for cell in lines[1].split("  ") if cell.strip()]
    assert [name.strip() for name in names[1:5]] == ["precision", "recall", "F1", "perfect recall"]
    cells = [cell.strip() for cell in lines[2].split("  ") if cell.strip()]
    assert [cell.split(" ")[0] for cell in cells] == ["some", "12.5", "25.0", "16.7", "25.0", "2.0", "3.0"]
    assert lines[3].split() == ["none", *"------"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--lakes", "spider"], "--lakes spider: choose from spider-dev, bird-dev, demo"),
        (["--lakes"], "--lakes"),
        (["--L", "0"], "--L"),
        (["--methods", "grafft"], "grafft"),
        (["--data-dir", "."], "spider is not at"),
        (["--lake", "demo"], "--lake"),
    ],
)
def test_wrong_arguments(run, tmp_path, argv, message):
    with pytest.raises(UsageError, match=message):
        run(*argv)
    assert not list(tmp_path.iterdir())
