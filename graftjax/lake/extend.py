"""Where a table belongs that comes to an indexed lake: the steps of a build for one table alone.

It costs by the table, not by the lake. What differs from a build of the whole lake is small and said where it
arises: a cluster keeps the names it had, the rarity of a text's trigrams stays that of the old lake, edges of
classes of other tables are not weighed against each other anew.
Letters: C columns of the table.
"""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from graftjax.encode.encoder import Encoder
from graftjax.encode.text import schema_text, table_text, value_text, words
from graftjax.lake.addition import Addition, extended, with_edges
from graftjax.lake.classes import ValueSets, pool, pool_classes
from graftjax.lake.groups import group_by_schema, numbered, pooled_sample
from graftjax.lake.joins import NO_EDGES, added_edges
from graftjax.lake.known_files import Profiled
from graftjax.lake.node_texts import node_texts
from graftjax.lake.partition import distinct
from graftjax.lake.record import VARIANTS, LakeIndex, NodeTexts
from graftjax.lake.unions import NEIGHBOURS, Slot, family_of, match_slots, may_match, slot_of, split_by_key
from graftjax.lake.wording import Wording
from graftjax.types import Column, Skip, Table

_NO_NODES = NodeTexts(
    *(np.zeros((0, VARIANTS), np.int32) for _ in range(4)), *(np.zeros(0, np.int32) for _ in range(2))
)


def extend_index(index: LakeIndex, added: Profiled, encoder: Encoder) -> tuple[LakeIndex, Addition]:
    """(the index with one table more, what was added), in memory only. Headers have to be known."""
    table = added.table
    notes = tuple(Skip(table.origin, f"{table.id}: {note}") for note in added.notes)
    placed = _same_schema(index, table) or _same_meaning(index, table, encoder)
    if placed is None:
        addition = _alone(index, added, notes, encoder)
    else:
        addition = Addition(
            table, added.row_sketch, notes, *placed, _grown(index, table, placed.column_class),
            (), np.zeros((0, encoder.dim), np.float32), index.space.trigrams.rows_of([]), _NO_NODES, NO_EDGES,
        )  # fmt: skip
    merged = extended(index, [addition])
    wording = Wording(merged.space.dense, merged.nodes.header, merged.nodes.context)
    classes = merged.graph.unions.class_cluster
    joins = added_edges(merged.values, classes, wording, addition.column_class, merged.graph.joins)
    graph = replace(merged.graph, joins=with_edges(index.graph.joins, addition.column_class, joins))
    return replace(merged, graph=graph), replace(addition, joins=joins)


class _Place(NamedTuple):
    """In a cluster that is there."""

    cluster: int
    confidence: float
    column_class: np.ndarray
    """Of the table's columns."""


def _same_schema(index: LakeIndex, table: Table) -> _Place | None:
    """Beside the tables that agree with it in name and headers."""
    name, width = table_text(table.id.name), len(table.columns)
    own = numbered([words(column.name) for column in table.columns])
    alike = {}
    for number, other in enumerate(index.tables):
        if len(other.columns) == width and table_text(other.id.name) == name:
            headers = numbered([words(column.name) for column in other.columns])
            if sorted(headers) == sorted(own):
                alike[number] = headers
    if not alike:
        return None
    # A repeated key parts tables of different origin: the part that takes the new one, if any does.
    tables = [*(index.tables[number] for number in alike), table]
    numbers = list(alike)
    unions = index.graph.unions
    for part in split_by_key(tables, range(len(tables)), single=True):
        if len(numbers) in part and len(part) > 1:
            first = numbers[part[0]]
            classes = unions.column_class[index.graph.columns[first]]
            of_header = dict(zip(alike[first], classes.tolist(), strict=True))
            cluster = int(unions.table_cluster[first])
            return _Place(cluster, 1.0, np.array([of_header[header] for header in own], np.int32))
    return None


