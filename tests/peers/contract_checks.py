"""The contract of a retriever as checks that any of them must pass.

A test module gives `check_retriever` a function that builds the retriever over a list of tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graftjax.intent import Query
from graftjax.peers import Retriever
from graftjax.types import Column, Table, TableId

Build = Callable[[Sequence[Table]], Retriever]

QUESTIONS = {
    "plain": "Which singers performed at the stadium in 2014?",
    "unknown words": "zzyzx qwrtp flurbl",
    "Thai": "นักร้องคนใดแสดงที่สนามกีฬา",
    "punctuation": "?!... ,;:",
    "empty": "",
    "one word": "singer",
}


def make_table(source: str, name: str, *headers: str) -> Table:
    """A profile with two sample values a column."""
    columns = tuple(
        Column(
            header, header, "text", 0.0, 3, (f"{header} 1", f"{header} 2", "x"), np.arange(3, dtype=np.uint64)
        )
        for header in headers
    )
    return Table(TableId(source, name), columns, n_rows=3, origin=f"{source}/{name}.csv")


def make_lake() -> list[Table]:
    """Tables of two sources, two of them with one name, one without columns, two with odd headers."""
    return [
        make_table("music", "singer", "singer_id", "name", "age"),
        make_table("music", "stadium", "stadium_id", "name", "capacity"),
        make_table("music", "singer_in_concert", "singer_id", "concert_id"),
        make_table("music", "concert_1", "concert_id", "stadium_id", "year"),
        make_table("music", "concert_2", "concert_id", "stadium_id", "year"),
        make_table("opera", "singer", "singer_id", "name", "voice"),
        make_table("misc", "nothing"),
        make_table("misc", "odd", "1:00-2:00AM", "a#sep#b", "x.y", ""),
    ]


def check_retriever(build: Build) -> None:
    """All checks over lakes of 0, 1, 2 and 8 tables."""
    lake = make_lake()
    for tables in ([], lake[:1], lake[:2], lake):
        retriever = build(tables)
        retriever.warm_up([1, 3, 20])
        assert isinstance(retriever.name, str)
        assert retriever.name
        known = {table.id for table in tables}
        for label, question in QUESTIONS.items():
            query = Query(id=label, question=question)
            for budget in (1, 3, 20):
                answer = retriever.retrieve(query, budget, seed=0)
                where = f"{label}, {len(tables)} tables, L={budget}"
                assert len(answer.tables) <= budget, where
                assert len(set(answer.tables)) == len(answer.tables), where
                assert set(answer.tables) <= known, where
                assert answer.tables == retriever.retrieve(query, budget, seed=0).tables, where
                if not answer.tables:
                    assert answer.notes, f"{where}: an empty answer without a reason"
                if answer.synthesis is not None:
                    assert answer.synthesis.tables == answer.tables, where
                    assert np.isfinite(answer.synthesis.utility), where
        rebuilt = build(tables)
        rebuilt.warm_up([3])
        query = Query(id="plain", question=QUESTIONS["plain"])
        assert rebuilt.retrieve(query, 3, seed=7).tables == retriever.retrieve(query, 3, seed=7).tables
