"""Rows are read again from where the index found them; what has changed since is said."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from synthesised import join, union

from graftjax.errors import GraftError
from graftjax.fuse import FolderSource, MemorySource, RawSource, fuse, lake_source
from graftjax.fuse.keep import Kept
from graftjax.lake.folder import find_tables
from graftjax.lake.profile import profile_table
from graftjax.lake.raw import RawTable
from graftjax.types import Synthesis, TableId


@pytest.fixture
def lake(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text("id,name\n1,Ada\n2,Bo\n")
    pq.write_table(pa.table({"id": [3], "name": ["Cy"]}), tmp_path / "in/b.parquet")
    with closing(sqlite3.connect(tmp_path / "clubs.sqlite")) as connection:
        connection.execute("CREATE TABLE member (player INTEGER, club TEXT)")
        connection.executemany("INSERT INTO member VALUES (?, ?)", [(1, "AIB"), (3, "Town")])
        connection.execute("CREATE TABLE other (x)")
        connection.commit()
    return tmp_path


def profiles(lake):
    return tuple(profile_table(raw) for raw in find_tables(lake) if isinstance(raw, RawTable))


A, B, MEMBER = TableId("in", "a"), TableId("in", "b"), TableId("clubs", "member")
ANSWER = Synthesis(
    (A, B, MEMBER),
    (
        union("in/a", "in/b", ("id", "id"), ("name", "name")),
        join("in/a", "clubs/member", ("id", "player")),
    ),
    1.0,
)


def test_csv_parquet_and_sqlite_are_fused_from_their_files(lake):
    found = fuse(ANSWER, FolderSource(lake, profiles(lake)))
    data = found.to_arrow()
    assert sorted(zip(data["name"].to_pylist(), data["club"].to_pylist(), strict=True)) == [
        ("Ada", "AIB"),
        ("Cy", "Town"),
    ]


def test_what_was_not_read_literally_is_said(lake):
    (lake / "in/a.csv").write_text("id,name\n1,Ada\n2\n")
    found = fuse(ANSWER, FolderSource(lake, profiles(lake)))
    assert any(note.startswith("in/a: 1 row is short") for note in found.notes)


def test_every_table_of_a_lake_is_read_as_it_was_indexed(lake):
    tables = profiles(lake)
    data = lake_source(tables, lake).read([table.id for table in tables])
    for table in tables:
        assert data[table.id].column_names == [column.name for column in table.columns]
        assert data[table.id].num_rows == table.n_rows


def test_only_the_files_that_are_needed_are_read_and_each_once(lake):
    source = FolderSource(lake, profiles(lake))
    (lake / "in/b.parquet").unlink()
    (lake / "clubs.sqlite").unlink()
    first = source.read([A])[A]
    (lake / "in/a.csv").unlink()
    assert source.read([A])[A] is first


def test_a_vanished_file_is_named(lake):
    source = FolderSource(lake, profiles(lake))
    (lake / "in/a.csv").unlink()
    with pytest.raises(GraftError, match=r"a\.csv: the file of table in/a has vanished"):
        fuse(ANSWER, source)


@pytest.mark.parametrize("text", ["id,name\n1,Ada\n2,Bob\n", "id,name\n1,Ada\n", "id,nom\n1,Ada\n2,Bo\n"])
def test_a_changed_file_is_named(lake, text):
    source = FolderSource(lake, profiles(lake))
    (lake / "in/a.csv").write_text(text)
    with pytest.raises(GraftError, match=r"a\.csv: table in/a has changed"):
        source.read([A])


def test_a_file_that_is_no_table_any_more_is_named(lake):
    source = FolderSource(lake, profiles(lake))
    (lake / "in/a.csv").write_text("")
    (lake / "in/b.parquet").write_text("nonsense")
    for id, name in ((A, "a.csv"), (B, "b.parquet")):
        with pytest.raises(GraftError, match=name):
            source.read([id])


def test_a_dropped_table_of_a_database_is_named(lake):
    source = FolderSource(lake, profiles(lake))
    with closing(sqlite3.connect(lake / "clubs.sqlite")) as connection:
        connection.execute("DROP TABLE member")
        connection.commit()
    with pytest.raises(GraftError, match=r"clubs\.sqlite: has no table member"):
        source.read([MEMBER])


def test_a_table_that_the_index_does_not_know_is_named(lake):
    for source in (FolderSource(lake, profiles(lake)), MemorySource({})):
        assert isinstance(source, RawSource)
        with pytest.raises(GraftError, match="no such table"):
            source.read([TableId("no", "where")])


def test_names_that_are_not_utf8_lead_back_to_their_file(tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9\n.csv"
    try:
        with open(path, "wb") as file:
            file.write(b"x,y\n1,2\n")
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    (table,) = profiles(tmp_path)
    assert FolderSource(tmp_path, [table]).read([table.id])[table.id]["x"].to_pylist() == [1]


def test_what_is_kept_is_bounded_and_the_oldest_goes_first():
    kept = Kept(10)
    kept.put("a", 1, 4)
    kept.put("b", 2, 4)
    assert kept.get("a") == 1
    kept.put("c", 3, 4)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)
    kept.put("huge", 4, 11)
    kept.put("a", 5, 6)
    assert (kept.get("huge"), kept.get("a"), kept.get("c")) == (None, 5, 3)
