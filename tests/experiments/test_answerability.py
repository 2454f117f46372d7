"""answerability.py over a tiny benchmark and made-up result files."""

from __future__ import annotations

import json
import sys

import pytest
from scripts import EXPERIMENTS  # pyright: ignore[reportMissingImports]
from tiny_benchmark import SHARDS, write_benchmark  # pyright: ignore[reportMissingImports]

from graftjax.errors import GraftError, UsageError
from graftjax.lake.benchmark import Benchmark
from graftjax.results.expected import read

QUERIES = [
    ("q0", "SELECT Name FROM Student WHERE StuID > 1003", ["student"]),
    ("q1", "SELECT `Name` FROM `Student` JOIN `Has_Pet` USING (`StuID`)", ["student", "has_pet"]),
    ("q2", "SELECT colour FROM Student", ["student"]),
]


@pytest.fixture
def data(tmp_path):
    folder = write_benchmark(tmp_path / "data", "spider", {"seed": 5, "shards": SHARDS})
    lines = [
        {"id": id, "question": "?", "db_id": "school", "gold_sql": sql, "gold_tables": gold}
        | {"sql_dialect": "mysql" if "`" in sql else "sqlite"}
        for id, sql, gold in QUERIES
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path / "data"


@pytest.fixture
def results(data, tmp_path):
    benchmark, folder = Benchmark.open("spider", data), tmp_path / "peers"
    folder.mkdir()
    for method, share in (("graft", 1), ("dtr+unions", 0.5)):
        per_query = []
        for id, _, tables in QUERIES:
            gold = [[shard.source, shard.name] for shard in benchmark.gold("school", tables)]
            per_query.append({"id": id, "gold": gold, "retrieved": gold[: int(share * len(gold))]})
        record = {"lake": "spider", "method": method, "L": 5, "seed": 0, "per_query": per_query}
        (folder / f"spider_{method.replace('+', '-')}_L5_seed0.json").write_text(json.dumps(record))
    return folder


@pytest.fixture
def call(data, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    monkeypatch.chdir(tmp_path)
    import answerability  # pyright: ignore[reportMissingImports]

    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["answerability.py", "--data-dir", str(data), *map(str, argv)])
        return answerability.main()

    return call


def test_figures_are_written_and_shown(call, results, tmp_path, capsys):
    before = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    assert call("--results", results, "--lakes", "spider") == 0
    found = read(tmp_path / "results" / "answerability.yaml")
    assert found.experiment == "answerability"
    assert found.environment["sqlite"]
    lake = found.details["spider"]
    assert lake["failed"] == {"q2": "no such column: colour"}
    assert (lake["queries"], lake["trivial"], lake["exceptions"]) == (2, 0, {})
    for method, value in (("graft", 1.0), ("dtr+unions", 0.0)):
        figure = found.figures[f"spider/{method}/L5/answerability"]
        assert (figure.value, figure.low, figure.high) == (value, value, value)
    shown = capsys.readouterr().out
    assert "| graft | 1.000 [1.00, 1.00] | 1.000 | 0 | 1.000 / 1.000 |" in shown
    assert "q2: no answer over the full database" in shown
    after = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    assert after == before, "the data are only read"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--results", "nowhere"], "nowhere: no such folder"),
        (["--lakes", "demo"], "--lakes demo"),
        (["--results", ".", "--lakes", "spider"], "no spider_<method>_L<budget>_seed<seed>.json there"),
    ],
)
def test_mistakes_are_told(call, arguments, message):
    with pytest.raises(UsageError, match=message):
        call(*arguments)


def test_a_file_that_can_not_be_written_is_named(call, results, tmp_path):
    (tmp_path / "flat").write_text("")
    with pytest.raises(GraftError, match="flat"):
        call("--results", results, "--lakes", "spider", "--out", tmp_path / "flat" / "a.yaml")
