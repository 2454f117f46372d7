"""Read the committed demo with the plainest means, independent of the generator's own reader."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from functools import cache

import pyarrow.parquet as pq

from graftjax.demo import lake_folder, queries_file

Place = tuple[str, str]


@cache
def read_lake() -> dict[Place, tuple[list[str], list[tuple]]]:
    """(folder, name) → (headers, rows); cells of CSV files are text, None where nothing stands."""
    root, tables = lake_folder(), {}
    for path in sorted(root.rglob("*")):
        folder = path.relative_to(root).parent.as_posix().removeprefix(".")
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as stream:
                headers, *rows = csv.reader(stream)
            cells = [tuple(cell or None for cell in row) for row in rows]
            tables[folder, path.stem] = headers, cells
        elif path.suffix == ".parquet":
            table = pq.read_table(path)
            tables[folder, path.stem] = (
                table.column_names,
                list(zip(*table.to_pydict().values(), strict=True)),
            )
        elif path.suffix == ".sqlite":
            name = path.relative_to(root).with_suffix("").as_posix()
            with closing(sqlite3.connect(path)) as connection:
                for (table,) in connection.execute("SELECT name FROM sqlite_master").fetchall():
                    cursor = connection.execute(f'SELECT * FROM "{table}"')
                    tables[name, table] = [d[0] for d in cursor.description], cursor.fetchall()
    return tables


@cache
def read_queries() -> list[dict]:
    return [json.loads(line) for line in queries_file().read_text(encoding="utf-8").splitlines()]


def column(place: Place, header: str) -> list[str | None]:
    """Values of a column as text."""
    headers, rows = read_lake()[place]
    at = headers.index(header)
    return [None if row[at] is None else str(row[at]) for row in rows]
