from __future__ import annotations

import numpy as np
import pytest

from graftjax.errors import UsageError
from graftjax.evaluate.intents import LakeWords, prepare_intents
from graftjax.intent import EMPTY_INTENT, IntentGraph, Query
from graftjax.types import Column, Table, TableId

RECORDED = IntentGraph.model_validate(
    {"trees": [{"tree_id": "t1", "entity": "Recorded", "attributes": []}], "joins": []}
)
QUERIES = [
    Query("with", "How many singers are there?", intent=RECORDED),
    Query("without", "Which stadiums?"),
]


def test_recorded_where_there_is_one_else_lexical():
    prepared = prepare_intents(QUERIES, "recorded")
    assert prepared.sources == {"recorded": 1, "lexical": 1}
    assert prepared.queries[0].intent == RECORDED
    assert prepared.queries[1].intent not in (None, EMPTY_INTENT)


def test_lexical_ignores_recorded():
    prepared = prepare_intents(QUERIES, "lexical")
    assert prepared.sources == {"lexical": 2}
    assert prepared.queries[0].intent != RECORDED


def test_endpoint_needs_a_configuration(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        prepare_intents(QUERIES, "endpoint")


def test_lake_words_are_singular_and_without_shard_numbers():
    column = Column("Singer_Names", "Singer_Names", "text", 0.0, 0, (), np.zeros(0, np.uint64))
    words = LakeWords([Table(TableId("a", "ConcertSingers_3"), (column,), 0)])
    assert words.is_table_term("concert singer")
    assert words.is_column_term("singer name")
    assert not words.is_table_term("singer name")
