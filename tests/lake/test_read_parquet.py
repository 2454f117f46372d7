"""Parquet files keep their types; what no table can hold becomes text or a reason."""

import datetime
import decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graftjax.errors import GraftError
from graftjax.lake.profile import profile_table
from graftjax.lake.read_parquet import read_parquet
from graftjax.types import TableId

ID = TableId("", "t")


def test_types_nan_and_nested(tmp_path):
    table = pa.table(
        {
            "n": pa.array([1.0, float("nan"), None]),
            "tags": pa.array([["x", "é"], [], None]),
            "cat": pa.array(["u", "v", "u"]).dictionary_encode(),
            "day": pa.array([datetime.date(2020, 1, 5)] * 3),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    raw = read_parquet(tmp_path / "t.parquet", ID, "t.parquet")
    assert raw.data["n"].to_pylist() == [1.0, None, None]
    assert raw.data["tags"].to_pylist() == ['["x", "\\u00e9"]', "[]", None]
    assert raw.data["cat"].type == pa.string()
    assert raw.data["day"].type == pa.date32()
    assert raw.headers == ("n", "tags", "cat", "day")


def test_repeated_and_blank_headers(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "A", ""])
    pq.write_table(table, tmp_path / "t.parquet")
    raw = read_parquet(tmp_path / "t.parquet", ID, "")
    assert raw.data.column_names == ["a", "A_2", "c2"]
    assert raw.headers == ("a", "A", "")


@pytest.mark.parametrize("content", [b"", b"PAR1 but not really PAR1", b"a,b\n1,2\n"])
def test_broken_file(tmp_path, content):
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(GraftError) as caught:
        read_parquet(tmp_path / "t.parquet", ID, "")
    assert "\n" not in str(caught.value)


def read(tmp_path, table, **options):
    pq.write_table(table, tmp_path / "t.parquet", **options)
    return read_parquet(tmp_path / "t.parquet", ID, "t.parquet")


def test_no_rows(tmp_path):
    pq.ParquetWriter(tmp_path / "t.parquet", pa.schema([("a", pa.int64()), ("b", pa.string())])).close()
    raw = read_parquet(tmp_path / "t.parquet", ID, "")
    assert raw.data.shape == (0, 2)
    assert raw.data.schema.types == [pa.int64(), pa.string()]


def test_every_type_becomes_one_that_has_a_profile(tmp_path):
    moment = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "decimal": pa.array([decimal.Decimal("1.50"), None]),
            "zoned": pa.array([moment, None], pa.timestamp("us", "Asia/Tokyo")),
            "nowhere": pa.array([0, None], pa.timestamp("s", "Mars/Base")),
            "nanoseconds": pa.array([1, 2], pa.timestamp("ns")),
            "late": pa.array([2**60, -(2**60)], pa.timestamp("us")),
            "duration": pa.array([datetime.timedelta(minutes=1), None]),
            "bytes": [b"\xff\x00", b"ok"],
            "fixed": pa.array([b"ab", b"\xff\xff"], pa.binary(2)),
            "time": pa.array([datetime.time(1, 2), None]),
            "nothing": pa.nulls(2),
            "flag": [True, None],
            "large": pa.array([2**64 - 1, 0], pa.uint64()),
            "half": pa.array([1.5, float("nan")], pa.float16()),
            "view": pa.array(["a", "b"], pa.string_view()),
            "codes": pa.array([5, None], pa.int64()).dictionary_encode(),
            "uuid": pa.ExtensionArray.from_storage(
                pa.uuid(), pa.array([bytes(range(16)), None], pa.binary(16))
            ),
        }
    )
    raw = read(tmp_path, table)
    assert raw.data.column_names == table.column_names
    profile = {column.name: column for column in profile_table(raw).columns}
    assert raw.data["decimal"].to_pylist()[0] == decimal.Decimal("1.50")
    assert raw.data["duration"].to_pylist() == [60.0, None]
    assert raw.data["half"].null_count == 1
    assert raw.data["view"].type == pa.large_string()
    assert raw.data["uuid"].to_pylist()[0] == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert profile["zoned"].sample[0].startswith("2020-01-01 09:00:00")
    assert profile["nowhere"].sample == ("1970-01-01 00:00:00",)
    assert "column duration: durations in seconds" in raw.notes
    assert any("nowhere" in note and "Mars/Base" in note for note in raw.notes)


def test_nested_values_are_json_and_told(tmp_path):
    table = pa.table(
        {
            "struct": pa.array([{"a": 1, "b": ["x"]}, None]),
            "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
            "bytes": pa.array([[b"ok", b"\xe9"], None]),
            "times": pa.array([[1], None], pa.list_(pa.timestamp("ns"))),
            "inner": pa.array([{"t": 2**60}, {"t": 0}], pa.struct([("t", pa.timestamp("us"))])),
        }
    )
    raw = read(tmp_path, table)
    assert raw.data["struct"].to_pylist() == ['{"a": 1, "b": ["x"]}', None]
    assert raw.data["map"].to_pylist() == ['[["k", 1]]', "[]"]
    assert raw.data["bytes"].to_pylist() == ['["ok", "\\u00e9"]', None]
    assert raw.data["times"].to_pylist() == ['["1970-01-01 00:00:00"]', None]
    assert raw.data["inner"].to_pylist() == [None, '{"t": "1970-01-01 00:00:00"}']
    assert len(raw.notes) == 5
    assert "column inner: nested values as JSON text, 1 that have no text as NULL" in raw.notes


def test_text_that_is_not_utf8(tmp_path):
    offsets = pa.py_buffer(b"\0\0\0\0\x02\0\0\0\x04\0\0\0")
    wrong = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xe9bc")])
    raw = read(tmp_path, pa.table({"t": wrong}))
    assert raw.data["t"].to_pylist() == ["aé", "bc"]
    assert raw.notes == ("column t: bytes that are not UTF-8 as Latin-1",)


def test_damage_is_told(tmp_path):
    table = pa.table({"a": list(range(1000)), "b": ["word"] * 1000})
    pq.write_table(table, tmp_path / "t.parquet", write_page_checksum=True, compression="none")
    data = bytearray((tmp_path / "t.parquet").read_bytes())
    data[300:310] = b"0123456789"
    (tmp_path / "t.parquet").write_bytes(data)
    with pytest.raises(GraftError, match="not readable as Parquet"):
        read_parquet(tmp_path / "t.parquet", ID, "")


def test_encrypted_file(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PARE" + bytes(40) + b"PARE")
    with pytest.raises(GraftError) as caught:
        read_parquet(tmp_path / "t.parquet", ID, "")
    assert "encrypted" in str(caught.value)
