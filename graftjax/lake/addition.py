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

from graftjax.encode.rows import stacked
from graftjax.encode.space import TextSpace
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


def extended(index: LakeIndex, additions: Sequence[Addition]) -> LakeIndex:
    """The index with further tables, its last. What is as long as the lake is copied once, or not at all."""
    if not additions:
        return index
    unions, joins = index.graph.unions, index.graph.joins
    number, clusters = unions.num_clusters, [unions.class_cluster]
    for addition in additions:
        if addition.cluster == number:
            clusters.append(np.full(len(addition.column_class), number, np.int32))
            number += 1
        joins = with_edges(joins, addition.column_class, addition.joins)
    column_classes = [addition.column_class.astype(np.int32) for addition in additions]
    merged = UnionClusters(
        np.append(unions.table_cluster, np.array([one.cluster for one in additions], np.int32)),
        np.concatenate([unions.column_class, *column_classes]),
        np.concatenate(clusters),
        np.append(unions.table_score, np.array([one.confidence for one in additions], np.float32)),
    )
    places = np.arange(len(index.tables), len(index.tables) + len(additions), dtype=np.int32)
    owner = np.append(index.graph.column_table, np.repeat(places, [len(own) for own in column_classes]))
    return replace(
        index,
        tables=(*index.tables, *(one.table for one in additions)),
        notes=(*index.notes, *(note for one in additions for note in one.notes)),
        graph=LakeGraph(merged, joins, owner),
        values=_with_values(index.values, additions),
        space=_with_texts(index.space, additions),
        nodes=_joined(index.nodes, *(one.nodes for one in additions)),
        row_sketches=(*index.row_sketches, *(one.row_sketch for one in additions)),
    )


_Arrays = TypeVar("_Arrays", JoinEdges, NodeTexts)


def _joined(old: _Arrays, *new: _Arrays) -> _Arrays:
    columns = ([getattr(part, field.name) for part in (old, *new)] for field in fields(old))
    return type(old)(*(np.concatenate(parts) if any(map(len, parts[1:])) else parts[0] for parts in columns))


def with_edges(old: JoinEdges, classes: Int[np.ndarray, " C"], new: JoinEdges) -> JoinEdges:
    """The edges of a lake when those of some classes are others now."""
    kept = np.flatnonzero(~(np.isin(old.refers, classes) | np.isin(old.referred, classes)))
    return _joined(JoinEdges(*(getattr(old, field.name)[kept] for field in fields(old))), new)


def _with_texts(space: TextSpace, additions: Sequence[Addition]) -> TextSpace:
    fresh = [one for one in additions if one.texts]
    if not fresh:
        return space
    texts = (*space.texts, *(text for one in fresh for text in one.texts))
    blocks = (*space.trigrams.blocks, *(one.trigrams for one in fresh))
    trigrams = replace(space.trigrams, blocks=blocks, num_texts=len(texts))
    return replace(
        space, texts=texts, dense=stacked(space.dense, *(one.dense for one in fresh)), trigrams=trigrams
    )


def _with_values(old: ValueSets, additions: Sequence[Addition]) -> ValueSets:
    """An addition has all values of its classes, so the last one that names a class counts."""
    latest = {
        int(k): (one.values, place) for one in additions for place, k in enumerate(one.column_class.tolist())
    }
    size, known = len(old.limit), sorted(latest)
    grown = [k for k in known if k < size]
    sets = [values.of(place) for values, place in map(latest.__getitem__, known)]
    pieces, start, counts = [], 0, old.counts()
    for k, hashes in zip(grown, sets, strict=False):
        pieces += [old.hashes[start : old.offsets[k]], hashes]
        start = int(old.offsets[k + 1])
        counts[k] = len(hashes)
    fresh = sets[len(grown) :]
    pieces += [old.hashes[start:], *fresh]
    counts = np.concatenate([counts, np.array([len(hashes) for hashes in fresh], counts.dtype)])

    def changed(name: str) -> np.ndarray:
        given = [getattr(values, name)[place] for values, place in map(latest.__getitem__, known)]
        now = np.concatenate([getattr(old, name), np.zeros(len(fresh), getattr(old, name).dtype)])
        now[known] = np.array(given, now.dtype)
        return now

    return ValueSets(
        np.concatenate(pieces),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        changed("limit"),
        changed("filled"),
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
