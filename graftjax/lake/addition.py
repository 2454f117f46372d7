"""What one table adds to a lake that is indexed already.

A version of an index stays as it was built; the tables that came later lie beside it and are laid over it
when it is opened. Letters: N tables, C columns, K column classes, M clusters, n texts, V readings, J edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from jaxtyping import Float, Int

from graftjax.lake.classes import ValueSets
from graftjax.lake.graph import LakeGraph
from graftjax.lake.joins import JoinEdges
from graftjax.lake.record import LakeIndex, NodeTexts
from graftjax.lake.tables_file import read_tables, write_tables
from graftjax.lake.unions import UnionClusters
from graftjax.types import Skip, Table


@dataclass(frozen=True, eq=False)
class Addition:
    """One table with its place in the graph; a new cluster with new classes, or part of an old one."""

    table: Table
    row_sketch: np.ndarray
    notes: tuple[Skip, ...]
    cluster: int
    """M for a new one."""
    confidence: float
    column_class: Int[np.ndarray, " C"]
    """Of the table's columns; a new cluster has the classes K, K + 1, ..."""
    values: ValueSets
    """Of these classes, in the order of the columns, the table's own values among them."""
    texts: tuple[str, ...]
    """That the lake did not have."""
    dense: Float[np.ndarray, "n D"]
    trigrams: sp.csr_matrix
    """[n, grams of the lake] float32."""
    nodes: NodeTexts
    """Of the new cluster and its classes; empty for a part of an old one."""
    joins: JoinEdges
    """All edges of these classes."""


def extended(index: LakeIndex, addition: Addition) -> LakeIndex:
    """The index with one table more, its last."""
    unions, graph, new = index.graph.unions, index.graph, addition.cluster == index.graph.unions.num_clusters
    width = len(addition.column_class)
    classes = np.full(width if new else 0, addition.cluster, np.int32)
    table_cluster = np.append(unions.table_cluster, np.int32(addition.cluster))
    merged = UnionClusters(
        table_cluster,
        np.concatenate([unions.column_class, addition.column_class.astype(np.int32)]),
        np.concatenate([unions.class_cluster, classes]),
        np.append(unions.table_score, np.float32(addition.confidence)),
    )
    owner = np.concatenate([graph.column_table, np.full(width, len(index.tables), np.int32)])
    space, trigrams = index.space, index.space.trigrams
    if addition.texts:
        space = replace(
            space,
            texts=(*space.texts, *addition.texts),
            dense=np.concatenate([np.asarray(space.dense), addition.dense]),
            trigrams=replace(
                trigrams,
                rows=sp.csr_matrix(sp.vstack([trigrams.rows, addition.trigrams])),
                num_texts=trigrams.num_texts + len(addition.texts),
            ),
        )
    return replace(
        index,
        tables=(*index.tables, addition.table),
        notes=(*index.notes, *addition.notes),
        graph=LakeGraph(merged, with_edges(graph.joins, addition.column_class, addition.joins), owner),
        values=_with_values(index.values, addition),
        space=space,
        nodes=_joined(index.nodes, addition.nodes),
        row_sketches=(*index.row_sketches, addition.row_sketch),
    )


_Arrays = TypeVar("_Arrays", JoinEdges, NodeTexts)


def _joined(old: _Arrays, new: _Arrays) -> _Arrays:
    parts = ((getattr(old, field.name), getattr(new, field.name)) for field in fields(old))
    return type(old)(*(np.concatenate([a, b]) if len(b) else a for a, b in parts))


def with_edges(old: JoinEdges, classes: Int[np.ndarray, " C"], new: JoinEdges) -> JoinEdges:
    """The edges of a lake when those of some classes are others now."""
    kept = np.flatnonzero(~(np.isin(old.refers, classes) | np.isin(old.referred, classes)))
    return _joined(JoinEdges(*(getattr(old, field.name)[kept] for field in fields(old))), new)


def _with_values(old: ValueSets, addition: Addition) -> ValueSets:
    size = len(old.limit)
    own = {int(k): number for number, k in enumerate(addition.column_class)}
    counts, more = old.counts(), addition.values
    grown = sorted(k for k in own if k < size)
    fresh = sorted(k for k in own if k >= size)
    pieces, start = [], 0
    for k in grown:
        pieces += [old.hashes[start : old.offsets[k]], more.of(own[k])]
        start = int(old.offsets[k + 1])
        counts[k] = len(more.of(own[k]))
    pieces += [old.hashes[start:], *(more.of(own[k]) for k in fresh)]
    limit, filled = old.limit.copy(), old.filled.copy()
    rows = [own[k] for k in grown]
    limit[grown], filled[grown] = more.limit[rows], more.filled[rows]
    rows = [own[k] for k in fresh]
    counts = np.concatenate([counts, more.counts()[rows]])
    return ValueSets(
        np.concatenate(pieces),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([limit, more.limit[rows]]),
        np.concatenate([filled, more.filled[rows]]),
    )


_PARTS = {"values": ValueSets, "nodes": NodeTexts, "joins": JoinEdges}


def write_addition(addition: Addition, folder: Path) -> None:
    """Write into an existing folder."""
    write_tables(folder, [addition.table], [addition.row_sketch])
    pq.write_table(pa.table({"text": pa.array(addition.texts, pa.string())}), folder / "texts.parquet")
    notes = [(note.origin, note.reason) for note in addition.notes]
    reports = {name: pa.array([note[at] for note in notes], pa.string()) for at, name in enumerate(_NOTE)}
    pq.write_table(pa.table(reports), folder / "notes.parquet")
    arrays = {
        f"{name}_{field.name}": getattr(getattr(addition, name), field.name)
        for name, kind in _PARTS.items()
        for field in fields(kind)
    }
    rows = addition.trigrams
    place = {"cluster": np.int64(addition.cluster), "confidence": np.float64(addition.confidence)}
    np.savez(
        folder / "arrays.npz",
        column_class=addition.column_class,
        dense=addition.dense,
        trigrams_data=rows.data,
        trigrams_indices=rows.indices,
        trigrams_indptr=rows.indptr,
        **arrays,
        **place,
    )


_NOTE = ("origin", "reason")


def read_addition(folder: Path, grams: int) -> Addition:
    """Read what `write_addition` wrote; `grams` are those of the lake.

    Raises OSError, ValueError, LookupError or pyarrow's errors.
    """
    (table,), (row_sketch,) = read_tables(folder)
    texts: Sequence[str] = pq.read_table(folder / "texts.parquet")["text"].to_pylist()
    notes = pq.read_table(folder / "notes.parquet").to_pylist()
    with np.load(folder / "arrays.npz", allow_pickle=False) as saved:
        arrays = dict(saved)
    rows = tuple(arrays[f"trigrams_{part}"] for part in ("data", "indices", "indptr"))
    parts = {
        name: kind(**{field.name: arrays[f"{name}_{field.name}"] for field in fields(kind)})
        for name, kind in _PARTS.items()
    }
    return Addition(
        table,
        row_sketch,
        tuple(Skip(**note) for note in notes),
        int(arrays["cluster"]),
        float(arrays["confidence"]),
        arrays["column_class"],
        texts=tuple(texts),
        dense=arrays["dense"],
        trigrams=sp.csr_matrix(rows, shape=(len(texts), grams)),
        **parts,
    )
