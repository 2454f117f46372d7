"""Values as text, and profiles of tables."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graftjax.lake import sketch
from graftjax.lake.profile import SAMPLE_LENGTH, profile_and_rows, profile_table, row_sketch
from graftjax.lake.raw import RawTable
from graftjax.lake.values import encode, kind_of, normalise, normalise_column, normalise_texts, text_column
from graftjax.types import TableId


def raw_table(**columns) -> RawTable:
    data = pa.table({name: pa.chunked_array([pa.array(values)]) for name, values in columns.items()})
    return RawTable(TableId("s", "t"), data, tuple(columns), "t.csv")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (3, "3"),
        (3.0, "3"),
        ("3.0", "3"),
        (" 3. ", "3"),
        ("30", "30"),
        ("100.0", "100"),
        ("1.50", "1.5"),
        ("-0.0", "0"),
        (-0.0, "0"),
        ("03", "03"),
        ("007.0", "007.0"),
        (12345678901.0, "12345678901"),
        (12345678901.5, "12345678901.5"),
        (2**53, str(2**53)),
        (Decimal("2.50"), "2.5"),
        (True, "true"),
        ("TRUE", "true"),
        ("  Oslo\n  City ", "oslo city"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Cafe\u0301", "café"),
        ("\u00a0x\u00a0\u00a0y", "x y"),
        (datetime.date(2020, 1, 5), "2020-01-05"),
        (datetime.datetime(2020, 1, 5), "2020-01-05"),
        (datetime.datetime(2020, 1, 5, 13, 4, 5, 120000), "2020-01-05 13:04:05.12"),
        ("2020/1/5", "2020-01-05"),
        ("2020-01-05T00:00:00.000Z", "2020-01-05"),
        ("2020-1-5 1:30", "2020-01-05 01:30:00"),
        ("5/1/2020", "5/1/2020"),
    ],
)
def test_normalise(value, expected):
    assert normalise(value) == expected


near_values = st.one_of(
    st.text(max_size=20),
    st.from_regex(r" ?-?[0-9]{1,4}(\.[0-9]{0,4})? ?", fullmatch=True),
    st.from_regex(
        r"[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}([Tt ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,4})?)?Z?)?",
        fullmatch=True,
    ),
)


@settings(deadline=None, max_examples=100)
@given(st.lists(near_values, max_size=8))
@example(["2020-1-5 1:30", "٣", "\u0345", "ǰ"])
def test_columns_are_normalised_as_single_values_are(texts):
    result = normalise_texts(pa.array(texts, pa.large_string())).to_pylist()
    assert result == [normalise(text) for text in texts]
    assert [normalise(text) for text in result] == result


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), max_size=20))
def test_texts_of_floats_read_back(values):
    texts = text_column(pa.array(values, pa.float64())).to_pylist()
    assert [None if text is None else float(text) for text in texts] == values


def test_texts_of_any_type():
    column = pa.array([[1, 2], None])
    assert text_column(column).to_pylist() == ["[1, 2]", None]
    assert text_column(pa.array([b"ok", None])).to_pylist() == ["ok", None]
    assert text_column(pa.array([b"\xff\x00"]))[0].as_py().startswith("binary ")
    assert text_column(pa.array([datetime.timedelta(1)])).null_count == 0
    assert text_column(pa.nulls(2)).to_pylist() == [None, None]
    assert text_column(pa.array([datetime.datetime(2020, 1, 5, 1)])).to_pylist() == ["2020-01-05 01:00:00"]


def test_normalise_column_has_each_value_once():
    column = pa.chunked_array([pa.array(["A", "a ", None]), pa.array(["", "b"])])
    assert normalise_column(column).to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "empty"),
        (["", " "], "empty"),
        (["1", "-20"], "integer"),
        (["1.0", "2"], "integer"),
        (["1", "2.5", "1e-5"], "real"),
        (["1", "null", "NA"], "integer"),
        (["NA", "null"], "text"),
        (["007", "12"], "text"),
        (["1" * 25], "text"),
        (["e5", "."], "text"),
        (["true", "False"], "boolean"),
        (["T", "F"], "boolean"),
        (["F"], "text"),
        (["2020-01-05", "2021/2/3 10:00"], "date"),
        (["5/1/2020", "31.12.99"], "date"),
        (["March 5, 2020", "Tuesday, 6 May 2021"], "date"),
        (["5-Jan-98"], "date"),
        (["10:30", "x"], "text"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(normalise_texts(pa.array(values, pa.large_string()))) == kind


def test_profile():
    names = ["Ann", "ben", None, "Ann ", "Eve\x00\n!", "x" * 500, "", "Ben"]
    table = profile_table(
        raw_table(i=list(range(8)), name=names, f=[1.0, None] * 4, none=[None] * 8, miss=["1", "NA"] * 4)
    )
    columns = {column.name: column for column in table.columns}
    assert table.n_rows == 8
    assert [column.kind for column in table.columns] == ["integer", "text", "integer", "empty", "integer"]
    assert [column.null_share for column in table.columns] == [0, 0.125, 0.5, 1, 0.5]
    assert [column.n_distinct for column in table.columns] == [8, 4, 1, 0, 1]
    assert [len(column.sketch) for column in table.columns] == [8, 4, 1, 0, 1]
    assert sketch.contains(columns["name"].sketch, sketch.hash_value(normalise("BEN"))) is True
    assert sketch.contains(columns["name"].sketch, sketch.hash_value(normalise(""))) is False
    assert columns["miss"].sample == ("1",)
    assert "Eve !" in columns["name"].sample
    assert max(map(len, columns["name"].sample)) == SAMPLE_LENGTH
    assert all(column.sketch.dtype == np.uint64 for column in table.columns)


def test_table_without_rows_or_columns():
    table, rows = profile_and_rows(raw_table(a=pa.array([], pa.large_string()), b=pa.array([], pa.int64())))
    assert [(c.kind, c.null_share, c.n_distinct, c.sample) for c in table.columns] == [
        ("empty", 0.0, 0, ())
    ] * 2
    assert len(rows) == 0
    empty = RawTable(TableId("", "e"), pa.table({}), (), "")
    assert profile_table(empty).columns == ()


def test_two_tables_with_other_headers_have_other_digests():
    one = profile_table(raw_table(id=pa.array([], pa.large_string())))
    two = profile_table(raw_table(key=pa.array([], pa.large_string())))
    assert one.content_hash != two.content_hash


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 3)), min_size=1, max_size=12),
    st.data(),
)
def test_content_hash_follows_content_and_not_memory(rows, data):
    plain = raw_table(x=[x for x, _ in rows], y=pa.array([y for _, y in rows], pa.int64()))
    cut = data.draw(st.integers(0, len(rows)))
    head, tail = plain.data.slice(0, cut), plain.data.slice(cut)
    chunked = RawTable(plain.id, pa.concat_tables([head, tail]), plain.headers, plain.origin)
    assert profile_table(plain) == profile_table(chunked)
    changed = list(rows)
    at = data.draw(st.integers(0, len(rows) - 1))
    changed[at] = (changed[at][0] + "!", changed[at][1])
    other = raw_table(x=[x for x, _ in changed], y=pa.array([y for _, y in changed], pa.int64()))
    assert profile_table(other).content_hash != profile_table(plain).content_hash


def test_sample_is_seeded_spread_and_complete():
    table = raw_table(v=[f"v{i}" for i in range(5000)])
    first = profile_table(table, seed=1).columns[0].sample
    assert first == profile_table(table, seed=1).columns[0].sample
    assert first != profile_table(table, seed=2).columns[0].sample
    assert len(set(first)) == 10
    drawn = [int(v[1:]) for seed in range(60) for v in profile_table(table, seed=seed).columns[0].sample]
    # Mean of 600 uniform draws from 0..4999: standard error 5000 / √12 / √600 = 59.
    assert math.isclose(np.mean(drawn), 2500, abs_tol=5 * 59)
    rare = raw_table(v=["common"] * 4990 + [f"r{i}" for i in range(9)] + [None])
    assert set(profile_table(rare).columns[0].sample) == {"common", *(f"r{i}" for i in range(9))}


def test_large_column_keeps_the_smallest_hashes():
    column = profile_table(raw_table(v=list(range(5000)))).columns[0]
    assert column.n_distinct == 5000
    hashes = sorted(sketch.hash_value(str(i)) for i in range(5000))
    assert column.sketch.tolist() == hashes[: sketch.SKETCH_SIZE]


def test_row_sketch_sees_copies_and_tells_shards_apart():
    rows = [(i, f"name {i}", i % 7) for i in range(200)]

    def table(part, order=(0, 1, 2)):
        return raw_table(**{f"h{c}": [row[c] for row in part] for c in order})

    whole = row_sketch(table(rows))
    assert sketch.jaccard(whole, row_sketch(table(rows[::-1], (2, 0, 1)))) == 1
    assert sketch.jaccard(row_sketch(table(rows[:100])), row_sketch(table(rows[100:]))) == 0
    near = [*rows[:190], *((i, "changed", 0) for i in range(190, 200))]
    assert sketch.jaccard(whole, row_sketch(table(near))) == 190 / 210
    assert len(row_sketch(raw_table(a=["x", None, " "], b=[None, None, ""]))) == 1


def test_same_values_in_other_types_have_the_same_sketch():
    columns = profile_table(raw_table(i=[1, 2], f=[1.0, 2.0], s=["1", " 2.0"])).columns
    assert len({tuple(column.sketch) for column in columns}) == 1


def test_encode_keeps_rows_apart():
    part = encode(pa.chunked_array([pa.array(["A", None, "a", "A"])]))
    assert part.codes.to_pylist() == [0, None, 1, 0]
    assert part.normals.to_pylist() == ["a", "a"]
