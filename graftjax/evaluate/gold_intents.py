"""Intent graphs read off the gold SQL: what a perfect reader of the question would write down.

The rule:
1. A tree for each base table that the SQL reads, in the order of reading; a table read twice is one tree. Its
   entity is the table's name in words.
2. A tree's attributes are the table's columns that the SQL names anywhere (selected, filtered, grouped,
   sorted, joined), each once, in words. `*` names none.
3. A value is a literal that a column is compared with (=, <>, <, <=, >, >=, LIKE without its %, IN, BETWEEN);
   what is compared with an aggregate is none.
4. A join for each equality of two columns of different tables, `USING`, `column IN (SELECT column ...)`, and
   UNION, INTERSECT or EXCEPT of one column with one of another table.
A column without a table's name belongs to the first table in reach that has it. In SQLite's dialect a word in
double quotes that is no column is a literal.

The words are the database's own, which the lake shares, so the end F1 of these graphs is an upper row, not
something that a reader of questions could reach.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from graftjax.encode.text import table_text, words
from graftjax.errors import GraftError
from graftjax.evaluate.cases import Case
from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentJoin, IntentTree
from graftjax.lake.benchmark import Benchmark
from graftjax.lake.record import LakeIndex

ColumnsOf = Callable[[str], Collection[str]]
"""Lower-case names of a base table's columns by its lower-case name; none when they aren't known."""
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)
_Column = tuple[str, str]
"""(table, column), lower case."""


@dataclass
class _Reading:
    """What was found so far, in the order of reading."""

    columns: dict[str, dict[str, dict[str, None]]] = field(default_factory=dict)
    """Table → column → values."""
    spelt: dict[_Column, str] = field(default_factory=dict)
    joins: dict[frozenset[_Column], tuple[_Column, _Column]] = field(default_factory=dict)


def gold_intent(sql: str, dialect: str, columns_of: ColumnsOf) -> IntentGraph:
    """The intent graph of a gold query.

    Raises GraftError, one line, when the SQL can't be parsed or reads no table.
    """
    try:
        statement = sqlglot.parse_one(sql, read=dialect)
        scopes = traverse_scope(statement) if isinstance(statement, exp.Query) else []
    except (SqlglotError, ValueError, RecursionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraftError(f"gold SQL can't be read as {dialect}: {reason}") from error
    found = _Reading()
    for table in statement.find_all(exp.Table, bfs=False):
        if any(table is source for scope in scopes for source in scope.sources.values()):
            found.columns.setdefault(table.name.lower(), {})
    if not found.columns:
        raise GraftError("gold SQL reads no table")
    for scope in scopes:
        _read(scope, found, columns_of)
    by_query = {id(scope.expression): scope for scope in scopes}
    for both in statement.find_all(exp.SetOperation):
        sides = [by_query.get(id(side.unnest())) for side in (both.left, both.right)]
        left, right = (side and _only_column(side, columns_of) for side in sides)
        if left:
            _link(left, right, found)
    return _graph(found)


def _read(scope: Scope, found: _Reading, columns_of: ColumnsOf) -> None:
    places: dict[int, _Column | None] = {}
    for column in scope.columns:
        place = places[id(column)] = _place(column, scope, columns_of)
        if place is not None:
            found.columns.setdefault(place[0], {}).setdefault(place[1], {})
            found.spelt.setdefault(place, column.name)
    where = lambda node: places.get(id(node)) if isinstance(node, exp.Column) else None  # noqa: E731
    for node in scope.find_all(*_COMPARED, exp.In, exp.Between):
        mine = where(node.this)
        if isinstance(node, exp.In):
            inner = node.args.get("query")
            if mine and inner is not None:
                _link(mine, _selected(inner, scope, columns_of), found)
            others = node.expressions
        elif isinstance(node, exp.Between):
            others = [node.args["low"], node.args["high"]]
        else:
            others = [node.expression]
            if mine is None:  # `5 < age`
                mine, others = where(node.expression), [node.this]
            elif isinstance(node, exp.EQ):
                _link(mine, where(node.expression), found)
        for other in others if mine else ():
            text = _literal(other, places)
            if mine and text:
                found.columns[mine[0]][mine[1]].setdefault(text)
    for join in scope.find_all(exp.Join):
        for name in join.args.get("using") or ():
            tables = [table for table in _tables(scope) if name.name.lower() in columns_of(table)]
            for table in tables:
                found.columns.setdefault(table, {}).setdefault(name.name.lower(), {})
                found.spelt.setdefault((table, name.name.lower()), name.name)
            for left, right in itertools.pairwise(tables):
                _link((left, name.name.lower()), (right, name.name.lower()), found)


def _link(left: _Column, right: _Column | None, found: _Reading) -> None:
    if right is not None and left[0] != right[0]:
        found.joins.setdefault(frozenset((left, right)), (left, right))


def _selected(query: Any, scope: Scope, columns_of: ColumnsOf) -> _Column | None:
    """The one column that a subquery selects."""
    inner = query.unnest() if isinstance(query, exp.Subquery) else query
    for child in scope.subquery_scopes:
        if child.expression is inner:
            return _only_column(child, columns_of)
    return None


def _only_column(scope: Scope, columns_of: ColumnsOf) -> _Column | None:
    """The one column that a SELECT selects; None for several, or for more than a column."""
    query = scope.expression
    if not isinstance(query, exp.Select) or len(query.selects) != 1:
        return None
    chosen = query.selects[0].unalias()
    return _place(chosen, scope, columns_of) if isinstance(chosen, exp.Column) else None


def _tables(scope: Scope) -> list[str]:
    """Base tables of a scope."""
    return [source.name.lower() for source in scope.sources.values() if isinstance(source, exp.Table)]


def _place(column: exp.Column, scope: Scope, columns_of: ColumnsOf) -> _Column | None:
    """Base table and name of a column; None for what is no base column (an alias, a literal in quotes)."""
    name, near = column.name.lower(), scope
    if not name:
        return None
    if column.table:
        while near is not None:
            for alias, source in near.sources.items():
                if alias.lower() == column.table.lower():
                    return (source.name.lower(), name) if isinstance(source, exp.Table) else None
            near = near.parent
        return None
    while near is not None:
        for table in _tables(near):
            if name in columns_of(table):
                return table, name
        near = near.parent
    own = _tables(scope)
    if _quoted(column) or not own or any(columns_of(table) for table in own):
        return None  # a literal, or an alias of the select list
    return own[0], name


def _quoted(column: exp.Column) -> bool:
    return isinstance(column.this, exp.Identifier) and bool(column.this.args.get("quoted"))


def _literal(node: Any, places: dict[int, _Column | None]) -> str:
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return f"-{node.this.name}"
    is_word = isinstance(node, exp.Column) and places.get(id(node)) is None and not node.table
    if isinstance(node, exp.Literal) or (is_word and isinstance(node, exp.Column) and _quoted(node)):
        return node.name.strip().strip("%").strip()
    return ""


def _graph(found: _Reading) -> IntentGraph:
    place: dict[_Column, tuple[str, str]] = {}
    trees = []
    for number, (table, columns) in enumerate(found.columns.items(), 1):
        attributes = []
        for column, values in columns.items():
            place[table, column] = (f"t{number}", f"a{len(place) + 1}")
            attributes.append(
                IntentAttribute(
                    attribute_id=place[table, column][1],
                    name=words(found.spelt[table, column]) or column,
                    values=tuple(values),
                )
            )
        entity = table_text(table) or table
        trees.append(IntentTree(tree_id=f"t{number}", entity=entity, attributes=tuple(attributes)))
    joins = []
    for left, right in found.joins.values():
        (from_tree, from_attribute), (to_tree, to_attribute) = place[left], place[right]
        joins.append(
            IntentJoin(
                from_tree=from_tree, from_attribute=from_attribute,
                to_tree=to_tree, to_attribute=to_attribute,
            )
        )  # fmt: skip
    return IntentGraph(trees=tuple(trees), joins=tuple(joins))


def gold_schema(index: LakeIndex, case: Case, benchmark: Benchmark | None) -> ColumnsOf:
    """Columns of the tables that a gold query may read: a benchmark's by its source tables, else those of the
    gold tables by their names."""
    known: dict[str, set[str]] = {}
    if benchmark is not None:
        named = [
            (table, shard)
            for (source, table), shards in benchmark.shards.items()
            if source == case.query.db_id
            for shard in shards
        ]
    else:
        named = [(table_text(table.name), table) for table in case.gold]
    for name, shard in named:
        number = index.numbers.get(shard)
        if number is not None:
            headers = {column.header.lower() for column in index.tables[number].columns}
            known.setdefault(name, set()).update(headers)
    return lambda table: known.get(table) or known.get(table_text(table)) or ()
