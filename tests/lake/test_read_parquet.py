"""Parquet files keep their types; what no table can hold becomes text or a reason."""

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graftjax.errors import GraftError
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
