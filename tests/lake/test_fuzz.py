"""Whatever bytes a file holds, a reader gives tables or says in one line why not."""

from __future__ import annotations

import gzip
import io
import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.lake.folder import find_tables
from graftjax.lake.profile import profile_table
from graftjax.lake.raw import RawTable
from graftjax.types import Skip

_FAULT = re.compile(r"can not be read: \w+(Error|Exception|Warning)\b")
"""A reason by which a fault of a reader of our own shows."""

CSV = 'id,name\n1,"a ""b"", c"\n2,é\n\n3,x,y\n'.encode()
NAMES = (
    "t.csv",
    "t.tsv",
    "t.txt",
    "t.csv.gz",
    "t.csv.bz2",
    "t.csv.xz",
    "t.csv.zst",
    "t.csv.zip",
    "t.parquet",
    "t.db",
)


def _parquet() -> bytes:
    file = io.BytesIO()
    table = pa.table(
        {
            "n": [1, None, 3] * 20,
            "s": ["é", "b", None] * 20,
            "l": [[1], [], None] * 20,
            "d": [1.5, 2.0, None] * 20,
        }
    )
    pq.write_table(table, file, compression="snappy", row_group_size=25)
    return file.getvalue()


def _sqlite() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA page_size = 512")
            connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
            connection.execute("CREATE TABLE k (x TEXT PRIMARY KEY, y) WITHOUT ROWID")
            connection.execute("CREATE VIEW v AS SELECT b FROM t")
            connection.executemany("INSERT INTO t (b) VALUES (?)", [("word" * 9,), (b"\xff",), (None,)] * 20)
            connection.executemany("INSERT INTO k VALUES (?, ?)", [(f"k{i}", i) for i in range(60)])
        return path.read_bytes()


WHOLE = {"t.csv": CSV, "t.csv.gz": gzip.compress(CSV * 9), "t.parquet": _parquet(), "t.db": _sqlite()}


def check(name: str, content: bytes) -> list[RawTable | Skip]:
    """Everything that is found in a folder with one such file, looked at as an index does."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        found = list(find_tables(Path(folder)))
        assert [path.name for path in Path(folder).iterdir()] == [name]
    assert found
    for item in found:
        if isinstance(item, Skip):
            assert item.origin == name
            assert item.reason
            assert item.reason.isprintable()
            assert not _FAULT.search(item.reason)
        else:
            names = [column.casefold() for column in item.data.column_names]
            assert len(set(names)) == len(names) == len(item.headers)
            assert item.data.num_columns
            assert profile_table(item).n_rows == item.data.num_rows
    return found


@settings(max_examples=100)
@given(st.sampled_from(NAMES), st.binary(max_size=300))
def test_random_bytes(name, content):
    check(name, content)


@settings(max_examples=100)
@given(
    st.sampled_from(sorted(WHOLE)),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8)), max_size=6),
    st.floats(0, 1),
    st.booleans(),
)
def test_damaged_files(name, patches, end, cut):
    data = bytearray(WHOLE[name])
    for place, patch in patches:
        at = int(place * len(data))
        data[at : at + len(patch)] = patch
    check(name, bytes(data[: int(end * len(data))] if cut else data))


@settings(max_examples=60)
@given(
    st.sampled_from(["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252", "shift_jis"]),
    st.text(max_size=80),
)
def test_text_in_any_encoding(encoding, text):
    check("t.csv", ("a,b\n1," + text).encode(encoding, "replace"))


def test_whole_files_are_read():
    tables = {
        name: [item for item in check(name, data) if isinstance(item, RawTable)]
        for name, data in WHOLE.items()
    }
    assert {name: len(found) for name, found in tables.items()} == dict.fromkeys(WHOLE, 1) | {"t.db": 3}
