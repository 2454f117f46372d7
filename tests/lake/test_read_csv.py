"""Messy delimited files are read rightly, or refused with a reason."""

import bz2
import csv
import gzip
import io
import lzma
import os

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graftjax.errors import GraftError
from graftjax.lake.dialect import _sniffer, detect
from graftjax.lake.raw import column_names
from graftjax.lake.read_csv import read_csv
from graftjax.types import TableId

ID = TableId("lake", "t")


@pytest.fixture
def read(tmp_path):
    def _read(content: str | bytes, name: str = "t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_csv(path, ID, name)

    return _read


def rows(raw):
    return [tuple(row.values()) for row in raw.data.to_pylist()]


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        pytest.param("word\nfirst\nx;y\n", ["word"], [("first",), ("x;y",)], id="delimiter switch"),
        pytest.param("p,q\n1,2,\n3,4,,\n", ["p", "q"], [(1, 2), (3, 4)], id="trailing blanks"),
        pytest.param("p,q,,\n1,2,,\n3,4,,\n", ["p", "q"], [(1, 2), (3, 4)], id="padded header"),
        pytest.param(
            "Sales,,\nby: office,,\n,,\nno,who,sum\n1,X,2\n2,Y,3\n",
            ["no", "who", "sum"],
            [(1, "X", 2), (2, "Y", 3)],
            id="padded title lines",
        ),
        pytest.param(
            "Sales, made 1999\n\nno;who\n1;X, x\n2;Y\n",
            ["no", "who"],
            [(1, "X, x"), (2, "Y")],
            id="bare title line",
        ),
        pytest.param(
            "b,b,B,,\n1,2,3,4,5\n", ["b", "b_2", "B_3", "c3", "c4"], [(1, 2, 3, 4, 5)], id="headers"
        ),
        pytest.param(
            "land,iso\nNamibia,NA\nNauru,NR\n", ["land", "iso"], [("Namibia", "NA"), ("Nauru", "NR")], id="NA"
        ),
        pytest.param(
            "a,b\nnull,x\nNone,\n", ["a", "b"], [("null", "x"), ("None", None)], id="null and None are text"
        ),
        pytest.param(
            "zip,n\n00501,1\n01001,2\n", ["zip", "n"], [("00501", 1), ("01001", 2)], id="leading zeros"
        ),
        pytest.param("a;b\n1,5;2\n2,25;3\n", ["a", "b"], [(1.5, 2), (2.25, 3)], id="decimal comma"),
        pytest.param(
            "a;b\n1,500;x\n2,250;y\n", ["a", "b"], [("1,500", "x"), ("2,250", "y")], id="thousands stay text"
        ),
        pytest.param("id,name\n", ["id", "name"], [], id="header only"),
        pytest.param("id,note\n1,\n2,\n", ["id", "note"], [(1, None), (2, None)], id="all NULL"),
        pytest.param(
            '1:00-2:00AM,a#sep#b,x.y,"q ""r"""\n1,2,3,4\n',
            ["1:00-2:00AM", "a#sep#b", "x.y", 'q "r"'],
            [(1, 2, 3, 4)],
            id="odd names",
        ),
        pytest.param("a,b\r1,x\r2,y\r", ["a", "b"], [(1, "x"), (2, "y")], id="bare CR"),
        pytest.param(
            'a,b\r\n1,"x\r\ny"\r\n2,"z, z"\r\n', ["a", "b"], [(1, "x\r\ny"), (2, "z, z")], id="quoted newline"
        ),
        pytest.param("a,b\n1,O'Brien\n2,it's\n", ["a", "b"], [(1, "O'Brien"), (2, "it's")], id="apostrophes"),
        pytest.param(
            'a,b\n1,"s \\"h\\", o"\n2,"x"\n', ["a", "b"], [(1, 's "h", o'), (2, "x")], id="backslash quotes"
        ),
        pytest.param("a\tb, c\n1\tx, y\n", ["a", "b, c"], [(1, "x, y")], id="tabs"),
        pytest.param("a|b\n1|x, y\n", ["a", "b"], [(1, "x, y")], id="bars"),
        pytest.param("a^b\n1^x\n2^y\n", ["a", "b"], [(1, "x"), (2, "y")], id="carets"),
        pytest.param("a~b\n1~x, z\n2~y\n", ["a", "b"], [(1, "x, z"), (2, "y")], id="tildes"),
        pytest.param("a\x01b\n1\x01x\n2\x01y\n", ["a", "b"], [(1, "x"), (2, "y")], id="Hive"),
        pytest.param("sep=;\na;b,c\n1;x,y\n", ["a", "b,c"], [(1, "x,y")], id="declared delimiter"),
        pytest.param(
            'a, b, c\n1, "x, y", 2\n3, z, 4\n',
            ["a", "b", "c"],
            [(1, "x, y", 2), (3, "z", 4)],
            id="blanks before quotes",
        ),
        pytest.param("a,b\n1,x\0y\n2,z\n", ["a", "b"], [(1, "x\0y"), (2, "z")], id="NUL"),
        pytest.param("a,b\n1,x\n2,y\n\x1a", ["a", "b"], [(1, "x"), (2, "y")], id="Control-Z"),
        pytest.param("a,b\r\n1,x\n2,y\r3,z", ["a", "b"], [(1, "x"), (2, "y"), (3, "z")], id="line ends"),
        pytest.param(
            "a,b\n=1+1,x\n@SUM(A1),y\n", ["a", "b"], [("=1+1", "x"), ("@SUM(A1)", "y")], id="formulas"
        ),
        pytest.param(
            "1,2.5,x\n4,5.5,y\n", ["c0", "c1", "c2"], [(1, 2.5, "x"), (4, 5.5, "y")], id="no header"
        ),
        pytest.param(
            "F,Oslo\nM,Oslo\nF,Rome\n",
            ["c0", "c1"],
            [("F", "Oslo"), ("M", "Oslo"), ("F", "Rome")],
            id="no header, words",
        ),
        pytest.param(
            "land,2019,2020\nx,5.5,6\n", ["land", "2019", "2020"], [("x", 5.5, 6)], id="years as headers"
        ),
        pytest.param("0,1,2\n5,x,7\n", ["0", "1", "2"], [(5, "x", 7)], id="counted headers"),
        pytest.param(
            "a,b\n12345678901234567890,x\n", ["a", "b"], [("12345678901234567890", "x")], id="long digits"
        ),
    ],
)
def test_layouts(read, text, names, expected):
    raw = read(text)
    assert raw.data.column_names == names
    assert rows(raw) == expected
    assert len(raw.headers) == raw.data.num_columns


