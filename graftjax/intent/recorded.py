"""Query files: one JSON object a line, with an optional recorded intent graph and sub-questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graftjax.errors import GraftError
from graftjax.intent.query import Query
from graftjax.intent.schema import parse_intent


def _text(record: dict[str, Any], key: str, where: str, *, default: str | None = None) -> str:
    value = record.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise GraftError(
            f"{where}: '{key}' must be {'a text' if default is not None else 'a non-empty text'}"
        )
    return value


def _texts(record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise GraftError(f"{where}: '{key}' must be a list of texts")
    return tuple(value)


def parse_query(line: str, where: str) -> Query:
    """One line of a query file; fields that `Query` does not have are ignored.

    Raises:
      GraftError: not a JSON object, no id or question, or a broken intent graph; says `where`.
    """
    try:
        record = json.loads(line)
    except RecursionError as error:
        raise GraftError(f"{where}: the JSON is nested too deeply") from error
    except ValueError as error:
        raise GraftError(f"{where}: not JSON ({error})") from error
    if not isinstance(record, dict):
        raise GraftError(f"{where}: expected a JSON object, found {type(record).__name__}")
    intent = record.get("intent")
    return Query(
        id=_text(record, "id", where),
        question=_text(record, "question", where),
        db_id=_text(record, "db_id", where, default=""),
        gold_sql=_text(record, "gold_sql", where, default=""),
        sql_dialect=_text(record, "sql_dialect", where, default="sqlite"),
        gold_tables=_texts(record, "gold_tables", where),
        intent=None if intent is None else parse_intent(intent, f"{where}: intent"),
        subquestions=_texts(record, "subquestions", where),
    )


def read_queries(path: str | Path) -> tuple[Query, ...]:
    """All queries of a JSONL file in file order; blank lines are skipped.

    Raises:
      GraftError: the file cannot be read, a line is broken, or an id repeats; names file and line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise GraftError(f"{path}: no such query file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise GraftError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    queries: list[Query] = []
    seen: dict[str, int] = {}
    # Only line feeds end a record: str.splitlines would also cut at U+2028, which JSON texts may hold.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        query = parse_query(line, f"{path}, line {number}")
        if query.id in seen:
            raise GraftError(
                f"{path}, line {number}: id '{query.id}' is already used in line {seen[query.id]}"
            )
        seen[query.id] = number
        queries.append(query)
    return tuple(queries)
