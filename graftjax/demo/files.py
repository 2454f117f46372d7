"""Write the demo lake to a folder, and tell how two such folders differ."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from graftjax.demo.assemble import Placed, build_lake, query_records, quoted, write_table

LAKE, QUERIES = "lake", "queries.jsonl"
"""Names below the output folder."""


def write_demo(out: Path) -> None:
    """Write `lake/` and `queries.jsonl` into `out`, which must not hold them yet."""
    databases: dict[str, list[Placed]] = {}
    for table in build_lake().tables:
        path = out / LAKE / table.file
        path.parent.mkdir(parents=True, exist_ok=True)
        if table.form == "csv":
            _write_csv(path, table)
        elif table.form == "parquet":
            pq.write_table(_as_arrow(table), path, compression="zstd")
        else:
            databases.setdefault(table.file, []).append(table)
    for file, tables in sorted(databases.items()):
        with closing(sqlite3.connect(out / LAKE / file)) as connection:
            for table in tables:
                write_table(connection, table.piece.name, table.piece.columns, table.piece.rows)
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in query_records()]
    (out / QUERIES).write_bytes("".join(lines).encode())


def _write_csv(path: Path, table: Placed) -> None:
    """UTF-8, comma, `\\n`, NULL as nothing between the commas: the same bytes on every system."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.piece.columns)
        writer.writerows(table.piece.rows)


def _as_arrow(table: Placed) -> pa.Table:
    columns = zip(*table.piece.rows, strict=True) if table.piece.rows else [()] * len(table.piece.columns)
    return pa.table([pa.array(list(column)) for column in columns], names=list(table.piece.columns))


def differences(left: Path, right: Path) -> list[str]:
    """How the demo in `left` differs from the one in `right`: one line a file, none when they are equal.

    CSV and JSONL are compared byte for byte, Parquet and SQLite by their tables, since the writers'
    versions show in the bytes.
    """
    names = [_files(left), _files(right)]
    lines = [f"{name}: missing in {right}" for name in sorted(names[0] - names[1])]
    lines += [f"{name}: missing in {left}" for name in sorted(names[1] - names[0])]
    for name in sorted(names[0] & names[1]):
        if _content(left / name) != _content(right / name):
            lines.append(f"{name}: differs")
    return lines


def _files(root: Path) -> set[str]:
    found = [p for p in (root / LAKE).rglob("*") if p.is_file()] + [root / QUERIES]
    return {p.relative_to(root).as_posix() for p in found if p.is_file()}


def _content(path: Path) -> object:
    """What has to be equal in two files of this kind: the bytes of one that cannot be read."""
    try:
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            return table.column_names, [str(kind) for kind in table.schema.types], table.to_pydict()
        if path.suffix == ".sqlite":
            return _database(path)
    except (pa.ArrowException, sqlite3.DatabaseError):
        pass
    return path.read_bytes()


def _database(path: Path) -> dict[str, tuple]:
    """Every table of the database: its declaration and rows."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        made = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        return {
            name: (sql, connection.execute(f"SELECT * FROM {quoted(name)}").fetchall())
            for name, sql in made.items()
        }
