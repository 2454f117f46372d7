"""Profiles of tables on disk: two Parquet files and the sketches as arrays, in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graftjax.types import Column, Table, TableId


def write_tables(folder: Path, tables: Sequence[Table], row_sketches: Sequence[np.ndarray]) -> None:
    """Write profiles with their row sketches into an existing folder."""
    columns = [column for table in tables for column in table.columns]
    pq.write_table(
        pa.table(
            {
                "source": pa.array([t.id.source for t in tables], pa.string()),
                "name": pa.array([t.id.name for t in tables], pa.string()),
                "n_columns": pa.array([len(t.columns) for t in tables], pa.int32()),
                "n_rows": pa.array([t.n_rows for t in tables], pa.int64()),
                "origin": pa.array([t.origin for t in tables], pa.string()),
                "content_hash": pa.array([t.content_hash for t in tables], pa.string()),
            }
        ),
        folder / "tables.parquet",
    )
    pq.write_table(
        pa.table(
            {
                "name": pa.array([c.name for c in columns], pa.string()),
                "header": pa.array([c.header for c in columns], pa.string()),
                "kind": pa.array([c.kind for c in columns], pa.string()),
                "null_share": pa.array([c.null_share for c in columns], pa.float64()),
                "n_distinct": pa.array([c.n_distinct for c in columns], pa.int64()),
                "sample": pa.array([list(c.sample) for c in columns], pa.list_(pa.string())),
            }
        ),
        folder / "columns.parquet",
    )
    for name, sketches in (("", [column.sketch for column in columns]), ("row_", row_sketches)):
        flat, offsets = _ragged(sketches)
        np.save(folder / f"{name}sketches.npy", flat, allow_pickle=False)
        np.save(folder / f"{name}sketch_offsets.npy", offsets, allow_pickle=False)


def read_tables(folder: Path) -> tuple[tuple[Table, ...], tuple[np.ndarray, ...]]:
    """(profiles, row sketches), the sketches memory-mapped. Raises OSError, ValueError or LookupError."""
    raw = pq.read_table(folder / "columns.parquet").to_pydict()
    columns = [
        Column(name, header, kind, null_share, n_distinct, tuple(sample), sketch)
        for name, header, kind, null_share, n_distinct, sample, sketch in zip(
            *raw.values(), _slices(folder, ""), strict=True
        )
    ]
    raw = pq.read_table(folder / "tables.parquet").to_pydict()
    tables, start = [], 0
    for source, name, width, n_rows, origin, content in zip(*raw.values(), strict=True):
        own = tuple(columns[start : start + width])
        tables.append(Table(TableId(source, name), own, n_rows, origin, content))
        start += width
    return tuple(tables), tuple(_slices(folder, "row_"))


def _ragged(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int64)
    return (np.concatenate(arrays) if arrays else np.zeros(0)).astype(np.uint64), offsets


def _slices(folder: Path, kind: str) -> list[np.ndarray]:
    load = lambda name: np.load(folder / f"{kind}{name}.npy", mmap_mode="r", allow_pickle=False)  # noqa: E731
    flat = np.asarray(load("sketches"))  # still mapped, but slicing a memmap itself takes ten times as long
    return [flat[a:b] for a, b in pairwise(np.asarray(load("sketch_offsets")).tolist())]
