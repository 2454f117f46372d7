"""Records and short-hand of the demo's domains: source tables, stray tables, questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graftjax.demo.draw import Draw

Cell = str | int | float | None
Row = tuple[Cell, ...]
Trap = Literal["near-copy", "look-alike", "not-joinable", "empty"]


@dataclass(frozen=True)
class Piece:
    """One table of the lake: a whole source table, or a shard of one."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Source:
    """A table as it was before it was dealt out; gold SQL speaks of these."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    pieces: tuple[Piece, ...]
    """Its shards in the lake; one piece where it was left whole."""
    bridge: bool = False
    """Holds identifiers only."""


@dataclass(frozen=True)
class Stray:
    """A table of the lake that is no source table and never gold."""

    piece: Piece
    trap: Trap


@dataclass(frozen=True)
class Query:
    """A question with its gold SQL (over source tables) and its intent graph."""

    question: str
    sql: str
    tables: tuple[str, ...]
    intent: dict
    subquestions: tuple[str, ...]
    tag: str = ""
    """Becomes the end of the id, where the question has a fixed one."""


@dataclass(frozen=True)
class Domain:
    """All that a domain puts into the lake."""

    name: str
    sources: tuple[Source, ...] = ()
    strays: tuple[Stray, ...] = ()
    queries: tuple[Query, ...] = field(default=())


def columns_of(text: str) -> tuple[str, ...]:
    """`"a, b c"` → `("a", "b c")`."""
    return tuple(part.strip() for part in text.split(","))


def source(
    name: str,
    columns: str,
    rows: Iterable[Sequence[Cell]],
    shards: str = "",
    respell: Mapping[int, str] | None = None,
    by: Callable[[Row], int] | None = None,
    bridge: bool = False,
) -> Source:
    """A source table and its pieces.

    `shards` names the pieces (none: one piece of the source's own name). Rows are dealt to them at
    random, or by `by(row)` = number of the piece. `respell` maps a piece's number to its own headers.
    """
    headers, table = columns_of(columns), tuple(tuple(row) for row in rows)
    names = columns_of(shards) if shards else (name,)
    draw = Draw(f"deal:{name}:{','.join(names)}")
    dealt: list[list[Row]] = [[] for _ in names]
    # Each shard gets a row before chance decides, so that none can come out empty.
    first = draw.shuffle(range(len(table)))
    place = {row: number for number, row in enumerate(first[: len(names)])}
    for number, row in enumerate(table):
        target = by(row) if by else place.get(number, draw.whole(0, len(names) - 1))
        dealt[target].append(row)
    spelt = respell or {}
    pieces = tuple(
        Piece(piece, columns_of(spelt[i]) if i in spelt else headers, tuple(dealt[i]))
        for i, piece in enumerate(names)
    )
    return Source(name, headers, table, pieces, bridge)


def bridge(name: str, columns: str, pairs: Iterable[Sequence[Cell]], shards: str = "") -> Source:
    """A source table that holds identifiers only."""
    return source(name, columns, pairs, shards, bridge=True)


def near_copy(of: Source | Piece, name: str, columns: str = "", share: float = 0.95) -> Stray:
    """A copy under another name that lacks a few of the rows, in another order."""
    draw = Draw(f"copy:{of.name}:{name}")
    kept = draw.sample(of.rows, round(len(of.rows) * share))
    return Stray(Piece(name, columns_of(columns) if columns else of.columns, tuple(kept)), "near-copy")


def stray(name: str, columns: str, rows: Iterable[Sequence[Cell]], trap: Trap = "look-alike") -> Stray:
    """A table that only looks as if it belonged to a question."""
    return Stray(Piece(name, columns_of(columns), tuple(tuple(row) for row in rows)), trap)


def query(
    question: str,
    sql: str,
    tables: str,
    trees: Sequence[str],
    joins: Sequence[str] = (),
    sub: Sequence[str] = (),
    tag: str = "",
) -> Query:
    """A question.

    A tree is `"Entity: attribute; attribute=value|value"`, a join `"Entity.attribute = Entity.attribute"`.
    """
    return Query(question, sql, columns_of(tables), _intent(trees, joins), tuple(sub) or (question,), tag)


def _intent(trees: Sequence[str], joins: Sequence[str]) -> dict:
    """The intent graph as a JSON-able object, its ids numbered in order of mention."""
    drawn, ids, number = [], {}, 0
    for t, text in enumerate(trees, start=1):
        entity, _, rest = text.partition(":")
        attributes = []
        for part in rest.split(";"):
            name, _, values = (side.strip() for side in part.partition("="))
            number += 1
            ids[entity.strip(), name] = (f"t{t}", f"a{number}")
            attributes.append(
                {"attribute_id": f"a{number}", "name": name, "values": values.split("|") if values else []}
            )
        drawn.append({"tree_id": f"t{t}", "entity": entity.strip(), "attributes": attributes})
    linked = []
    for text in joins:
        ends = [tuple(end.strip() for end in side.split(".")) for side in text.split("=")]
        (from_tree, from_attribute), (to_tree, to_attribute) = (ids[end] for end in ends)
        linked.append(
            {
                "from_tree": from_tree,
                "from_attribute": from_attribute,
                "to_tree": to_tree,
                "to_attribute": to_attribute,
            }
        )
    return {"trees": drawn, "joins": linked}
