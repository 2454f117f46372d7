"""Test cases: queries with the lake tables that answer them (the gold set)."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.datasets import Dataset
from graftjax.evaluate.dev_questions import read_dev_questions
from graftjax.intent import Query, read_queries
from graftjax.lake.gold import tables_of_sql
from graftjax.types import TableId


@dataclass(frozen=True, slots=True)
class Case:
    """A query and its gold set."""

    query: Query
    gold: tuple[TableId, ...] = ()
    reason: str = ""
    """Why the query can't be scored; empty when it can."""


@dataclass(frozen=True, slots=True)
class CaseSet:
    """All cases of a query file, in file order, with what is odd about them."""

    cases: tuple[Case, ...]
    warnings: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    """Of a benchmark's own questions: what was left out and why, and which are known from elsewhere."""


def load_cases(dataset: Dataset, tables: Collection[TableId]) -> CaseSet:
    """Read the queries of a data set and find their gold sets among `tables`, the lake's.

    In this order: the query's `gold` field, [[source, name], ...]; for a benchmark all shards of the gold
    tables (`gold_tables`, else those of the gold SQL); for a user's folder the tables with the names of the
    gold tables in the source `db_id`. Where the file has both, recorded gold tables are compared with those
    that sqlglot finds in the gold SQL, and a difference is a warning; the recorded ones count.

    Of a benchmark's own questions only those that read several tables are cases (see `read_dev_questions`).

    Raises UsageError when the file is broken, or when not one gold table of any query is in the lake.
    """
    warnings: list[str] = []
    counts: dict[str, int] = {}
    fields: dict[str, tuple[TableId, ...]] = {}
    if dataset.asks_dev and dataset.benchmark:
        asked = read_dev_questions(dataset.queries, dataset.lake, dataset.benchmark.sources)
        queries, counts = asked.queries, asked.counts
        warnings += asked.warnings
    else:
        try:
            queries = read_queries(dataset.queries)
            fields = _gold_fields(dataset.queries)
        except GraftError as error:
            raise UsageError(f"--queries {error}") from error
    lake = frozenset(tables)
    cases = [_case(query, fields.get(query.id), dataset, lake, warnings) for query in queries]
    wanted = {table for case in cases for table in case.gold}
    absent = wanted - lake
    if wanted and absent == wanted and lake:
        raise UsageError(
            f"{dataset.queries}: none of its gold tables is in the index; is it of another lake?"
        )
    if absent:
        example = ", ".join(str(table) for table in sorted(absent)[:3])
        warnings.append(
            f"{len(absent)} of {len(wanted)} gold tables are not in the lake (for example {example})"
        )
    return CaseSet(tuple(cases), tuple(warnings), counts)


def _case(
    query: Query,
    field: tuple[TableId, ...] | None,
    dataset: Dataset,
    lake: frozenset[TableId],
    warnings: list[str],
) -> Case:
    names = tuple(dict.fromkeys(name.lower() for name in query.gold_tables))
    if query.gold_sql.strip():
        try:
            found = tables_of_sql(query.gold_sql, query.sql_dialect)
        except (GraftError, ValueError) as error:  # ValueError: sqlglot knows no such dialect
            warnings.append(f"{query.id}: {error}")
            found = ()
        if not names:
            names = found
        elif found and set(found) != set(names):
            warnings.append(
                f"{query.id}: gold_tables are {', '.join(sorted(names))}, "
                f"but the gold SQL reads {', '.join(found)}"
            )
    if field is not None:
        gold = field
    elif not names:
        return Case(query, reason="neither gold tables nor gold SQL")
    elif dataset.benchmark:
        try:
            gold = dataset.benchmark.gold(query.db_id, names)
        except GraftError as error:
            return Case(query, reason=str(error))
    else:
        gold = tuple(
            sorted(table for table in lake if table.source == query.db_id and table.name.lower() in names)
        )
        missing = set(names) - {table.name.lower() for table in gold}
        if missing:
            return Case(query, reason=f"no table {', '.join(sorted(missing))} in source {query.db_id!r}")
    gold = tuple(dict.fromkeys(gold))
    return Case(query, gold) if gold else Case(query, reason="the gold set is empty")


def _gold_fields(path: Path) -> dict[str, tuple[TableId, ...]]:
    """Query id → its `gold` field, for the lines that have one; the lines were checked by the reader."""
    fields = {}
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        record = json.loads(line) if line.strip() else {}
        if record.get("gold") is not None:
            fields[str(record["id"])] = _table_ids(record["gold"], f"{path}, line {number}")
    return fields


def _table_ids(value: object, where: str) -> tuple[TableId, ...]:
    def is_pair(item: object) -> bool:
        return isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item)

    if not isinstance(value, list) or not all(is_pair(item) for item in value):
        raise GraftError(f"{where}: 'gold' must be a list of [source, name] pairs")
    return tuple(TableId(source, name) for source, name in value)


def with_queries(cases: Sequence[Case], queries: Sequence[Query]) -> tuple[Case, ...]:
    """The same cases with other versions of their queries, for example with other intent graphs."""
    return tuple(replace(case, query=query) for case, query in zip(cases, queries, strict=True))
