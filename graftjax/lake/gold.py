"""Tables that a gold SQL query reads, by sqlglot."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from graftjax.errors import GraftError


def tables_of_sql(sql: str, dialect: str = "sqlite") -> tuple[str, ...]:
    """Source tables of `sql`, lower case, sorted, each once.

    Names of common table expressions (nested ones too) and aliases are no tables; a common table
    expression that hides a table of the same name still counts the table if its body reads it.

    Raises `GraftError` when the statement can't be parsed.
    """
    try:
        statement = sqlglot.parse_one(sql, read=dialect)
    except SqlglotError as error:
        raise GraftError(f"gold SQL can't be parsed as {dialect}: {str(error).splitlines()[0]}") from error
    found: set[str] = set()
    if isinstance(statement, exp.Query):
        for scope in traverse_scope(statement):
            found |= {source.name.lower() for source in scope.sources.values() if isinstance(source, exp.Table)}
    if not found:  # not a query, or a form that scopes don't cover: every table that no CTE defines
        ctes = {cte.alias_or_name.lower() for cte in statement.find_all(exp.CTE)}
        found = {table.name.lower() for table in statement.find_all(exp.Table)} - ctes
    return tuple(sorted(name for name in found if name))
