"""A folder tree becomes tables with stable, distinct identities; nothing in it stops the others."""

# pyright: reportAttributeAccessIssue=false
# (a Skip where a table is due fails the test by itself)

import os
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graftjax.errors import UsageError
from graftjax.lake.folder import find_tables
from graftjax.lake.read_csv import read_csv
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


def test_other_files_are_counted_and_some_are_named(tmp_path):
    write(tmp_path / "a.csv")
    for name in ("x.pdf", "sub/y.PDF", "README", ".hidden.csv", "p/1.png", "p/2.png", "p/3.png", "p/4.png"):
        write(tmp_path / name)
    assert skips(tmp_path) == {
        "*.pdf": "2 files of a kind that is not read: sub/y.PDF, x.pdf",
        "*.png": "4 files of a kind that is not read: p/1.png, p/2.png, p/3.png, ...",
        "no extension": "1 file of a kind that is not read: README",
        "hidden": "1 file of a kind that is not read: .hidden.csv",
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("x.xlsx", "spreadsheet"),
        ("x.XLS", "spreadsheet"),
        ("x.ods", "spreadsheet"),
        ("x.json", "JSON"),
        ("x.jsonl", "JSON"),
        ("x.feather", "Arrow"),
        ("x.arrow", "Arrow"),
        ("x.zip", "archive"),
        ("x.tar.gz", "archive"),
        ("x.pkl", "may run code"),
        ("x.parquet.gz", "compressed Parquet"),
        ("x.sqlite.gz", "compressed database"),
    ],
)
def test_files_that_may_hold_tables_are_each_reported(tmp_path, name, reason):
    write(tmp_path / "sub" / name, b"?")
    assert reason in skips(tmp_path)[f"sub/{name}"]


def test_files_beside_a_database_belong_to_it(tmp_path):
    write_database(tmp_path / "a.db")
    write(tmp_path / "a.db-shm", b"")
    write(tmp_path / "gone.db-wal", b"rows")
    assert skips(tmp_path) == {"*.db-wal": "1 file of a kind that is not read: gone.db-wal"}


def test_folders_and_sockets_with_the_name_of_a_table(tmp_path):
    write(tmp_path / "x.csv" / "t.csv")
    (tmp_path / "y.sqlite").mkdir()
    with socket.socket(socket.AF_UNIX) as end:
        place = os.getcwd()
        os.chdir(tmp_path)  # the path of a socket is short
        try:
            end.bind("s.csv")
        finally:
            os.chdir(place)
    os.symlink("/dev/zero", tmp_path / "zero.csv")
    os.symlink("self.csv", tmp_path / "self.csv")
    assert ids(tmp_path) == [TableId("x.csv", "t")]
    found = skips(tmp_path)
    assert found["s.csv"] == found["zero.csv"] == "not a regular file"
    assert "symbolic links" in found["self.csv"]


def test_names_can_not_forge_a_line_of_a_report(tmp_path):
    names = ["new\nline", "\x1b[2Jscreen", "tab\t", "\u202egnp", "C:\\Users\\me\\t", "caf\u00e9", "x" * 240]
    for name in names:
        write(tmp_path / f"{name}.csv")
    write(tmp_path / "bad\n.csv", b"")
    found = list(find_tables(tmp_path))
    printed = [item.reason if isinstance(item, Skip) else item.id.name for item in found]
    printed += [item.origin for item in found]
    assert all(text.isprintable() for text in printed)
    assert {"new\\x0aline", "\\x1b[2Jscreen", "C:\\Users\\me\\t", "café"} <= set(printed)
    assert "bad\\x0a.csv" in printed


def test_notes_that_quote_a_file_are_printable(tmp_path):
    write(tmp_path / "a.csv", "\x1b[2J Report\u202e,,\na,b,c\n1,2,3\n4,5,6\n")
    (table,) = find_tables(tmp_path)
    assert any("Report" in note for note in table.notes)
    assert all(note.isprintable() for note in table.notes)


def test_folders_nested_more_deeply_than_python_calls(tmp_path):
    place, depth = os.getcwd(), 1100
    os.chdir(tmp_path)
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("t.csv").write_text("a,b\n1,2\n")
        (item,) = find_tables(tmp_path)
        os.remove("t.csv")
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")
    finally:
        os.chdir(place)
    assert item.id == TableId("/".join("d" * depth), "t")


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path, turns = tmp_path / "a.csv", []
    write(path)

    def reader(file, id, origin):
        turns.append(file)
        table = read_csv(file, id, origin)
        if len(turns) <= changes:
            path.write_text("a,b\n" + "9,y\n" * (1 + len(turns)))
        return table

    monkeypatch.setattr("graftjax.lake.table_file.read_csv", reader)
    changes = 1
    (table,) = find_tables(tmp_path)
    assert table.data.to_pylist() == [{"a": 9, "b": "y"}] * 2
    changes = 99
    (skip,) = find_tables(tmp_path)
    assert skip == Skip("a.csv", "changed while it was read")


def test_a_fault_of_a_reader_is_a_skip(tmp_path, monkeypatch):
    def reader(*_):
        raise KeyError("oh\nno")

    write(tmp_path / "a.csv")
    write_database(tmp_path / "b.db")
    monkeypatch.setattr("graftjax.lake.table_file.read_csv", reader)
    monkeypatch.setattr("graftjax.lake.table_file.read_sqlite", reader)
    assert [item.origin for item in find_tables(tmp_path)] == ["a.csv", "b.db"]
    assert all("KeyError" in reason and reason.isprintable() for reason in skips(tmp_path).values())


def test_unreadable_files_and_folders(tmp_path, monkeypatch):
    """As another user than root; root can read everything, so the refusal is played."""
    write(tmp_path / "a.csv")
    write(tmp_path / "sub" / "b.csv")

    def refuse(path, *_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("graftjax.lake.decode.open_bytes", refuse)
    assert skips(tmp_path)["a.csv"] == "can not be read: Permission denied"
    plain = os.scandir
    monkeypatch.setattr("os.scandir", lambda path: refuse(path) if str(path).endswith("sub") else plain(path))
    assert skips(tmp_path)["sub"] == "folder can not be listed: Permission denied"


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
