"""Files that come to an indexed lake are laid over its index; nothing else is read or computed again."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from lake_maker import HashEncoder

from graftjax.lake import store
from graftjax.lake.folder import find_profiles
from graftjax.lake.index import build_index, open_index
from graftjax.lake.known_files import KnownFiles
from graftjax.lake.update import MOST_ADDED, add_files

CITIES = [f"town{i}" for i in range(40)]


def _write(folder, name, header, rows):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def _city(folder, number, of):
    rows = [(i, CITIES[i], 1000 + i) for i in range(40) if i % of == number]
    _write(folder, f"city_{number}.csv", "city_id,city name,people", rows)


def _hotel(folder):
    _write(folder, "hotel.csv", "hotel_id,title,city_id", [(i, f"inn {i}", i % 40) for i in range(60)])


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    _city(folder, 0, 2)
    _write(folder, "film.csv", "film,director", [(f"f{i}", f"d{i % 7}") for i in range(30)])
    (folder / "readme.md").write_text("no table")
    return folder


def _build(lake, index):
    known = KnownFiles(index)
    built = build_index(find_profiles(lake, known), index, HashEncoder(), progress=False)
    known.commit()
    return built


def _clusters(index):
    names = [str(table.id) for table in index.tables]
    return {frozenset(names[t] for t in members) for members in index.graph.members}


def _edges(index):
    """(class names of both ends) of each edge."""
    unions, columns = index.graph.unions, [c for table in index.tables for c in table.columns]
    of_class = {}
    for number, k in enumerate(unions.column_class):
        of_class.setdefault(
            int(k), f"{index.tables[index.graph.column_table[number]].id}.{columns[number].name}"
        )
    joins = index.graph.joins
    return {
        (of_class[a], of_class[b]): (weight, share)
        for a, b, weight, share in zip(
            joins.refers.tolist(), joins.referred.tolist(), joins.weight, joins.containment, strict=True
        )
    }


@pytest.mark.parametrize("add", [_hotel, lambda folder: _city(folder, 1, 2)], ids=["own cluster", "shard"])
def test_a_file_laid_over_an_index_has_the_place_that_a_build_gives_it(lake, tmp_path, add):
    if add is not _hotel:
        _hotel(lake)
    index = tmp_path / "index"
    _build(lake, index)
    add(lake)
    known = KnownFiles(index)
    found = add_files(lake, index, HashEncoder(), known)
    assert found is not None
    built = _build(lake, tmp_path / "other")
    assert _clusters(found) == _clusters(built)
    ours, whole = _edges(found), _edges(built)
    assert ours.keys() == whole.keys()
    for edge, (weight, share) in whole.items():
        assert ours[edge][1] == pytest.approx(share)
        assert ours[edge][0] == pytest.approx(weight, rel=1e-3)
    names = {table.id: table.content_hash for table in found.tables}
    assert names == {table.id: table.content_hash for table in built.tables}
    for k in range(built.graph.unions.num_classes):
        assert len(np.unique(found.values.of(k))) == len(found.values.of(k))
    assert found.values.filled.sum() == built.values.filled.sum()
    assert set(found.skips) == set(built.skips)


def test_what_was_laid_over_is_there_when_the_index_is_opened_again(lake, tmp_path):
    index = tmp_path / "index"
    _build(lake, index)
    for add in (_hotel, lambda folder: _city(folder, 1, 2)):
        add(lake)
        known = KnownFiles(index)
        found = add_files(lake, index, HashEncoder(), known)
        known.commit()
        opened = open_index(index)
        assert opened.tables == found.tables
        assert opened.space.texts == found.space.texts
        np.testing.assert_array_equal(opened.space.dense, found.space.dense)
        np.testing.assert_array_equal(opened.values.hashes, found.values.hashes)
        for name in ("refers", "referred", "weight", "containment"):
            np.testing.assert_array_equal(getattr(opened.graph.joins, name), getattr(found.graph.joins, name))
        assert (opened.space.trigrams.rows != found.space.trigrams.rows).nnz == 0
        assert opened.skips == found.skips
    assert len(store.additions_of(store.manifest(index))) == 2
    _build(lake, index)
    assert not store.additions_of(store.manifest(index))
    assert not list(index.glob("a-*"))


def test_a_damaged_addition_is_told(lake, tmp_path):
    index = tmp_path / "index"
    _build(lake, index)
    _hotel(lake)
    add_files(lake, index, HashEncoder(), KnownFiles(index))
    (place,) = index.glob("a-*")
    (place / "arrays.npz").write_bytes(b"")
    with pytest.raises(Exception, match="damaged"):
        open_index(index)


@pytest.mark.parametrize("change", ["gone", "changed", "many", "other encoder", "no index"])
def test_a_build_is_due_when_more_than_a_few_files_came(lake, tmp_path, change):
    index = tmp_path / "index"
    encoder = HashEncoder()
    if change != "no index":
        _build(lake, index)
    if change == "gone":
        (lake / "film.csv").unlink()
    elif change == "changed":
        with (lake / "film.csv").open("a") as file:
            file.write("f99,d99\n")
    elif change == "many":
        for number in range(MOST_ADDED + 1):
            _write(lake, f"t{number}x.csv", f"a{number},b{number}", [(1, 2), (3, 4)])
    elif change == "other encoder":
        encoder = HashEncoder("another")
    _hotel(lake)
    assert add_files(lake, index, encoder, KnownFiles(index)) is None


def test_known_files_are_not_read_again(lake, tmp_path, monkeypatch):
    """An index of thousands of files was made anew from the first byte after each kill."""
    index = tmp_path / "index"
    _hotel(lake)
    known = KnownFiles(index)
    reading = find_profiles(lake, known)
    next(reading)
    next(reading)
    known.flush()  # and then the process is killed
    read = []
    from graftjax.lake import table_file

    real = table_file.read_csv
    monkeypatch.setattr(
        table_file, "read_csv", lambda file, *rest: read.append(file.name) or real(file, *rest)
    )
    again = list(find_profiles(lake, KnownFiles(index)))
    assert read == ["hotel.csv"]
    fresh = list(find_profiles(lake, KnownFiles(tmp_path / "none")))
    assert [replace(item.table, columns=()) for item in again[:3]] == [
        replace(item.table, columns=()) for item in fresh[:3]
    ]
    assert again[3:] == fresh[3:]
    for one, other in zip(again[:3], fresh[:3], strict=True):
        np.testing.assert_array_equal(one.row_sketch, other.row_sketch)


def test_parts_that_are_cut_short_or_of_files_that_are_gone_do_no_harm(lake, tmp_path):
    index = tmp_path / "index"
    _build(lake, index)
    (part,) = (index / "files").glob("part-*")
    (part / "columns.parquet").write_bytes(b"PAR1")
    assert len([item for item in find_profiles(lake, KnownFiles(index)) if hasattr(item, "table")]) == 2
    shutil.rmtree(lake)
    lake.mkdir()
    _hotel(lake)
    assert [str(table.id) for table in _build(lake, index).tables] == ["hotel"]
