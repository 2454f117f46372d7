"""A folder tree becomes tables with stable, distinct identities; nothing in it stops the others."""

# pyright: reportAttributeAccessIssue=false
# (a Skip where a table is due fails the test by itself)

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graftjax.errors import UsageError
from graftjax.lake.folder import find_tables
from graftjax.types import Skip, TableId


def write(path: Path, content: bytes | str = "a,b\n1,x\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def write_database(path: Path, name: str = "t") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {name} (a)")


def ids(root: Path) -> list[TableId]:
    return [item.id for item in find_tables(root) if not isinstance(item, Skip)]


def skips(root: Path) -> dict[str, str]:
    return {item.origin: item.reason for item in find_tables(root) if isinstance(item, Skip)}


def test_identities(tmp_path):
    write(tmp_path / "top.csv")
    write(tmp_path / "db1" / "users.CSV")
    write(tmp_path / "db2" / "users.csv.gz", b"")
    write(tmp_path / "db2" / "deep er" / "users.v2.tsv", "a\tb\n1\t2\n")
    write_database(tmp_path / "spider" / "car" / "car.sqlite")
    write_database(tmp_path / "plain" / "shop.db")
    assert ids(tmp_path) == [
        TableId("db1", "users"),
        TableId("db2/deep er", "users.v2"),
        TableId("plain/shop", "t"),
        TableId("spider/car", "t"),
        TableId("", "top"),
    ]
    assert skips(tmp_path) == {"db2/users.csv.gz": "empty file"}


def test_same_stem_takes_the_extension(tmp_path):
    write(tmp_path / "a.csv")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    write(tmp_path / "b.csv")
    write_database(tmp_path / "c.db")
    write_database(tmp_path / "c.sqlite")
    write_database(tmp_path / "d.db")
    write(tmp_path / "d" / "t.csv")
    write_database(tmp_path / "e" / "e.db")
    write(tmp_path / "e" / "t.csv")
    found = ids(tmp_path)
    assert len(set(found)) == len(found) == 9
    assert {TableId("", "a.csv"), TableId("", "a.parquet"), TableId("", "b")} <= set(found)
    assert {TableId("c.db", "t"), TableId("c.sqlite", "t"), TableId("d.db", "t"), TableId("d", "t")} <= set(
        found
    )
    assert {TableId("e/e", "t"), TableId("e", "t")} <= set(found)


def test_name_that_spells_an_extension_is_still_told_apart(tmp_path):
    for name in ("a.csv", "a.tsv", "a.csv.csv"):
        write(tmp_path / name)
    found = ids(tmp_path)
    assert {id.name for id in found} == {"a.csv", "a.tsv", "a.csv#2"}


def test_links_and_vanished_files(tmp_path):
    write(tmp_path / "in" / "a.csv")
    os.symlink(tmp_path, tmp_path / "in" / "loop")
    os.symlink(tmp_path / "in", tmp_path / "second")
    os.symlink(tmp_path / "nowhere.csv", tmp_path / "dangling.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert ids(tmp_path) == [TableId("in", "a")]
    assert set(skips(tmp_path)) == {"in/loop", "second", "dangling.csv", "pipe.csv"}


def test_file_vanishing_between_listing_and_reading(tmp_path):
    for name in "abc":
        write(tmp_path / f"{name}.csv")
    items = find_tables(tmp_path)
    assert next(items).id.name == "a"
    (tmp_path / "b.csv").unlink()
    gone, last = items
    assert isinstance(gone, Skip)
    assert gone.origin == "b.csv"
    assert last.id.name == "c"


def test_one_bad_file_of_each_kind_stops_nothing(tmp_path):
    for extension in ("csv", "tsv", "txt", "parquet", "pq", "sqlite", "sqlite3", "db"):
        write(tmp_path / f"bad_{extension}.{extension}", bytes(range(256)) * 8)
    for name in ("x.parquet.gz", "x.db.gz"):
        write(tmp_path / name, b"?")
    write(tmp_path / "good.csv")
    assert ids(tmp_path) == [TableId("", "good")]
    reasons = skips(tmp_path)
    assert len(reasons) == 10
    assert all(reason and "\n" not in reason for reason in reasons.values())


def test_other_files_are_counted(tmp_path):
    write(tmp_path / "a.csv")
    for name in ("x.pdf", "sub/y.PDF", "README", "z.tar.gz", ".hidden.csv"):
        write(tmp_path / name)
    assert skips(tmp_path) == {
        "*.pdf": "2 files of a kind that is not read",
        "*.gz": "1 file of a kind that is not read",
        "no extension": "1 file of a kind that is not read",
        "hidden": "1 file of a kind that is not read",
    }


def test_file_name_that_is_not_utf8(tmp_path):
    try:
        write(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")))
    except OSError:
        pytest.skip("the file system allows UTF-8 names only")
    (id,) = ids(tmp_path)
    assert id.name.encode("utf-8") == b"caf\\xe9"


def test_order_does_not_depend_on_creation(tmp_path):
    for root, names in ((tmp_path / "1", "abc"), (tmp_path / "2", "cba")):
        for name in names:
            write(root / f"{name}.csv")
    assert ids(tmp_path / "1") == ids(tmp_path / "2") == [TableId("", name) for name in "abc"]


def test_empty_and_missing_folder(tmp_path):
    assert list(find_tables(tmp_path)) == []
    with pytest.raises(UsageError, match="no such folder"):
        list(find_tables(tmp_path / "missing"))
