"""The bundled demo lake: some 150 invented tables of 13 domains, with questions, gold tables and gold SQL.

The lake is package data, written by `python -m graftjax.demo.generate`. All values are invented.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["lake_folder", "queries_file"]

_HERE = Path(__file__).resolve().parent


def lake_folder() -> Path:
    """Root folder of the demo lake (CSV, Parquet and SQLite files below it)."""
    return _HERE / "lake"


def queries_file() -> Path:
    """JSONL file of the demo questions, one object a line; its fields are listed in README.md beside it."""
    return _HERE / "queries.jsonl"
