"""The questions of a benchmark's dev.json in the setting of JAR, as the queries of this project.

Kept are the questions whose gold SQL reads at least two tables, all of them in the lake: one table alone
needs no join, and JAR leaves such questions out. They have no recorded intent graph and no sub-questions.
BIRD's `evidence`, a hint at the answer, is not read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from graftjax.errors import GraftError
from graftjax.intent import Query, read_queries
from graftjax.lake.benchmark import SourceTable
from graftjax.lake.gold import tables_of_sql

LEAST_TABLES = 2
"""Tables that a question's gold SQL reads at least."""
KNOWN = ("queries.jsonl", "tuning.jsonl")
"""Files beside dev.json that may hold some of its questions."""

_SQL_KEYS = ("query", "SQL")
"""Where the gold SQL is: Spider's key, BIRD's key."""
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class DevQuestion:
    """One entry of dev.json."""

    question: str
    db_id: str
    sql: str


@dataclass(frozen=True, slots=True)
class DevQuestions:
    """The queries that are asked, and what became of the others."""

    queries: tuple[Query, ...]
    """In file order; the id is `<lake>-<place in dev.json>`."""
    counts: dict[str, int]
    """In words: all questions, those left out by reason, and those that a file of `KNOWN` holds too."""
    warnings: tuple[str, ...]
    """Gold SQL that can't be parsed, and what the gold SQL reads that is not in the lake."""


def read_dev(path: Path) -> tuple[DevQuestion, ...]:
    """All entries of a dev.json of Spider or BIRD; `GraftError` for a file that is neither."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise GraftError(f"{path}: no such file of questions") from error
    except (OSError, ValueError, RecursionError) as error:
        raise GraftError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(entries, list):
        raise GraftError(f"{path}: a JSON list of questions is wanted")
    return tuple(_entry(entry, f"{path}, entry {number}") for number, entry in enumerate(entries))


def _entry(entry: object, where: str) -> DevQuestion:
    if not isinstance(entry, dict):
        raise GraftError(f"{where}: a JSON object is wanted")
    sql = next((entry[key] for key in _SQL_KEYS if key in entry), None)
    texts = (entry.get("question"), entry.get("db_id"), sql)
    for name, text in zip(("question", "db_id", " or ".join(_SQL_KEYS)), texts, strict=True):
        if not isinstance(text, str) or not text.strip():
            raise GraftError(f"{where}: {name} must be a non-empty text")
    return DevQuestion(*map(str, texts))


def dev_databases(path: Path) -> frozenset[str]:
    """The databases that the questions of a dev.json are asked of."""
    return frozenset(one.db_id for one in read_dev(path))


def read_dev_questions(path: Path, lake: str, sources: Collection[SourceTable]) -> DevQuestions:
    """The queries of a dev.json whose gold tables, two or more, are all among `sources`, the lake's.

    Raises GraftError when a file is broken.
    """
    databases = {database for database, _ in sources}
    queries: list[Query] = []
    left_out: Counter[str] = Counter()
    warnings: list[str] = []
    missing: set[str] = set()
    questions = read_dev(path)
    for number, one in enumerate(questions):
        id = f"{lake}-{number:04d}"
        try:
            tables = tables_of_sql(one.sql)
        except GraftError as error:
            left_out["gold SQL can't be parsed"] += 1
            warnings.append(f"{id}: {error}")
            continue
        absent = [table for table in tables if (one.db_id, table) not in sources]
        if len(tables) < LEAST_TABLES:
            left_out["fewer than two gold tables"] += 1
        elif one.db_id not in databases:
            left_out["database not at hand"] += 1
            missing.add(f"{one.db_id} (database)")
        elif absent:
            left_out["gold table not at hand"] += 1
            missing |= {f"{one.db_id}.{table}" for table in absent}
        else:
            queries.append(Query(id, one.question, one.db_id, one.sql, gold_tables=tables))
    if missing:
        shown = sorted(missing)
        more = f" and {len(shown) - _EXAMPLES} more" if len(shown) > _EXAMPLES else ""
        warnings.append(f"{path.name} asks for what is not at hand: {', '.join(shown[:_EXAMPLES])}{more}")
    counts = {f"questions in {path.name}": len(questions)}
    counts |= {f"left out, {reason}": number for reason, number in sorted(left_out.items())}
    for name in KNOWN:
        if (path.parent / name).is_file():
            counts[f"asked that are also in {name}"] = count_known(queries, path.parent / name)
    return DevQuestions(tuple(queries), counts, tuple(warnings))


def count_known(queries: Sequence[Query], path: Path) -> int:
    """How many of `queries` a JSONL file of queries has too, by database and words of the question."""
    known = {_key(query) for query in read_queries(path)}
    return sum(_key(query) in known for query in queries)


def _key(query: Query) -> tuple[str, str]:
    return query.db_id, " ".join(query.question.casefold().split())
