"""Unions: columns aligned onto the first table, types reconciled, rows kept with their source."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest
from synthesised import again, fused, join, rows, union

from graftjax.fuse import FuseError

SHARDS = {
    "player_1": {"id": [1, 2], "name": ["Ada", "Bo"]},
    "player_2": {"id": [3], "name": ["Cy"]},
    "squad": {"full_name": ["Di"], "number": [4], "captain": [True]},
}
ALIGNED = (
    union("player_1", "player_2", ("id", "id"), ("name", "name")),
    union("player_1", "squad", ("id", "number"), ("name", "full_name")),
)


def test_shards_with_a_renamed_and_an_extra_column_lie_under_one_another():
    found = fused(SHARDS, *ALIGNED)
    assert [column.name for column in found.columns] == ["id", "name", "captain", "_source"]
    assert rows(found) == [
        (1, "Ada", None, "db/player_1"),
        (2, "Bo", None, "db/player_1"),
        (3, "Cy", None, "db/player_2"),
        (4, "Di", True, "db/squad"),
    ]
    assert found.n_rows == 4
    assert [(s.step, s.rows) for s in found.steps] == [("union of db/player_1, db/player_2, db/squad", 4)]


def test_it_is_known_where_each_column_comes_from():
    origins = {
        column.name: [(t.name, c) for t, c in column.origins] for column in fused(SHARDS, *ALIGNED).columns
    }
    assert origins == {
        "id": [("player_1", "id"), ("player_2", "id"), ("squad", "number")],
        "name": [("player_1", "name"), ("player_2", "name"), ("squad", "full_name")],
        "captain": [("squad", "captain")],
        "_source": [],
    }


def test_a_chain_of_unions_is_aligned_through_its_links_whatever_their_direction():
    tables = {"a": {"x": [1]}, "b": {"y": [2]}, "c": {"z": [3]}}
    for last in (union("b", "c", ("y", "z")), union("c", "b", ("z", "y"))):
        found = fused(tables, last, union("a", "b", ("x", "y")))
        assert rows(found) == [(1, "db/a"), (2, "db/b"), (3, "db/c")]


def test_columns_that_no_operator_pairs_meet_when_they_are_spelt_alike():
    found = fused(
        {"a": {"x": [1], "Note": ["p"]}, "b": {"x": [2], "note": ["q"]}}, union("a", "b", ("x", "x"))
    )
    assert rows(found) == [(1, "p", "db/a"), (2, "q", "db/b")]


def test_an_unpaired_column_never_takes_the_place_of_a_paired_one():
    """b.name is another thing than a.name, which b calls title."""
    found = fused(
        {"a": {"name": ["p"]}, "b": {"title": ["q"], "name": ["r"]}}, union("a", "b", ("name", "title"))
    )
    assert [column.name for column in found.columns] == ["name", "name_2", "_source"]
    assert rows(found) == [("p", None, "db/a"), ("q", "r", "db/b")]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1], [2.5], [1.0, 2.5]),
        ([7], ["007"], ["7", "007"]),
        (["007"], ["08"], ["007", "08"]),
        ([7.0], ["x"], ["7", "x"]),
        ([0.25], ["x"], ["0.25", "x"]),
        ([True], [3], ["true", "3"]),
        ([datetime.date(2020, 1, 5)], ["soon"], ["2020-01-05", "soon"]),
        ([None], [5], [None, 5]),
        ([5], pa.array([None], pa.string()), [5, None]),
        ([None], [None], [None, None]),
    ],
)
def test_types_meet_by_the_stated_rule(first, second, expected):
    found = fused({"a": {"x": first}, "b": {"x": second}}, union("a", "b", ("x", "x")), source_column="")
    assert found.to_arrow()["x"].to_pylist() == expected
    assert type(found.to_arrow()["x"].to_pylist()[-1]) is type(expected[-1])


def test_integers_of_all_widths_stay_whole():
    big = 2**64 - 1
    tables = {
        "a": {"x": pa.array([1], pa.int8())},
        "b": {"x": pa.array([-(2**40)], pa.int64())},
        "c": {"x": pa.array([big], pa.uint64())},
    }
    found = fused(tables, union("a", "b", ("x", "x")), union("a", "c", ("x", "x")), source_column="")
    assert sorted(int(x) for x in found.to_arrow()["x"].to_pylist()) == [-(2**40), 1, big]


def test_a_column_called_like_the_source_column_keeps_its_name():
    found = fused({"a": {"_source": [1]}, "b": {"_source": [2]}}, union("a", "b", ("_source", "_source")))
    assert [column.name for column in found.columns] == ["_source", "_source_2"]
    assert rows(found) == [(1, "db/a"), (2, "db/b")]


def test_empty_shards_and_shards_of_nothing_but_nulls_count_their_rows():
    tables = {
        "a": {"x": pa.array([], pa.int64()), "y": pa.array([], pa.string())},
        "b": {"x": [1], "y": ["p"]},
        "c": {"x": pa.nulls(2), "y": pa.nulls(2)},
    }
    for column in ("_source", ""):
        found = fused(tables, union("a", "b", ("x", "x")), union("a", "c", ("x", "x")), source_column=column)
        assert found.to_arrow().num_rows == found.n_rows == 3
        assert found.to_arrow()["x"].to_pylist().count(None) == 2


def test_exotic_types_are_read_as_text_and_bytes_stay_bytes():
    when = datetime.datetime(2020, 1, 5, 12, tzinfo=datetime.UTC)
    data = pa.table(
        {
            "list": pa.array([[1, 2]]),
            "zoned": pa.array([when], pa.timestamp("us", "UTC")),
            "span": pa.array([datetime.timedelta(seconds=5)]),
            "raw": pa.array([b"\x00\xff"]),
            "code": pa.array(["a"]).dictionary_encode(),
            "half": pa.array([1.5], pa.float16()),
        }
    )
    (row,) = rows(fused({"t": data}))
    assert row[0] == "[1, 2]"
    assert row[1].startswith("2020-01-05 12:00:00")
    assert isinstance(row[2], str)
    assert row[3:] == (b"\x00\xff", "a", 1.5)


def test_sql_is_the_fusion():
    found = fused(SHARDS, *ALIGNED)
    assert "UNION ALL BY NAME" in found.sql
    assert again(found).equals(found.to_arrow())


def test_a_wrong_operator_is_an_error_of_one_line():
    with pytest.raises(FuseError, match=r"db/a has no column 'nope'"):
        fused({"a": {"x": [1]}, "b": {"x": [2]}}, union("a", "b", ("nope", "x")))
    with pytest.raises(FuseError, match="not a table of the synthesis"):
        fused({"a": {"x": [1]}}, join("a", "b", ("x", "x")))
    with pytest.raises(FuseError, match="no columns"):
        fused({"a": pa.table({})})
    with pytest.raises(FuseError, match="nothing to fuse"):
        fused({})
