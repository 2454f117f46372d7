"""Profile of a raw table: kinds, shares, samples and sketches of its columns.

Shapes: N = rows, D = distinct values of a column, S = kept hashes.
"""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from jaxtyping import UInt64

from graftjax.lake import sketch
from graftjax.lake.raw import RawTable
from graftjax.lake.values import MISSING, Encoded, encode, kind_of
from graftjax.types import Column, ColumnKind, Table

SAMPLE_SIZE = 10
SAMPLE_LENGTH = 80
"""Longest sample text, in characters; a longer one is cut and ends with `…`."""

_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")


def profile_table(raw: RawTable, seed: int = 0) -> Table:
    """Profile of a table; `seed` decides which rows the samples come from."""
    return profile_and_rows(raw, seed)[0]


def row_sketch(raw: RawTable) -> UInt64[np.ndarray, " S"]:
    """Sketch of the set of rows, for finding near copies; see `profile_and_rows`."""
    encoded = [encode(column) for column in raw.data.columns]
    return _row_sketch(encoded, [sketch.hash_texts(part.normals) for part in encoded], raw.data.num_rows)


def profile_and_rows(raw: RawTable, seed: int = 0) -> tuple[Table, UInt64[np.ndarray, " S"]]:
    """Profile and row sketch in one pass over the values.

    A row is the multiset of its normalised non-blank values, so headers and the order of columns and rows
    make no difference to the row sketch; rows without any value are left out.
    """
    n_rows = raw.data.num_rows
    encoded = [encode(column) for column in raw.data.columns]
    hashes = [sketch.hash_texts(part.normals) for part in encoded]
    order = _row_order(n_rows, seed)
    columns = tuple(
        _column(name, header, part, part_hashes, n_rows, order)
        for name, header, part, part_hashes in zip(
            raw.data.column_names, raw.headers, encoded, hashes, strict=True
        )
    )
    table = Table(raw.id, columns, n_rows, raw.origin, _content_hash(columns, encoded, n_rows))
    return table, _row_sketch(encoded, hashes, n_rows)


def _column(
    name: str, header: str, part: Encoded, hashes: np.ndarray, n_rows: int, order: np.ndarray
) -> Column:
    """Profile of one column; `hashes` [D] are those of its normalised values."""
    kind = kind_of(part.normals)
    codes = _codes(part)
    used = _filled(part)
    if kind in ("integer", "real"):
        used &= ~pc.is_in(part.normals, MISSING).to_numpy(zero_copy_only=False)
    hashes = np.unique(hashes[used])
    return Column(
        name=name,
        header=header,
        kind=kind,
        null_share=_null_share(kind, codes, used, n_rows),
        n_distinct=len(hashes),
        sample=_sample(part.texts, codes, used, order),
        sketch=hashes[: sketch.SKETCH_SIZE].copy(),
    )


def _filled(part: Encoded) -> np.ndarray:
    """bool [D]: the values that are not blank."""
    return pc.binary_length(part.normals).to_numpy(zero_copy_only=False) > 0


def _codes(part: Encoded) -> np.ndarray:
    """int [N], −1 for a null cell."""
    codes = part.codes
    return (codes.fill_null(-1) if codes.null_count else codes).to_numpy(zero_copy_only=False)


def _null_share(kind: ColumnKind, codes: np.ndarray, used: np.ndarray, n_rows: int) -> float:
    if not n_rows:
        return 0.0
    present = codes[codes >= 0]
    # A stored empty string is a value; a word for missing among numbers is not.
    count = used[present].sum() if kind in ("integer", "real") else len(present)
    return 1.0 - float(count) / n_rows


def _row_order(n_rows: int, seed: int) -> np.ndarray:
    """Row numbers in an order that depends on the seed alone (splitmix64), the same for any numpy version."""
    start = np.array([seed % 2**64], np.uint64)
    return np.argsort(_mix(np.arange(n_rows, dtype=np.uint64) + _mix(start)), kind="stable")


def _mix(x: np.ndarray) -> np.ndarray:
    """Finaliser of splitmix64 (Steele et al. 2014): a bijection on uint64 that spreads every bit."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _sample(texts: pa.Array, codes: np.ndarray, used: np.ndarray, order: np.ndarray) -> tuple[str, ...]:
    """The first distinct values in the order of rows; a value in many rows is likelier to come early."""
    reach = 64
    wanted = min(SAMPLE_SIZE, int(used.sum()))
    while True:
        seen = codes[order[:reach]]
        seen = seen[seen >= 0]
        seen = seen[used[seen]]
        first = np.sort(np.unique(seen, return_index=True)[1])[:SAMPLE_SIZE]
        if len(first) >= wanted or reach >= len(order):
            picked = (clean(text) for text in texts.take(pa.array(seen[first])).to_pylist())
            return tuple(dict.fromkeys(text for text in picked if text))
        reach *= 8


def clean(text: str) -> str:
    """One line of at most SAMPLE_LENGTH characters without control characters."""
    line = _CONTROL.sub(" ", text[: 8 * SAMPLE_LENGTH]).strip()
    return line if len(line) <= SAMPLE_LENGTH else line[: SAMPLE_LENGTH - 1] + "…"


def _row_sketch(encoded: list[Encoded], hashes: list[np.ndarray], n_rows: int) -> np.ndarray:
    total = np.zeros(n_rows, np.uint64)
    filled = np.zeros(n_rows, bool)
    for part, part_hashes in zip(encoded, hashes, strict=True):
        present = np.append(_filled(part), False)
        cells = np.append(_mix(part_hashes), np.uint64(0))
        cells[~present] = 0
        codes = _codes(part)  # −1 picks the entry appended for null
        total += cells[codes]
        filled |= present[codes]
    # The sum does not depend on the order of columns; mixing makes it uniform again.
    return sketch.build(_mix(total[filled]))


def _content_hash(columns: tuple[Column, ...], encoded: list[Encoded], n_rows: int) -> str:
    """Digest of headers, kinds and all cells in order; the layout in memory (chunks) plays no part."""
    digest = xxhash.xxh3_128(str(n_rows).encode())
    for column, part in zip(columns, encoded, strict=True):
        for text in (column.name, column.header, column.kind):
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(pc.binary_length(part.texts).to_numpy(zero_copy_only=False).astype("<i8").tobytes())
        digest.update(_text_bytes(part.texts))
        digest.update(_codes(part).astype("<i4").tobytes())
    return digest.hexdigest()


def _text_bytes(texts: pa.Array) -> memoryview | bytes:
    """UTF-8 of all texts of a large_string array without nulls, one after the other."""
    _, offsets, data = texts.buffers()
    if not len(texts) or data is None:
        return b""
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(data)[bounds[0] : bounds[-1]]