def test_missing_words_among_numbers_are_null_with_a_note(read):
    raw = read("id,n\n1,5\n2,NA\n3,null\n4,7\n")
    assert raw.data["n"].to_pylist() == [5, None, None, 7]
    assert any("column n: 2 words for missing" in note for note in raw.notes)


@pytest.mark.parametrize(
    "cells", [["5\n", "6"], [".5", "5."], ["1E5", "1e-5"], ["1e999", "2"], ["+5", "6"], ["0x1", "2"]]
)
def test_odd_spellings_of_numbers_lose_nothing(read, cells):
    raw = read("a;b\n" + "".join(f'x;"{cell}"\n' for cell in cells))
    values = raw.data["b"].to_pylist()
    assert [value if isinstance(value, str) else float(value) for value in values] in (
        cells,
        [float(cell) for cell in cells if not cell.startswith("0x")],
    )


def test_title_lines_are_told(read):
    raw = read("My Report,,\na,b,c\n1,x,y\n")
    assert any("My Report" in note for note in raw.notes)


def test_ragged_rows_are_told_and_no_cell_is_lost_silently(read):
    body = "".join(f"{i},x,y\n" for i in range(40))
    raw = read("a,b,c\n" + body + "40,z\n41,p,q,EXTRA\n")
    assert raw.data.num_rows == 42
    assert rows(raw)[40] == (40, "z", None)
    notes = " ".join(raw.notes)
    assert "1 row is short" in notes
    assert "row 42" in notes
    assert "EXTRA" in notes


def test_short_header_keeps_the_extra_columns(read):
    raw = read("a,b\n1,2,3,x\n4,5,6,y\n")
    assert rows(raw) == [(1, 2, 3, "x"), (4, 5, 6, "y")]
    assert raw.data.column_names[:2] == ["a", "b"]


