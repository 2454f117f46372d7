"""The front door in Python, and what its documentation shows."""

from __future__ import annotations

import doctest
import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from opened_demo import FIG4, demo, demo_index
from tiny_benchmark import SHARDS, write_benchmark

import graftjax
from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.datasets import beside
from graftjax.fuse import BenchmarkSource, FolderSource
from graftjax.intent import EMPTY_INTENT, lexical_intent
from graftjax.lake.benchmark import Benchmark
from graftjax.lake.folder import find_tables
from graftjax.lake.profile import profile_table
from graftjax.lake.raw import RawTable
from graftjax.lakes import check_lake, dataset_of, rows_of

ROOT = Path(__file__).resolve().parents[2]


def test_what_the_documentation_shows_is_true():
    demo()
    failed, tried = doctest.testfile(str(ROOT / "docs/fusion.md"), module_relative=False)
    assert tried >= 10
    assert failed == 0


def test_the_front_door_is_exported():
    for name in ("Found", "FuseSettings", "Fused", "Lake", "open_lake"):
        assert name in graftjax.__all__
        assert getattr(graftjax, name).__name__ == name


def test_three_lines():
    lake = demo()
    found = lake.search(FIG4, L=10)
    table = lake.fuse(found)
    data = table.to_arrow()
    assert data.num_rows == table.n_rows == 1031
    assert {"AIB"} < set(data["Club_Name"].to_pylist())
    assert str(found).startswith("tables (4)")
    assert found.record()["tables"] == [[table.source, table.name] for table in found.tables]
    assert found.operators == found.synthesis.operators
    assert found.utility > 0


def test_pandas_is_asked_for_by_name_where_it_is_missing(monkeypatch):
    fused = demo().fuse(demo().search(FIG4, L=10))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(GraftError, match="pip install pandas"):
        fused.to_pandas()


def test_an_intent_of_ones_own_is_taken_as_it_is():
    intent, _ = lexical_intent("Which clubs are there?")
    found = demo().search("anything", L=2, intent=intent)
    assert found.intent == intent
    assert found.tables


def test_nothing_to_look_for_is_an_empty_answer_that_says_so():
    found = demo().search("?", intent=EMPTY_INTENT)
    assert found.tables == ()
    assert "names nothing" in found.notes[0]
    with pytest.raises(GraftError, match="no tables"):
        demo().fuse(found)


def test_a_question_of_broken_bytes_is_a_question():
    intent, _ = lexical_intent("Which clubs are there?")
    found = demo().search("clubs \udce9", intent=intent)
    assert json.dumps(found.record(), ensure_ascii=False).encode()


def test_a_question_that_is_not_recorded_is_said():
    with pytest.raises(UsageError, match="no such question"):
        demo().search("Who?")


def test_the_report_of_a_refused_fusion_says_why(tmp_path):
    found = demo().search(FIG4, L=10)
    demo().report(found, tmp_path / "r.html", graftjax.FuseSettings(most_rows=10))
    assert "more than the limit of 10" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_lake_is_a_name_a_folder_or_an_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    named, folder = dataset_of("demo"), dataset_of("./demo")
    assert named is not None
    assert folder is not None
    assert named.lake == "demo"
    assert folder.location == tmp_path / "demo"
    assert dataset_of(Path("demo")) == dataset_of("./demo") or dataset_of(Path("demo")) is not None
    assert dataset_of(demo_index()) is None
    with pytest.raises(UsageError, match="nowhere: no such folder"):
        check_lake("nowhere")


def test_the_rows_of_an_index_are_found_again(tmp_path):
    lake = demo()
    source = rows_of(demo_index(), lake.index.tables)
    assert isinstance(source, FolderSource)
    first = lake.index.tables[0]
    assert source.read([first.id])[first.id].num_rows == first.n_rows
    with pytest.raises(UsageError, match="--tables FOLDER"):
        rows_of(tmp_path / "index", lake.index.tables)
    for content in ("nonsense", "{}", json.dumps({"location": 3})):
        beside(tmp_path / "index", "source.json").write_text(content)
        with pytest.raises(UsageError, match="--tables FOLDER"):
            rows_of(tmp_path / "index", lake.index.tables)
    beside(tmp_path / "index", "source.json").write_text(json.dumps({"location": str(tmp_path / "gone")}))
    with pytest.raises(GraftError, match="is gone"):
        rows_of(tmp_path / "index", lake.index.tables)
    with pytest.raises(UsageError, match="--tables"):
        rows_of(tmp_path / "index", lake.index.tables, tmp_path / "nowhere")


@pytest.mark.parametrize("whole", [False, True])
def test_the_rows_of_a_benchmark_are_dealt_again(tmp_path, whole):
    write_benchmark(tmp_path, shards={"seed": 3, "shards": SHARDS})
    benchmark = Benchmark.open("spider", tmp_path)
    if whole:
        benchmark = benchmark.whole([path.stem for path in benchmark.databases])
    raw = [item for item in benchmark.raw_tables() if isinstance(item, RawTable)]
    source = rows_of(tmp_path / "index", [profile_table(item) for item in raw], benchmark.folder)
    assert isinstance(source, BenchmarkSource)
    for item in raw:
        assert source.read([item.id])[item.id].equals(item.data)


def test_a_benchmarks_folder_that_was_indexed_as_plain_files_is_read_so(tmp_path):
    write_benchmark(tmp_path, shards={"seed": 3, "shards": SHARDS})
    folder = tmp_path / "spider"
    raw = [item for item in find_tables(folder) if isinstance(item, RawTable)]
    source = rows_of(tmp_path / "index", [profile_table(item) for item in raw], folder)
    assert isinstance(source, FolderSource)
    assert isinstance(source.read([raw[0].id])[raw[0].id], pa.Table)
