"""Terms of SQL as sqlglot's expressions; names and values are quoted by sqlglot, never by us."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

if TYPE_CHECKING:
    from sqlglot.expressions.core import Expr

    Term: TypeAlias = Expr
else:
    Term = exp.Expression  # every concrete term is one, in all versions of sqlglot

DIALECT = "duckdb"


def quoted(name: str) -> exp.Identifier:
    """An identifier in quotes."""
    return exp.to_identifier(name, quoted=True)


def named(term: Term, name: str) -> Term:
    """A term under a name of its own; a column of that very name is left as it is."""
    if isinstance(term, exp.Column) and term.name == name:
        return term
    return exp.alias_(term, quoted(name), copy=False)


def column(name: str, table: str | None = None) -> Term:
    """A column, of a table or its alias if given."""
    return exp.column(quoted(name), table=None if table is None else quoted(table))


def table(name: str, alias: str | None = None) -> exp.Table:
    """A table by its whole name, however it looks."""
    found = exp.Table(this=quoted(name))
    if alias is not None and alias != name:
        found.set("alias", exp.TableAlias(this=quoted(alias)))
    return found


def cast(value: Term, type: str) -> Term:
    """CAST of a value to a type of DuckDB."""
    return exp.Cast(this=value, to=exp.DataType.build(type, dialect=DIALECT))


def call(function: str, *arguments: Term) -> Term:
    """A call of DuckDB's own function, as it is."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def string(value: str) -> Term:
    """A text as a literal."""
    return exp.Literal.string(value)


def count_rows(name: str) -> Term:
    """COUNT(*) under a name."""
    return named(exp.Count(this=exp.Star()), name)


def text(query: Term, *, pretty: bool = False) -> str:
    """The query as DuckDB reads it."""
    return query.sql(DIALECT, pretty=pretty, comments=False)