def _same_meaning(index: LakeIndex, table: Table, encoder: Encoder) -> _Place | None:
    """In the cluster whose columns match its own best.

    The clusters that are compared are the nearest by their names and headers; a build takes the nearest by
    the means of their columns' texts.
    """
    families = [family_of([column]) for column in table.columns]
    tables, members = index.tables, index.graph.members
    possible = []
    for cluster, numbers in enumerate(members):
        lead = tables[numbers[0]]
        if len(lead.columns) == len(families) and may_match(families, [family_of([c]) for c in lead.columns]):
            possible.append(cluster)
    if not possible or not families:
        return None
    headers = [column.header or column.name for column in table.columns]
    vector = encoder.encode([schema_text(table.id.name, headers)])[0]
    schemas = index.space.dense[index.nodes.schema[possible, 0]]
    near = np.argsort(-(schemas @ vector), kind="stable")[:NEIGHBOURS]
    clusters = [
        possible[place] for place in near if len(index.graph.classes[possible[place]]) == len(families)
    ]
    name = table_text(table.id.name)
    names = [table_text(tables[members[cluster][0]].id.name) for cluster in clusters]
    own: _Classes = [[(column, table.n_rows)] for column in table.columns]
    others = [_columns_of(index, cluster) for cluster in clusters]
    # All at once: a call for each would cost more than its texts.
    vectors = encoder.encode([name, *names, *map(_text_of, chain(own, *others))])
    likeness = (vectors[1 : len(names) + 1] @ vectors[0]).tolist()
    width = len(own)
    of_columns = [vectors[at : at + width] for at in range(len(names) + 1, len(vectors), width)]
    slots, best = _slots(own, of_columns[0]), None
    for cluster, other, alike, own_vectors in zip(clusters, others, likeness, of_columns[1:], strict=True):
        found = match_slots(slots, _slots(other, own_vectors), alike)
        if found is not None and (best is None or found.confidence > best.confidence):
            partners = index.graph.classes[cluster][found.partner]
            best = _Place(cluster, found.confidence, partners.astype(np.int32))
    return best


_Classes = list[list[tuple[Column, int]]]
"""The columns of each class, each with the rows of its table."""


def _columns_of(index: LakeIndex, cluster: int) -> _Classes:
    """Per class of a cluster, in ascending order."""
    classes: dict[int, list[tuple[Column, int]]] = {int(k): [] for k in index.graph.classes[cluster]}
    for number in index.graph.members[cluster]:
        table = index.tables[number]
        for place, column in zip(index.graph.columns[number], table.columns, strict=True):
            classes[int(index.graph.unions.column_class[place])].append((column, table.n_rows))
    return list(classes.values())


def _text_of(pooled: list[tuple[Column, int]]) -> str:
    return value_text(pooled[0][0].header, pooled_sample([column.sample for column, _ in pooled]))


def _slots(classes: _Classes, vectors: np.ndarray) -> list[Slot]:
    """`vectors`: of the text of each class."""
    slots = []
    for pooled, vector in zip(classes, vectors, strict=True):
        columns = [column for column, _ in pooled]
        rows = [count for _, count in pooled]
        slots.append(slot_of(columns, rows, vector, family_of(columns)))
    return slots


def _grown(index: LakeIndex, table: Table, column_class: np.ndarray) -> ValueSets:
    """Values of a cluster's classes with those of the table, in the order of the table's columns."""
    old, sets = index.values, []
    for column, k in zip(table.columns, column_class.tolist(), strict=True):
        hashes, limit, filled = pool([column], [table.n_rows])
        sets.append(
            (
                distinct(np.concatenate([old.of(k), hashes])),
                min(limit, old.limit[k]),
                filled + int(old.filled[k]),
            )
        )
    hashes, limits, filled = zip(*sets, strict=True) if sets else ((), (), ())
    offsets = np.concatenate([[0], np.cumsum([len(known) for known in hashes])]).astype(np.int64)
    flat = np.concatenate([np.zeros(0, np.uint64), *hashes])
    return ValueSets(flat, offsets, np.array(limits, np.uint64), np.array(filled, np.int64))


def _alone(index: LakeIndex, added: Profiled, notes: tuple[Skip, ...], encoder: Encoder) -> Addition:
    """As a cluster of its own, without joins."""
    table, width = added.table, len(added.table.columns)
    groups = group_by_schema([table])
    own = np.arange(width, dtype=np.int32)
    values = pool_classes(table.columns, [table.n_rows] * width, own, width)
    texts, nodes = node_texts(
        [table], table.columns, groups, np.zeros(1, np.int32), own, width, values, keep=True
    )
    known, fresh = index.space.numbers, [text for text in texts if text not in index.space.numbers]
    number = {text: known.get(text, -1) for text in texts}
    number.update((text, len(index.space.texts) + place) for place, text in enumerate(fresh))
    of_lake = np.array([*(number[text] for text in texts), -1], np.int32)  # the last entry is for "none"
    return Addition(
        table,
        added.row_sketch,
        notes,
        index.graph.unions.num_clusters,
        1.0,
        index.graph.unions.num_classes + own,
        values,
        tuple(fresh),
        encoder.encode(fresh).astype(np.float32),
        index.space.trigrams.rows_of(fresh),
        NodeTexts(*(of_lake[getattr(nodes, field.name)] for field in fields(nodes))),
        NO_EDGES,
    )
