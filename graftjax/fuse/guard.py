"""Rows of each join, counted before it runs.

What is fused so far is held as a histogram: how many of its rows there are for each combination of the keys
that later joins will compare. A join multiplies histograms, so the count is exact and no row is made for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from graftjax.fuse.errors import FuseError
from graftjax.fuse.names import BEFORE, NEW
from graftjax.fuse.plan import Part
from graftjax.fuse.run import Session
from graftjax.fuse.settings import FuseSettings, JoinKind
from graftjax.fuse.sql import Builder
from graftjax.fuse.terms import Term, cast, column, count_rows, named, quoted, table

_COUNT = "rows"


@dataclass(frozen=True, slots=True)
class JoinCount:
    """What a join does to the rows."""

    kind: JoinKind
    rows: int
    """After it."""
    matched: int
    """Rows before it that have a partner."""
    before: int
    chosen: bool
    """The kind was left to us."""


def count_joins(session: Session, build: Builder, settings: FuseSettings) -> list[JoinCount]:
    """Choose the kind of each join and count its rows.

    Raises FuseError for a step that would have more than `settings.most_rows`.
    """
    part, counts = build.part, []
    if not part.joins:
        return counts
    session.register(BEFORE, session.table(_histogram(build, 0)))
    for number, join in enumerate(part.joins):
        session.register(NEW, session.table(_histogram(build, join.new, joined_by=number)))
        keys = [_right(number, k) for k in range(len(join.keys))]
        left = [_left(number, k) for k in range(len(join.keys))]
        before, matched, inner, new, matched_new = session.numbers(_statistics(left, keys))
        rows = {
            "inner": inner,
            "left": inner + before - matched,
            "full": inner + before - matched + new - matched_new,
        }
        kind: JoinKind
        if settings.kind == "auto":
            kind = "inner" if matched and matched >= settings.keep * before else "left"
        else:
            kind = settings.kind
        if rows[kind] > settings.most_rows:
            raise FuseError(
                f"{title(part, number, kind)} would have {rows[kind]:,} rows, "
                f"more than the limit of {settings.most_rows:,}; raise the limit or leave a table out"
            )
        counts.append(JoinCount(kind, rows[kind], matched, before, settings.kind == "auto"))
        if number + 1 < len(part.joins):
            later = [
                _left(n, k)
                for n, other in enumerate(part.joins)
                if n > number and other.anchor <= number + 1
                for k in range(len(other.keys))
            ]
            session.register(BEFORE, session.table(_product(left, keys, later, kind)))
    return counts


def title(part: Part, number: int, kind: JoinKind) -> str:
    """A join in words."""
    join = part.joins[number]
    a, b = part.labels[join.anchor], part.labels[join.new]
    on = " and ".join(f"{a}.{x} = {b}.{y}" for x, y in join.keys)
    return f"{kind} join of {b} on {on}"


def _left(join: int, number: int) -> str:
    return f"left {join} {number}"


def _right(join: int, number: int) -> str:
    return f"right {join} {number}"


def _histogram(build: Builder, node: int, joined_by: int | None = None) -> exp.Select:
    """Rows of a node by the keys that its own join and later ones compare."""
    columns = []
    for number, join in enumerate(build.part.joins):
        for k in range(len(join.keys)):
            left, right = build.key_pair(number, k)
            if number == joined_by:
                columns.append(named(right, _right(number, k)))
            if join.anchor == node:
                columns.append(named(left, _left(number, k)))
    rows = count_rows(_COUNT)
    return build.node(node, [*columns, rows]).group_by("ALL")


def _totals(name: str, keys: Sequence[str]) -> exp.Subquery:
    total = named(exp.Sum(this=column(_COUNT)), _COUNT)
    columns = [column(key) for key in keys]
    return exp.select(*columns, total).from_(table(name)).group_by("ALL").subquery(quoted(name))


def _on(left: Sequence[str], right: Sequence[str]) -> Term:
    pairs = zip(left, right, strict=True)
    return exp.and_(
        *(
            exp.EQ(
                this=column(a, BEFORE),
                expression=column(b, NEW),
            )
            for a, b in pairs
        )
    )


def _rows(name: str) -> Term:
    return cast(column(_COUNT, name), "HUGEINT")


def _statistics(left: Sequence[str], right: Sequence[str]) -> exp.Select:
    """Rows before, those with a partner, pairs, rows of the new side, those with a partner."""
    before, new = _rows(BEFORE), _rows(NEW)
    paired = lambda rows, other: exp.Sum(  # noqa: E731
        this=exp.Case(ifs=[exp.If(this=other.is_(exp.null()), true=exp.Literal.number(0))], default=rows)
    )
    sums = [
        exp.Sum(this=before),
        paired(before, new),
        exp.Sum(this=exp.Mul(this=before, expression=new)),
        exp.Sum(this=new),
        paired(new, before),
    ]
    names = ("before", "matched", "pairs", "new", "matched_new")
    columns = [named(total.copy(), name) for total, name in zip(sums, names, strict=True)]
    return (
        exp.select(*columns)
        .from_(_totals(BEFORE, left))
        .join(_totals(NEW, right), on=_on(left, right), join_type="full")
    )


def _product(left: Sequence[str], right: Sequence[str], later: Sequence[str], kind: JoinKind) -> exp.Select:
    """The histogram after a join, by the keys of later ones."""
    one = exp.Literal.number(1)
    rows = exp.Mul(
        this=exp.Coalesce(this=_rows(BEFORE), expressions=[one]),
        expression=exp.Coalesce(this=_rows(NEW), expressions=[one.copy()]),
    )
    total = named(cast(exp.Sum(this=rows), "BIGINT"), _COUNT)
    columns = [column(key) for key in later]
    return (
        exp.select(*columns, total)
        .from_(table(BEFORE))
        .join(table(NEW), on=_on(left, right), join_type=kind)
        .group_by("ALL")
    )
