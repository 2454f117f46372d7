"""Intent graphs of a query file, made before the clock starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tqdm import tqdm

from graftjax.encode.text import table_text, words
from graftjax.intent import EndpointExtractor, EndpointSettings, Query, extract
from graftjax.intent.endpoint import default_cache_dir
from graftjax.intent.extract import IntentSource
from graftjax.types import Table


@dataclass(frozen=True, slots=True)
class PreparedIntents:
    """Queries that all have an intent graph."""

    queries: tuple[Query, ...]
    sources: dict[str, int]
    """How many intent graphs came from where."""
    notes: tuple[tuple[str, ...], ...]
    """Per query what its extraction had to say."""


class LakeWords:
    """Names and headers of a lake's tables, for the lexical extractor."""

    def __init__(self, tables: Iterable[Table]) -> None:
        tables = tuple(tables)
        self._tables = {table_text(table.id.name) for table in tables}
        self._columns = {words(column.header) for table in tables for column in table.columns}

    def is_table_term(self, words: str) -> bool:
        return words in self._tables

    def is_column_term(self, words: str) -> bool:
        return words in self._columns


def prepare_intents(
    queries: Sequence[Query], source: IntentSource, tables: Iterable[Table] = ()
) -> PreparedIntents:
    """An intent graph for each query.

    `source`: `recorded` takes the file's, and the lexical extractor's where there is none; `lexical` and
    `endpoint` ignore recorded ones. Raises UsageError when no endpoint is configured, GraftError when it
    refuses the model or the key.
    """
    endpoint = None
    if source == "endpoint":
        endpoint = EndpointExtractor(EndpointSettings(cache_dir=default_cache_dir()))
    lake_words = LakeWords(tables)
    done = [
        extract(
            query.question,
            recorded=query.intent if source == "recorded" else None,
            endpoint=endpoint,
            lake_terms=lake_words,
        )
        for query in tqdm(queries, desc="intents", unit="query", disable=source != "endpoint")
    ]
    return PreparedIntents(
        tuple(replace(query, intent=one.intent) for query, one in zip(queries, done, strict=True)),
        dict(Counter(one.source for one in done)),
        tuple(one.notes for one in done),
    )
