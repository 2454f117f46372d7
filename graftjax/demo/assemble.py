"""All domains together: where each table lies in the lake, and the questions with their gold tables."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from graftjax.demo.domains import (
    airline,
    energy,
    film,
    football,
    hospital,
    housing,
    library,
    music,
    restaurants,
    retail,
    transit,
    university,
    weather,
)
from graftjax.demo.draw import Draw
from graftjax.demo.parts import Domain, Piece, Source, Trap

Form = Literal["csv", "parquet", "sqlite"]

BUILDERS = tuple(
    module.build
    for module in (
        university,
        football,
        hospital,
        retail,
        airline,
        library,
        film,
        transit,
        restaurants,
        energy,
        housing,
        weather,
        music,
    )
)

# Folders of no one domain: a lake's folders say who put a file there, seldom what it is about.
FOLDERS = (
    "",
    "archive",
    "exports",
    "exports/2023-04",
    "exports/2023-11",
    "inbox/partner_a",
    "inbox/partner_b",
    "misc",
    "open_tables",
    "shared/reference",
    "shared/team_drive",
    "warehouse/curated",
    "warehouse/raw",
)
DATABASES = ("archive/legacy", "warehouse/operations")
"""SQLite files without their suffix: as in the benchmarks, a database goes by its name."""


@dataclass(frozen=True)
class Placed:
    """A table of the lake with its place."""

    domain: str
    source: Source | None
    """The source table it is a shard of; None for a stray table."""
    trap: Trap | None
    piece: Piece
    folder: str
    """Folder or database, relative to the lake's root: the first half of the table's identity."""
    form: Form

    @property
    def place(self) -> tuple[str, str]:
        """(folder, name): the table's identity."""
        return self.folder, self.piece.name

    @property
    def file(self) -> str:
        """Path of its file relative to the lake's root, with `/`."""
        if self.form == "sqlite":
            return f"{self.folder}.sqlite"
        return str(PurePosixPath(self.folder) / f"{self.piece.name}.{self.form}")


@dataclass(frozen=True)
class DemoLake:
    """The whole lake in memory."""

    domains: tuple[Domain, ...]
    tables: tuple[Placed, ...]

    def shards(self, domain: str, source: str) -> list[Placed]:
        """The lake's tables that hold the rows of a source table."""
        return [t for t in self.tables if t.domain == domain and t.source and t.source.name == source]


@lru_cache(maxsize=1)
def build_lake() -> DemoLake:
    """The lake, the same in every run."""
    domains = tuple(build() for build in BUILDERS)
    taken: set[tuple[str, str]] = set()
    tables: list[Placed] = []
    for domain in domains:
        for origin in domain.sources:
            tables += [_place(domain.name, origin, None, piece, taken, ()) for piece in origin.pieces]
        for item in domain.strays:
            # A near-copy in its original's folder would be found by its place.
            tables.append(
                _place(domain.name, None, item.trap, item.piece, taken, _homes(domain, item.piece, tables))
            )
    return DemoLake(domains, tuple(tables))


def _homes(domain: Domain, piece: Piece, tables: list[Placed]) -> tuple[str, ...]:
    """Folders of the domain's tables that share rows with the piece."""
    rows = set(piece.rows)
    return tuple(t.folder for t in tables if t.domain == domain.name and rows & set(t.piece.rows))


def _place(
    domain: str,
    source: Source | None,
    trap: Trap | None,
    piece: Piece,
    taken: set[tuple[str, str]],
    avoid: tuple[str, ...],
) -> Placed:
    """The piece at a drawn place where no table of its name lies yet."""
    draw = Draw(f"place:{domain}:{piece.name}")
    while True:
        share = draw.real(0, 1, 6)
        form: Form = "csv" if share < 0.75 else "parquet" if share < 0.9 else "sqlite"
        folder = draw.pick(DATABASES if form == "sqlite" else FOLDERS)
        if folder not in avoid and (folder, piece.name) not in taken:
            taken.add((folder, piece.name))
            return Placed(domain, source, trap, piece, folder, form)


def query_records() -> list[dict]:
    """The questions as records of queries.jsonl, in order."""
    lake, records, number = build_lake(), [], 0
    for domain in lake.domains:
        for item in domain.queries:
            groups = [[list(t.place) for t in lake.shards(domain.name, name)] for name in sorted(item.tables)]
            records.append(
                {
                    "id": f"demo-{item.tag}" if item.tag else f"demo-{number:03d}",
                    "db_id": domain.name,
                    "question": item.question,
                    "gold_sql": item.sql,
                    "sql_dialect": "sqlite",
                    "gold_tables": sorted(item.tables),
                    "intent": item.intent,
                    "subquestions": list(item.subquestions),
                    "gold": [place for group in groups for place in group],
                    "gold_groups": groups,
                }
            )
            number += not item.tag
    return records


def source_database(domain: str) -> sqlite3.Connection:
    """The source tables of a domain, before they were dealt out, in a SQLite database in memory.

    `gold_sql` runs here. The caller closes the connection.
    """
    found = next(d for d in build_lake().domains if d.name == domain)
    connection = sqlite3.connect(":memory:")
    for table in found.sources:
        write_table(connection, table.name, table.columns, table.rows)
    return connection


def write_table(
    connection: sqlite3.Connection, name: str, columns: tuple[str, ...], rows: tuple[tuple, ...]
) -> None:
    """Create the table, with declared types where all values agree on one, and insert the rows."""
    kinds = {int: "INTEGER", float: "REAL", str: "TEXT"}
    declared = []
    for i, column in enumerate(columns):
        seen = {type(row[i]) for row in rows if row[i] is not None}
        declared.append(f"{quoted(column)} {kinds[seen.pop()] if len(seen) == 1 else ''}".rstrip())
    connection.execute(f"CREATE TABLE {quoted(name)} ({', '.join(declared)})")
    marks = ", ".join("?" for _ in columns)
    connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)
    connection.commit()


def quoted(name: str) -> str:
    """A SQL identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'
