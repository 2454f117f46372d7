"""A summary as a table for people, as CSV, and as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from graftjax.evaluate.metrics import METRICS
from graftjax.evaluate.report import align
from graftjax.results.groups import Row, Summary
from graftjax.results.records import Refused

_DASH = "–"


def text_table(summary: Summary) -> list[str]:
    """Rows as mean [95 % interval over queries] ± standard deviation over seeds; then what to mind."""
    heads = ["lake", "L", *summary.by, "method", *METRICS, "tables", "ms", "queries", "skipped", "runs"]
    rows = [heads, *([*_names(row, summary.by), *_cells(row)] for row in summary.rows)]
    lines = align(rows)
    lines.append("mean over queries [95 % bootstrap interval] ± standard deviation over runs")
    return lines + [f"! {remark}" for remark in summary.remarks]


def refused_lines(refused: Sequence[Refused]) -> list[str]:
    """One line for each file that gave no row."""
    return [f"! refused: {one.path}: {one.reason}" for one in refused]


def csv_text(summary: Summary) -> str:
    """One line a row; empty cells where there is no score."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parts = [name + end for name in METRICS for end in ("", "_low", "_high", "_sd")]
    writer.writerow(
        ["lake", "L", *summary.by, "method", *parts, "tables", "ms", "queries", "skipped", "runs", "why"]
    )
    for row in summary.rows:
        values: list[Any] = []
        for name in METRICS:
            one = row.metrics.get(name)
            values += [one.mean, one.low, one.high, one.sd] if one else [None] * 4
        counts = (row.queries, row.skipped, row.runs, row.why)
        writer.writerow([*_names(row, summary.by), *values, row.tables, row.ms, *counts])
    return out.getvalue()


def json_text(summary: Summary, refused: Sequence[Refused]) -> str:
    """Everything that the table shows, as one object."""
    found = {
        "by": list(summary.by),
        "rows": [asdict(row) for row in summary.rows],
        "remarks": list(summary.remarks),
        "refused": [{"path": str(one.path), "reason": one.reason} for one in refused],
    }
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def _names(row: Row, by: Sequence[str]) -> list[str]:
    return [row.lake, str(row.budget), *(shown(row.by[name]) for name in by), row.method]


def shown(value: Any) -> str:
    """A swept value in few characters."""
    if isinstance(value, tuple):
        return " ".join(shown(one) for one in value) or _DASH
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cells(row: Row) -> list[str]:
    cells = []
    for name in METRICS:
        one = row.metrics.get(name)
        spread = f" ±{one.sd:.3f}" if one and one.sd is not None else ""
        cells.append(f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]{spread}" if one else _DASH)
    numbers = [_DASH if value is None else f"{value:.1f}" for value in (row.tables, row.ms)]
    return [*cells, *numbers, str(row.queries), str(row.skipped), str(row.runs)]
