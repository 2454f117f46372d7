"""Parquet files → raw tables."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graftjax.errors import GraftError
from graftjax.lake.plain import plain
from graftjax.lake.raw import RawTable, column_names
from graftjax.lake.sample import MAX_BYTES, RowSample
from graftjax.types import TableId

MAX_COLUMNS = 1 << 16
"""A file with more columns is no table."""
_TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
_BATCH_ROWS = 1 << 13
_BATCH_BYTES = 1 << 26
"""A batch that would be larger in memory is decoded in parts."""


def read_parquet(path: Path, id: TableId, origin: str) -> RawTable:
    """Read one Parquet file; types are kept as far as `plain` can, the rest is told in the notes.

    Of a table too large for memory every second, fourth, ... row is kept (`RowSample`).

    Raises GraftError when the file is not readable Parquet, is encrypted, or has no columns.
    """
    if path.stat().st_size == 0:
        raise GraftError("empty file")
    try:
        # ParquetFile reads repeated column names, which read_table refuses.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            schema = file.schema_arrow
            if not schema.names:
                raise GraftError("no columns")
            if len(schema) > MAX_COLUMNS:
                raise GraftError(f"{len(schema):,} columns: not a table")
            whole = _largest(file.metadata) <= MAX_BYTES
            read = [plain(column) for column in file.read().columns] if whole else []
        sample = RowSample()
        if not whole:
            read = _sampled(path, schema, sample)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        if "crypt" in reason:
            raise GraftError("encrypted Parquet file") from error
        raise GraftError(f"not readable as Parquet: {reason}") from error
    names = column_names(schema.names)
    notes = [f"column {name}: {bent}" for name, (_, bent) in zip(names, read, strict=True) if bent]
    data = pa.table([column for column, _ in read], names=names)
    return RawTable(id, data, tuple(schema.names), origin, (*notes, *sample.notes()))


def _largest(metadata: pq.FileMetaData) -> int:
    """Upper bound of the bytes in memory: a page may say once what all its rows repeat."""
    total = 0
    for group in range(metadata.num_row_groups):
        part = metadata.row_group(group)
        for position in range(part.num_columns):
            column = part.column(position)
            fixed = column.physical_type not in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
            values = max(part.num_rows, column.num_values)
            total += values * (8 if fixed else column.total_uncompressed_size)
    return total


def _sampled(path: Path, schema: pa.Schema, sample: RowSample) -> list[tuple[pa.ChunkedArray, str]]:
    """Columns of the rows that `sample` keeps, with what was bent."""
    texts = [field.name for field in schema if field.type in _TEXTS]
    start = [plain(pa.chunked_array([], field.type)) for field in schema]
    types, bent = [column.type for column, _ in start], [told for _, told in start]
    # As dictionaries, texts that repeat take no room before the rows are picked.
    with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=texts) as file:
        for batch in file.iter_batches(_BATCH_ROWS):
            for part in _in_parts(batch):
                rows = np.arange(part.num_rows)[sample.pick(part.num_rows)]
                columns = []
                for position, column in enumerate(part.take(pa.array(rows)).columns):
                    made, told = plain(pa.chunked_array([column]))
                    bent[position] = told or bent[position]
                    columns.append(made.cast(types[position]).combine_chunks())
                sample.add(columns)
                while sample.thin():
                    pass
    parts = sample.columns(len(schema))
    return [(pa.chunked_array(part, kind), told) for part, kind, told in zip(parts, types, bent, strict=True)]


def _in_parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if batch.num_rows <= 1 or sum(map(_decoded, batch.columns)) <= _BATCH_BYTES:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _in_parts(batch.slice(0, half))
    yield from _in_parts(batch.slice(half))


def _decoded(column: pa.Array) -> int:
    """Bytes of a column once its dictionary is written out."""
    if not pa.types.is_dictionary(column.type):
        return column.nbytes
    lengths = pc.binary_length(column.dictionary)
    return pc.sum(lengths.take(column.indices)).as_py() or 0
