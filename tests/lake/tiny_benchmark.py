"""A benchmark of three small databases in the official layout of Spider."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

STATEMENTS = {
    "school": [
        "CREATE TABLE Student (StuID INTEGER PRIMARY KEY, Name TEXT, boss INTEGER REFERENCES Student(StuID))",
        "CREATE TABLE Has_Pet (StuID INTEGER REFERENCES Student(StuID), PetID INTEGER)",
        "CREATE TABLE empty_one (StuID INTEGER)",
        *(f"INSERT INTO Student VALUES ({1000 + i}, 'Pupil {i}', {1000 + i // 2})" for i in range(40)),
        *(f"INSERT INTO Has_Pet VALUES ({1000 + 2 * i}, {500 + i})" for i in range(15)),
    ],
    "college": [
        "CREATE TABLE student (StuID INTEGER PRIMARY KEY, Name TEXT, boss INTEGER)",
        *(f"INSERT INTO student VALUES ({1000 + i}, 'Fresher {i}', NULL)" for i in range(25)),
    ],
    "clash": [
        "CREATE TABLE student (StuID INTEGER, Name TEXT, boss INTEGER)",
        "CREATE TABLE student_1 (other INTEGER)",
        *(f"INSERT INTO student VALUES ({9000 + i}, 'Extra {i}', NULL)" for i in range(12)),
        "INSERT INTO student_1 VALUES (1)",
    ],
}
SHARDS = {"school.Student": 4, "school.has_pet": 2, "college.student": 3, "clash.student": 2}
SCHEMA = [
    {
        "db_id": "school",
        "table_names_original": ["Student", "Has_Pet", "empty_one"],
        "column_names_original": [
            [-1, "*"], [0, "StuID"], [0, "Name"], [0, "boss"], [1, "StuID"], [1, "PetID"], [2, "StuID"],
        ],
        "foreign_keys": [[4, 1], [3, 1], [6, 1]],
    },
    {"db_id": "college", "table_names_original": [], "column_names_original": [], "foreign_keys": []},
]  # fmt: skip


def write_benchmark(data_dir: Path, name: str = "spider", shards: dict | None = None) -> Path:
    """`<data_dir>/<name>` with its databases, its schema file and, if given, a shards.json."""
    base, schema = {"spider": ("database", "tables.json"), "bird": ("dev_databases", "dev_tables.json")}[name]
    for database, statements in STATEMENTS.items():
        folder = data_dir / name / base / database
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(folder / f"{database}.sqlite")) as connection, connection:
            for statement in statements:
                connection.execute(statement)
    (data_dir / name / schema).write_text(json.dumps(SCHEMA))
    if shards is not None:
        (data_dir / name / "shards.json").write_text(json.dumps(shards))
    return data_dir / name
