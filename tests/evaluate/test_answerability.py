from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_benchmark import SHARDS, write_benchmark  # pyright: ignore[reportMissingImports]

from graftjax.errors import GraftError
from graftjax.evaluate import answers
from graftjax.evaluate.answerability import answer_lines, answerability, judge, read_runs
from graftjax.evaluate.answers import Answer, PartialDatabase, Statement, same_answer
from graftjax.evaluate.cases import Case
from graftjax.intent import Query
from graftjax.lake.benchmark import Benchmark
from graftjax.lake.raw import RawTable
from graftjax.types import TableId

PUPILS = "SELECT Name, boss FROM Student"
ODD = [
    "CREATE TABLE people (id TEXT PRIMARY KEY COLLATE NOCASE, age INT, note BLOB) WITHOUT ROWID",
    "CREATE TABLE loose (rowid TEXT, n, twice AS (n * 2), word TEXT COLLATE NOCASE)",
    "CREATE INDEX of_n ON loose(n)",
    "CREATE TABLE diary (n)",
    "CREATE TRIGGER told AFTER DELETE ON loose BEGIN INSERT INTO diary VALUES (old.n); END",
    *(f"INSERT INTO people VALUES ('p{i}', {i}, x'00{i:02}')" for i in range(20)),
    *(f"INSERT INTO loose VALUES ('same', {i} / 2.0, 'Word' || {i % 3})" for i in range(20)),
    "INSERT INTO loose VALUES (NULL, NULL, CAST(x'ff41' AS TEXT))",
]


@pytest.fixture
def spider(tmp_path):
    write_benchmark(tmp_path, shards={"seed": 5, "shards": SHARDS | {"odd.people": 3, "odd.loose": 4}})
    folder = tmp_path / "spider" / "database" / "odd"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "odd.sqlite")) as connection, connection:
        for statement in ODD:
            connection.execute(statement)
    return Benchmark.open("spider", tmp_path)


@pytest.fixture
def database(spider):
    opened = []

    def make(name):
        path = next(path for path in spider.databases if path.stem == name)
        opened.append(PartialDatabase(spider, path))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def shards(benchmark, source, *tables):
    return [shard for table in tables for shard in benchmark.shards[source, table]]


def case(benchmark, id, sql, tables, db="school", dialect="sqlite"):
    gold = tuple(shards(benchmark, db, *tables))
    return Case(Query(id, f"{id}?", db, sql, dialect, tables), gold)


def run(cases, retrieved, *, method="graft", budget=5, seed=0):
    """The record of a run that retrieved, for each case, what `retrieved(case)` says."""
    return {
        "lake": "spider",
        "method": method,
        "L": budget,
        "seed": seed,
        "per_query": [
            {
                "id": one.query.id,
                "gold": [[t.source, t.name] for t in one.gold],
                "retrieved": [[t.source, t.name] for t in retrieved(one)],
            }
            for one in cases
        ],
    }


@pytest.mark.parametrize(
    ("sql", "dialect", "ordered"),
    [
        ("SELECT a FROM t", "sqlite", False),
        ("SELECT a FROM t ORDER BY a LIMIT 1", "sqlite", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", "sqlite", False),
        ("WITH c AS (SELECT a FROM t ORDER BY a) SELECT a FROM c", "sqlite", False),
        ("SELECT a FROM t UNION SELECT a FROM u ORDER BY a", "sqlite", True),
        ("SELECT rank() OVER (ORDER BY a) FROM t", "sqlite", False),
        ("SELECT `a` FROM `t` ORDER BY `a`", "mysql", True),
    ],
)
def test_an_order_counts_when_it_is_the_querys_own(sql, dialect, ordered):
    assert Statement.read(sql, dialect).ordered is ordered


def test_sql_of_sqlite_stays_and_any_other_is_translated():
    assert Statement.read("SELECT  `a`;").sql == "SELECT  `a`;"
    with closing(sqlite3.connect(":memory:")) as connection:
        halves = connection.execute(Statement.read('SELECT 1 / 2, "x"', "mysql").sql).fetchone()
    assert halves == (0.5, "x")
    for sql, dialect in (("SELECT FROM WHERE (", "sqlite"), ("SELECT 1", "klingon")):
        with pytest.raises(GraftError, match="can't be read as"):
            Statement.read(sql, dialect)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        (0.3, 0.3001, False),
        (2**60, 2**60 + 1, False),
        (1, "1", False),
        ("a", "a ", False),
        (None, 0, False),
        (None, None, True),
        (b"x", "x", False),
        (float("inf"), float("inf"), True),
    ],
)
def test_numbers_are_compared_with_a_tolerance_and_the_rest_exactly(a, b, equal):
    for ordered in (True, False):
        assert same_answer(Answer(((a,),)), Answer(((b,),)), ordered) is equal


cells = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([0.5, 1.25]), st.sampled_from("ab"))
tables = st.lists(st.tuples(cells, cells), max_size=8)


@given(rows=tables, seed=st.integers(0, 99))
def test_multisets_are_equal_whatever_the_order_and_small_errors(rows, seed):
    other = [tuple(v * (1 + 1e-13) if isinstance(v, float) else v for v in row) for row in rows]
    random.Random(seed).shuffle(other)
    assert same_answer(Answer(tuple(rows)), Answer(tuple(other)), ordered=False)


