"""The contract of a retriever as checks that any of them must pass.

A test module gives `check_retriever` a function that builds the retriever over a lake's index; a peer's
module calls `check_peer`, which runs them over tables and over union clusters.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from fake_encoder import WordEncoder
from lake_maker import raw

from graftjax.intent import Query
from graftjax.lake.index import build_index
from graftjax.lake.raw import RawTable
from graftjax.lake.record import LakeIndex
from graftjax.peers import Retriever
from graftjax.peers.catalog import Catalog, View

Build = Callable[[LakeIndex], Retriever]

QUESTIONS = {
    "plain": "Which singers performed at the stadium in 2014?",
    "unknown words": "zzyzx qwrtp flurbl",
    "Thai": "นักร้องคนใดแสดงที่สนามกีฬา",
    "punctuation": "?!... ,;:",
    "empty": "",
    "one word": "singer",
    "long": "Which singers " + "and stadiums " * 300,
}


def make_table(source: str, name: str, *headers: str, rows: Sequence[int] = (1, 2, 3)) -> RawTable:
    """A table whose cells are the header and the number of the row."""
    return raw(source, name, {header: [f"{header} {row}" for row in rows] for header in headers})


def make_lake() -> list[RawTable]:
    """Tables of two sources, two of them with one name, one without columns, two with odd headers."""
    return [
        make_table("music", "singer", "singer_id", "name", "age"),
        make_table("music", "stadium", "stadium_id", "name", "capacity"),
        make_table("music", "singer_in_concert", "singer_id", "concert_id"),
        make_table("music", "concert_1", "concert_id", "stadium_id", "year"),
        make_table("music", "concert_2", "concert_id", "stadium_id", "year", rows=(4, 5, 6)),
        make_table("opera", "singer", "singer_id", "name", "voice"),
        make_table("misc", "nothing"),
        make_table("misc", "odd", "1:00-2:00AM", "a#sep#b", "x.y", ""),
    ]


def index_of(tables: Sequence[RawTable], **options) -> LakeIndex:
    """The index of a small lake by the encoder of hashed words."""
    with tempfile.TemporaryDirectory() as folder:
        return build_index(tables, Path(folder) / "index", WordEncoder(), progress=False, **options)


@cache
def index_of_first(count: int) -> LakeIndex:
    """The index of the first tables of `make_lake`, made once."""
    return index_of(make_lake()[:count])


def catalog_of(tables: Sequence[RawTable], view: View = "tables", **options) -> Catalog:
    """The catalog of a small lake."""
    return Catalog(index_of(tables, **options), WordEncoder(), view)


def check_peer(make: Callable[[Catalog], Retriever]) -> None:
    """All checks, over tables and over union clusters."""
    for view in ("tables", "clusters"):
        check_retriever(lambda index, view=view: make(Catalog(index, WordEncoder(), view)))


def check_retriever(build: Build) -> None:
    """All checks over lakes of 0, 1, 2 and 8 tables."""
    for count in (0, 1, 2, 8):
        index = index_of_first(count)
        retriever = build(index)
        retriever.warm_up([1, 3, 20])
        assert isinstance(retriever.name, str)
        assert retriever.name
        known = {table.id for table in index.tables}
        for label, question in QUESTIONS.items():
            query = Query(id=label, question=question)
            for budget in (1, 3, 20):
                answer = retriever.retrieve(query, budget, seed=0)
                where = f"{label}, {count} tables, L={budget}"
                assert len(answer.tables) <= budget, where
                assert len(set(answer.tables)) == len(answer.tables), where
                assert set(answer.tables) <= known, where
                assert answer.tables == retriever.retrieve(query, budget, seed=0).tables, where
                if not answer.tables:
                    assert answer.notes, f"{where}: an empty answer without a reason"
                if answer.synthesis is not None:
                    assert answer.synthesis.tables == answer.tables, where
                    assert np.isfinite(answer.synthesis.utility), where
        rebuilt = build(index)
        rebuilt.warm_up([3])
        query = Query(id="plain", question=QUESTIONS["plain"])
        assert rebuilt.retrieve(query, 3, seed=7).tables == retriever.retrieve(query, 3, seed=7).tables
