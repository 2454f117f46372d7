"""Tables too large for memory are thinned evenly, by a rule that the notes state."""

# pyright: reportAttributeAccessIssue=false
# (a Skip where a table is due fails the test by itself)

from __future__ import annotations

import sqlite3
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.errors import GraftError
from graftjax.lake import read_csv as csv_reader
from graftjax.lake import rows, sample
from graftjax.lake.read_sqlite import read_sqlite
from graftjax.lake.sample import RowSample
from graftjax.lake.table_file import read_file
from graftjax.types import TableId

ID = TableId("", "t")
N = 30_000


@pytest.fixture
def small_memory(monkeypatch):
    monkeypatch.setattr(sample, "MAX_BYTES", 100_000)
    monkeypatch.setattr("graftjax.lake.read_parquet.MAX_BYTES", 100_000)
    monkeypatch.setattr(rows, "_PART_ROWS", 1_000)
    monkeypatch.setattr("graftjax.lake.read_sqlite._BATCH", 1_000)


@given(st.lists(st.integers(0, 40), max_size=40), st.integers(1, 200))
def test_the_rows_kept_are_multiples_of_the_stride(sizes, limit):
    before, sample.MAX_BYTES = sample.MAX_BYTES, 8 * limit
    try:
        kept, seen = RowSample(), 0
        for size in sizes:
            numbers = list(range(seen, seen + size))[kept.pick(size)]
            seen += size
            kept.add([pa.array(numbers, pa.int64())])
            while kept.thin():
                pass
        assert kept.seen == seen
        assert kept.bytes <= sample.MAX_BYTES or kept.kept == 1
        (columns,) = kept.columns(1)
        found = [value for part in columns for value in part.to_pylist()]
        assert found == list(range(0, seen, kept.stride))
        assert bool(kept.notes()) == (kept.stride > 1)
    finally:
        sample.MAX_BYTES = before


def _check(table, column="n"):
    numbers = table.data[column].to_pylist()
    stride = numbers[1]
    assert stride > 1
    assert numbers == list(range(0, N, stride))
    assert any(
        f"{len(numbers):,} of {N:,} rows" in note and f"every {stride}" in note for note in table.notes
    )


@pytest.mark.usefixtures("small_memory")
def test_delimited_text(tmp_path):
    (tmp_path / "t.csv").write_text("n,w\n" + "".join(f"{i},word {i % 7}\n" for i in range(N)))
    _check(read_file(tmp_path / "t.csv", ID, "t.csv"))


@pytest.mark.usefixtures("small_memory")
def test_cells_beyond_the_header_stay_in_their_rows(tmp_path):
    body = "".join(f"{i},w,extra {i}\n" if i % 3 == 0 else f"{i},w\n" for i in range(N))
    (tmp_path / "t.csv").write_text("n,w\n" + body)
    table = read_file(tmp_path / "t.csv", ID, "t.csv")
    _check(table)
    for row in table.data.to_pylist():
        assert row["c2"] == (f"extra {row['n']}" if row["n"] % 3 == 0 else None)


@pytest.mark.usefixtures("small_memory")
def test_parquet(tmp_path):
    data = {"n": list(range(N)), "s": ["a long text " * 9] * N, "l": [[i] for i in range(N)]}
    pq.write_table(pa.table(data), tmp_path / "t.parquet", row_group_size=7_001)
    table = read_file(tmp_path / "t.parquet", ID, "t.parquet")
    _check(table)
    assert table.data["s"][5].as_py() == "a long text " * 9
    assert table.data["l"][1].as_py() == f"[{table.data['n'][1].as_py()}]"
    assert any("column l: nested values as JSON" in note for note in table.notes)


@pytest.mark.usefixtures("small_memory")
def test_sqlite(tmp_path):
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection, connection:
        connection.execute("CREATE TABLE t (n, w)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"word {i % 7}") for i in range(N)])
    (table,) = read_sqlite(tmp_path / "t.db", "", "t.db")
    _check(table)


def test_a_text_that_a_parquet_file_repeats_is_no_way_to_fill_the_memory(tmp_path, monkeypatch):
    """A megabyte, said once, in each of two thousand rows: 2 GB once it is written out."""
    monkeypatch.setattr(sample, "MAX_BYTES", 1 << 25)
    monkeypatch.setattr("graftjax.lake.read_parquet._BATCH_BYTES", 1 << 23)
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), pa.array(["y" * (1 << 20)]))
    pq.write_table(pa.table({"a": column, "n": list(range(2_000))}), tmp_path / "t.parquet")
    table = read_file(tmp_path / "t.parquet", ID, "t.parquet")
    assert table.data.nbytes <= 1 << 25
    assert "of 2,000 rows" in table.notes[-1]


def test_lines_and_cells_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("graftjax.lake.decode.LINE_LIMIT", 1 << 20)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n" + "abc,defg" * (1 << 18))
    with pytest.raises(GraftError, match="a line has more than 1 million characters"):
        read_file(tmp_path / "t.csv", ID, "t.csv")
    monkeypatch.setattr("graftjax.lake.dialect._FIELD_LIMIT", 10_000)
    (tmp_path / "t.csv").write_text('a,b\n0,"open\n' + "".join(f"{i},x\n" for i in range(1, 5_000)))
    table = read_file(tmp_path / "t.csv", ID, "t.csv")
    assert table.data["a"].to_pylist() == list(range(5_000))
    assert "quotes are read as plain text" in table.notes[0]


def test_wide_tables(tmp_path, monkeypatch):
    names = [*["again"] * 1_000, *(f"h{i}" for i in range(1_000))]
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + ",".join(["7"] * 2_000) + "\n")
    table = read_file(tmp_path / "t.csv", ID, "t.csv")
    assert table.headers == tuple(names)
    assert len(set(table.data.column_names)) == 2_000
    assert table.data["h999"].to_pylist() == [7]
    monkeypatch.setattr(csv_reader, "MAX_COLUMNS", 1_999)
    with pytest.raises(GraftError, match="2,000 columns: not a table"):
        read_file(tmp_path / "t.csv", ID, "t.csv")
