"""Small lakes for tests, and an encoder without a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import xxhash

from graftjax.encode.encoder import Encoder
from graftjax.lake.profile import profile_table
from graftjax.lake.raw import RawTable, column_names
from graftjax.types import Table, TableId


class HashEncoder(Encoder):
    """Hashed words with the values after a colon at a lower weight: texts that share words are near.

    Remembers what it was asked for. `fail_after`: the number of calls after which it breaks down.
    """

    def __init__(self, name: str = "hash-96", fail_after: int | None = None) -> None:
        own = {"name": name, "dim": 96, "encoded": [], "calls": 0, "fail_after": fail_after}
        for key, value in own.items():
            object.__setattr__(self, key, value)  # the record it stands in for is frozen

    def encode(self, texts: Sequence[str], *, progress: bool | str = False) -> np.ndarray:
        if self.fail_after is not None and self.calls >= self.fail_after:
            raise RuntimeError("the encoder broke down")
        object.__setattr__(self, "calls", self.calls + 1)
        self.encoded.extend(texts)
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            words, _, values = text.lower().partition(":")
            for part, weight in ((words, 1.0), (values, 0.3)):
                for word in re.findall(r"\w+", part):
                    vectors[row, xxhash.xxh32_intdigest(word.encode()) % self.dim] += weight
        vectors[~vectors.any(1), 0] = 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def raw(
    source: str, name: str, columns: Mapping[str, Sequence] | None = None, /, **more: Sequence
) -> RawTable:
    """A table from its columns."""
    columns = {**(columns or {}), **more}
    headers = tuple(columns)
    arrays = [pa.array(list(values)) for values in columns.values()]
    data = pa.table(arrays, names=column_names(headers)) if arrays else pa.table({})
    return RawTable(TableId(source, name), data, headers, f"{source}/{name}.csv")


def profile(
    source: str, name: str, columns: Mapping[str, Sequence] | None = None, /, **more: Sequence
) -> Table:
    return profile_table(raw(source, name, columns, **more))


def deal(table: RawTable, parts: int, seed: int = 0, first: int = 1) -> list[RawTable]:
    """Row shards `name_1`, `name_2`, ...; every row in exactly one."""
    order = np.random.default_rng(seed).permutation(table.data.num_rows)
    return [
        RawTable(
            TableId(table.id.source, f"{table.id.name}_{first + part}"),
            table.data.take(order[part::parts]),
            table.headers,
            table.origin,
        )
        for part in range(parts)
    ]


def clusters(index) -> set[frozenset[str]]:
    """Union clusters as sets of printed names."""
    return {frozenset(str(index.tables[t].id) for t in members) for members in index.graph.members}


def join_list(index) -> list[tuple[float, set[str]]]:
    """Join edges (weight, the two ends as source/table.column without shard numbers), strongest first."""
    ends: dict[int, str] = {}
    column = 0
    for table in index.tables:
        for entry in table.columns:
            plain = re.sub(r"_\d+$", "", str(table.id))
            ends.setdefault(int(index.graph.unions.column_class[column]), f"{plain}.{entry.name}")
            column += 1
    joins = index.graph.joins
    edges = zip(joins.weight, joins.refers, joins.referred, strict=True)
    return sorted(((float(w), {ends[int(a)], ends[int(b)]}) for w, a, b in edges), key=lambda e: -e[0])
