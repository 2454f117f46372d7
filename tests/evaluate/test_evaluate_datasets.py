from __future__ import annotations

import json
import os
import sqlite3

import pytest

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate import datasets
from graftjax.evaluate.cases import load_cases
from graftjax.evaluate.datasets import beside, index_folder, open_lake, resolve_dataset
from graftjax.lake.record import LakeIndex
from graftjax.types import Skip, TableId


def write_jsonl(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def spider(tmp_path):
    """A data directory with a Spider of one database, whose `pet` is dealt to two shards."""
    folder = tmp_path / "data" / "spider"
    (folder / "database" / "zoo").mkdir(parents=True)
    with sqlite3.connect(folder / "database" / "zoo" / "zoo.sqlite") as connection:
        connection.execute("CREATE TABLE Pet (id INTEGER, owner_id INTEGER)")
        connection.execute("CREATE TABLE owner (id INTEGER, name TEXT)")
        connection.executemany("INSERT INTO Pet VALUES (?, ?)", [(n, n % 3) for n in range(8)])
        connection.executemany("INSERT INTO owner VALUES (?, ?)", [(n, f"owner {n}") for n in range(3)])
    connection.close()
    (folder / "shards.json").write_text(json.dumps({"seed": 5, "shards": {"zoo.Pet": 2}}))
    write_jsonl(
        folder / "queries.jsonl",
        {
            "id": "good",
            "question": "Pets?",
            "db_id": "zoo",
            "gold_sql": "SELECT * FROM pet",
            "gold_tables": ["pet"],
        },
        {
            "id": "other",
            "question": "Who?",
            "db_id": "zoo",
            "gold_sql": "SELECT * FROM owner",
            "gold_tables": ["pet"],
        },
        {"id": "from sql", "question": "Owners?", "db_id": "zoo", "gold_sql": "SELECT * FROM Owner AS T1"},
        {"id": "bare", "question": "What?", "db_id": "zoo"},
        {"id": "absent", "question": "What?", "db_id": "zoo", "gold_tables": ["cage"]},
        {
            "id": "bad sql",
            "question": "?",
            "db_id": "zoo",
            "gold_sql": "SELEC (",
            "gold_tables": ["owner"],
        },
    )
    return tmp_path / "data"


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("GRAFTJAX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


def test_auto_without_data_is_the_demo_lake_and_shouts(capsys):
    dataset = resolve_dataset("auto", default="spider")
    assert (dataset.lake, dataset.benchmark) == ("demo", None)
    notice = capsys.readouterr().err
    assert "DEMO LAKE" in notice
    assert "--data-dir" in notice
    assert "spider" in dataset.title


def test_auto_finds_the_benchmark_by_flag_variable_and_working_folder(spider, monkeypatch, capsys):
    assert resolve_dataset("auto", data_dir=spider).lake == "spider"
    monkeypatch.setenv("GRAFTJAX_DATA", str(spider))
    by_variable = resolve_dataset("auto")
    monkeypatch.delenv("GRAFTJAX_DATA")
    monkeypatch.chdir(spider.parent)
    by_folder = resolve_dataset("auto")
    assert by_variable.location == by_folder.location == (spider / "spider").resolve()
    assert index_folder(by_variable) == index_folder(by_folder)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lake": "spyder"}, "spyder"),
        ({"lake": "spider"}, "spider is not at"),
        ({"lake": "bird"}, "bird is not at"),
        ({"lake": "auto", "data_dir": "nowhere"}, "nowhere: no such folder"),
        ({"lake": "demo", "queries": "none.jsonl"}, "none.jsonl: no such file"),
        ({"lake": "."}, "needs --queries"),
        ({"lake": "auto", "queries": "mine.jsonl"}, "spider is not at"),  # never asked of another lake
    ],
)
def test_wrong_arguments_are_usage_errors(arguments, message, tmp_path):
    write_jsonl(tmp_path / "cwd" / "mine.jsonl", {"id": "1", "question": "?"})
    for name in ("data_dir", "queries"):
        if name in arguments:
            arguments[name] = tmp_path / "cwd" / arguments[name]
    with pytest.raises(UsageError, match=message.replace(".", r"\.")):
        resolve_dataset(**arguments)


def test_a_folder_called_like_a_benchmark_keeps_its_results_apart(tmp_path):
    queries = write_jsonl(tmp_path / "q.jsonl", {"id": "1", "question": "?"})
    for name, label in [("bird", "bird-folder"), ("my lake", "my-lake"), ("...", "folder")]:
        (tmp_path / "x" / name).mkdir(parents=True)
        assert resolve_dataset(str(tmp_path / "x" / name), queries=queries).lake == label


def test_bird_says_subset_unless_all_databases_are_there(tmp_path):
    folder = tmp_path / "bird"
    for name in sorted(datasets._BIRD_DEV):
        (folder / "dev_databases" / name).mkdir(parents=True)
        (folder / "dev_databases" / name / f"{name}.sqlite").touch()
    write_jsonl(folder / "queries.jsonl", {"id": "1", "question": "?"})
    assert resolve_dataset("bird", data_dir=tmp_path).title == "BIRD"
    (folder / "dev_databases" / "toxicology" / "toxicology.sqlite").unlink()
    assert resolve_dataset("bird", data_dir=tmp_path).title == "BIRD subset"


