from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tiny_benchmark import SHARDS, write_benchmark  # pyright: ignore[reportMissingImports]

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.cases import load_cases
from graftjax.evaluate.datasets import DEV_LAKES, index_folder, resolve_dataset
from graftjax.evaluate.dev_questions import dev_databases, read_dev, read_dev_questions
from graftjax.types import Skip, TableId

DATA = os.environ.get("GRAFTJAX_DATA")
"""Read here: the tests unset it."""
JOIN = "SELECT s.Name FROM Student AS s JOIN `HAS_PET` ON s.StuID = HAS_PET.StuID"
QUESTIONS = [
    ("Pets  of whom?", "school", JOIN),
    ("How many students?", "school", "SELECT count(*) FROM student"),
    # One table read twice, and a common table expression over it: still one.
    ("Who is whose boss?", "school", "WITH b AS (SELECT * FROM Student) SELECT * FROM b, Student"),
    (
        "Students in two lists?",
        "clash",
        'SELECT * FROM "Student" WHERE StuID IN (SELECT other FROM student_1)',
    ),
    ("Which cages?", "school", "SELECT * FROM Student JOIN cage JOIN has_pet"),
    ("Broken?", "school", "SELEC ("),
    ("Where?", "faculty", "SELECT * FROM a JOIN b"),
]
SPIDER, BIRD = "query", "SQL"


