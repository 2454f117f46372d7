"""Writers: what comes back is what was fused, and a spreadsheet runs none of it."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from synthesised import fused, union

from graftjax.errors import GraftError, UsageError

DATA = {
    "a": {"id": [1, None], "text": ['say "hi", you', "two\nlines"], "share": [-0.5, 2.0]},
    "b": {"id": [3], "text": [None], "share": [None]},
}


def found():
    return fused(DATA, union("a", "b", ("id", "id"), ("text", "text"), ("share", "share")))


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".arrow", ".feather", ".ipc", ".PARQUET"])
def test_columnar_files_give_the_same_table_back(tmp_path, suffix):
    result = found()
    path = tmp_path / f"deep/er/out{suffix}"
    result.write(path)
    if suffix.lower() in (".parquet", ".pq"):
        back = pq.read_table(path)
    else:
        with pyarrow.ipc.open_file(path) as file:
            back = file.read_all()
    assert back.equals(result.to_arrow())


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_text_files_give_the_same_cells_back(tmp_path, suffix, delimiter):
    path = tmp_path / f"out{suffix}"
    found().write(path)
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, delimiter=delimiter)) == [
            ["id", "text", "share", "_source"],
            ["1", 'say "hi", you', "-0.5", "db/a"],
            ["", "two\nlines", "2", "db/a"],
            ["3", "", "", "db/b"],
        ]


def test_formulas_are_made_harmless_in_csv_only(tmp_path):
    risky = ["=1+1", "+44 20", "-x", "@sum(a)", "\tx", "\rx", "=cmd|' /C calc'!A0"]
    plain = ["-5", "+5", "-1.5e3", "+.5", "a=b", " =x", "", "x-1"]
    result = fused({"t": {"=head": [*risky, *plain]}})
    path = tmp_path / "out.csv"
    result.write(path)
    with path.open(encoding="utf-8", newline="") as file:
        header, *cells = csv.reader(file)
    assert header == ["'=head"]
    assert [cell[0] for cell in cells] == [*(f"'{text}" for text in risky), *plain]
    result.write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["=head"].to_pylist() == [*risky, *plain]


def test_an_empty_result_has_its_header(tmp_path):
    fused({"t": {"x": pa.array([], pa.int64())}}).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().split() == ['"x"']


def test_unknown_places_are_refused_and_the_old_file_stays(tmp_path):
    with pytest.raises(UsageError, match="must end with one of"):
        found().write(tmp_path / "out.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        found().write(tmp_path / "folder.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(GraftError, match="can't be written"):
        found().write(tmp_path / "file" / "out.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.csv"]


def test_a_stream_may_be_started_again():
    result = found()
    assert result.batches().read_all().equals(result.batches().read_all())


def test_the_record_is_json():
    record = json.loads(json.dumps(found().record()))
    assert record["n_rows"] == 3
    assert record["inputs"] == {"db/a": ["db", "a"], "db/b": ["db", "b"]}
    assert record["columns"][0]["origins"] == [["db", "a", "id"], ["db", "b", "id"]]


def test_pandas_is_optional():
    try:
        import pandas
    except ImportError:
        with pytest.raises(GraftError, match="pip install pandas"):
            found().to_pandas()
    else:
        assert isinstance(found().to_pandas(), pandas.DataFrame)
