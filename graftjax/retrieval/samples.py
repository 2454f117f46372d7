"""Intents with known images, from sampled trajectories: what pairs and episodes are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from graftjax.intent.schema import IntentGraph
from graftjax.lake.record import LakeIndex
from graftjax.trajectories.compress import Compression
from graftjax.trajectories.reword import RewordSettings, reword
from graftjax.trajectories.synonyms import Synonyms
from graftjax.types import Column

Place = tuple[str, str]
"""Tree id and attribute id."""


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


def _columns_by_class(index: LakeIndex, table: int) -> dict[int, Column]:
    numbers = index.graph.columns[table]
    return {
        int(index.graph.unions.column_class[number]): index.tables[table].columns[i]
        for i, number in enumerate(numbers.tolist())
    }