@given(a=tables, b=tables)
def test_multisets_differ_when_their_sorted_rows_do(a, b):
    expected = sorted(map(repr, a)) == sorted(map(repr, b))
    assert same_answer(Answer(tuple(a)), Answer(tuple(b)), ordered=False) is expected


def test_lists_differ_by_order_and_no_answer_is_equal_to_none():
    first, second = Answer(((1,), (2,))), Answer(((2,), (1,)))
    assert not same_answer(first, second, ordered=True)
    assert same_answer(first, second, ordered=False)
    assert not same_answer(Answer(reason="x"), Answer(reason="x"), ordered=False)
    assert not same_answer(Answer(((1,), (1,))), Answer(((1,),)), ordered=False)


@pytest.mark.parametrize(
    ("name", "table", "sql"),
    [
        ("school", "student", "SELECT * FROM Student"),
        ("odd", "people", "SELECT id, age, note FROM people"),
        ("odd", "loose", "SELECT rowid, n, twice, CAST(word AS BLOB) FROM loose"),
    ],
)
def test_rows_are_those_the_lake_has_in_the_shards(spider, database, name, table, sql):
    """Without row ids, with a column that hides them, with generated columns and triggers."""
    partial = database(name)
    path = next(path for path in spider.databases if path.stem == name)
    raw = next(raw for raw in spider.source_tables(path) if raw.id.name.lower() == table)
    dealt = {part.id: part for part in spider.deal(raw) if isinstance(part, RawTable)}
    everything = partial.full(sql)
    for kept in ([], list(dealt)[:1], list(dealt)[1:], list(dealt)):
        rows = [row for id in kept for row in zip(*dealt[id].data.to_pydict().values(), strict=True)]
        found = partial.partial(sql, [table], kept)
        assert not found.reason
        assert len(found.rows) == len(rows)
        plain = [row[:3] for row in found.rows]  # of a word the lake has decoded its odd bytes
        assert sorted(plain, key=repr) == sorted((row[:3] for row in rows), key=repr)
        order = [everything.rows.index(row) for row in found.rows]
        assert order == sorted(order), "rows keep their order in the source"
        assert partial.full(sql) == everything, "nothing is lost for the next query"
    assert not partial.full("SELECT * FROM sqlite_master WHERE type = 'trigger'").rows


def test_affinities_and_collations_are_those_of_the_source(spider, database):
    partial, kept = database("odd"), shards(spider, "odd", "people", "loose")
    sql = "SELECT count(*) FROM people WHERE id = 'P7' AND age = '7'"
    assert partial.partial(sql, ["people"], kept).rows == ((1,),)
    assert partial.partial("SELECT DISTINCT word FROM loose WHERE word = 'WORD1'", ["loose"], kept).rows == (
        ("Word1",),
    )


def test_other_tables_of_the_database_are_not_there(spider, database):
    partial, kept = database("school"), shards(spider, "school", "student")
    assert partial.partial(PUPILS, ["student"], kept).rows
    found = partial.partial("SELECT count(*) FROM Student, has_pet", ["student"], kept)
    assert found.reason == "reads has_pet, which is not among the query's tables"
    assert partial.full("SELECT count(*) FROM Student, has_pet").rows == ((600,),)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM Student",
        "ATTACH DATABASE 'there.sqlite' AS there",
        "PRAGMA foreign_keys = ON",
        "CREATE TABLE mine (a)",
        "SELECT load_extension('there')",
        "SELECT 1; SELECT 2",
        "SELECT '\ud800'",
        "SELECT \0",
    ],
)
def test_sql_may_only_read(database, sql):
    partial = database("school")
    assert partial.full(sql).reason
    assert partial.full("SELECT count(*) FROM Student").rows == ((40,),)


def test_endless_and_endlessly_long_answers_are_given_up(database, monkeypatch):
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT "
    partial = database("school")
    monkeypatch.setattr(answers, "MAX_STEPS", 100_000)
    assert partial.full(f"{endless} count(*) FROM c").reason == "more than 100,000 steps"
    monkeypatch.setattr(answers, "MAX_ROWS", 10)
    assert partial.full(f"{endless} n FROM c").reason == "more than 10 rows"
    assert len(partial.full("SELECT * FROM Student LIMIT 10").rows) == 10


def test_a_broken_database_is_named(spider):
    path = spider.databases[0]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:100] + b"\0" * 900)
    with pytest.raises(GraftError, match=path.name):
        PartialDatabase(spider, path)


@pytest.fixture
def cases(spider):
    join = "SELECT Name, PetID FROM Student JOIN Has_Pet USING (StuID) WHERE PetID < 600 ORDER BY PetID"
    return [
        case(spider, "whole", PUPILS, ("student",)),
        case(spider, "join", join, ("student", "has_pet")),
        case(spider, "lucky", "SELECT max(StuID) > 0 FROM Student", ("student",)),
        case(spider, "empty", "SELECT Name FROM Student WHERE boss < 0", ("student",)),
        case(spider, "none", "SELECT count(*) FROM Student WHERE boss < 0", ("student",)),
        case(spider, "mysql", "SELECT COUNT(*) / 7 FROM `Student`", ("student",), dialect="mysql"),
        case(spider, "failing", "SELECT colour FROM Student", ("student",)),
    ]


