from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest
from lake_maker import HashEncoder, clusters, deal, join_list, raw

from graftjax.encode import load_encoder
from graftjax.errors import GraftError
from graftjax.files import LOCK
from graftjax.lake import store
from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index, open_index
from graftjax.lake.raw import RawTable
from graftjax.types import Skip, TableId


def _lake():
    club = raw("db", "club", {"id": [*range(101, 131)], "name": [f"Club {i}" for i in range(30)]})
    player = raw("db", "player", player_id=[*range(90)], club_id=[101 + i % 30 for i in range(90)])
    return [*deal(club, 3), player]


def _build(tables, folder, encoder=None, **options):
    return build_index(tables, folder, encoder or HashEncoder(), progress=False, **options)


def _assert_equal(a, b):
    assert a.tables == b.tables
    for left, right in zip(a.tables, b.tables, strict=True):
        for x, y in zip(left.columns, right.columns, strict=True):
            np.testing.assert_array_equal(x.sketch, y.sketch)
    for name in ("skips", "notes", "encoder_name", "headers", "numbers", "column_names"):
        assert getattr(a, name) == getattr(b, name)
    assert a.statistics() == b.statistics()
    assert a.space.texts == b.space.texts
    assert a.space.trigrams.vocabulary == b.space.trigrams.vocabulary
    assert (a.space.trigrams.rows != b.space.trigrams.rows).nnz == 0
    for part in ("nodes", "values", "graph.unions", "graph.joins"):
        left, right = a, b
        for step in part.split("."):
            left, right = getattr(left, step), getattr(right, step)
        for entry in fields(left):
            found, wanted = getattr(left, entry.name), getattr(right, entry.name)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted, err_msg=f"{part}.{entry.name}")
    np.testing.assert_array_equal(a.space.dense, b.space.dense)
    np.testing.assert_array_equal(a.graph.column_table, b.graph.column_table)
    assert len(a.row_sketches) == len(b.row_sketches)
    for left, right in zip(a.row_sketches, b.row_sketches, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_an_index_is_the_same_after_it_is_opened_again(n, tmp_path):
    skip = Skip("x.csv", "not a table")
    built = _build([*_lake()[:n], skip], tmp_path)
    opened = open_index(tmp_path, "hash-96")
    _assert_equal(built, opened)
    assert opened.skips == (skip,)
    assert len(opened.tables) == n
    assert store.load(tmp_path, verify=True).statistics() == built.statistics()


def test_arrays_are_mapped_not_loaded(tmp_path):
    _build(_lake(), tmp_path)
    assert isinstance(open_index(tmp_path).space.dense.base, np.memmap)


def test_an_unchanged_lake_encodes_nothing(tmp_path):
    first = _build(_lake(), tmp_path)
    encoder = HashEncoder()
    again = _build(_lake(), tmp_path, encoder)
    assert encoder.encoded == []
    _assert_equal(first, again)


def test_a_new_table_encodes_only_its_own_texts(tmp_path):
    _build(_lake(), tmp_path)
    encoder = HashEncoder()
    new = raw("db", "stadium", stadium_no=[7, 8], opened=[1901, 1920])
    index = _build([*_lake(), new], tmp_path, encoder)
    assert len(index.tables) == 5
    assert encoder.encoded
    assert len(set(encoder.encoded)) == len(encoder.encoded)
    assert all("stadium" in text or "opened" in text for text in encoder.encoded)
    _assert_equal(index, _build([*_lake(), new], tmp_path / "fresh"))


def test_a_changed_table_encodes_only_what_changed(tmp_path):
    _build(_lake(), tmp_path)
    encoder = HashEncoder()
    *clubs, player = _lake()
    changed = raw(
        "db", "player", player_id=[*range(90)], club_id=[101 + i % 30 for i in range(90)], goals=[3] * 90
    )
    index = _build([*clubs, changed], tmp_path, encoder)
    assert encoder.encoded
    assert all("goal" in text for text in encoder.encoded)
    assert index.tables[3].content_hash != open_index(tmp_path).tables[0].content_hash
    assert len(index.tables[3].columns) == len(player.headers) + 1


def test_texts_out_of_use_are_dropped_and_an_emptied_lake_can_be_filled_again(tmp_path):
    """Merging the parts of the text cache used to fail when no text was left in use."""
    _build(_lake(), tmp_path)
    assert _build([], tmp_path).tables == ()
    assert open_index(tmp_path).statistics()["columns"] == 0
    index = _build(_lake(), tmp_path)
    _assert_equal(index, open_index(tmp_path))


def test_a_killed_run_leaves_the_old_index_and_keeps_its_finished_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("graftjax.lake.text_cache._BATCH", 2)
    old = _build(_lake()[:1], tmp_path)
    broken = HashEncoder(fail_after=2)
    with pytest.raises(RuntimeError, match="broke down"):
        _build(_lake(), tmp_path, broken)
    _assert_equal(old, open_index(tmp_path))
    assert len(broken.encoded) == 4
    rest = HashEncoder()
    index = _build(_lake(), tmp_path, rest)
    assert rest.encoded
    assert not set(rest.encoded) & set(broken.encoded)
    _assert_equal(index, open_index(tmp_path))


def test_a_run_killed_while_writing_leaves_the_old_index(tmp_path, monkeypatch):
    old = _build(_lake()[:1], tmp_path)
    saved = np.save
    calls = []

    def full_disk(path, *rest, **options):
        calls.append(path)
        if len(calls) > 5:
            raise OSError(28, "No space left on device")
        return saved(path, *rest, **options)

    monkeypatch.setattr(np, "save", full_disk)
    with pytest.raises(GraftError, match=r"can't be written \(No space left on device\)$"):
        _build(_lake(), tmp_path)
    monkeypatch.undo()
    _assert_equal(old, open_index(tmp_path))
    _build(_lake(), tmp_path)
    left = {path.name for path in tmp_path.iterdir()} - {"texts", LOCK}
    assert len(left) == 2  # pointer and one version


def test_an_index_replaced_while_it_is_opened_is_opened_anew(tmp_path, monkeypatch):
    """Files of the version that had just been removed were called damaged."""
    _build(_lake()[:1], tmp_path)
    check, built = store._check_files, []

    def overtaken(*arguments):
        if not built:
            built.append(_build(_lake(), tmp_path))
        check(*arguments)

    monkeypatch.setattr(store, "_check_files", overtaken)
    _assert_equal(open_index(tmp_path), built[0])


def test_two_processes_that_save_at_once_leave_one_whole_index(tmp_path, monkeypatch):
    """Each of them could see the other's version as the one before its own."""
    point, waiting = store._point, threading.Event()

    def slow(*arguments):
        waiting.set()
        time.sleep(0.3)
        point(*arguments)

    monkeypatch.setattr(store, "_point", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(_build, _lake()[:1], tmp_path)
        waiting.wait()
        second = pool.submit(_build, _lake(), tmp_path)
        built = [first.result(), second.result()]
    _assert_equal(open_index(tmp_path), built[1])
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("v-")]) == 1


