from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from tiny_benchmark import SHARDS, STATEMENTS, write_benchmark

from graftjax.errors import GraftError, UsageError
from graftjax.lake.benchmark import Benchmark, statistics
from graftjax.types import Skip, TableId

ROWS = {
    ("school", "student"): 40,
    ("school", "has_pet"): 15,
    ("school", "empty_one"): 0,
    ("college", "student"): 25,
    ("clash", "student"): 12,
    ("clash", "student_1"): 1,
}


@pytest.fixture(params=[{"seed": 5, "shards": SHARDS}, None], ids=["shards.json", "drawn"])
def benchmark_(request, tmp_path):
    write_benchmark(tmp_path, shards=request.param)
    return Benchmark.open("spider", tmp_path)


def _rows(tables):
    return [tuple(row.values()) for table in tables for row in table.data.to_pylist()]


def test_every_row_is_dealt_to_exactly_one_shard(benchmark_):
    tables = {table.id: table for table in benchmark_.raw_tables()}
    assert set(tables) == {shard for shards in benchmark_.shards.values() for shard in shards}
    for source, shards in benchmark_.shards.items():
        rows = Counter(_rows(tables[shard] for shard in shards))
        assert sum(rows.values()) == ROWS[source]
        assert max(rows.values(), default=1) == 1  # rows of these tables all differ
        sizes = [tables[shard].data.num_rows for shard in shards]
        assert max(sizes) - min(sizes) <= 1
        assert all(shard.source == source[0] for shard in shards)


def test_listed_counts_are_kept(tmp_path):
    write_benchmark(tmp_path, shards={"seed": 5, "shards": SHARDS})
    benchmark = Benchmark.open("spider", tmp_path)
    assert benchmark.seed == 5
    assert benchmark.shard_counts == {
        ("school", "student"): 4,
        ("school", "has_pet"): 2,
        ("school", "empty_one"): 1,
        ("college", "student"): 3,
        ("clash", "student"): 2,
        ("clash", "student_1"): 1,
    }
    assert statistics(benchmark.raw_tables()) == {
        "tables": 13,
        "columns": 4 * 3 + 2 * 2 + 1 + 3 * 3 + 2 * 3 + 1,
        "rows": 93,
    }


def test_numbers_tell_nothing_about_the_database(tmp_path):
    """Shards of equally named tables are numbered together and at random: databases come mixed."""
    write_benchmark(tmp_path, shards={"seed": 5, "shards": SHARDS})
    benchmark = Benchmark.open("spider", tmp_path)
    owner = {}
    for source, shards in benchmark.shards.items():
        if source[1] == "student":
            for shard in shards:
                stem, _, number = shard.name.rpartition("_")
                assert stem == benchmark.sources[source]
                owner[int(number)] = source[0]
    # `student_1` is another table of the database `clash`: that number is left out.
    assert sorted(owner) == list(range(2, 11))
    order = [owner[number] for number in sorted(owner)]
    changes = sum(a != b for a, b in pairwise(order))
    assert changes > 2  # sorted by database there would be two
    assert [s.name for s in benchmark.shards["school", "empty_one"]] == ["empty_one"]
    assert benchmark.shards["clash", "student_1"] == (TableId("clash", "student_1"),)
    assert len({shard for shards in benchmark.shards.values() for shard in shards}) == 13


def test_the_seed_decides(tmp_path):
    write_benchmark(tmp_path, shards={"seed": 5, "shards": SHARDS})
    first, again = Benchmark.open("spider", tmp_path), Benchmark.open("spider", tmp_path)
    other = replace(first, seed=6)
    assert first.shards == again.shards
    assert first.shards != other.shards
    rows = [[(t.id, _rows([t])) for t in benchmark.raw_tables()] for benchmark in (first, again, other)]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]


def test_without_a_list_the_seed_draws_the_counts(tmp_path):
    write_benchmark(tmp_path)
    benchmark = Benchmark.open("spider", tmp_path)
    assert benchmark.shard_counts == Benchmark.open("spider", tmp_path).shard_counts
    drawn = [n for seed in range(40) for n in replace(benchmark, seed=seed).shard_counts.values()]
    assert min(drawn) == 1
    assert 2 < max(drawn) <= 16
    assert 0.3 < drawn.count(1) / len(drawn) < 0.6
    assert len({tuple(replace(benchmark, seed=seed).shard_counts.values()) for seed in range(9)}) > 5


def test_gold_sets_are_all_shards_in_any_case(benchmark_):
    gold = benchmark_.gold("school", ["STUDENT", "has_pet"])
    assert gold == benchmark_.shards["school", "student"] + benchmark_.shards["school", "has_pet"]
    assert benchmark_.gold("school", ()) == ()
    with pytest.raises(GraftError, match="gold table 'teacher' is not in database 'school'"):
        benchmark_.gold("school", ("teacher",))


def test_the_layout_of_bird(tmp_path):
    write_benchmark(tmp_path, "bird", {"shards": {}})
    benchmark = Benchmark.open("bird", tmp_path)
    assert benchmark.seed == 11
    assert benchmark.queries_file == tmp_path / "bird" / "queries.jsonl"
    assert [path.stem for path in benchmark.databases] == sorted(STATEMENTS)
    origins = {table.id.source: table.origin for table in benchmark.raw_tables()}
    assert origins["school"] == "dev_databases/school/school.sqlite"


def test_a_broken_database_is_a_reported_skip(tmp_path):
    folder = write_benchmark(tmp_path)
    (folder / "database" / "school" / "school.sqlite").write_bytes(b"no database")
    found = list(Benchmark.open("spider", tmp_path).raw_tables())
    skips = [table for table in found if isinstance(table, Skip)]
    assert [skip.origin for skip in skips] == ["database/school/school.sqlite"]
    assert {table.id.source for table in found if not isinstance(table, Skip)} == {"college", "clash"}
    assert statistics(found)["tables"] == len(found) - 1


def test_a_benchmark_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="unknown benchmark 'spidr': choose from spider, bird"):
        Benchmark.open("spidr", tmp_path)
    with pytest.raises(UsageError, match="--data-dir or set GRAFTJAX_DATA"):
        Benchmark.open("spider", tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not readable as JSON"),
        ("[]", "a JSON object is wanted"),
        ('{"seed": "x"}', "seed must be"),
        ('{"seed": 1, "shards": {"school.student": "four"}}', "positive number"),
        ('{"seed": 1, "shards": {"school.student": 0}}', "positive number"),
        ('{"seed": 1, "shards": [1]}', "positive number"),
    ],
)
def test_a_bad_list_of_shards(text, said, tmp_path):
    folder = write_benchmark(tmp_path)
    (folder / "shards.json").write_text(text)
    with pytest.raises(GraftError, match=said) as error:
        _ = Benchmark.open("spider", tmp_path).shard_counts
    assert "\n" not in str(error.value)
    assert "shards.json" in str(error.value)
