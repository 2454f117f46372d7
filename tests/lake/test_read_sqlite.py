"""Every user table and view of a database is read; a broken part is a Skip and stops nothing."""

# pyright: reportAttributeAccessIssue=false
# (a Skip where a table is due fails the test by itself)

import os
import shutil
import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest

from graftjax.lake.read_sqlite import list_tables, read_sqlite
from graftjax.types import Skip


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "odd name?#%.sqlite"

    def _make(script: str, *parameters: tuple[str, tuple]):
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
            for statement, values in parameters:
                connection.execute(statement, values)
            connection.commit()
        return {
            (item.id.name if not isinstance(item, Skip) else item.reason): item
            for item in read_sqlite(path, "db", "db.sqlite")
        }

    return _make


def test_tables_views_and_without_rowid(database):
    found = database(
        """
        CREATE TABLE [we "q" x] (id INTEGER PRIMARY KEY AUTOINCREMENT, x REAL);
        INSERT INTO [we "q" x] (x) VALUES (1.5), (2);
        CREATE TABLE k (a TEXT PRIMARY KEY, b) WITHOUT ROWID;
        INSERT INTO k VALUES ('p', 1), ('q', NULL);
        CREATE TABLE hollow (id INT, name TEXT);
        CREATE VIEW v AS SELECT a, a AS A2, b FROM k WHERE b = 1;
        """
    )
    assert set(found) == {'we "q" x', "k", "hollow", "v"}
    assert found['we "q" x'].data.to_pydict() == {"id": [1, 2], "x": [1.5, 2.0]}
    assert found["k"].data.to_pydict() == {"a": ["p", "q"], "b": [1, None]}
    assert found["hollow"].data.num_rows == 0
    assert found["hollow"].data.column_names == ["id", "name"]
    assert found["v"].data.num_rows == 1


def test_text_bytes_and_mixed_columns(database):
    found = database(
        "CREATE TABLE t (name TEXT, mixed, zip TEXT, big, blob, textblob);",
        (
            "INSERT INTO t VALUES (CAST(? AS TEXT), ?, ?, ?, ?, ?)",
            (b"Jos\xe9", 1, "00501", 2**60, b"\x00\xff", b"ok"),
        ),
        ("INSERT INTO t VALUES (CAST(? AS TEXT), ?, ?, ?, ?, ?)", ("é".encode(), "NA", "", 1.5, None, b"no")),
        ("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", (None, 2.0, None, None, b"x", None)),
    )
    data = found["t"].data
    assert data["name"].to_pylist() == ["José", "é", None]
    assert data["mixed"].to_pylist() == ["1", "NA", "2"]
    assert data["zip"].to_pylist() == ["00501", "", None]
    assert data["big"].to_pylist() == [str(2**60), "1.5", None]
    assert data["blob"].to_pylist() == [b"\x00\xff", None, b"x"]
    assert data["textblob"].to_pylist() == ["ok", "no", None]


def test_types_may_change_between_batches(database, monkeypatch):
    monkeypatch.setattr("graftjax.lake.read_sqlite._BATCH", 2)
    rows = [(1, 1, None), (2, 2, None), (3, 2.5, None), (4, None, "x"), ("five", 3, None)]
    found = database("CREATE TABLE t (a, b, c);", *[("INSERT INTO t VALUES (?, ?, ?)", row) for row in rows])
    data = found["t"].data
    assert data["a"].to_pylist() == ["1", "2", "3", "4", "five"]
    assert data["b"].to_pylist() == [1.0, 2.0, 2.5, None, 3.0]
    assert data["c"].to_pylist() == [None, None, None, "x", None]
    assert data.schema.types == [pa.large_string(), pa.float64(), pa.large_string()]


def test_broken_and_endless_views_do_not_stop_the_rest(database, monkeypatch):
    monkeypatch.setattr("graftjax.lake.read_sqlite._VIEW_STEPS", 1_000_000)
    found = database(
        """
        CREATE TABLE t (a); INSERT INTO t VALUES (1);
        CREATE TABLE gone (a); CREATE VIEW a_broken AS SELECT * FROM gone; DROP TABLE gone;
        CREATE VIEW b_endless AS
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r;
        """
    )
    assert "t" in found
    assert "view b_endless: takes too long" in found
    assert any(reason.startswith("view a_broken: can not be read") for reason in found)


def test_view_can_not_write_files_or_load_code(database, tmp_path):
    found = database("CREATE TABLE t (a); CREATE VIEW evil AS SELECT load_extension('x');")
    assert any(reason.startswith("view evil") for reason in found)
    assert [path.suffix for path in tmp_path.iterdir()] == [".sqlite"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (bytes(range(256)) * 16, "not a SQLite database"),
        (b"SQLite format 3\x00" + b"\x01" * 4000, "not readable as SQLite"),
    ],
)
def test_not_a_database(tmp_path, content, reason):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    (skip,) = read_sqlite(path, "x", "x.db")
    assert isinstance(skip, Skip)
    assert reason in skip.reason


