"""Integration against one written out by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from enriched_lakes import index_of, raw  # pyright: ignore[reportMissingImports]
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.enrich.frame import encode, frame_of
from graftjax.enrich.integrate import Enriched, integrate
from graftjax.enrich.links import JoinedCluster, Links, link
from graftjax.enrich.predict import evaluate, folds, training_rows
from graftjax.errors import UsageError
from graftjax.fuse import MemorySource
from graftjax.types import TableId

BASE, MORE = TableId("p", "base"), TableId("p", "base_1")
LEFT, RIGHT = TableId("p", "size_1"), TableId("p", "size_2")
PAIRS = (("id", "id"), ("colour", "Colour"), ("y", "y"))


def by_hand(base, more, left, right):
    """Base and further rows; each gets the size that one of the two tables has for its id."""
    size = {row["id"]: row["size"] for row in [*left, *right]}
    rows = [*base, *more]
    return [{"colour": row["colour"], "size": size.get(row["id"]), "y": row["y"]} for row in rows]


@settings(max_examples=30)
@given(st.data())
def test_parity_with_a_join_written_out(data):
    ids = data.draw(st.lists(st.integers(100, 140), unique=True, min_size=4, max_size=12))
    value = st.one_of(st.none(), st.floats(-5, 5).map(lambda x: round(x, 2)))
    rows = [
        {"id": id, "colour": data.draw(st.sampled_from(["red", "blue", None])), "y": data.draw(value)}
        for id in ids
    ]
    cut = data.draw(st.integers(1, len(ids) - 1))
    base, more = rows[:cut], rows[cut:]
    known = data.draw(st.lists(st.sampled_from(ids), unique=True, min_size=2))
    sizes = [{"id": id, "size": data.draw(st.floats(0, 9).map(lambda x: round(x, 1)))} for id in known]
    left, right = sizes[::2], sizes[1::2]
    tables = {
        BASE: pa.Table.from_pylist(base),
        MORE: pa.Table.from_pylist(more).rename_columns(["id", "Colour", "y"]),
        LEFT: pa.Table.from_pylist(left),
        RIGHT: pa.Table.from_pylist(right).rename_columns(["ID", "size"]),
    }
    joined = JoinedCluster(
        (LEFT, RIGHT),
        (("id", "id"), ("id", "ID")),
        ((("id", "id"), ("size", "size")), (("id", "ID"), ("size", "size"))),
        1.0,
    )
    links = Links(BASE, ((MORE, PAIRS),), (joined,), ())
    found = integrate(links, MemorySource(tables), target="y", key="id", key_is_feature=False)
    assert set(found.features) == {"colour", "+size"}
    assert found.num_base == len(base)
    got = [
        {"colour": c, "size": s, "y": y}
        for c, s, y in zip(found.features["colour"], found.features["+size"], found.target, strict=True)
    ]
    wanted = by_hand(base, more, left, right)
    assert got[: len(base)] == wanted[: len(base)]
    by_text = lambda rows: sorted(map(str, rows))  # noqa: E731
    assert by_text(got[len(base) :]) == by_text(wanted[len(base) :])


def test_a_key_that_comes_twice_is_brought_to_one_row():
    tables = {
        BASE: pa.table({"id": [1, 2, 3], "y": [1.0, 2.0, 3.0]}),
        LEFT: pa.table({"id": [1, 1, 1, 2], "size": [1.0, 2.0, 6.0, 5.0], "kind": ["b", "a", "b", None]}),
    }
    own = (("id", "id"), ("size", "size"), ("kind", "kind"))
    links = Links(BASE, (), (JoinedCluster((LEFT,), (("id", "id"),), (own,), 1.0),), ())
    found = integrate(links, MemorySource(tables), target="y", key="id", key_is_feature=False)
    assert found.features["+size"] == [3.0, 5.0, None]
    assert found.features["+kind"] == ["b", None, None]
    assert found.num_rows == 3
    assert "brought to one" in found.notes[0]


@pytest.mark.parametrize("header", ["Y", "hidden"])
def test_the_target_never_comes_in_by_a_join(header):
    tables = {
        BASE: pa.table({"id": list(range(20)), "y": [float(n * n % 7) for n in range(20)]}),
        LEFT: pa.table({"id": list(range(20)), header: [float(n * n % 7) for n in range(20)]}),
    }
    own = (("id", "id"), (header, header))
    links = Links(BASE, (), (JoinedCluster((LEFT,), (("id", "id"),), (own,), 1.0),), ())
    found = integrate(links, MemorySource(tables), target="y", key="id", key_is_feature=False)
    assert not found.features
    assert "is the target" in found.notes[0]


def test_links_come_from_the_graph_and_never_from_the_target():
    ids = [f"k{n:03}" for n in range(60)]
    price = [1000.5 + 7 * n for n in range(60)]
    tables = [
        raw("flat", {"flat_code": ids[:30], "rooms": ["a", "b"] * 15, "price": price[:30]}),
        raw("flat_1", {"flat_code": ids[30:], "rooms": ["a", "b"] * 15, "price": price[30:]}),
        raw("view_1", {"flat_code": ids[:40], "view": ["sea", "park"] * 20}),
        raw("view_2", {"flat_code": ids[40:], "view": ["sea", "park"] * 10}),
        raw("price", {"price": price, "rank": list(range(60))}),
        raw("song", {"title": ["x", "y"], "length": [3, 4]}),
    ]
    index = index_of(tables)
    ids_of = {table.id.name: table.id for table in tables}
    everything = [ids_of[name] for name in ("song", "view_2", "price", "flat_1", "view_1")]
    links = link(index, ids_of["flat"], everything, "price")
    assert [table.name for table, _ in links.unions] == ["flat_1"]
    (joined,) = links.joins
    assert [table.name for table in joined.tables] == ["view_1", "view_2"]
    assert joined.keys == (("flat_code", "flat_code"),) * 2
    assert {table.name for table in links.ignored} == {"song", "price"}
    assert link(index, ids_of["flat"], everything[::-1], "price") == links
    open_to_all = link(index, ids_of["flat"], everything, "")
    assert "price" in {table.name for table in open_to_all.usable}


def enriched(rows=60, more=40, *, key_of_more=None, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows + more)
    keys = [f"k{n}" for n in range(rows)] + (key_of_more or [f"m{n}" for n in range(more)])
    return Enriched({"x": x.tolist()}, (2 * x).tolist(), keys, rows)


def test_no_test_row_is_trained_on_under_another_table():
    rows = 60
    table = enriched(rows, rows, key_of_more=[f" K{n}" for n in range(rows)])
    frame = frame_of(table, "regression")
    fold = folds(frame, np.arange(rows), 0)
    for number in range(5):
        test = np.flatnonzero(fold == number)
        training = training_rows(frame, np.flatnonzero(fold != number), test)
        assert not set(frame.key[training].tolist()) & set(frame.key[test].tolist())
        assert len(training) == 2 * (rows - len(test))


def test_a_copy_without_a_key_is_no_training_row_of_its_fold():
    base = enriched(20, 0)
    table = Enriched({"x": base.features["x"] * 2}, base.target * 2, [*base.keys, *[None] * 20], 20)
    frame = frame_of(table, "regression")
    test = np.arange(5)
    assert set(training_rows(frame, np.arange(5, 20), test).tolist()) == set(range(5, 20)) | set(
        range(25, 40)
    )


def test_folds_are_even_and_stratified():
    target = ["a"] * 50 + ["b"] * 25
    frame = frame_of(Enriched({"x": [1.0] * 75}, target, list(range(75)), 75), "classification")
    fold = folds(frame, np.arange(75), 3)
    for number in range(5):
        own = [target[row] for row in np.flatnonzero(fold == number)]
        assert own.count("a") == 10
        assert own.count("b") == 5
    assert fold.tolist() == folds(frame, np.arange(75), 3).tolist()
    assert fold.tolist() != folds(frame, np.arange(75), 4).tolist()


def test_columns_by_their_kind():
    table = Enriched(
        {
            "n": [1, 2.5, None, True],
            "day": ["2024-01-01", "2024-12-31", None, "2024-01-02"],
            "word": ["a", "b", "b", None],
            "none": [None] * 4,
        },
        [0.0, 1.0, 2.0, 3.0],
        list("abcd"),
        4,
    )
    frame = frame_of(table, "regression")
    assert frame.coded.tolist() == [False, False, False, False, True]
    values = encode(frame, np.array([1, 2, 3]))
    assert values[:, 4].tolist()[1:3] == [0.0, 0.0]
    assert np.isnan(values[[0, 3], 4]).all()  # not seen in training; missing
    assert values[0, 2] == 0  # a Monday
    assert values[1, 3] == 366


def test_what_can_not_be_learnt_is_refused():
    frame = frame_of(Enriched({"x": [1.0] * 4}, [1.0] * 4, list("abcd"), 4), "regression")
    with pytest.raises(UsageError, match="can't be learnt"):
        evaluate(frame, 0)
