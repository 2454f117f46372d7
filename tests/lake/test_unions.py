from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lake_maker import HashEncoder, clusters, deal, raw

from graftjax.lake.groups import group_by_schema
from graftjax.lake.index import build_index
from graftjax.lake.unions import union_clusters

CITIES = ["Rome", "Bern", "Oslo", "Kyiv", "Riga", "Wien", "Lyon", "Bonn", "Cork", "Linz", "Graz", "Brno"]


def _build(tables, folder):
    return build_index(tables, folder, HashEncoder(), progress=False)


def _shops(source="db", name="shop", n=60, start=1, cities=CITIES):
    ids = list(range(start, start + n))
    city = [cities[i % len(cities)] for i in ids]
    return raw(source, name, {"id": ids, "city": city, "label": [f"Shop {i}" for i in ids]})


def test_shards_are_one_cluster(tmp_path):
    index = _build([*deal(_shops(), 4), raw("db", "owner", id=[1, 2], born=[1950, 1960])], tmp_path)
    assert clusters(index) == {frozenset(f"db/shop_{i}" for i in range(1, 5)), frozenset({"db/owner"})}
    # Each of the four tables has its column in each class of the cluster.
    (cluster,) = (c for c, members in enumerate(index.graph.members) if len(members) == 4)
    for column_class in index.graph.classes[cluster]:
        columns = [index.graph.column_of(int(t), int(column_class)) for t in index.graph.members[cluster]]
        assert len({index.column_names[c] for c in columns if c is not None}) == 1
        assert None not in columns
    assert len(list(index.graph.union_pairs())) == 6
    assert all(0 < weight <= 1 for _, _, weight in index.graph.union_pairs())


def test_a_renamed_part_with_reordered_and_reworded_columns_is_found(tmp_path):
    first = _shops(n=60)
    rest = _shops(n=40, start=61).data.to_pydict()
    second = raw("db", "shop north", {"label": rest["label"], "city name": rest["city"], "id": rest["id"]})
    index = _build([first, second], tmp_path)
    assert clusters(index) == {frozenset({"db/shop", "db/shop north"})}
    pairs = {
        frozenset((a, b))
        for column_class in index.graph.classes[0]
        for a in [index.column_names[index.graph.column_of(0, int(column_class)) or 0]]
        for b in [index.column_names[index.graph.column_of(1, int(column_class)) or 0]]
    }
    assert pairs == {frozenset({"id"}), frozenset({"city", "city name"}), frozenset({"label"})}
    score = index.graph.unions.table_score
    assert 0 < score.min() < score.max() == 1


def test_other_values_under_the_same_kinds_are_no_union(tmp_path):
    people = raw(
        "db", "person", id=[*range(50)], nick=[f"n{i}x{i}y" for i in range(50)], team=["red", "blue"] * 25
    )
    index = _build([_shops(), people], tmp_path)
    assert len(clusters(index)) == 2


def test_same_name_and_ids_but_another_origin_are_split(tmp_path):
    """Both databases number their students 1..n: shards never repeat a key, so there are two relations."""
    mine = raw("a", "student", {"id": [*range(1, 81)], "name": [f"Ann {i}" for i in range(80)]})
    other = raw("b", "student", {"id": [*range(1, 61)], "name": [f"Bob {i}" for i in range(60)]})
    index = _build([*deal(mine, 4), *deal(other, 3, first=5)], tmp_path)
    assert clusters(index) == {
        frozenset(f"a/student_{i}" for i in range(1, 5)),
        frozenset(f"b/student_{i}" for i in range(5, 8)),
    }


def test_two_whole_tables_of_one_name_and_the_same_ids_are_split(tmp_path):
    tables = [
        raw(db, "users", {"id": [*range(30)], "name": [f"{db} {i}" for i in range(30)]})
        for db in ("db1", "db2")
    ]
    assert clusters(_build(tables, tmp_path)) == {frozenset({"db1/users"}), frozenset({"db2/users"})}


def test_a_leading_foreign_key_repeats_by_right(tmp_path):
    shards = [
        raw("db", f"has_pet_{i}", stu_id=[*range(20)], pet_id=[*range(20 * i, 20 * i + 20)]) for i in range(3)
    ]
    index = _build(shards, tmp_path)
    assert len(clusters(index)) == 1


def test_a_copy_is_a_rival_not_a_part(tmp_path):
    """A near copy repeats the keys of its original: another name keeps it out of the cluster, or else the
    union would count its rows twice."""
    copy = raw("db", "shop copy", {k: v[:55] for k, v in _shops().data.to_pydict().items()})
    index = _build([_shops(), copy], tmp_path)
    assert len(clusters(index)) == 2
    rows = index.row_sketches
    assert len(np.intersect1d(rows[0], rows[1])) == 55  # still recognised as holding the same rows


def test_near_copies_beside_shards_leave_the_shards_together(tmp_path):
    shards = deal(_shops(), 3)
    copy = raw("backup", "shop_9", _shops().data.to_pydict())
    found = clusters(_build([*shards, copy], tmp_path))
    assert frozenset(f"db/shop_{i}" for i in (1, 2, 3)) in found
    assert frozenset({"backup/shop_9"}) in found


def test_tables_without_rows_join_the_cluster_of_their_schema(tmp_path):
    empty = raw("db", "shop_9", {"id": [], "city": [], "label": []})
    found = clusters(_build([*deal(_shops(), 2), empty], tmp_path))
    assert found == {frozenset({"db/shop_1", "db/shop_2", "db/shop_9"})}


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_tables(n, tmp_path):
    index = _build([_shops(name=name, cities=[name]) for name in ("shop", "pond")[:n]], tmp_path)
    assert index.graph.unions.num_clusters == len(clusters(index)) == n


@given(
    st.lists(
        st.tuples(st.sampled_from(["t", "u"]), st.integers(0, 3), st.integers(0, 5), st.integers(0, 3)),
        max_size=6,
    )
)
def test_every_table_is_in_one_cluster_and_no_two_columns_of_a_table_share_a_class(specs):
    from graftjax.lake.profile import profile_table

    tables = [
        profile_table(
            raw("", f"{name}_{i}", {f"h{c}": [start + r for r in range(rows)] for c in range(width)})
        )
        for i, (name, width, rows, start) in enumerate(specs)
    ]
    groups = group_by_schema(tables)
    encoder = HashEncoder()
    unions = union_clusters(
        tables,
        groups,
        encoder.encode([tables[t].id.name for t in groups.first_table]),
        encoder.encode([f"h {s}" for s in range(groups.num_slots)]),
    )
    assert sorted(set(unions.table_cluster.tolist())) == list(range(unions.num_clusters))
    assert len(unions.column_class) == sum(len(t.columns) for t in tables)
    for number, table in enumerate(tables):
        own = unions.column_class[groups.column_table == number]
        assert len(set(own.tolist())) == len(table.columns)
        assert set(unions.class_cluster[own].tolist()) <= {int(unions.table_cluster[number])}
    assert ((unions.table_score > 0) & (unions.table_score <= 1)).all()
