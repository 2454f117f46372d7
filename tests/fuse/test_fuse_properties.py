"""Whatever the tables hold: unions keep their rows, counts are exact, and the SQL says what was done."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesised import again, fused, join, rows, union

from graftjax.fuse import FuseError

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
texts = st.none() | st.text(max_size=4) | st.sampled_from(["7", "07", " a", "A", "7.0", ""])
columns = st.one_of(
    st.lists(st.none() | st.integers(-3, 9), min_size=3, max_size=3).map(lambda v: pa.array(v, pa.int64())),
    st.lists(st.none() | st.sampled_from([0.5, 7.0, -2.0, float("nan")]), min_size=3, max_size=3).map(
        lambda v: pa.array(v, pa.float64())
    ),
    st.lists(texts, min_size=3, max_size=3).map(lambda v: pa.array(v, pa.large_string())),
    st.lists(st.none() | st.booleans(), min_size=3, max_size=3).map(lambda v: pa.array(v, pa.bool_())),
)


@st.composite
def tables(draw):
    headers = draw(st.lists(names, min_size=1, max_size=4, unique_by=str.casefold))
    data = pa.table([draw(columns) for _ in headers], names=headers)
    return data.slice(0, draw(st.integers(0, 3)))


def pairs(draw, left, right, most):
    count = draw(st.integers(0, min(most, left.num_columns, right.num_columns)))
    a, b = (draw(st.permutations(table.column_names)) for table in (left, right))
    return tuple(zip(a[:count], b[:count], strict=True))


def spelt(table):
    """Rows as text: NaN is not equal to itself."""
    return [repr(row) for row in rows(table)]


@settings(max_examples=25)
@given(st.data())
def test_a_union_keeps_every_row_and_every_value(data):
    parts = {f"t{number}": data.draw(tables()) for number in range(data.draw(st.integers(2, 4)))}
    steps = []
    for number in range(1, len(parts)):
        anchor = f"t{data.draw(st.integers(0, number - 1))}"
        aligned = pairs(data.draw, parts[anchor], parts[f"t{number}"], 4)
        steps.append(union(anchor, f"t{number}", *aligned))
    found = fused(parts, *steps)
    result = found.to_arrow()
    assert result.num_rows == found.n_rows == sum(part.num_rows for part in parts.values())
    assert spelt(again(found)) == spelt(result)
    filled = sum(len(column) - column.null_count for part in parts.values() for column in part.columns)
    kept = sum(len(column) - column.null_count for column in result.columns)
    assert kept == filled + result.num_rows  # the source column


@settings(max_examples=25)
@given(st.data(), st.sampled_from(["auto", "inner", "left", "full"]))
def test_rows_of_joins_are_known_before_they_run(data, kind):
    parts = {f"t{number}": data.draw(tables()) for number in range(data.draw(st.integers(2, 4)))}
    steps = []
    for number in range(1, len(parts)):
        anchor = f"t{data.draw(st.integers(0, number - 1))}"
        keys = pairs(data.draw, parts[anchor], parts[f"t{number}"], 2)
        steps.append(join(anchor, f"t{number}", *keys))
    found = fused(parts, *steps, kind=kind)
    for part in (found, *found.others):
        result = part.to_arrow()
        assert result.num_rows == part.n_rows == part.steps[-1].rows
        assert result.column_names == [column.name for column in part.columns]
        assert spelt(again(part)) == spelt(result)


def partners(left, right):
    """The slow way to the same join of two text columns."""

    def plain(text):
        return None if text is None else text.strip(" ").lower() or None

    return [
        (i, j)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if plain(a) is not None and plain(a) == plain(b)
    ]


ascii_texts = st.none() | st.text("aAbB 07", max_size=2)


@settings(max_examples=25)
@given(st.lists(ascii_texts, max_size=6), st.lists(ascii_texts, max_size=6), st.integers(1, 12))
def test_a_join_finds_the_pairs_that_nested_loops_find(left, right, most):
    expected = partners(left, right)
    both = {
        "l": {"k": pa.array(left, pa.string()), "i": pa.array(range(len(left)), pa.int64())},
        "r": {"k": pa.array(right, pa.string()), "j": pa.array(range(len(right)), pa.int64())},
    }
    step = join("l", "r", ("k", "k"))
    if len(expected) > most:
        with pytest.raises(FuseError, match=f"{len(expected)} rows"):
            fused(both, step, kind="inner", most_rows=most)
        return
    found = fused(both, step, kind="inner", most_rows=most).to_arrow()
    assert sorted(zip(found["i"].to_pylist(), found["j"].to_pylist(), strict=True)) == expected
