"""The first rows of a table: as JSON, and as text in columns."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import pyarrow as pa

from graftjax.lake.names import plain_name

CELL_WIDTH = 24
"""Widest column of a printed table, in characters of a terminal."""
LINE_WIDTH = 118
"""Columns of a table that would make a longer line are counted instead of printed."""


def preview_record(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON: numbers and booleans as they are, nothing for NaN, all else as text."""
    return [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return cell_text(value)


def cell_text(value: Any) -> str:
    """A cell as one line of text; bytes as hexadecimal digits.

    >>> cell_text(None), cell_text(1.5), cell_text(b"\\x01"), cell_text("a\\nb")
    ('', '1.5', '01', 'a b')
    """
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.hex()
    return plain_name(" ".join(str(value).split()))


def cut(text: str, width: int) -> str:
    """At most `width` characters, the last one `…` where some are left out."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def text_width(text: str) -> int:
    """Width in a fixed-width font: wide characters count twice, combining ones not at all."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def table_text(table: pa.Table) -> list[str]:
    """A table as lines: a header, a rule, and a row a line; numbers stand right."""
    columns, width, shown = [], 0, 0
    for field, column in zip(table.schema, table.columns, strict=True):
        cells = [cut(cell_text(value), CELL_WIDTH) for value in (field.name, *column.to_pylist())]
        size = max(map(text_width, cells))
        if shown and width + size + 2 > LINE_WIDTH:
            break
        right = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        columns.append([_padded(cell, size, right) for cell in (*cells[:1], "─" * size, *cells[1:])])
        width, shown = width + size + 2, shown + 1
    lines = [("  " + "  ".join(cells)).rstrip() for cells in zip(*columns, strict=True)]
    if shown < table.num_columns:
        lines.append(f"  and {table.num_columns - shown} more columns")
    return lines


def _padded(text: str, width: int, right: bool) -> str:
    room = " " * (width - text_width(text))
    return room + text if right else text + room
