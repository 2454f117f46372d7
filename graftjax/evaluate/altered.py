"""Altered copies of tables, to make a lake larger than the tables at hand.

A copy is either a *continuation* (one in four): the same relation goes on with other keys, so its
shards join the union cluster of the original; or a *rival*: another organisation's table of the same
sort, with a word before its name and before some headers, and with many values changed. All choices
are made once per copied database, so joins inside a copy hold, and a rival still shares values and
wording with its original: copies neither fall into a few giant clusters nor are they islands.
"""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from graftjax.lake.raw import RawTable, column_names
from graftjax.types import TableId

CONTINUED = 0.25
"""Share of copies that go on with the original relation."""
UNSHARDED, MAX_SHARDS = 0.45, 16
"""Share of copied tables that stay whole, and most shards of the others, as in the benchmarks' lakes."""
RENAMED = 0.3
"""Share of a rival's headers that get its word."""
SAME_NUMBERS = 0.4
"""Share of rivals that keep their whole numbers."""
WORDS = (
    "northern", "harbour", "annual", "regional", "coastal", "municipal", "alpine", "federal",
    "western", "valley", "central", "island", "rural", "capital", "eastern", "lakeside",
    "southern", "forest", "border", "metro", "upland", "seaside", "county", "district",
)  # fmt: skip
"""Who keeps a rival's tables; no copy of a database has the word of another one."""

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
_LETTER = re.compile("[A-Za-z]")


@dataclass(frozen=True)
class Alteration:
    """What is done to all tables of one copied database."""

    number: int
    """Which copy it is, from 1."""
    seed: int
    """Of everything that is drawn for the tables."""
    word: str
    """Before names and headers; empty for a continuation."""
    changed: float
    """Share of the texts that become others."""
    shift: int
    """Added to all whole numbers."""
    scale: float
    """Of all other numbers."""
    letters: dict[int, int]
    """Which letter stands for which in a changed text."""


def draw_alteration(seed: int, unit: str, number: int) -> Alteration:
    """The alteration of a database's copy; depends on nothing but the arguments."""
    key = xxhash.xxh64_intdigest(unit.encode())
    rng = np.random.default_rng([seed, key, number])
    continued = rng.random() < CONTINUED
    shift = 0 if rng.random() < SAME_NUMBERS and not continued else number * int(10 ** rng.uniform(2, 6))
    plain, mixed = "", ""
    for letters in (_VOWELS, _CONSONANTS):
        order = "".join(rng.permutation(list(letters)))
        plain, mixed = plain + letters + letters.upper(), mixed + order + order.upper()
    return Alteration(
        number,
        int(rng.integers(2**32)),
        "" if continued else WORDS[(key + number) % len(WORDS)],
        0.1 if continued else float(rng.uniform(0.2, 0.9)),
        shift,
        float(rng.uniform(0.8, 1.25)),
        str.maketrans(plain, mixed),
    )


def alter(raw: RawTable, how: Alteration) -> Iterator[RawTable]:
    """The shards of an altered copy: half of the rows or more, dealt out at random."""
    rng = np.random.default_rng([how.seed, xxhash.xxh64_intdigest(str(raw.id).encode())])
    n_rows = raw.data.num_rows
    rows = rng.permutation(n_rows)[: round(n_rows * rng.uniform(0.5, 1.0))]
    parts = 1 if rng.random() < UNSHARDED else int(rng.integers(2, MAX_SHARDS + 1))
    parts = max(1, min(parts, len(rows) // 2))
    headers = tuple(_renamed(header, how) for header in raw.headers)
    data = pa.table([_altered(column, how) for column in raw.data.columns], names=column_names(headers))
    name = f"{how.word}_{raw.id.name}" if how.word else raw.id.name
    numbers = rng.permutation(parts) + 1
    for part in range(parts):
        label = name if parts == 1 else f"{name}_{numbers[part]}"
        id = TableId(f"{raw.id.source}_{how.number + 1}", label)
        yield RawTable(id, data.take(np.sort(rows[part::parts])), headers, raw.origin)


def _renamed(header: str, how: Alteration) -> str:
    renamed = bool(how.word) and _share(header, how.seed + 1) < RENAMED
    return f"{how.word}_{header}" if renamed else header


def _altered(column: pa.ChunkedArray, how: Alteration) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_integer(kind):
        return pc.add(column.cast(pa.int64()), how.shift) if how.shift else column
    if pa.types.is_floating(kind):
        return pc.round(pc.multiply(column.cast(pa.float64()), how.scale), 4)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        coded = column.combine_chunks().dictionary_encode()
        texts = [_altered_text(text, how) for text in coded.dictionary.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.large_string()).take(coded.indices)])
    return column


def _altered_text(text: str, how: Alteration) -> str:
    if _share(text, how.seed) >= how.changed or not _LETTER.search(text):
        return text
    return text.translate(how.letters)


def _share(text: str, seed: int) -> float:
    """A number in [0, 1) that depends on text and seed alone."""
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"), seed) / 2.0**64
