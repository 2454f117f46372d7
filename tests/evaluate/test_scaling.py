from __future__ import annotations

import json
from pathlib import Path

import pytest
from lake_maker import HashEncoder

from graftjax.encode.compile_cache import use_compile_cache
from graftjax.errors import UsageError
from graftjax.evaluate.mixed_lake import MAX_COLUMNS, MAX_ROWS, mixed_lake
from graftjax.evaluate.scaling import CURVES, Job, as_text, build_lake, growth_record, search_lake


class _Words(HashEncoder):
    def warm_up(self, *, bulk: bool = False) -> int:
        return 0


def test_a_larger_lake_holds_the_smaller_and_all_questions_can_be_answered():
    lake = mixed_lake("demo", None, 0)
    tables = list(lake.raw_tables(380))
    large = [raw.id for raw in tables]
    assert large[:200] == [raw.id for raw in lake.raw_tables(200)]
    assert len(set(large)) == 380
    assert all(raw.data.num_columns <= MAX_COLUMNS and raw.data.num_rows <= MAX_ROWS for raw in tables)
    assert all(len(raw.headers) == raw.data.num_columns for raw in tables)
    cases = lake.cases()
    assert cases
    assert {table for case in cases for table in case.gold} <= set(large[:200])
    other = [raw.id for raw in mixed_lake("demo", None, 1).raw_tables(200)]
    assert other[:150] == large[:150]  # the real tables do not depend on the seed here, the copies do
    assert other != large[:200]


def test_other_lakes_are_refused():
    with pytest.raises(UsageError, match="bird"):
        mixed_lake("bird", None, 0)


@pytest.mark.slow
def test_a_size_is_measured(tmp_path: Path, monkeypatch):
    use_compile_cache()
    monkeypatch.setattr("graftjax.encode.load_encoder", lambda name: _Words())
    job = Job("demo", None, 0, 200, tmp_path / "index", "any", 2)
    built = build_lake(job)
    assert built["lake"]["tables"] == 200
    assert set(built["stages_s"]) >= {"profile", "encode", "unions", "joins", "save"}
    assert sum(built["stages_s"].values()) == pytest.approx(built["index_s"], rel=0.2, abs=0.5)
    assert built["disk_bytes"]["total"] > built["disk_bytes"]["embeddings"] > 0
    assert built["bytes_per_column"] == pytest.approx(
        (built["disk_bytes"]["total"] - built["disk_bytes"]["embeddings"]) / built["lake"]["columns"]
    )
    assert built["peak_memory_mb"] >= built["memory_before_mb"] > 0
    searched = search_lake(job)
    assert searched["questions"] == len(searched["latency_ms_per_question"]) > 10
    assert 0 < searched["latency_ms"]["p50"] <= searched["latency_ms"]["p95"]
    one = {"size": 200, **built, "search": searched}
    two = json.loads(json.dumps({**one, "size": 400}))
    assert growth_record([one, two])["search, mean (ms)"]["exponent"] == 0
    assert set(CURVES) <= set(growth_record([one, two]))
    assert "200" in as_text([one, two])
