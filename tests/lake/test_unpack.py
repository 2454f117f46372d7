"""Packed files are told by what they hold; none of them fills the memory or asks for a password."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile

import pytest

from graftjax.errors import GraftError
from graftjax.lake import unpack
from graftjax.lake.table_file import read_file
from graftjax.types import TableId

CSV = b"a,b\n1,x\n2,y\n"


@pytest.fixture
def read(tmp_path):
    def _read(name: str, content: bytes):
        (tmp_path / name).write_bytes(content)
        return read_file(tmp_path / name, TableId("", "t"), name)

    return _read


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zip"])
@pytest.mark.parametrize(
    "content",
    [CSV, gzip.compress(CSV), bz2.compress(CSV), lzma.compress(CSV), zipped({"in/t.csv": CSV})],
    ids=["plain", "gzip", "bzip2", "xz", "zip"],
)
def test_the_packing_is_told_by_the_content(read, name, content):
    table = read(name, content)
    assert table.data.to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    packed, said = content != CSV, name != "t.csv"
    assert bool(table.notes) == (packed != said)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (zipped({"a.csv": CSV, "b.csv": CSV}), "archive or document of 2 files"),
        (zipped({"a.exe": CSV}), "holds no CSV file"),
        (zipped({}), "0 files|holds binary"),
        (zipped({"a.csv": CSV})[:-20], "damaged ZIP"),
        (gzip.compress(CSV * 99)[:-9], "can not be read"),
        (gzip.compress(CSV)[:-8] + b"12345678", "CRC"),
        (lzma.compress(CSV * 99)[:60], "can not be read"),
    ],
)
def test_refused_with_a_reason(read, content, reason):
    with pytest.raises(GraftError, match=reason):
        read("t.csv.zip", content)


def test_a_password_is_not_asked_for(read):
    data = bytearray(zipped({"a.csv": CSV}))
    directory = data.index(b"PK\x01\x02")
    data[6] |= 1  # flags of the member
    data[directory + 8] |= 1
    with pytest.raises(GraftError, match="password-protected"):
        read("t.csv.zip", bytes(data))


def test_a_bomb_is_refused(read, monkeypatch):
    monkeypatch.setattr(unpack, "BOMB_BYTES", 1 << 14)
    monkeypatch.setattr(unpack, "BOMB_RATIO", 20)
    assert read("t.csv.gz", gzip.compress(CSV * 1000)).data.num_rows  # small enough
    for packed in (gzip.compress(b"1,2\n" * 50_000), lzma.compress(b"1,2\n" * 50_000)):
        with pytest.raises(GraftError, match="far beyond its size"):
            read("t.csv.gz", packed)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"SQLite format 3\x00" + bytes(84), "a SQLite database"),
        (b"PAR1\x15\x00", "a Parquet file"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "password-protected Office"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html><html>", "a web page"),
        (b"<?xml version='1.0'?>", "XML"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON"),
        (b'[{"a": 1}]', "JSON"),
    ],
)
def test_other_kinds_of_files_under_the_name_of_a_text(read, head, kind):
    with pytest.raises(GraftError, match=f"^holds .*{kind}"):
        read("t.csv", head)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(GraftError, match="not a regular file"):
        read_file(tmp_path / "t.csv", TableId("", "t"), "t.csv")


def test_what_begins_like_json_or_bzip2_may_be_a_table(read):
    assert read("t.csv", b"BZh,b\n1,x\n").data.column_names == ["BZh", "b"]
    assert read("t.csv", b'{"a",b\n1,x\n').data.num_rows == 1
