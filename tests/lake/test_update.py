"""Files that come to an indexed lake are laid over its index; nothing else is read or computed again."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
from lake_maker import HashEncoder

from graftjax.encode.rows import StackedRows
from graftjax.errors import GraftError
from graftjax.lake import store, update
from graftjax.lake.folder import find_profiles, find_tables
from graftjax.lake.index import build_index, open_index
from graftjax.lake.known_files import KnownFiles
from graftjax.lake.update import MOST_ADDED, add_files
from graftjax.types import Skip

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
        assert isinstance(opened.space.dense, StackedRows)  # each addition made a copy of all vectors
        assert isinstance(opened.space.dense.parts[0].base, np.memmap)
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


def _reports(skips):
    return {(skip.origin, skip.reason) for skip in skips}


def test_what_can_not_be_read_is_told_after_the_index_is_opened_again(lake, tmp_path):
    """A file that came later and could not be read was told once, and never again."""
    index = tmp_path / "index"
    _build(lake, index)
    (lake / "notes.md").write_text("no table either")
    (lake / "broken.parquet").write_bytes(b"junk")
    for number in range(2):  # the newest list takes the place of an older one
        (lake / f"more{number}.md").write_text("nor this")
        known = KnownFiles(index)
        found = add_files(lake, index, HashEncoder(), known)
        known.commit()
        assert found is not None
        fresh = [item for item in find_tables(lake) if isinstance(item, Skip)]
        assert _reports(open_index(index).skips) == _reports(found.skips) == _reports(fresh)
        assert len(list(index.glob("a-*"))) == 1
    _hotel(lake)
    known = KnownFiles(index)
    add_files(lake, index, HashEncoder(), known)
    opened = open_index(index)
    assert len(opened.tables) == 3
    assert _reports(opened.skips) == _reports(fresh)


def test_a_run_that_was_killed_while_it_added_files_leaves_no_table_twice(lake, tmp_path):
    """What a killed run had laid over the index was laid over it once more by the next."""
    index = tmp_path / "index"
    _build(lake, index)
    _hotel(lake)
    assert add_files(lake, index, HashEncoder(), KnownFiles(index)) is not None  # killed before `commit`
    assert add_files(lake, index, HashEncoder(), KnownFiles(index)) is None
    assert sorted(str(table.id) for table in _build(lake, index).tables) == ["city_0", "film", "hotel"]


def test_a_build_that_was_killed_before_its_end_is_begun_again(lake, tmp_path):
    """A file that was left out of a build that was killed, and then put back, stayed out of the index."""
    index, away = tmp_path / "index", tmp_path / "film.csv"
    _build(lake, index)
    (lake / "film.csv").rename(away)
    known = KnownFiles(index)
    assert add_files(lake, index, HashEncoder(), known) is None
    build_index(find_profiles(lake, known), index, HashEncoder(), progress=False)  # killed before `commit`
    away.rename(lake / "film.csv")
    assert add_files(lake, index, HashEncoder(), KnownFiles(index)) is None


def test_two_processes_that_add_files_at_once_do_not_mix(lake, tmp_path, monkeypatch):
    """The second laid a table over a version that was not the one it had opened."""
    index = tmp_path / "index"
    _build(lake, index)
    _hotel(lake)
    real, others = update.extend_index, []

    def slow(*arguments):
        if not others:
            others.append(None)
            others.append(add_files(lake, index, HashEncoder(), KnownFiles(index)))
        return real(*arguments)

    monkeypatch.setattr(update, "extend_index", slow)
    assert add_files(lake, index, HashEncoder(), KnownFiles(index)) is None
    assert others[1] is not None
    assert open_index(index).tables == others[1].tables
    assert len(list(index.glob("a-*"))) == 1


def test_two_processes_write_parts_side_by_side(tmp_path, monkeypatch):
    """Both took the same number, and one part replaced the other."""
    both = KnownFiles(tmp_path), KnownFiles(tmp_path)
    for number, known in enumerate(both):
        known.add(f"{number}", [Skip("a.csv", f"reason {number}")])
    # Neither sees what the other writes.
    monkeypatch.setattr(KnownFiles, "_parts", lambda self: [])
    for known in both:
        known.flush()
    monkeypatch.undo()
    for number in range(2):
        assert KnownFiles(tmp_path).get(f"{number}") == (Skip("a.csv", f"reason {number}"),)


def test_a_place_that_another_process_is_writing_is_left_alone(lake, tmp_path):
    """The end of one process removed what another had written and not made current yet."""
    index = tmp_path / "index"
    _build(lake, index)
    (index / "a-00000000").mkdir()
    old = index / "a-00000001"
    old.mkdir()
    os.utime(old, (0, 0))
    _build(lake, index)
    assert [place.name for place in index.glob("a-*")] == ["a-00000000"]


def test_more_files_than_were_built_are_due_a_build(tmp_path):
    """An index of an empty folder knows no words: tables laid over it were found by none."""
    lake, index = tmp_path / "lake", tmp_path / "index"
    lake.mkdir()
    _build(lake, index)
    _hotel(lake)
    assert add_files(lake, index, HashEncoder(), KnownFiles(index)) is None


@pytest.mark.parametrize(
    "lake_json",
    ['{"format": 1, "keys": [[1]], "skips": []}', '{"format": 1, "keys": [], "skips": [["a", 1]]}'],
)
def test_a_damaged_record_of_the_lake_makes_a_build_due(lake, tmp_path, lake_json):
    """A record of another form ended in a traceback at every later run."""
    index = tmp_path / "index"
    _build(lake, index)
    (index / "files" / "lake.json").write_text(lake_json)
    (index / "files" / "part-of-mine").mkdir()
    assert add_files(lake, index, HashEncoder(), KnownFiles(index)) is None
    assert len(_build(lake, index).tables) == 2


@pytest.mark.parametrize("additions", [5, [1], [{"name": "a-0"}], [{"name": "a-0", "files": 1}]])
def test_damaged_names_of_additions_are_told(lake, tmp_path, additions):
    """Only the names of the version's own files were checked."""
    index = tmp_path / "index"
    _build(lake, index)
    pointer = json.loads((index / "current.json").read_text())
    (index / "current.json").write_text(json.dumps({**pointer, "additions": additions}))
    assert add_files(lake, index, HashEncoder(), KnownFiles(index)) is None
    with pytest.raises(GraftError, match="damaged"):
        open_index(index)
