"""Columns and filters that the intent asks for."""

from __future__ import annotations

import datetime

import pytest
from synthesised import again, fused, id_of, join, rows, union

from graftjax.intent import parse_intent
from graftjax.types import AtomSupport

TABLES = {
    "clubs": {"id": [1, 2, 3], "club": ["AIB ", "Rovers", "Town"], "fans": [10, 20, 30]},
    "players": {
        "pid": [7, 8, 9],
        "club_id": [1, 1, 2],
        "points": ["12", "30", "x"],
        "born": [datetime.date(1990, 1, 5), datetime.date(1991, 2, 6), None],
    },
}
STEP = join("clubs", "players", ("id", "club_id"))


def supported(*found: tuple[str, str, str, float]) -> list[AtomSupport]:
    return [AtomSupport(atom, support, id_of(table), column) for atom, table, column, support in found]


def intent_of(entity: str, **attributes: list[str]):
    listed = [{"attribute_id": name, "name": name, "values": values} for name, values in attributes.items()]
    return parse_intent({"trees": [{"tree_id": "t", "entity": entity, "attributes": listed}], "joins": []})


def filtered(
    where: dict[str, list[str]], place: dict[str, tuple[str, str]], support: float = 1.0, **settings
):
    """The fusion of TABLES with the intent's values looked for in the given (table, column) places."""
    atoms = []
    for name, values in where.items():
        table, column = place[name]
        atoms.append((f"attribute: Thing.{name}", table, column, 1.0))
        atoms += [(f"value: Thing.{name} = {value}", table, column, support) for value in values]
    return fused(
        TABLES,
        STEP,
        support=supported(*atoms),
        intent=intent_of("Thing", **where),
        filters=True,
        kind="inner",
        **settings,
    )


def test_only_asked_columns_stay_in_the_order_of_the_intent_and_keys_on_request():
    support = supported(
        ("entity: Player", "players", "pid", 1.0),
        ("attribute: Player.points", "players", "points", 0.9),
        ("attribute: Club.name", "clubs", "club", 0.9),
        ("attribute: Club.again", "clubs", "club", 0.4),
    )
    found = fused(TABLES, STEP, support=support, columns="asked")
    assert [column.name for column in found.columns] == ["points", "club"]
    found = fused(TABLES, STEP, support=support, columns="asked", join_keys=True)
    assert [column.name for column in found.columns] == ["points", "club", "id", "club_id"]
    assert again(found).equals(found.to_arrow())


def test_an_attribute_in_any_shard_is_found_under_the_name_of_the_union():
    tables = {"a": {"x": [1], "y": [2]}, "b": {"u": [3], "v": [4]}}
    support = supported(("attribute: T.v", "b", "v", 1.0))
    found = fused(tables, union("a", "b", ("x", "u"), ("y", "v")), support=support, columns="asked")
    assert found.to_arrow().to_pydict() == {"y": [2, 4]}


def test_all_columns_stay_when_none_is_asked_for():
    found = fused(TABLES, STEP, columns="asked")
    assert len(found.columns) == 7
    assert "all columns are kept" in found.notes[-1]


@pytest.mark.parametrize(
    ("column", "values", "kept"),
    [
        (("clubs", "club"), ["aib"], [7, 8]),
        (("clubs", "club"), ["aib", "ROVERS"], [7, 8, 9]),
        (("clubs", "fans"), ["20"], [9]),
        (("clubs", "fans"), ["20.0"], [9]),
        (("clubs", "fans"), ["> 15"], [9]),
        (("clubs", "fans"), [">= 10", "< 20"], [7, 8]),
        (("players", "points"), ["> 11.5"], [7, 8]),
        (("players", "points"), ["X"], [9]),
        (("players", "born"), ["1990-01-05"], [7]),
    ],
)
def test_a_value_keeps_the_rows_that_have_it(column, values, kept):
    found = filtered({"thing": values}, {"thing": column})
    assert sorted(found.to_arrow()["pid"].to_pylist()) == kept
    assert found.n_rows == found.steps[-1].rows == len(kept)
    assert found.steps[-1].step.startswith("filter ")
    assert again(found).equals(found.to_arrow())


def test_conditions_on_two_attributes_both_hold():
    places = {"club": ("clubs", "club"), "points": ("players", "points")}
    found = filtered({"club": ["AIB"], "points": ["30"]}, places)
    assert found.to_arrow()["pid"].to_pylist() == [8]
    assert [step.rows for step in found.steps] == [3, 2, 1]


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        (("clubs", "club"), "Nowhere", "no row would be left"),
        (("clubs", "fans"), "many", "not a value that the column can have"),
        (("clubs", "fans"), "1e999", "not a value that the column can have"),
        (("players", "born"), "> 1990", "not a value that the column can have"),
        (("players", "born"), "1990", "no row would be left"),
        (("clubs", "fans"), "100,000", "no row would be left"),
    ],
)
def test_a_filter_that_leaves_nothing_is_left_out_with_a_note(column, value, why):
    found = filtered({"thing": [value]}, {"thing": column})
    assert found.n_rows == 3
    assert why in found.notes[-1]


def test_a_value_that_is_not_found_for_certain_is_no_filter():
    found = filtered({"thing": ["AIB"]}, {"thing": ("clubs", "club")}, support=0.3)
    assert found.n_rows == 3
    assert "for certain" in found.notes[-1]


def test_a_column_of_long_texts_is_searched():
    tables = {
        "films": {"plot": ["A long story of a Dog that came home after years " * 3, "Nothing at all " * 9]}
    }
    support = supported(
        ("attribute: Film.plot", "films", "plot", 1.0), ("value: Film.plot = dog", "films", "plot", 1.0)
    )
    found = fused(tables, support=support, intent=intent_of("Film", plot=["dog"]), filters=True)
    assert found.n_rows == 1
    assert found.steps[-1].step.endswith("(contained)")


@pytest.mark.parametrize(
    "value", ["x') OR 1=1 --", 'a"b', "two\n   lines", "back\\slash\\'", "%_*", "naïve ✓"]
)
def test_values_cannot_leave_their_quotes(value):
    tables = {"t": {"a": [value, "y"]}}
    support = supported(("attribute: T.a", "t", "a", 1.0), (f"value: T.a = {value}", "t", "a", 1.0))
    found = fused(tables, support=support, intent=intent_of("T", a=[value]), filters=True)
    assert rows(found) == rows(again(found)) == [(value,)]


def test_the_part_with_the_most_support_is_the_result():
    tables = {"a": {"x": [1]}, "b": {"x": [1]}, "lone": {"z": [1, 2, 3]}}
    support = supported(("attribute: T.z", "lone", "z", 1.0), ("attribute: T.x", "a", "x", 0.4))
    found = fused(tables, join("a", "b", ("x", "x")), support=support)
    assert found.n_rows == 3
    assert found.notes == ("not connected with the rest, fused by itself: db/a, db/b",)
