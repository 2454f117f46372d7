"""A benchmark query: the question with what is known about its answer."""

from __future__ import annotations

from dataclasses import dataclass

from graftjax.intent.schema import IntentGraph
from graftjax.types import TableId


@dataclass(frozen=True, slots=True)
class Query:
    """One line of a query file. Only the id and the question are always there."""

    id: str
    question: str
    db_id: str = ""
    """Database of the benchmark that the gold SQL runs on; retrieval never sees it."""
    gold_sql: str = ""
    sql_dialect: str = "sqlite"
    gold_tables: tuple[str, ...] = ()
    """Names of the source tables (before they are dealt to shards), as the file gives them."""
    intent: IntentGraph | None = None
    """Recorded intent graph, when the file has one."""
    subquestions: tuple[str, ...] = ()
    """Recorded sub-questions, for the decomposing peers."""
    base: TableId | None = None
    """The table that the user starts with; it is not retrieved and does not count."""
