"""Results → files: CSV, Parquet and Arrow, written in one step."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from graftjax.errors import GraftError, UsageError
from graftjax.files import replacing, writing
from graftjax.lake.values import text_column

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
SUFFIXES = (*_DELIMITERS, *_PARQUET, *_ARROW)

_RISKY = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def check_path(path: Path) -> None:
    """UsageError for a suffix that says no known format, or for a folder."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: the name must end with one of {', '.join(SUFFIXES)}")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, not a file")


def write_batches(batches: Callable[[], pa.RecordBatchReader], path: Path) -> None:
    """Write a stream; UsageError for an unknown suffix, GraftError when the file can't be written."""
    check_path(path)
    suffix = path.suffix.lower()
    with writing(path), replacing(path) as draft, draft.open("wb") as file:
        try:
            reader = batches()
            if suffix in _DELIMITERS:
                _write_csv(reader, file, _DELIMITERS[suffix])
            elif suffix in _PARQUET:
                with pq.ParquetWriter(file, reader.schema, compression="zstd") as writer:
                    for batch in reader:
                        writer.write_batch(batch)
            else:
                with pa.ipc.new_file(file, reader.schema) as writer:
                    for batch in reader:
                        writer.write_batch(batch)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise GraftError(f"{path}: can't be written ({str(error).splitlines()[0]})") from error


def _write_csv(reader: pa.RecordBatchReader, file, delimiter: str) -> None:
    names = harmless(pa.array(reader.schema.names, pa.large_string()))
    header = pa.table([pa.array([], pa.large_string())] * len(names), names=names.to_pylist())
    options = pcsv.WriteOptions(include_header=True, delimiter=delimiter)
    pcsv.write_csv(header, file, options)
    options = pcsv.WriteOptions(include_header=False, delimiter=delimiter)
    for batch in reader:
        columns = [_cell_column(column) for column in batch.columns]
        pcsv.write_csv(pa.table(columns, names=[str(i) for i in range(len(columns))]), file, options)


def _cell_column(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return column
    return harmless(text_column(column))


def harmless(texts: pa.Array) -> pa.Array:
    """Texts with an apostrophe before those that a spreadsheet would take for a formula.

    >>> harmless(pa.array(["=1+1", "-5", "-5+2", "a"])).to_pylist()
    ["'=1+1", '-5', "'-5+2", 'a']
    """
    risky = pc.and_not(pc.match_substring_regex(texts, _RISKY), pc.match_substring_regex(texts, _NUMBER))
    return pc.if_else(
        risky,
        pc.binary_join_element_wise(pa.scalar("'", texts.type), texts, pa.scalar("", texts.type)),
        texts,
    )
