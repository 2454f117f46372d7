"""Whole lakes: answers of the search are fused, on the demo lake and on dealt shards."""

from __future__ import annotations

import pytest
from synthesised import again, union
from tiny_benchmark import SHARDS, write_benchmark

from graftjax.demo import lake_folder, queries_file
from graftjax.encode import load_encoder
from graftjax.errors import GraftError
from graftjax.fuse import BenchmarkSource, FuseSettings, fuse, lake_source
from graftjax.intent import lexical_intent, read_queries
from graftjax.lake.benchmark import Benchmark
from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index
from graftjax.lake.profile import profile_table
from graftjax.lake.raw import RawTable
from graftjax.search.engine import Engine
from graftjax.types import Synthesis

LEAST_FILLED = 0.95
"""Share of the demo's questions whose fusion has rows."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The engine and the source of the demo lake."""
    folder = tmp_path_factory.mktemp("demo")
    encoder = load_encoder()
    index = build_index(find_tables(lake_folder()), folder, encoder, progress=False)
    return Engine(index, encoder), lake_source(index.tables, lake_folder())


@pytest.mark.parametrize("reader", ["recorded", "lexical"])
def test_all_answers_of_the_demo_execute_and_nearly_all_have_rows(demo, reader):
    engine, source = demo
    queries = read_queries(queries_file())
    intents = [
        query.intent if reader == "recorded" else lexical_intent(query.question)[0] for query in queries
    ]
    answers = engine.search_many(intents, budget=10)
    filled = 0
    narrow = FuseSettings(columns="asked", filters=True)
    for intent, answer in zip(intents, answers, strict=True):
        for settings in (FuseSettings(), narrow) if reader == "recorded" else (FuseSettings(),):
            found = fuse(answer, source, intent=intent, settings=settings)
            result = found.to_arrow()
            assert result.num_rows == found.n_rows
            assert set(found.inputs.values()) | {
                table for other in found.others for table in other.inputs.values()
            } == set(answer.tables)
            assert found.preview.equals(result.slice(0, 20))
        filled += found.n_rows > 0
    assert filled >= LEAST_FILLED * len(queries)


def test_a_fusion_is_the_same_every_time(demo):
    engine, source = demo
    query = next(query for query in read_queries(queries_file()) if query.id == "demo-fig1")
    answer = engine.search(query.question, query.intent, budget=10)
    first, second = (fuse(answer, source, intent=query.intent) for _ in range(2))
    assert first.record() == second.record()
    assert first.to_arrow().equals(second.to_arrow())
    assert again(first).num_rows == first.n_rows


@pytest.fixture
def benchmark_lake(tmp_path):
    write_benchmark(tmp_path, shards={"seed": 3, "shards": SHARDS})
    found = Benchmark.open("spider", tmp_path)
    return found, {raw.id: raw for raw in found.raw_tables() if isinstance(raw, RawTable)}


def test_shards_of_a_benchmark_are_dealt_again_as_they_were(benchmark_lake):
    found, dealt = benchmark_lake
    source = BenchmarkSource(found, [profile_table(raw) for raw in dealt.values()])
    for id, data in source.read(list(dealt)).items():
        assert data.equals(dealt[id].data)


def test_all_shards_of_a_table_give_the_table_back(benchmark_lake):
    found, dealt = benchmark_lake
    shards = found.shards["school", "student"]
    names = dealt[shards[0]].data.column_names
    steps = [
        union(f"school/{shards[0].name}", f"school/{other.name}", *((name, name) for name in names))
        for other in shards[1:]
    ]
    source = BenchmarkSource(found, [profile_table(raw) for raw in dealt.values()])
    result = fuse(Synthesis(shards, tuple(steps), 1.0), source).to_arrow()
    assert sorted(result["StuID"].to_pylist()) == list(range(1000, 1040))
    assert result.num_rows == 40


def test_another_seed_is_noticed(benchmark_lake):
    found, dealt = benchmark_lake
    shard = found.shards["school", "student"][0]
    other = Benchmark(found.name, found.folder, seed=found.seed + 1)
    source = BenchmarkSource(other, [profile_table(raw) for raw in dealt.values()])
    with pytest.raises(GraftError, match="index the lake again"):
        source.read([shard])