def test_a_cut_off_part_of_the_text_cache_is_encoded_again(tmp_path):
    """A part with its end missing used to end the run with zipfile.BadZipFile."""
    _build(_lake(), tmp_path)
    for part in (tmp_path / "texts").rglob("part-*.npz"):
        part.write_bytes(part.read_bytes()[:-200])
    encoder = HashEncoder()
    index = _build(_lake(), tmp_path, encoder)
    assert set(encoder.encoded) >= set(index.space.texts)
    _assert_equal(index, open_index(tmp_path))


def _one_line(error, *said):
    text = str(error.value)
    assert "\n" not in text
    assert all(part in text for part in said), text


def test_no_index(tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(GraftError) as error:
            open_index(folder)
        _one_line(error, str(folder), "no finished index", "graftjax index")


@pytest.mark.parametrize(
    ("pointer", "said"),
    [
        ("", "damaged"),
        ("{", "damaged"),
        ("[]", "index format ?"),
        ('{"format": 1}', "index format 1, this version reads"),
        (f'{{"format": {store.FORMAT}}}', "damaged (incomplete)"),
    ],
)
def test_a_pointer_of_another_kind(pointer, said, tmp_path):
    _build(_lake(), tmp_path)
    (tmp_path / "current.json").write_text(pointer)
    with pytest.raises(GraftError) as error:
        open_index(tmp_path)
    _one_line(error, said, "build the index again")


def test_another_encoder(tmp_path):
    _build(_lake(), tmp_path)
    with pytest.raises(GraftError) as error:
        open_index(tmp_path, "other")
    _one_line(error, "hash-96", "other")
    encoder = HashEncoder("other")
    index = _build(_lake(), tmp_path, encoder)
    assert set(encoder.encoded) >= set(index.space.texts)  # no vector of the first encoder was taken over


def _files(folder):
    version = folder / json.loads((folder / "current.json").read_text())["version"]
    return sorted(version.iterdir())


def test_missing_or_shortened_files(tmp_path):
    _build(_lake(), tmp_path)
    for path in _files(tmp_path):
        content = path.read_bytes()
        for broken in (None, content[:-1], b""):
            path.unlink()
            if broken is not None:
                path.write_bytes(broken)
            with pytest.raises(GraftError) as error:
                open_index(tmp_path)
            _one_line(error, path.name, "damaged")
            path.write_bytes(content)
    open_index(tmp_path)


def test_overwritten_files(tmp_path):
    """What has kept its size is found by its hash, and mostly without."""
    _build(_lake(), tmp_path)
    for path in _files(tmp_path):
        content = path.read_bytes()
        path.write_bytes(b"\xa5" * len(content))
        with pytest.raises(GraftError) as error:
            store.load(tmp_path, verify=True)
        _one_line(error, path.name, "damaged")
        with pytest.raises(GraftError) as error:
            open_index(tmp_path)
        _one_line(error, "damaged")
        path.write_bytes(content)


def test_a_folder_that_can_not_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GraftError) as error:
        _build(_lake(), tmp_path / "file")
    _one_line(error, "can't be written")