def test_index_folders_differ_by_location_and_seed(spider):
    first = index_folder(resolve_dataset("spider", data_dir=spider))
    shards = spider / "spider" / "shards.json"
    shards.write_text(shards.read_text().replace("5", "6"))
    assert index_folder(resolve_dataset("spider", data_dir=spider)) != first
    assert first.parent.name == "graftjax"
    assert first.name.startswith("spider-")
    assert index_folder(resolve_dataset("demo"), spider) == spider


class FakeEncoder:
    name = "fake"


def test_index_is_built_when_missing_stale_or_unreadable_only(spider, monkeypatch, tmp_path):
    import graftjax.lake.index as module

    built, broken = [], []
    new, old = object.__new__(LakeIndex), object.__new__(LakeIndex)

    def build(tables, folder, encoder, **_):
        built.append([table.id for table in tables if not isinstance(table, Skip)])
        folder.mkdir(exist_ok=True)
        return new

    def reopen(folder, encoder_name=None):
        assert encoder_name == "fake"
        if broken:
            raise GraftError("another encoder")
        return old

    monkeypatch.setattr(module, "build_index", build)
    monkeypatch.setattr(module, "open_index", reopen)
    folder = tmp_path / "some" / "index"

    def opened():
        return open_lake(resolve_dataset("spider", data_dir=spider), folder, FakeEncoder())

    assert opened() is new
    assert len(built[0]) == 3  # two shards and one whole table
    assert opened() is old
    database = spider / "spider" / "database" / "zoo" / "zoo.sqlite"
    os.utime(database, (1, 1))
    assert opened() is new
    assert opened() is old
    beside(folder, "source.json").write_text("{")  # a broken record is no reason to trust the index
    assert opened() is new
    broken.append(True)
    assert opened() is new
    broken.clear()
    beside(folder, "source.json").unlink()  # an index that was built by hand
    assert opened() is old
    assert len(built) == 4


def test_cases_of_a_benchmark(spider):
    dataset = resolve_dataset("spider", data_dir=spider)
    assert dataset.benchmark is not None
    lake = [table for shards in dataset.benchmark.shards.values() for table in shards]
    loaded = load_cases(dataset, lake)
    cases = {case.query.id: case for case in loaded.cases}
    pets, owner = {TableId("zoo", "Pet_1"), TableId("zoo", "Pet_2")}, (TableId("zoo", "owner"),)
    assert set(cases["good"].gold) == pets
    assert set(cases["other"].gold) == pets  # recorded tables count, the difference is told
    assert cases["from sql"].gold == cases["bad sql"].gold == owner
    assert "neither" in cases["bare"].reason
    assert "cage" in cases["absent"].reason
    assert not cases["good"].reason
    assert [warning.split(":")[0] for warning in loaded.warnings] == ["other", "bad sql"]
    assert "pet" in loaded.warnings[0]
    assert "owner" in loaded.warnings[0]


def test_gold_tables_outside_of_the_index_are_told(spider):
    dataset = resolve_dataset("spider", data_dir=spider)
    loaded = load_cases(dataset, [TableId("zoo", "owner"), TableId("zoo", "Pet_1")])
    assert any("1 of 3 gold tables" in warning and "Pet_2" in warning for warning in loaded.warnings)
    with pytest.raises(UsageError, match="another lake"):
        load_cases(dataset, [TableId("", "x")])


def test_cases_of_a_folder_by_field_and_by_name(tmp_path):
    tables = [TableId("shop", "Orders"), TableId("old/shop", "orders"), TableId("shop", "items")]
    queries = write_jsonl(
        tmp_path / "q.jsonl",
        {
            "id": "field",
            "question": "?",
            "gold": [["old/shop", "orders"], *[["shop", "items"]] * 2],
        },
        {"id": "name", "question": "?", "db_id": "shop", "gold_tables": ["ORDERS"]},
        {"id": "elsewhere", "question": "?", "db_id": "old/shop", "gold_tables": ["items"]},
        {"id": "none", "question": "?", "gold": []},
    )
    (tmp_path / "lake").mkdir()
    dataset = resolve_dataset(str(tmp_path / "lake"), queries=queries)
    cases = {case.query.id: case for case in load_cases(dataset, tables).cases}
    assert cases["field"].gold == (tables[1], tables[2])
    assert cases["name"].gold == (tables[0],)
    assert "items" in cases["elsewhere"].reason
    assert cases["none"].reason


@pytest.mark.parametrize(
    "text", ["{", '{"id": "1"}', '{"id": "1", "question": "?", "gold": ["shop/orders"]}']
)
def test_broken_query_file_is_a_usage_error_with_its_line(tmp_path, text):
    (tmp_path / "q.jsonl").write_text("\n" + text + "\n")
    with pytest.raises(UsageError, match="line 2"):
        load_cases(resolve_dataset("demo", queries=tmp_path / "q.jsonl"), [])


def test_demo_queries_have_their_gold_sets():
    loaded = load_cases(resolve_dataset("demo"), [])
    assert len(loaded.cases) >= 30
    assert all(case.gold and not case.reason for case in loaded.cases)
    # An empty lake holds none of them; nothing else is odd, so gold tables and gold SQL agree.
    assert len(loaded.warnings) == 1
    assert "not in the lake" in loaded.warnings[0]
