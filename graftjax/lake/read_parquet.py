"""Parquet files → raw tables."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graftjax.errors import GraftError
from graftjax.lake.raw import RawTable, column_names
from graftjax.lake.values import text_column
from graftjax.types import TableId


def read_parquet(path: Path, id: TableId, origin: str) -> RawTable:
    """Read one Parquet file; types are kept, NaN becomes NULL, lists and structs become JSON text.

    Raises GraftError when the file is not readable Parquet or has no columns.
    """
    if path.stat().st_size == 0:
        raise GraftError("empty file")
    try:
        # ParquetFile reads repeated column names, which read_table refuses.
        with pq.ParquetFile(path) as file:
            data = file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise GraftError(f"not readable as Parquet: {str(error).splitlines()[0]}") from error
    headers = tuple(data.column_names)
    if not headers:
        raise GraftError("no columns")
    columns = [_plain(column) for column in data.columns]
    return RawTable(id, pa.table(columns, names=column_names(headers)), headers, origin)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if pa.types.is_floating(kind) and pc.any(pc.is_nan(column), min_count=0).as_py():
        # pandas writes missing numbers as NaN.
        return pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    if pa.types.is_nested(kind):
        return pa.chunked_array([text_column(column)])
    return column
