from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from graftjax.evaluate.altered import WORDS, alter, draw_alteration
from graftjax.lake.raw import RawTable
from graftjax.types import TableId


def _tables() -> tuple[RawTable, RawTable]:
    names = [f"Town {'abcdefghij'[i % 10]}{i}" for i in range(60)]
    town = pa.table({"id": list(range(60)), "town": names, "size": [i / 7 for i in range(60)]})
    shop = pa.table({"shop": [f"S{i}" for i in range(90)], "town": [names[i % 60] for i in range(90)]})
    return (
        RawTable(TableId("db", "town"), town, ("id", "town", "size"), "db"),
        RawTable(TableId("db", "shop"), shop, ("shop", "town"), "db"),
    )


def _rival(number: int = 1):
    return next(how for seed in range(50) if (how := draw_alteration(seed, "db", number)).word)


def _cells(shards: list[RawTable], column: int) -> list:
    return [value for shard in shards for value in shard.data.column(column).to_pylist()]


def test_a_copy_depends_on_its_arguments_alone():
    first, second = (list(alter(_tables()[0], draw_alteration(3, "db", 2))) for _ in range(2))
    assert [one.id for one in first] == [one.id for one in second]
    assert all(a.data.equals(b.data) for a, b in zip(first, second, strict=True))
    assert draw_alteration(3, "db", 2) != draw_alteration(4, "db", 2)


@pytest.mark.parametrize("unit", ["a", "b", "spider/car_1"])
def test_rivals_of_one_database_have_words_of_their_own(unit):
    words = [draw_alteration(0, unit, number).word for number in range(1, len(WORDS) + 1)]
    rivals = [word for word in words if word]
    assert len(set(rivals)) == len(rivals)
    assert 0 < len(rivals) < len(words)  # some go on with the original


def test_a_value_is_changed_alike_in_all_tables_of_a_copy():
    town, shop = _tables()
    how = replace(_rival(), changed=0.5)
    towns = set(_cells(list(alter(town, how)), 1)) | set(_cells(list(alter(town, replace(how, number=7))), 1))
    all_towns = set(town.data.column("town").to_pylist())
    foreign = set(_cells(list(alter(shop, how)), 1))
    kept, changed = foreign & all_towns, foreign - all_towns
    assert kept
    assert changed
    # Every changed town that the copy's own town table still has is spelt there in the same way.
    assert len(foreign & towns) > 0.5 * len(foreign)
    assert all(any(c.isdigit() for c in text) for text in changed)  # letters change, digits stay


def test_rows_are_dealt_once_and_at_least_half_stay():
    town, _ = _tables()
    for number in range(1, 12):
        shards = list(alter(town, replace(draw_alteration(1, "db", number), shift=0)))
        ids = _cells(shards, 0)
        assert len(set(ids)) == len(ids) >= 30
        assert len({shard.id for shard in shards}) == len(shards)
        assert all(shard.data.num_rows for shard in shards)


def test_a_continuation_keeps_names_and_goes_on_with_its_keys():
    how = next(h for seed in range(50) if not (h := draw_alteration(seed, "db", 3)).word)
    town, _ = _tables()
    shards = list(alter(town, how))
    assert all(shard.headers == town.headers for shard in shards)
    assert {shard.id.name.rpartition("_")[0] or shard.id.name for shard in shards} == {"town"}
    assert min(_cells(shards, 0)) > 59
