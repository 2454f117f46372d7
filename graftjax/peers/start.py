"""A search that starts from a table which the user has: where the peers find it, and what they read of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from graftjax.encode.text import schema_text
from graftjax.errors import GraftError
from graftjax.intent import Query
from graftjax.peers.catalog import Catalog


class Start(NamedTuple):
    """The base table of a query."""

    node: int
    """The node that holds it: itself, or its union cluster."""
    schema: str
    """Its name and headers."""


def start_of(catalog: Catalog, query: Query) -> Start | None:
    """None for a query without a base table; `GraftError` for one that is not in the lake."""
    if query.base is None:
        return None
    table = catalog.index.numbers.get(query.base)
    if table is None:
        raise GraftError(f"the base table {query.base} is not in the lake")
    profile = catalog.index.tables[table]
    return Start(int(catalog.node_of[table]), schema_text(profile.id.name, catalog.headers(profile)))


def asked_text(catalog: Catalog, query: Query) -> str:
    """The question, with the base table's name and headers where there is one: "this table" alone says
    nothing."""
    start = start_of(catalog, query)
    return query.question if start is None else f"{query.question} {start.schema}"


def put_first(start: Start | None, nodes: Iterable[int]) -> list[int]:
    """The nodes, the base's own before all others: its cluster brings the base's other shards."""
    if start is None:
        return list(nodes)
    return [start.node, *(node for node in nodes if node != start.node)]