def test_row_names_without_header(read):
    raw = read("a,b\nr1,1,2\nr2,3,4\n")
    assert raw.data.column_names == ["c0", "a", "b"]
    assert rows(raw) == [("r1", 1, 2), ("r2", 3, 4)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings(read, encoding):
    raw = read("naïve,b\nÅse,1\nØyvind €,2\n".encode(encoding))
    assert raw.data.column_names == ["naïve", "b"]
    assert rows(raw) == [("Åse", 1), ("Øyvind €", 2)]


def test_latin1_and_bad_bytes(read):
    raw = read(
        "name,n\nJos\u00e9,1\n".encode("latin-1") + b"curly \x93q\x94,2\nodd \x81,3\n" + "ok é,4\n".encode()
    )
    assert raw.data["name"].to_pylist() == ["José", "curly “q”", "odd \x81", "ok é"]
    assert any("4 bytes" in note for note in raw.notes)


def test_utf8_with_one_bad_byte_stays_utf8(read):
    raw = read("слово,n\nМосква,1\n".encode() + b"\xe9t\xe9,2\n")
    assert raw.data["слово"].to_pylist() == ["Москва", "été"]


def test_cyrillic_code_page(read):
    text = "название,город\n" + "Большой театр,Москва\nЭрмитаж,Санкт-Петербург\nТретьяковская,Москва\n" * 4
    raw = read(text.encode("cp1251"))
    assert raw.data["город"][0].as_py() == "Москва"


def test_huge_field(read):
    raw = read("a,b\n1," + "x" * 1_000_000 + "\n2,y\n")
    assert [len(value) for value in raw.data["b"].to_pylist()] == [1_000_000, 1]


def test_unclosed_quote_does_not_swallow_the_rest(read):
    raw = read('a,b\n1,"x\n' + "".join(f"{i},y\n" for i in range(2, 3000)))
    assert raw.data.num_rows == 2999
    assert any("quotes are read as plain text" in note for note in raw.notes)


def test_long_file_in_batches(read):
    n = 70_000
    raw = read("a,b\n" + "".join(f"{i},v{i}\n" for i in range(n)))
    assert raw.data["a"].to_pylist() == list(range(n))
    assert raw.data.schema.types == [pa.int64(), pa.large_string()]


@pytest.mark.parametrize(
    ("name", "pack"), [("t.csv.gz", gzip.compress), ("t.csv.bz2", bz2.compress), ("t.csv.xz", lzma.compress)]
)
def test_compressed(read, name, pack):
    assert rows(read(pack(b"a,b\n1,x\n"), name)) == [(1, "x")]


def test_zstandard(tmp_path):
    path = tmp_path / "t.csv.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(b"a,b\n1,x\n")
    assert rows(read_csv(path, ID, "")) == [(1, "x")]


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (b"", "t.csv", "empty file"),
        (b"\n\n  \n", "t.csv", "no content"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "t.csv", "holds a picture"),
        (b"Dear reader\nthis is a letter\n", "t.txt", "plain text"),
        (bytes(range(256)) * 9, "t.csv.gz", "binary"),
        (gzip.compress(b"a,b\n1,2\n" * 1000)[:-30], "t.csv.gz", "can not be read"),
    ],
)
def test_refused_with_a_reason(read, content, name, reason):
    with pytest.raises(GraftError, match=reason):
        read(content, name)


@pytest.mark.parametrize("content", [bytes(200), b"\x53\x00\x02\x00" * 200, b"\xff\xfe" + bytes(99)])
def test_numbers_of_two_bytes_are_no_text(read, content):
    with pytest.raises(GraftError, match="binary"):
        read(content)


def test_three_odd_bytes_are_no_code_page(read):
    raw = read(b"a,b\n1,\xed\xa0\x80\n")
    assert raw.data.column_names == ["a", "b"]
    assert raw.notes == ("3 bytes are not valid utf-8 and were read as Latin-1",)


def test_the_sniffer_reaches_no_files(tmp_path):
    database, folder = _sniffer()
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    for statement in (
        f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')",
        f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
        f"ATTACH '{tmp_path / 'new.db'}'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
    ):
        with pytest.raises(duckdb.Error):
            database.cursor().execute(statement).fetchall()
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    detect("a,b\n1,it's\n")
    assert not os.listdir(folder.name)


def test_column_names_are_unique_in_any_case():
    names = column_names(["a", "A", "a_2", "", "c3", " x\n y ", "a"])
    assert len({name.casefold() for name in names}) == 7
    assert names[0] == "a"
    assert names[2] == "a_2"
    assert names[5] == "x y"


pieces = st.sampled_from(
    [
        b",",
        b";",
        b"\n",
        b"\r",
        b'"',
        b"a",
        b"1",
        b"\xe9",
        b"\xc3\xa9",
        b"\x00",
        b" ",
        b"\t",
        b"2.5",
        b"|",
        b"\\",
    ]
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(pieces, max_size=40).map(b"".join))
@example(b"\xff\xfea")
@example(b"\xef\xbb\xbf")
def test_any_bytes_give_a_table_or_a_reason(read, content):
    raw = None
    try:
        raw = read(content)
    except GraftError as error:
        reason = str(error)
    else:
        reason = ""
    if raw is None:
        assert reason
        assert "\n" not in reason
        return
    names = [name.casefold() for name in raw.data.column_names]
    assert len(set(names)) == len(names) == len(raw.headers)
    # Every letter of the file is in a header, a cell or a note.
    kept = " ".join([*raw.headers, *raw.notes, *map(str, raw.data.to_pylist())])
    assert ("a" in kept) or (b"a" not in content)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6),
            min_size=3,
            max_size=3,
        ),
        min_size=3,
        max_size=8,
    )
)
def test_what_a_writer_quotes_comes_back(read, table):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerow(["first", "second", "third"])
    writer.writerows([f"w{i}{cell}" for i, cell in enumerate(row)] for row in table)
    raw = read(buffer.getvalue())
    assert raw.data.column_names == ["first", "second", "third"]
    assert rows(raw) == [tuple(f"w{i}{cell}" for i, cell in enumerate(row)) for row in table]