def test_damaged_page_loses_only_its_table(tmp_path):
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE a (x); CREATE TABLE b (x);")
        connection.executemany("INSERT INTO a VALUES (?)", [("word" * 50,)] * 500)
        connection.executemany("INSERT INTO b VALUES (?)", [(1,)])
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'a'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.commit()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = b"\xee" * size
    path.write_bytes(data)
    first, second = read_sqlite(path, "x", "x.db")
    assert isinstance(first, Skip)
    assert first.reason.startswith("table a")
    assert second.data["x"].to_pylist() == [1]


def test_changes_in_a_write_ahead_log_are_read(tmp_path):
    live, path = tmp_path / "live.db", tmp_path / "lake" / "x.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(live)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (7)")
        connection.commit()
        # A copy as a backup makes it while the database is in use.
        shutil.copyfile(live, path)
        shutil.copyfile(tmp_path / "live.db-wal", tmp_path / "lake" / "x.db-wal")
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    (table,) = read_sqlite(path, "x", "x.db")
    assert table.data["a"].to_pylist() == [7]
    assert "read with the write-ahead log beside the file" in table.notes
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_an_interrupted_change_is_undone(tmp_path):
    live, path = tmp_path / "live.db", tmp_path / "lake" / "x.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(live)) as connection:
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", [("old" * 400,)] * 20)
        connection.commit()
        connection.execute("UPDATE t SET a = 'new'")  # spills to the file before it is committed
        shutil.copyfile(live, path)
        shutil.copyfile(tmp_path / "live.db-journal", tmp_path / "lake" / "x.db-journal")
        connection.rollback()
    (table,) = read_sqlite(path, "x", "x.db")
    assert set(table.data["a"].to_pylist()) == {"old" * 400}
    assert any("journal of an interrupted change" in note for note in table.notes)


def test_what_is_too_large_to_copy_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("graftjax.lake.open_sqlite.COPY_BYTES", 10)
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
    path.with_name("x.db-wal").write_bytes(b"pending")
    (table,) = read_sqlite(path, "x", "x.db")
    assert "write-ahead log" in table.notes[0]
    assert "not taken into account" in table.notes[0]


def test_virtual_generated_and_strict_tables(database):
    found = database(
        """
        CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('hello');
        CREATE TABLE g (a, b GENERATED ALWAYS AS (a * 2), c AS (a * 3) STORED); INSERT INTO g (a) VALUES (5);
        CREATE TABLE s (a INT, b TEXT) STRICT; INSERT INTO s VALUES (1, 'q');
        """
    )
    assert set(found) == {"f", "g", "s"}
    assert found["f"].data.to_pydict() == {"body": ["hello"]}
    assert found["g"].data.to_pydict() == {"a": [5], "b": [10], "c": [15]}
    assert found["s"].data.to_pydict() == {"a": [1], "b": ["q"]}


def test_names_are_quoted_and_printable(database):
    name = 'x"; DROP TABLE t; --'
    found = database(
        'CREATE TABLE t (a); CREATE TABLE "x""; DROP TABLE t; --" ("a""b", [select]);'
        'INSERT INTO "x""; DROP TABLE t; --" VALUES (1, 2);'
        'CREATE TABLE "line\nbreak" (a); CREATE TABLE "" (a);'
    )
    assert set(found) == {"t", name, "line\\x0abreak", ""}
    assert found[name].data.to_pydict() == {'a"b': [1], "select": [2]}


def test_utf16_database(database):
    found = database("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a); INSERT INTO t VALUES ('é');")
    assert found["t"].data["a"].to_pylist() == ["é"]


def test_a_database_that_changes_while_it_is_read(tmp_path):
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("CREATE TABLE a (x); CREATE TABLE b (x);")
    items = read_sqlite(path, "x", "x.db")
    assert next(items).id.name == "a"
    os.utime(path, ns=(1, 1))
    (skip,) = items
    assert skip == Skip("x.db", "table b: the database changed while it was read")


def test_a_value_beyond_the_limit_loses_only_its_table(database, monkeypatch):
    monkeypatch.setattr("graftjax.lake.read_sqlite._VALUE_LIMIT", 10_000)
    found = database(
        "CREATE TABLE a (x); INSERT INTO a VALUES (zeroblob(20000));"
        "CREATE TABLE b (x); INSERT INTO b VALUES (1);"
    )
    assert found["b"].data["x"].to_pylist() == [1]
    assert any(reason.startswith("table a: can not be read") for reason in found)


def test_more_rows_than_the_file_has_room_for(database, monkeypatch):
    """A damaged tree of pages may name one page again and again, which SQLite does not notice."""
    monkeypatch.setattr("graftjax.lake.read_sqlite._ROW_BYTES", 1_000_000)
    found = database(
        "CREATE TABLE t (a); INSERT INTO t WITH RECURSIVE r(n) AS"
        " (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1500) SELECT n FROM r;"
    )
    assert list(found) == ["table t: damaged, it has more rows than the file has room for"]


def test_a_damaged_name_is_a_skip(database, tmp_path):
    database("CREATE TABLE t (a); CREATE VIEW v AS SELECT a FROM t;")
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE t", b"CREATE TABL\x80 t"))
    (skip,) = read_sqlite(path, "db", "db.sqlite")
    assert isinstance(skip, Skip)
    assert list_tables(path) == ()