def test_figures_of_runs(spider, cases):
    whole = run(cases, lambda one: one.gold)
    part = run(cases, lambda one: (*one.gold[:1], TableId("school", "another")), method="dtr")
    nothing = run(cases, lambda one: (), method="jar")
    records = [whole, part, nothing]
    found = answerability(records, judge(spider, cases, records, progress=False))
    assert (found["queries"], found["empty"], found["trivial"]) == (6, 1, 2)
    assert found["failed"] == {"failing": "no such column: colour"}
    assert found["exceptions"] == {}
    figures = found["budgets"][5]
    assert figures["graft"]["answerability"] == figures["graft"]["sufficiency"] == [1.0, 1.0, 1.0]
    assert figures["graft"]["lucky"] == 0
    # A shard is enough for `lucky`, `empty` and `none`; without rows max() is no number.
    assert figures["dtr"]["answerability"][0] == 0.5
    assert figures["dtr"]["sufficiency"][0] == 0
    assert (figures["dtr"]["lucky"], figures["dtr"]["lucky_trivial"]) == (3, 2)
    assert figures["dtr"]["without_trivial"]["queries"] == 4
    assert figures["dtr"]["without_trivial"]["answerability"][0] == 0.25
    assert figures["jar"]["without_trivial"]["difference"] == [0, 0, 0]
    lines = answer_lines({"title": "Tiny", **found})
    assert lines[2].startswith("| graft | 1.000 [1.00, 1.00] | 1.000 | 0 | 1.000 / 1.000 |")


def test_runs_that_differ_by_seed_are_averaged(spider, cases):
    here = cases[:1]
    records = [run(here, lambda one: one.gold), run(here, lambda one: one.gold[1:], seed=1)]
    figures = answerability(records, judge(spider, here, records, progress=False))["budgets"][5]["graft"]
    assert (figures["runs"], figures["answerability"][0], figures["sufficiency"][0]) == (2, 0.5, 0.5)


def test_a_sufficient_set_with_another_answer_is_told_with_its_reason(spider):
    odd = [
        case(spider, "random", "SELECT random(), * FROM Student", ("student",)),
        case(spider, "unlisted", "SELECT count(*) FROM Student, has_pet", ("student",)),
    ]
    records = [run(odd, lambda one: one.gold)]
    found = answerability(records, judge(spider, odd, records, progress=False))
    assert found["exceptions"] == {
        "random": "the SQL asks for the time or for random numbers",
        "unlisted": "reads has_pet, which is not among the query's tables",
    }
    assert sum(found["budgets"][5]["graft"]["no_answer"].values()) == 2


def test_runs_over_other_shards_are_refused(spider, cases):
    other = run(cases[:1], lambda one: ())
    other["per_query"][0]["gold"] = [["school", "student_77"]]
    with pytest.raises(GraftError, match="other data"):
        judge(spider, cases, [other], progress=False)


def test_a_database_of_which_the_lake_has_not_all_rows_has_no_answers(spider, cases, monkeypatch):
    monkeypatch.setattr(PartialDatabase, "_lake_rows", {"student": 39})
    records = [run(cases[:1], lambda one: one.gold[1:])]
    judged = judge(spider, cases, records, progress=False)
    assert "not all rows" in judged["whole"].failed


def test_runs_of_a_lake_are_found_by_their_content(spider, cases, tmp_path):
    for made in (
        run(cases, lambda one: (), method="dtr+unions"),
        run(cases, lambda one: (), method="dtr", budget=10),
        run(cases, lambda one: (), method="graft-fill"),
        run(cases, lambda one: ()) | {"lake": "spider_x"},
    ):
        name = f"{made['lake']}_{made['method'].replace('+', '-')}_L{made['L']}_seed0.json"
        (tmp_path / name).write_text(json.dumps(made))
    found = [(one["method"], one["L"]) for one in read_runs(tmp_path, "spider")]
    assert found == [("graft-fill", 5), ("dtr", 10), ("dtr+unions", 5)]


RUN = {"lake": "spider", "method": "a", "L": 5, "seed": 0, "per_query": []}


@pytest.mark.parametrize(
    "made",
    [
        [],
        {"lake": "spider"},
        {**RUN, "L": "5"},
        {**RUN, "per_query": [1]},
        {**RUN, "per_query": [{}]},
        {**RUN, "per_query": [{"id": 1, "retrieved": [], "gold": []}]},
        {**RUN, "per_query": [{"id": "a", "retrieved": [["x"]], "gold": []}]},
    ],
)
def test_a_broken_result_file_is_named(made, tmp_path):
    (tmp_path / "spider_a_L5_seed0.json").write_text(json.dumps(made))
    with pytest.raises(GraftError, match=r"spider_a_L5_seed0\.json: not the result file"):
        read_runs(tmp_path, "spider")
