"""The lake as the peers see it: nodes to choose from, the texts they speak through, what expands to what.

A node is a table, or a union cluster of tables. Over tables a method runs as published: every shard is a
candidate of its own. Over clusters it is told which tables are row shards of one another (by the same union
edges that GRAFT searches), chooses among clusters, and each chosen cluster brings its tables until the budget
is spent: union completion, so that a comparison isn't only about knowing shards.

Letters: N nodes, D the encoder's dimension, X columns of the nodes' leading tables.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from graftjax.encode.text import column_text, schema_text
from graftjax.errors import GraftError
from graftjax.lake.record import LakeIndex
from graftjax.lake.text_cache import TextCache
from graftjax.types import Table, TableId

View = Literal["tables", "clusters"]


@runtime_checkable
class TextEncoder(Protocol):
    """The part of `graftjax.encode.Encoder` that the peers need."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str], *, progress: bool | str = False) -> Float[np.ndarray, "N D"]: ...

    def warm_up(self, *, bulk: bool = False) -> int: ...


@dataclass(frozen=True, eq=False)
class Catalog:
    """What a peer may retrieve. Vectors are of length 1, so a product of two is their cosine."""

    index: LakeIndex
    encoder: TextEncoder
    view: View = "tables"
    cache_folder: Path | None = None
    """Where vectors of texts are kept, keyed by texts and encoder; None keeps none."""

    @cached_property
    def members(self) -> tuple[Int[np.ndarray, " _"], ...]:
        """Numbers of each node's tables, ascending."""
        if self.view == "clusters":
            return self.index.graph.members
        return tuple(np.array([table]) for table in range(len(self.index.tables)))

    @cached_property
    def node_of(self) -> Int[np.ndarray, " _"]:
        """The node that holds each table of the lake."""
        found = np.empty(len(self.index.tables), np.int64)
        for node, tables in enumerate(self.members):
            found[tables] = node
        return found

    @cached_property
    def leads(self) -> tuple[Table, ...]:
        """The table through which each node speaks: of a cluster, the first of those with most columns."""
        tables = self.index.tables
        return tuple(tables[max(m.tolist(), key=lambda t: len(tables[t].columns))] for m in self.members)

    @cached_property
    def sizes(self) -> Int[np.ndarray, " N"]:
        """Tables of each node."""
        return np.array([len(tables) for tables in self.members], np.int64)

    @cached_property
    def cluster(self) -> Int[np.ndarray, " N"]:
        """The union cluster of each node."""
        first = np.array([tables[0] for tables in self.members], np.int64)
        return self.index.graph.unions.table_cluster[first]

    def headers(self, table: Table) -> list[str]:
        """What a table's columns are called; their kinds in a lake whose headers are unknown."""
        keep = self.index.headers == "keep"
        return [(column.header or column.name) if keep else column.kind for column in table.columns]

    @cached_property
    def schema_texts(self) -> tuple[str, ...]:
        """Name and headers of each node."""
        return tuple(schema_text(lead.id.name, self.headers(lead)) for lead in self.leads)

    @cached_property
    def schema_vectors(self) -> Float[np.ndarray, "N D"]:
        return self.vectors(self.schema_texts, "schemas")

    @cached_property
    def column_node(self) -> Int[np.ndarray, " X"]:
        """Node of each column of the leading tables, node by node."""
        return np.repeat(np.arange(len(self.leads)), [len(lead.columns) for lead in self.leads])

    @cached_property
    def column_class(self) -> Int[np.ndarray, " X"]:
        """Column class of each of these columns."""
        numbers, columns, classes = self.index.numbers, self.index.graph.columns, self.index.graph.unions
        parts = [classes.column_class[columns[numbers[lead.id]]] for lead in self.leads]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    @cached_property
    def column_vectors(self) -> Float[np.ndarray, "X D"]:
        """Each column by the name of its table and its header."""
        texts = [column_text(lead.id.name, name) for lead in self.leads for name in self.headers(lead)]
        return self.vectors(texts, "columns")

    def vectors(self, texts: Sequence[str], label: str) -> Float[np.ndarray, "N D"]:
        """Vectors of texts of the lake; repeated texts are encoded once, and all are kept in the cache."""
        distinct = list(dict.fromkeys(texts))
        vectors = cached_vectors(distinct, self.encoder, self.cache_folder, label=label)
        place = {text: number for number, text in enumerate(distinct)}
        return vectors[np.array([place[text] for text in texts], np.int64)]

    def best_column(self, scores: Float[np.ndarray, "*Q X"]) -> Float[np.ndarray, "*Q N"]:
        """The best score among each node's columns; −1, the least cosine, for a node without columns."""
        best = np.full((*scores.shape[:-1], len(self.leads)), -1.0, np.float32)
        counts = np.bincount(self.column_node, minlength=len(self.leads))
        filled = np.flatnonzero(counts)
        if len(filled):
            starts = (np.cumsum(counts) - counts)[filled]
            best[..., filled] = np.maximum.reduceat(scores, starts, axis=-1)
        return best

    def expand(
        self, nodes: Iterable[int], budget: int, without: TableId | None = None
    ) -> tuple[TableId, ...]:
        """Tables of the nodes in their order, each node's before the next one's, at most `budget`; never the
        table `without`."""
        found: list[TableId] = []
        for node in nodes:
            ids = (self.index.tables[table].id for table in self.members[node])
            found.extend(id for id in ids if id != without)
            if len(found) >= budget:
                break
        return tuple(found[:budget])


def cached_vectors(
    texts: Sequence[str], encoder: TextEncoder, folder: Path | None, *, label: str
) -> Float[np.ndarray, "N D"]:
    """Vectors of `texts`; those that were encoded before, for whatever list, are read from `folder`.

    A damaged part is encoded anew; a folder that can't be written costs the cache, not the run.
    """
    if not texts:
        return np.zeros((0, encoder.dim), np.float32)
    progress = label if sys.stderr.isatty() else False
    if folder is not None:
        with contextlib.suppress(GraftError):
            cache = TextCache(folder, encoder.name)
            cache.encode(texts, encoder, progress=progress)
            return cache.vectors(texts, encoder.dim)
    return encoder.encode(texts, progress=progress)