def test_a_table_that_can_not_be_profiled_is_reported(tmp_path, monkeypatch):
    from graftjax.lake import table_file as module

    real = module.profile_and_rows

    def picky(item):
        if item.id.name == "player":
            raise ValueError("bad cell\nsecond line")
        return real(item)

    monkeypatch.setattr(module, "profile_and_rows", picky)
    index = _build(_lake(), tmp_path)
    assert len(index.tables) == 3
    assert index.skips == (Skip("db/player.csv", "db/player: can't be profiled (bad cell)"),)


def test_notes_are_kept(tmp_path):
    table = replace(_lake()[0], notes=("two title lines",))
    assert isinstance(table, RawTable)
    _build([table], tmp_path)
    assert open_index(tmp_path).notes == (Skip("db/club.csv", "db/club_1: two title lines"),)


@pytest.mark.parametrize("headers", ["keep", "drop"])
def test_tables_without_rows_columns_or_values(headers, tmp_path):
    tables = [
        raw("", "no columns"),
        raw("other", "no columns"),
        raw("", "no rows", a=[], b=[]),
        raw("", "country", name=[], year=[]),
        raw("", "nulls", note=[None, None], id=[1, 2]),
        raw("", "more nulls", note=[None, None], key=["x", "y"]),
    ]
    index = _build(tables, tmp_path, headers=headers)
    opened = open_index(tmp_path)
    _assert_equal(index, opened)
    assert len(opened.tables) == 6
    assert np.isfinite(opened.space.dense).all()
    assert np.isfinite(opened.graph.joins.weight).all()
    assert np.isfinite(opened.values.uniqueness()).all()
    assert not join_list(opened)
    assert opened.tables[4].columns[0].null_share == 1


def test_two_tables_of_one_name_stay_apart(tmp_path):
    lake = tmp_path / "lake"
    for folder, name in (("db1", "Ann"), ("db2", "Bob")):
        (lake / folder).mkdir(parents=True)
        (lake / folder / "users.csv").write_text(f"id,name\n1,{name}\n2,{name}by\n")
    index = _build(find_tables(lake), tmp_path / "index")
    assert set(index.numbers) == {TableId("db1", "users"), TableId("db2", "users")}
    assert [table.columns[1].sample[0][:3] for table in open_index(tmp_path / "index").tables] == [
        "Ann",
        "Bob",
    ]
    assert [str(table.id) for table in index.tables] == ["db1/users", "db2/users"]


def test_odd_column_names(tmp_path):
    names = ["1:00-2:00AM", "a#sep#b", "x.y", 'q "r"', "", "日本", "a" * 3000]
    _build([raw("", "odd", {name: [1, 2] for name in names})], tmp_path)
    columns = open_index(tmp_path).tables[0].columns
    assert [column.header for column in columns] == names
    assert columns[4].name == "c4"


def test_values_are_found_again(tmp_path):
    from graftjax.lake.sketch import hash_value

    index = _build(_lake(), tmp_path)
    names = index.column_names
    first = {int(k): names[c] for c, k in reversed(list(enumerate(index.graph.unions.column_class)))}
    assert {first[int(k)] for k in index.classes_with(hash_value("104"))} == {"id", "club_id"}
    assert len(index.classes_with(hash_value("no such value"))) == 0


def test_dropped_headers_leave_no_trace_in_the_texts(tmp_path):
    index = _build([raw("", "thing", zebra=["p1", "q"], yak=[1, 2])], tmp_path, headers="drop")
    assert not any("zebra" in text or "yak" in text for text in index.space.texts)
    assert open_index(tmp_path).headers == "drop"


def test_a_small_lake_with_the_embedded_encoder(tmp_path):
    encoder = load_encoder()
    city = raw("geo", "city", {"city_id": [*range(500, 530)], "name": [f"City {i}" for i in range(30)]})
    hotel = raw(
        "geo",
        "hotels",
        hotel_id=[*range(60)],
        city_id=[500 + i % 30 for i in range(60)],
        stars=[1, 2, 3] * 20,
    )
    built = build_index([*deal(city, 3), *deal(hotel, 2)], tmp_path, encoder, progress=False)
    index = open_index(tmp_path, encoder.name)
    _assert_equal(built, index)
    assert {len(members) for members in clusters(index)} == {2, 3}
    assert join_list(index)[0][1] == {"geo/city.city_id", "geo/hotels.city_id"}
    np.testing.assert_allclose(np.linalg.norm(index.space.dense, axis=1), 1, atol=1e-4)


def test_folders_of_the_users_own_stay_where_an_index_is_written(tmp_path):
    """A folder called `v-1.0` in the place of the index used to be removed as an old version."""
    (tmp_path / "v-1.0").mkdir()
    _build(_lake(), tmp_path)
    _build(_lake(), tmp_path)
    assert (tmp_path / "v-1.0").is_dir()
