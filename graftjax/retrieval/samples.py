"""Intents with known images, drawn from a lake without further structure: what pairs are made from.

`compressed_samples` takes them from sampled trajectories instead, whose trees and joins are those of
Algorithm 1; `random_samples` needs no partition and is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentJoin, IntentTree
from graftjax.lake.record import LakeIndex
from graftjax.trajectories.compress import Compression
from graftjax.trajectories.reword import RewordSettings, reword
from graftjax.trajectories.synonyms import Synonyms
from graftjax.types import Column

Place = tuple[str, str]
"""Tree id and attribute id."""
MOST_ATTRIBUTES = 4
JOINED = 0.5
"""Share of intents with two joined trees, where the lake has joins."""
WITH_VALUES = 0.17
"""Share of attributes with values, as in recorded intents."""


class Sample(NamedTuple):
    """An intent, in the lake's own words, and where its parts lie in the lake."""

    intent: IntentGraph
    clusters: Mapping[str, int]
    """Tree id → union cluster."""
    classes: Mapping[Place, int]
    """Attribute → column class."""
    keys: frozenset[Place]
    """Attributes that are keys of their table."""
    values: Mapping[Place, tuple[str, ...]]
    """Attribute → known values of its class."""


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


def compressed_samples(index: LakeIndex, compressions: Iterable[Compression]) -> Iterator[Sample]:
    """Samples from compressed subgraphs (the `compression` of a trajectory); one without a tree is skipped.

    An attribute is a key when it leads its table and is unique, or when a join of the lake graph refers to
    it; the referring end of a direct join is none.
    """
    graph = index.graph
    edges = set(zip(graph.joins.refers.tolist(), graph.joins.referred.tolist(), strict=True))
    for one in compressions:
        if not one.intent.trees:
            continue
        clusters, classes = {}, {}
        for tree, cluster, own in zip(one.intent.trees, one.trees, one.attributes, strict=True):
            clusters[tree.tree_id] = cluster
            for attribute, k in zip(tree.attributes, own, strict=True):
                classes[tree.tree_id, attribute.attribute_id] = k
        keys = {place for place, k in classes.items() if index.nodes.key[k] >= 0}
        for join in one.intent.joins:
            start, end = (join.from_tree, join.from_attribute), (join.to_tree, join.to_attribute)
            for refers, referred in ((start, end), (end, start)):
                if (classes[refers], classes[referred]) in edges:
                    keys.add(referred)
                    keys.discard(refers)
                    break
        values = {
            place: _known_values(index, classes[place])
            for place in classes
            if one.intent.attribute(*place).values
        }
        yield Sample(one.intent, clusters, classes, frozenset(keys), values)


def reworded(
    samples: Iterable[Sample],
    rng: np.random.Generator,
    vocabulary: Synonyms | None = None,
    settings: RewordSettings | None = None,
) -> Iterator[Sample]:
    """The same samples in other words."""
    settings = settings or RewordSettings()
    for sample in samples:
        intent = reword(sample.intent, rng, vocabulary, settings, sample.keys, sample.values)
        yield sample._replace(intent=intent)


def _known_values(index: LakeIndex, column_class: int) -> tuple[str, ...]:
    """Sampled values of all columns of a class."""
    unions, found = index.graph.unions, {}
    for table in index.graph.members[int(unions.class_cluster[column_class])].tolist():
        column = _columns_by_class(index, table).get(column_class)
        if column is not None:
            found.update(dict.fromkeys(value for value in column.sample if value.strip()))
    return tuple(found)


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
    numbers = index.graph.columns[table]
    return {
        int(index.graph.unions.column_class[number]): index.tables[table].columns[i]
        for i, number in enumerate(numbers.tolist())
    }
