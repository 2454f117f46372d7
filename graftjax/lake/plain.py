"""Arrow columns of any type → columns that a profile understands."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from graftjax.lake.decode import decode

_SECONDS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def plain(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, str]:
    """The column in a plain type, and what was bent for it ("" for nothing worth telling).

    NaN becomes NULL; lists, structs and maps become JSON text, durations seconds; dictionaries and
    extension types become what they stand for. A text that is not UTF-8 is read as Latin-1 where it is
    wrong, and a time zone that nobody knows is left out.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(_storage(column))
    if pa.types.is_dictionary(kind):
        return plain(column.cast(kind.value_type))
    if pa.types.is_floating(kind) and pc.any(pc.is_nan(column), min_count=0).as_py():
        # pandas writes missing numbers as NaN.
        return pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column), ""
    if pa.types.is_nested(kind):
        parts = [_json(chunk) for chunk in column.chunks]
        lost = sum(count for _, count in parts)
        bent = "nested values as JSON text" + (f", {lost} that have no text as NULL" if lost else "")
        return pa.chunked_array([part for part, _ in parts], pa.large_string()), bent
    if pa.types.is_duration(kind):
        ticks = column.cast(pa.int64()).cast(pa.float64(), safe=False)
        return pc.divide(ticks, _SECONDS[kind.unit]), "durations in seconds"
    if pa.types.is_timestamp(kind) and kind.tz and not _is_zone(kind.tz):
        return column.cast(pa.timestamp(kind.unit)), f"times in UTC (no such time zone: {kind.tz[:40]!r})"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _valid_text(column)
    if pa.types.is_binary_view(kind):
        return column.cast(pa.large_binary()), ""
    return column, ""


def _storage(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if kind.extension_name == "arrow.uuid":
        chunks = [[None if v is None else str(v) for v in chunk.to_pylist()] for chunk in column.chunks]
        return pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    return pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)


def _json(column: pa.Array) -> tuple[pa.Array, int]:
    """JSON of each value, and the number of values that Python can not hold."""
    try:
        values, lost = column.to_pylist(), 0
    except (ValueError, OverflowError):  # nanoseconds, or a date beyond the year 9999
        values, lost = [], 0
        for value in column.cast(_microseconds(column.type), safe=False):
            try:
                values.append(value.as_py())
            except (ValueError, OverflowError):
                values.append(None)
                lost += 1
    texts = [None if value is None else json.dumps(value, default=_leaf) for value in values]
    return pa.array(texts, pa.large_string()), lost


def _leaf(value: object) -> str:
    return decode(value) if isinstance(value, bytes) else str(value)


def _microseconds(kind: pa.DataType) -> pa.DataType:
    """The type with all times in microseconds, the finest that Python has."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_time64(kind):
        return pa.time64("us")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_microseconds(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_microseconds(kind.key_type), _microseconds(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_microseconds(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_microseconds(kind.value_type))
    return pa.list_(_microseconds(kind.value_type)) if pa.types.is_list(kind) else kind


def _is_zone(name: str) -> bool:
    try:
        pa.array([0], pa.timestamp("s", name)).cast(pa.string())
    except (pa.ArrowException, OSError, ValueError):
        return False
    return True


def _valid_text(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, str]:
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    try:
        column.validate(full=True)  # a file may say UTF-8 and hold anything
    except pa.ArrowInvalid:
        large = pa.types.is_large_string(column.type)
        raw = column.cast(pa.large_binary() if large else pa.binary()).to_pylist()
        texts = [None if value is None else decode(value) for value in raw]
        return pa.chunked_array([pa.array(texts, pa.large_string())]), "bytes that are not UTF-8 as Latin-1"
    return column, ""
