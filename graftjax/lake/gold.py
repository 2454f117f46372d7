"""Tables that a gold SQL query reads, by sqlglot."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import OptimizeError, SqlglotError
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
        found = _read_in_scopes(statement) if isinstance(statement, exp.Query) else set()
    except (SqlglotError, ValueError) as error:  # ValueError: no such dialect
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraftError(f"gold SQL can't be parsed as {dialect}: {reason}") from error
    except RecursionError as error:
        raise GraftError(f"gold SQL can't be parsed as {dialect}: nested too deeply") from error
    if not found:  # not a query, or a form that scopes don't cover: every table that no CTE defines
        ctes = {cte.alias_or_name.lower() for cte in statement.find_all(exp.CTE)}
        found = {table.name.lower() for table in statement.find_all(exp.Table)} - ctes
    return tuple(sorted(name for name in found if name))


def _read_in_scopes(statement: exp.Query) -> set[str]:
    """Tables that the scopes of a query read; empty when the scopes can't be told."""
    # To SQL `Top` is the table expression `TOP`; scopes look at the letters.
    for node in statement.find_all(exp.Table, exp.TableAlias):
        if isinstance(node.this, exp.Identifier):
            node.this.set("this", node.name.lower())
    try:
        sources = [source for scope in traverse_scope(statement) for source in scope.sources.values()]
    except OptimizeError:  # for example one alias given twice
        return set()
    return {source.name.lower() for source in sources if isinstance(source, exp.Table)}
