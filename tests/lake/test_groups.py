from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lake_maker import profile

from graftjax.lake.groups import SAMPLE_SIZE, group_by_schema, pooled_sample


def test_shards_form_a_group_with_their_columns_aligned_by_header():
    tables = [
        profile("db", "singer_1", id=[1, 2], name=["a", "b"]),
        profile("db", "concert", id=[1], year=[1999]),
        profile("db", "Singers_2", Name=["c"], ID=[3]),
    ]
    groups = group_by_schema(tables)
    assert groups.table_group.tolist() == [0, 1, 0]
    assert groups.column_table.tolist() == [0, 0, 1, 1, 2, 2]
    assert groups.column_slot.tolist() == [0, 1, 2, 3, 1, 0]
    assert groups.slot_group.tolist() == [0, 0, 1, 1]
    assert groups.first_table.tolist() == [0, 1]
    assert groups.first_column.tolist() == [0, 1, 2, 3]
    assert (groups.num_groups, groups.num_slots) == (2, 4)


def test_another_header_or_another_name_is_another_group():
    tables = [
        profile("db", "t_1", a=[1], b=[2]),
        profile("db", "t_2", a=[1], c=[2]),
        profile("db", "t_3", a=[1], b=[2], c=[3]),
        profile("db", "u_1", a=[1], b=[2]),
    ]
    assert group_by_schema(tables).table_group.tolist() == [0, 1, 2, 3]


def test_headers_that_are_words_for_one_thing_stay_apart_inside_a_table():
    tables = [profile("", f"t_{i}", {"name": ["x"], "Name": ["y"], "names": ["z"]}) for i in (1, 2)]
    groups = group_by_schema(tables)
    assert groups.table_group.tolist() == [0, 0]
    assert groups.column_slot.tolist() == [0, 1, 2, 0, 1, 2]


def test_without_headers_kinds_in_their_order_take_their_place():
    tables = [
        profile("", "t_1", a=[1], b=["x"]),
        profile("", "t_2", c=[2], d=["y"]),
        profile("", "t_3", a=["x"], b=[1]),
    ]
    groups = group_by_schema(tables, headers=False)
    assert groups.table_group.tolist() == [0, 0, 1]
    assert groups.column_slot.tolist() == [0, 1, 0, 1, 2, 3]


def test_no_tables_and_tables_without_columns():
    assert group_by_schema([]).num_groups == 0
    groups = group_by_schema([profile("a", "t"), profile("b", "t"), profile("a", "u")])
    assert groups.table_group.tolist() == [0, 0, 1]
    assert groups.num_slots == 0
    assert groups.column_slot.dtype == np.int32


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "A_b"]), max_size=4), max_size=6))
def test_slots_partition_the_columns_of_each_group(schemas):
    tables = [
        profile("", f"t_{i}", {f"{h}{' ' * n}": [1] for n, h in enumerate(s)}) for i, s in enumerate(schemas)
    ]
    groups = group_by_schema(tables)
    for number, table in enumerate(tables):
        own = groups.column_slot[groups.column_table == number]
        assert len(own) == len(set(own.tolist())) == len(table.columns)
        # Every table fills all slots of its group, and no other.
        expected = np.flatnonzero(groups.slot_group == groups.table_group[number])
        assert sorted(own.tolist()) == expected.tolist()


def test_pooled_sample_takes_from_all_in_turn():
    assert pooled_sample([["a", "b"], ["c"], ["a", "d"]]) == ("a", "c", "b", "d")
    assert pooled_sample([]) == ()
    assert pooled_sample([[str(i) for i in range(10)], ["x"]]) == ("0", "x", *map(str, range(1, 9)))


@given(st.lists(st.lists(st.text(max_size=2), max_size=12), max_size=6))
def test_pooled_sample_is_distinct_and_bounded(samples):
    pooled = pooled_sample(samples)
    seen = {value for sample in samples for value in sample[:SAMPLE_SIZE]}
    assert len(set(pooled)) == len(pooled) == min(SAMPLE_SIZE, len(seen))
    assert set(pooled) <= seen
