"""A lake of plain arrays with the embedded encoder, and intents drawn from it without further structure."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from small_lakes import encoder

from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentJoin, IntentTree
from graftjax.lake.index import build_index
from graftjax.lake.raw import RawTable
from graftjax.lake.record import LakeIndex
from graftjax.retrieval.pairs import Pairs
from graftjax.retrieval.samples import Sample
from graftjax.types import Column, TableId

TABLES = {
    "airlines": {"uid": [1, 2, 3, 4], "name": ["A", "B", "C", "D"], "country": ["x", "y", "x", "z"]},
    "flights_1": {"flight_no": [10, 11, 12], "airline": [1, 2, 3], "distance": [5.5, 6.5, 7.5]},
    "flights_2": {"flight_no": [20, 21, 22], "airline": [4, 2, 3], "distance": [8.5, 6.25, 7.75]},
    "clubs": {"club_id": [1, 2, 3], "city": ["Cork", "Bray", "Cobh"], "points": [40, 50, 60]},
    "weather": {"station": ["north", "south"], "rainfall": [3.5, 4.5], "wind speed": [7, 8]},
    "songs": {"song_id": [5, 6, 7], "title": ["Do", "Re", "Mi"], "singer name": ["Ann", "Bob", "Cid"]},
}
MOST_ATTRIBUTES = 4
JOINED = 0.5
"""Share of intents with two joined trees, where the lake has joins."""
WITH_VALUES = 0.17
"""Share of attributes with values, as in recorded intents."""


@cache
def lake() -> LakeIndex:
    raw = [
        RawTable(TableId("db", name), pa.table(columns), tuple(columns), f"{name}.csv")
        for name, columns in TABLES.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        return build_index(raw, Path(folder) / "index", encoder(), progress=False)


def random_samples(index: LakeIndex, count: int, rng: np.random.Generator) -> Iterator[Sample]:
    """`count` intents of one tree or of two joined ones; none from a lake without tables.

    A tree is a union cluster under the name of one of its tables, with one to four of that table's headers;
    a join follows an edge of the lake graph, the referred end being the key.
    """
    graph = index.graph
    edges = len(graph.joins.weight)
    clusters = np.flatnonzero([len(classes) > 0 for classes in graph.classes])
    if not len(clusters):
        return
    for _ in range(count):
        if edges and rng.random() < JOINED:
            edge = int(rng.integers(edges))
            ends = [int(graph.joins.refers[edge]), int(graph.joins.referred[edge])]
            owners = [int(graph.unions.class_cluster[end]) for end in ends]
            if owners[0] == owners[1]:
                ends, owners = [-1], owners[:1]
        else:
            owners, ends = [int(rng.choice(clusters))], [-1]
        yield _sample(index, owners, ends, rng)


def _sample(index: LakeIndex, owners: list[int], ends: list[int], rng: np.random.Generator) -> Sample:
    trees, clusters, classes, keys, values = [], {}, {}, set(), {}
    for number, (cluster, end) in enumerate(zip(owners, ends, strict=True)):
        tree_id = f"t{number + 1}"
        clusters[tree_id] = cluster
        table = int(rng.choice(index.graph.members[cluster]))
        columns = _columns_by_class(index, table)
        if end >= 0 and end not in columns:  # this shard lacks the joined column
            table = next(
                t for t in index.graph.members[cluster].tolist() if end in _columns_by_class(index, t)
            )
            columns = _columns_by_class(index, table)
        others = [k for k in columns if k != end]
        size = min(len(others), int(rng.integers(1, MOST_ATTRIBUTES + 1)) - (end >= 0))
        chosen = [end] * (end >= 0) + [others[int(i)] for i in rng.permutation(len(others))[:size]]
        attributes = []
        for rank, k in enumerate(chosen):
            place = (tree_id, f"a{rank + 1}")
            classes[place] = k
            if index.nodes.key[k] >= 0 or (end == k and number == 1):
                keys.add(place)
            known = tuple(value for value in columns[k].sample if value.strip())
            given = known[:0]
            if known and end != k and rng.random() < WITH_VALUES:
                given = (known[int(rng.integers(len(known)))],)
                values[place] = known
            name = columns[k].header or columns[k].name
            attributes.append(
                IntentAttribute(attribute_id=place[1], name=name if name.strip() else "column", values=given)
            )
        name = index.tables[table].id.name
        trees.append(IntentTree(tree_id=tree_id, entity=name, attributes=tuple(attributes)))
    joins = ()
    if len(owners) == 2:
        joins = (IntentJoin(from_tree="t1", from_attribute="a1", to_tree="t2", to_attribute="a1"),)
    intent = IntentGraph(trees=tuple(trees), joins=joins)
    return Sample(intent, clusters, classes, frozenset(keys), values)


def _columns_by_class(index: LakeIndex, table: int) -> dict[int, Column]:
    numbers = index.graph.columns[table].tolist()
    classes = index.graph.unions.column_class
    return {int(classes[n]): column for n, column in zip(numbers, index.tables[table].columns, strict=True)}


def only_right(pairs: Pairs) -> Pairs:
    """The pairs without the wrong ones."""
    parts = {field.name: getattr(pairs, field.name) for field in dataclasses.fields(pairs)}
    return Pairs(parts.pop("texts"), **{name: part[pairs.right] for name, part in parts.items()})