def write_dev(folder, sql_key=SPIDER, questions=QUESTIONS):
    entries = [
        {"question": question, "db_id": database, sql_key: sql, "evidence": "secret"}
        for question, database, sql in questions
    ]
    (folder / "dev.json").write_text(json.dumps(entries))
    return folder / "dev.json"


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("GRAFTJAX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=[("spider", SPIDER), ("bird", BIRD)], ids=["spider", "bird"])
def dataset(request, tmp_path):
    name, sql_key = request.param
    write_dev(write_benchmark(tmp_path, name, {"seed": 5, "shards": SHARDS}), sql_key)
    return resolve_dataset(f"{name}-dev", data_dir=tmp_path)


def test_the_lake_is_the_whole_tables_of_the_databases_that_are_asked(dataset):
    tables = [table for table in dataset.raw_tables() if not isinstance(table, Skip)]
    assert [table.id for table in tables] == [
        TableId("clash", "student"),
        TableId("clash", "student_1"),
        TableId("school", "Has_Pet"),
        TableId("school", "Student"),
        TableId("school", "empty_one"),
    ]  # no college: no question is about it
    assert tables[3].data.num_rows == 40
    assert "(subset)" in dataset.title  # faculty is not at hand


def test_questions_of_several_tables_are_the_cases(dataset):
    tables = [table for shards in dataset.benchmark.shards.values() for table in shards]
    loaded = load_cases(dataset, tables)
    school, clash = loaded.cases
    assert school.query.id == f"{dataset.lake}-0000"
    assert (school.query.question, school.query.db_id) == ("Pets  of whom?", "school")
    assert school.gold == (TableId("school", "Has_Pet"), TableId("school", "Student"))
    assert clash.gold == (TableId("clash", "student"), TableId("clash", "student_1"))
    assert all(case.query.intent is None and not case.query.subquestions for case in loaded.cases)
    assert all("secret" not in str(case.query) for case in loaded.cases)
    assert loaded.counts == {
        "questions in dev.json": 7,
        "left out, database not at hand": 1,
        "left out, fewer than two gold tables": 2,
        "left out, gold SQL can't be parsed": 1,
        "left out, gold table not at hand": 1,
    }
    broken, absent = loaded.warnings
    assert broken.startswith(f"{dataset.lake}-0005: gold SQL can't be parsed")
    assert absent.endswith("faculty (database), school.cage")


def test_questions_known_from_other_files_are_counted(dataset):
    lines = [
        {"id": "1", "db_id": "school", "question": " pets of WHOM?"},
        {"id": "2", "db_id": "clash", "question": "Pets of whom?"},
    ]
    for name, known in (("queries.jsonl", lines), ("tuning.jsonl", lines[1:])):
        (dataset.location / name).write_text("".join(json.dumps(line) + "\n" for line in known))
    counts = load_cases(dataset, []).counts
    assert counts["asked that are also in queries.jsonl"] == 1
    assert counts["asked that are also in tuning.jsonl"] == 0


def test_it_is_a_lake_of_its_own_beside_the_sharded_one(dataset, tmp_path):
    name = DEV_LAKES[dataset.lake]
    (dataset.location / "queries.jsonl").write_text('{"id": "1", "question": "?"}\n')
    sharded = resolve_dataset(name, data_dir=tmp_path)
    assert index_folder(sharded).name.startswith(f"{name}-")
    assert index_folder(dataset) != index_folder(sharded)
    assert dataset.stamp() != sharded.stamp()
    before = dataset.stamp()
    (dataset.location / "shards.json").write_text("{}")  # plays no part here
    assert dataset.stamp() == before
    write_dev(dataset.location, questions=QUESTIONS[:2])  # another set of databases is another lake
    assert resolve_dataset(dataset.lake, data_dir=tmp_path).stamp() != before
    assert sum(1 for _ in sharded.raw_tables()) > sum(1 for _ in dataset.raw_tables())


def test_another_file_of_queries_can_be_asked(dataset, tmp_path):
    queries = tmp_path / "mine.jsonl"
    queries.write_text(
        '{"id": "mine", "question": "?", "db_id": "school", "gold_tables": ["student", "cage"]}\n'
        '{"id": "one", "question": "?", "db_id": "school", "gold_tables": ["student"]}\n'
    )
    mine = resolve_dataset(dataset.lake, data_dir=tmp_path, queries=queries)
    cage, one = load_cases(mine, [TableId("school", "Student")]).cases
    assert "cage" in cage.reason
    assert one.gold == (TableId("school", "Student"),)


def test_a_lake_without_dev_json_or_its_databases_is_a_usage_error(tmp_path, capsys):
    folder = write_benchmark(tmp_path)
    with pytest.raises(UsageError, match=r"dev\.json: no such file"):
        resolve_dataset("spider-dev", data_dir=tmp_path)
    assert resolve_dataset("auto", default="spider-dev", data_dir=tmp_path).lake == "demo"
    assert "DEMO LAKE" in capsys.readouterr().err
    write_dev(folder, questions=QUESTIONS[-1:])
    with pytest.raises(UsageError, match="none of the databases"):
        resolve_dataset("spider-dev", data_dir=tmp_path)
    with pytest.raises(UsageError, match="bird is not at"):
        resolve_dataset("bird-dev", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not readable as JSON"),
        ("[" * 100_000, "not readable as JSON"),
        ("{}", "a JSON list"),
        ("[1]", "entry 0: a JSON object"),
        ('[{"question": "?", "db_id": "x", "query": "SELECT 1"}, {"question": "?"}]', "entry 1: db_id"),
        ('[{"question": "?", "db_id": "x", "sql": "SELECT 1"}]', "entry 0: query or SQL"),
        ('[{"question": 5, "db_id": "x", "SQL": "SELECT 1"}]', "entry 0: question"),
    ],
)
def test_a_broken_dev_json_is_told_with_its_entry(text, message, tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(text)
    with pytest.raises(GraftError, match=message):
        read_dev(path)


def test_ids_are_places_in_the_file(tmp_path):
    path = write_dev(tmp_path, questions=[QUESTIONS[1], QUESTIONS[0], QUESTIONS[0]])
    assert dev_databases(path) == {"school"}
    asked = read_dev_questions(path, "spider-dev", {("school", "student"), ("school", "has_pet")})
    assert [query.id for query in asked.queries] == ["spider-dev-0001", "spider-dev-0002"]


@pytest.mark.skipif(not DATA, reason="needs the benchmarks")
@pytest.mark.parametrize(("lake", "least", "skipped"), [("spider-dev", 440, 575), ("bird-dev", 900, 363)])
def test_counts_on_the_real_questions(lake, least, skipped):
    """Skipped for one table: the same numbers as in JAR's copies of the two files."""
    data = Path(str(DATA))
    if not (data / DEV_LAKES[lake] / "dev.json").is_file():
        pytest.skip(f"no {DEV_LAKES[lake]}")
    dataset = resolve_dataset(lake, data_dir=data)
    assert dataset.benchmark is not None
    lake_tables = [table for shards in dataset.benchmark.shards.values() for table in shards]
    loaded = load_cases(dataset, lake_tables)
    assert len(loaded.cases) >= least
    assert loaded.counts["left out, fewer than two gold tables"] == skipped
    assert "left out, gold SQL can't be parsed" not in loaded.counts
    assert all(len(case.gold) >= 2 and not case.reason for case in loaded.cases)
