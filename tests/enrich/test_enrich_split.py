"""The rule of the split, and the lake that it makes."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.encode.text import table_text, words
from graftjax.enrich.build import build_lake
from graftjax.enrich.headers import alter_headers
from graftjax.enrich.made import made_sources
from graftjax.enrich.manifest import read_manifest
from graftjax.enrich.split import MOST_GROUPS, deal, num_groups, runs, split
from graftjax.errors import GraftError, UsageError

SOURCES = made_sources(0, 120)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
@pytest.mark.parametrize("seed", [0, 7])
def test_every_row_once_in_each_group_and_the_target_in_one_group_alone(source, seed):
    pieces = split(source, seed)
    groups: dict[str, list] = {}
    for piece in pieces:
        groups.setdefault(piece.group, []).append(piece)
        assert piece.columns[0] == source.key
        assert (source.target in piece.columns) == (piece.group == "")
        assert piece.role == ("join" if piece.group else "union" if piece is not pieces[0] else "base")
        assert piece.table(source).column_names == list(piece.headers)
    for own in groups.values():
        rows = np.sort(np.concatenate([piece.rows for piece in own]))
        assert rows.tolist() == list(range(source.data.num_rows))
        assert len({piece.columns for piece in own}) == 1
    features = [name for own in groups.values() for name in own[0].columns[1:] if name != source.target]
    assert sorted(features) == sorted(source.features)


def test_names_say_nothing_of_the_source_but_in_the_group_of_the_target():
    taken: set[str] = set()
    names: list[str] = []
    for source in SOURCES:
        for piece in split(source, 0, taken):
            names.append(piece.name)
            mine = table_text(piece.name) == table_text(source.name)
            assert mine == (piece.group == "")
            if piece.group:
                first = words(piece.columns[1]).split()[0]
                assert piece.name.startswith(first)
    assert len(set(names)) == len(names)


def test_base_headers_are_never_altered_and_half_of_the_pieces_are():
    altered = total = 0
    for source in SOURCES:
        base, *others = split(source, 3)
        assert base.headers == base.columns
        altered += sum(piece.headers != piece.columns for piece in others)
        total += len(others)
    assert 0.3 * total < altered <= 0.5 * total + len(SOURCES)


def test_the_seed_decides():
    def state(seed):
        return [(p.name, p.headers, p.rows.tolist()) for p in split(SOURCES[0], seed)]

    assert state(0) == state(0)
    assert state(0) != state(1)


@given(st.integers(1, 200), st.integers(1, 6), st.integers(0, 9))
def test_deals_are_even(rows, shards, seed):
    parts = deal(rows, shards, np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 80))
def test_groups_are_runs_of_the_columns(count):
    columns = [f"c{number}" for number in range(count)]
    groups = num_groups(count)
    found = runs(columns, groups)
    assert [name for run in found for name in run] == columns
    assert len(found) == groups <= MOST_GROUPS
    assert all(found)


@given(
    st.lists(
        st.sampled_from(["Lot Frontage", "id", "dateOfBirth", "x", "customer_name", "___", ""]), max_size=9
    )
)
def test_altered_headers_stay_apart(headers):
    altered = alter_headers(headers, np.random.default_rng(0))
    assert len(altered) == len(headers)
    assert len({name.casefold() for name in altered}) == len(altered)


def test_the_lake_of_the_demo(tmp_path):
    lake = build_lake("demo", tmp_path, rows=80, names=("flat_rents",))
    (source,) = lake.manifest.sources
    assert source.base.name == "flat_rents"
    assert set(source.gold) == {piece.table for piece in source.pieces} - {source.base}
    for piece in source.pieces:
        table = pq.read_table(lake.lake / piece.table.source / f"{piece.table.name}.parquet")
        assert table.num_rows == piece.rows
        assert table.column_names == [here for here, _ in piece.columns]
    again = build_lake("demo", tmp_path, rows=80, names=("flat_rents",))
    assert again == lake
    elsewhere = build_lake("demo", tmp_path / "other", rows=80, names=("flat_rents",))
    assert elsewhere.manifest == lake.manifest
    (lake.folder / "manifest.json").write_text("{")
    with pytest.raises(GraftError, match="not a manifest"):
        read_manifest(lake.folder)
    assert build_lake("demo", tmp_path, rows=80, names=("flat_rents",)).manifest == lake.manifest


def test_open_data_from_a_small_copy(tmp_path):
    folder = tmp_path / "data" / "open_data"
    (folder / "sources").mkdir(parents=True)
    (folder / "distractors").mkdir()
    data = SOURCES[0].data.drop_columns([SOURCES[0].key])
    pq.write_table(data, folder / "sources" / "flats.parquet")
    pq.write_table(data.slice(0, 5), folder / "distractors" / "some__where__else.parquet")
    listing = (
        '{"sources": [{"name": "flats", "file": "sources/flats.parquet", "task": "regression",'
        ' "target": "monthly_rent", "key": null, "not_features": ["storey"],'
        ' "suggested_base": {"columns": ["floor_area"]}}]}'
    )
    (folder / "sources" / "sources.json").write_text(listing)
    lake = build_lake("open-data", tmp_path / "cache", data=tmp_path / "data", rows=60)
    (source,) = lake.manifest.sources
    assert source.key == "row_id"
    assert (lake.lake / "some" / "where" / "else.parquet").is_file()
    assert not any(there == "storey" for piece in source.pieces for _, there in piece.columns)
    assert source.pieces[0].columns == (
        ("row_id", "row_id"), ("floor_area", "floor_area"), ("monthly_rent", "monthly_rent"),
    )  # fmt: skip
    assert sum(piece.rows for piece in source.pieces if not piece.group) == 60


def test_missing_data_are_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no such folder"):
        build_lake("open-data", tmp_path, data=tmp_path)
    with pytest.raises(UsageError, match="none of the sources"):
        build_lake("demo", tmp_path, names=("nothing",))
