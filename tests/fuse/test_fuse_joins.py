"""Joins: keys compared by the stated rule, kinds chosen, rows counted before anything runs."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest
from synthesised import again, fused, join, rows, union

from graftjax.fuse import FuseError, FuseSettings, MemorySource, fuse
from graftjax.types import Synthesis

CLUBS = {"club_id": ["C1", "C2", "C3"], "club": ["AIB", "Rovers", "Town"]}
BRIDGE = {"player": [1, 2, 3], "club_id": ["C1", "C1", "C2"]}
TEAM = {
    "players_1": {"id": [1, 2], "name": ["Ada", "Bo"]},
    "players_2": {"id": [3, 4], "name": ["Cy", "Di"]},
    "bridge": BRIDGE,
    "clubs": CLUBS,
}
STEPS = (
    union("players_1", "players_2", ("id", "id"), ("name", "name")),
    join("players_1", "bridge", ("id", "player")),
    join("bridge", "clubs", ("club_id", "club_id")),
)


def matches(left, right, **settings):
    """Pairs of row numbers that a join of two key columns finds."""
    tables = {
        "l": pa.table({"a": pa.array(range(len(left))), "k": pa.array(left)}),
        "r": pa.table({"b": pa.array(range(len(right))), "k": pa.array(right)}),
    }
    found = fused(tables, join("l", "r", ("k", "k")), kind="inner", **settings).to_arrow()
    return sorted(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True))


def test_a_union_is_joined_through_a_bridge():
    found = fused(TEAM, *STEPS)
    assert [c.name for c in found.columns] == [
        "id", "name", "_source", "player", "bridge.club_id", "clubs.club_id", "club",
    ]  # fmt: skip
    assert [(row[1], row[6]) for row in rows(found)] == [("Ada", "AIB"), ("Bo", "AIB"), ("Cy", "Rovers")]
    assert [(step.step, step.rows) for step in found.steps] == [
        ("union of db/players_1, db/players_2", 4),
        ("inner join of bridge on players.id = bridge.player", 3),
        ("inner join of clubs on bridge.club_id = clubs.club_id", 3),
    ]
    assert again(found).equals(found.to_arrow())


@pytest.mark.parametrize(("kind", "count"), [("inner", 3), ("left", 4), ("full", 5)])
def test_the_kind_decides_which_rows_without_a_partner_stay(kind, count):
    found = fused(TEAM, *STEPS, kind=kind)
    assert found.to_arrow().num_rows == found.n_rows == count
    assert again(found).num_rows == count


def test_auto_is_inner_while_most_rows_stay_and_left_from_the_root_otherwise():
    tables = {"a": {"k": [1, 2, 3, 4]}, "b": {"k": [1, 2, 9], "v": ["x", "y", "z"]}}
    step = join("a", "b", ("k", "k"))
    assert fused(tables, step).n_rows == 2
    kept = fused(tables, step, keep=0.6)
    assert kept.n_rows == 4
    assert "only 2 of 4 rows have a partner" in kept.notes[0]
    alone = fused({**tables, "b": {"k": [7], "v": ["x"]}}, step)
    assert alone.n_rows == 4
    assert "no key has a partner" in alone.notes[0]
    assert alone.steps[-1].step.startswith("left join")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([1, 2], [2, 3], [(1, 0)]),
        ([1, 2], [2.0, 2.5], [(1, 0)]),
        (["007"], ["7"], []),
        (["007"], [7], []),
        (["7", "7.0", " 7 "], [7], [(0, 0), (1, 0), (2, 0)]),
        (["7.50"], [7.5], [(0, 0)]),
        (["0.5"], [0.5], [(0, 0)]),
        ([" Ab "], ["aB"], [(0, 0)]),
        ([""], [""], []),
        (["  "], [" "], []),
        ([None, 1], [None, 1], [(1, 1)]),
        ([None, "x"], [None, "x"], [(1, 1)]),
        ([float("nan"), 1.0], [float("nan"), 1.0], [(1, 1)]),
        ([True, False], [1, 0], [(0, 0), (1, 1)]),
        ([True], [1.0], [(0, 0)]),
        ([True], ["true"], [(0, 0)]),
        ([datetime.date(2020, 1, 5)], ["2020-01-05"], [(0, 0)]),
        ([datetime.date(2020, 1, 5)], [datetime.datetime(2020, 1, 5)], [(0, 0)]),
        ([datetime.date(2020, 1, 5)], ["never"], []),
        ([datetime.date(2020, 1, 5)], [5], []),
        ([10**15], [1e15], [(0, 0)]),
        (["Ü"], ["ü"], [(0, 0)]),
    ],
)  # fmt: skip
def test_keys_are_equal_by_the_stated_rule_from_either_side(left, right, expected):
    assert matches(left, right) == expected
    assert matches(right, left) == sorted((b, a) for a, b in expected)


def test_case_can_be_made_to_count():
    assert matches(["a", "A"], ["a"], fold_case=False) == [(0, 0)]


def test_several_pairs_must_all_be_equal():
    tables = {
        "a": {"y": [1, 1, 2], "m": ["x", "y", "x"]},
        "b": {"year": [1, 2], "month": ["x", "y"], "v": [10, 20]},
    }
    found = fused(tables, join("a", "b", ("y", "year"), ("m", "month")), kind="inner")
    assert rows(found) == [(1, "x", 1, "x", 10)]


def test_names_that_several_tables_have_are_qualified_the_same_way_every_time():
    tables = {"x/t": {"id": [1], "Name": ["p"], "t.id": [5]}, "y/t": {"id": [1], "name": ["q"]}}
    step = join("x/t", "y/t", ("id", "id"))
    names = [column.name for column in fused(tables, step).columns]
    assert names == ["t.id_2", "t.Name", "t.id", "t_2.id", "t_2.name"]
    assert len({name.casefold() for name in names}) == len(names)
    assert names == [column.name for column in fused(tables, step).columns]


def test_a_cluster_is_joined_with_itself_as_a_whole():
    tables = {
        "staff_1": {"id": [1, 2], "boss": [3, 1]},
        "staff_2": {"id": [3, 4], "boss": [None, 2]},
    }
    steps = (
        union("staff_1", "staff_2", ("id", "id"), ("boss", "boss")),
        join("staff_1", "staff_2", ("boss", "id")),
    )
    found = fused(tables, *steps, kind="inner")
    data = found.to_arrow()
    pairs = zip(data["staff.id"].to_pylist(), data["staff_2.id"].to_pylist(), strict=True)
    assert sorted(pairs) == [(1, 3), (2, 1), (4, 2)]
    assert sum(len(column.origins) == 2 for column in found.columns) == 4
    assert again(found).equals(data)


def test_a_join_from_the_new_side_keeps_the_rows_of_the_root():
    found = fused({"a": {"k": [1, 2]}, "b": {"j": [2]}}, join("b", "a", ("j", "k")), kind="left")
    assert rows(found) == [(1, None), (2, 2)]


def test_a_second_join_of_connected_tables_is_left_out_with_a_note():
    tables = {name: {"k": [1]} for name in "abc"}
    steps = (join("a", "b", ("k", "k")), join("b", "c", ("k", "k")), join("a", "c", ("k", "k")))
    found = fused(tables, *steps)
    assert found.n_rows == 1
    assert found.notes == ("db/a and db/c are connected already: a further join is left out",)


def test_an_explosion_is_refused_before_it_runs_with_the_step_and_the_count():
    big = {"k": pa.array([1] * 50_000), "v": pa.array(range(50_000))}
    tables = {"a": big, "b": big}
    with pytest.raises(
        FuseError, match=r"inner join of b on a.k = b.k would have 2,500,000,000 rows.*5,000,000"
    ):
        fused(tables, join("a", "b", ("k", "k")))
    with pytest.raises(FuseError, match=r"would have 4 rows, more than the limit of 3"):
        fused({"a": {"k": [1, 1]}, "b": {"k": [1, 1]}}, join("a", "b", ("k", "k")), most_rows=3)


def test_an_explosion_along_a_chain_is_counted_in_the_step_where_it_happens():
    ones = {"k": [1] * 100}
    tables = dict.fromkeys("abc", ones)
    steps = (join("a", "b", ("k", "k")), join("b", "c", ("k", "k")))
    with pytest.raises(FuseError, match=r"join of c .* 1,000,000 rows"):
        fused(tables, *steps, most_rows=10_000)
    assert [step.rows for step in fused(tables, *steps, most_rows=1_000_000).steps] == [10_000, 1_000_000]


def test_tables_that_nothing_connects_are_fused_apart_and_named():
    tables = {"a": {"k": [1]}, "b": {"k": [1]}, "lone": {"z": [1, 2, 3]}}
    found = fused(tables, join("a", "b", ("k", "k")))
    assert found.n_rows == 1
    assert found.notes == ("not connected with the rest, fused by itself: db/lone",)
    assert [other.n_rows for other in found.others] == [3]


def test_a_join_whose_columns_are_unknown_connects_nothing():
    found = fused({"a": {"k": [1]}, "b": {"k": [1]}}, join("a", "b"))
    assert len(found.others) == 1
    assert "not known: not joined" in found.notes[0]


def test_names_that_sql_could_take_amiss_are_only_names():
    odd = [
        'a"b',
        "select",
        "naïve ✓",
        "drop table x; --",
        "it's",
        "line\nbreak",
        "nul\0byte",
        "x.y",
        "{j}",
        "$1",
        "?",
    ]
    tables = {
        'db"; select/or"der': {name: [number] for number, name in enumerate(odd)},
        "group by/read_csv('x.csv')": {name: [number] for number, name in enumerate(odd)},
        "histogram before": {'a"b': [0], "rows": [9]},
    }
    names = list(tables)
    steps = (
        union(names[0], names[1], *((name, name) for name in odd)),
        join(names[0], names[2], ('a"b', 'a"b')),
    )
    found = fused(tables, *steps)
    assert found.n_rows == 2
    assert found.to_arrow()["nul\ufffdbyte"].to_pylist() == [6, 6]
    assert again(found).equals(found.to_arrow())


def test_tables_whose_names_differ_by_case_only_stay_apart():
    tables = {"db/T": {"K": [1]}, "db/t": {"k": [1]}, "DB/t": {"k": [1]}}
    found = fused(tables, join("db/T", "db/t", ("K", "k")), join("db/t", "DB/t", ("k", "k")))
    assert found.n_rows == 1
    assert len(found.inputs) == 3


def test_one_table_is_itself():
    found = fused({"a": {"x": [2, 1], "y": ["p", None]}})
    assert found.to_arrow().to_pydict() == {"x": [2, 1], "y": ["p", None]}
    assert [(step.step, step.rows) for step in found.steps] == [("read a", 2)]
    assert found.preview.num_rows == 2


def test_joins_with_empty_tables_give_empty_tables_or_the_root():
    none = pa.table({"k": pa.array([], pa.int64())})
    step = join("a", "b", ("k", "k"))
    assert fused({"a": none, "b": {"k": [1]}}, step).to_arrow().num_rows == 0
    assert fused({"a": {"k": [1]}, "b": none}, step).to_arrow().num_rows == 1
    assert fused({"a": {"k": [1]}, "b": none}, step, kind="inner").to_arrow().num_rows == 0
    assert fused({"a": none, "b": none}, step, kind="full").to_arrow().num_rows == 0


def test_the_preview_is_the_head_of_the_result():
    found = fused(TEAM, *STEPS, preview=2)
    assert found.preview.equals(found.to_arrow().slice(0, 2))


def test_no_file_is_read_and_too_little_memory_is_a_clear_error():
    data = MemorySource({})
    with pytest.raises(FuseError, match="nothing to fuse"):
        fuse(Synthesis((), (), 0.0), data)
    big = {"k": pa.array([str(number) * 40 for number in range(60_000)])}
    with pytest.raises(FuseError, match="more memory"):
        fused({"a": big, "b": big}, join("a", "b", ("k", "k")), memory="1MB").to_arrow()


def test_settings_are_checked():
    from graftjax.errors import UsageError

    for wrong in ({"most_rows": 0}, {"keep": 2.0}, {"threads": 0}, {"preview": -1}):
        with pytest.raises(UsageError):
            FuseSettings(**wrong)
    with pytest.raises(UsageError, match="memory"):
        fused({"a": {"x": [1]}}, memory="plenty")
