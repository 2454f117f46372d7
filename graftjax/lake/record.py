"""The index of a lake as one record: profiles, graph and embedded node texts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from graftjax.encode.space import TextSpace
from graftjax.lake.classes import ValueSets
from graftjax.lake.graph import LakeGraph
from graftjax.types import Skip, Table, TableId

HeaderMode = Literal["keep", "drop"]
"""`drop`: columns are known by their values only (robustness setting of Sec. 5.7)."""


VARIANTS = 3
"""Readings of one node: the tables of a cluster may spell its name and its columns differently."""


@dataclass(frozen=True, eq=False)
class NodeTexts:
    """Which texts of the space stand for which node. V = VARIANTS; unused ones repeat the first."""

    table: np.ndarray
    """int32 [M, V]: a cluster's names."""
    schema: np.ndarray
    """int32 [M, V]: names with headers."""
    context: np.ndarray
    """int32 [K, V]: table and header of a class."""
    header: np.ndarray
    """int32 [K, V]."""
    key: np.ndarray
    """int32 [K]: second reading of a leading key column; −1 for other classes."""
    value: np.ndarray
    """int32 [K]: value summary."""


@dataclass(frozen=True, eq=False)
class NodeKind:
    """The texts of one field of `NodeTexts` alone: a search compares each atom with its kind only."""

    space: TextSpace
    text: np.ndarray
    """int32, shaped as the field: which text of `space` stands for a node; 0 where there is none."""
    first: np.ndarray
    """int32 [M] or [K]: the first reading of each node."""
    varied: np.ndarray
    """int64: nodes whose readings differ; few, since the tables of a cluster mostly agree on names."""


@dataclass(frozen=True, eq=False)
class LakeIndex:
    """A lake, ready to be searched. M clusters, K column classes."""

    tables: tuple[Table, ...]
    skips: tuple[Skip, ...]
    """Files, or parts of them, that are not in the lake."""
    notes: tuple[Skip, ...]
    """What was bent to read a table."""
    graph: LakeGraph
    values: ValueSets
    space: TextSpace
    nodes: NodeTexts
    row_sketches: tuple[np.ndarray, ...]
    encoder_name: str
    headers: HeaderMode
    folder: Path

    @cached_property
    def numbers(self) -> dict[TableId, int]:
        """Position of each table."""
        return {table.id: number for number, table in enumerate(self.tables)}

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns, table by table."""
        return tuple(column.name for table in self.tables for column in table.columns)

    @cached_property
    def kinds(self) -> dict[str, NodeKind]:
        """By field of `NodeTexts`."""
        kinds = {}
        for field in fields(NodeTexts):
            numbers = getattr(self.nodes, field.name)
            used, text = np.unique(np.maximum(numbers, 0), return_inverse=True)
            text = text.reshape(numbers.shape).astype(np.int32)
            readings = text.reshape(len(text), -1)
            varied = np.flatnonzero((readings != readings[:, :1]).any(1))
            first = np.ascontiguousarray(readings[:, 0]) if readings.size else np.zeros(len(text), np.int32)
            kinds[field.name] = NodeKind(self.space.part(used), text, first, varied)
        return kinds

    @cached_property
    def _value_order(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.values.hashes, kind="stable")
        owner = np.repeat(np.arange(len(self.values.limit)), self.values.counts())
        return self.values.hashes[order], owner[order]

    def classes_with(self, value_hash: int) -> np.ndarray:
        """Column classes known to hold the value with this hash (see `sketch.hash_value`)."""
        hashes, owner = self._value_order
        key = np.uint64(value_hash)
        return owner[np.searchsorted(hashes, key) : np.searchsorted(hashes, key, side="right")]

    def statistics(self) -> dict[str, int]:
        """Counts as in the paper's Table 1, and of the graph."""
        return {
            "tables": len(self.tables),
            "columns": len(self.column_names),
            "rows": sum(table.n_rows for table in self.tables),
            "clusters": self.graph.unions.num_clusters,
            "join_edges": len(self.graph.joins.weight),
            "skipped": len(self.skips),
        }
