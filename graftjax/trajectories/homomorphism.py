"""The typed homomorphism from a sampled subgraph to an intent: does H⁺ realise it (Sec. 3.1)?

Works from the definition and shares no code with `compress`, which it is there to check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

import numpy as np

from graftjax.intent.schema import IntentGraph
from graftjax.lake.record import LakeIndex
from graftjax.lake.sketch import hash_value
from graftjax.lake.values import normalise
from graftjax.trajectories.compress import Compression
from graftjax.trajectories.subgraph import Subgraph


def violations(
    index: LakeIndex, subgraph: Subgraph, intent: IntentGraph, compression: Compression
) -> tuple[str, ...]:
    """What keeps H⁺ from realising the intent under the map of the compression; empty when it does.

    `intent` may be a rewording of the compression's own: names are free, the structure is not.
    """
    shape = tuple(_shape(intent, compression))
    if shape:
        return shape  # nothing else can be looked up
    return (
        *_membership(index, subgraph, compression),
        *_attributes(index, subgraph, intent, compression),
        *_joins(index, subgraph, intent, compression),
    )


def _shape(intent: IntentGraph, compression: Compression) -> Iterator[str]:
    if len(intent.trees) != len(compression.trees):
        yield f"{len(intent.trees)} trees, {len(compression.trees)} clusters"
    elif len(compression.attributes) != len(compression.trees):
        yield f"{len(compression.trees)} clusters, attributes of {len(compression.attributes)}"
    if len(set(compression.trees)) != len(compression.trees):
        yield "a cluster is the image of two trees"
    for tree, classes in zip(intent.trees, compression.attributes, strict=False):
        if len(tree.attributes) != len(classes):
            yield f"tree {tree.tree_id}: {len(tree.attributes)} attributes, {len(classes)} column classes"
    if len(intent.joins) != len(compression.bridges):
        yield f"{len(intent.joins)} joins, {len(compression.bridges)} paths"


def _classes(index: LakeIndex, columns: Iterable[int]) -> set[int]:
    return {int(index.graph.unions.column_class[column]) for column in columns}


def _kept(index: LakeIndex, subgraph: Subgraph) -> dict[int, set[int]]:
    """Column classes that the sampled tables of each cluster keep."""
    kept: dict[int, set[int]] = {}
    for table, columns in zip(subgraph.tables, subgraph.columns, strict=True):
        cluster = int(index.graph.unions.table_cluster[table])
        kept.setdefault(cluster, set()).update(_classes(index, columns))
    return kept


def _join_ends(index: LakeIndex, subgraph: Subgraph) -> set[tuple[int, int]]:
    """Pairs of column classes that H⁺ joins, both ways."""
    joins = index.graph.joins
    pairs = {(int(joins.refers[edge]), int(joins.referred[edge])) for edge in subgraph.joins}
    return pairs | {(b, a) for a, b in pairs}


def _membership(index: LakeIndex, subgraph: Subgraph, compression: Compression) -> Iterator[str]:
    """Every tree has its tables, every table its tree or bridge, and bridges are all keys."""
    kept = _kept(index, subgraph)
    owner = index.graph.unions.class_cluster
    ends = {a for a, b in _join_ends(index, subgraph) if owner[a] != owner[b]}
    trees, bridges = set(compression.trees), compression.bridge_clusters
    yield from (f"cluster {c} of a tree is not sampled" for c in compression.trees if c not in kept)
    for cluster, classes in kept.items():
        if cluster in trees and cluster in bridges:
            yield f"cluster {cluster} is both a tree and a bridge"
        elif cluster in bridges and not classes <= ends:
            yield f"bridge {cluster} keeps columns that are no keys"
        elif cluster not in trees and cluster not in bridges:
            yield f"cluster {cluster} has neither a tree nor a join through it"


def _attributes(
    index: LakeIndex, subgraph: Subgraph, intent: IntentGraph, compression: Compression
) -> Iterator[str]:
    """Attributes are kept columns of their tree's cluster, values are values of theirs."""
    kept = _kept(index, subgraph)
    owner = index.graph.unions.class_cluster
    for tree, cluster, classes in zip(intent.trees, compression.trees, compression.attributes, strict=True):
        for attribute, k in zip(tree.attributes, classes, strict=True):
            name = f"{tree.tree_id}.{attribute.attribute_id}"
            if owner[k] != cluster or k not in kept.get(cluster, set()):
                yield f"{name}: column class {k} is not kept in cluster {cluster}"
            yield from (
                f"{name}: '{value}' is no value of its column"
                for value in attribute.values
                if not _holds(index, k, value)
            )


def _holds(index: LakeIndex, column_class: int, value: str) -> bool:
    """Whether the class has the value, by its known hashes or by the samples of its columns."""
    wanted = normalise(value)
    known = index.values.of(column_class)
    if np.isin(np.uint64(hash_value(wanted)), known):
        return True
    for column in np.flatnonzero(index.graph.unions.column_class == column_class):
        table = int(index.graph.column_table[column])
        profile = index.tables[table].columns[int(column) - int(index.graph.columns[table][0])]
        if any(normalise(text) == wanted for text in profile.sample):
            return True
    return False


def _joins(
    index: LakeIndex, subgraph: Subgraph, intent: IntentGraph, compression: Compression
) -> Iterator[str]:
    """Every join runs along join edges of H⁺ from one attribute's column to the other's."""
    kept, pairs = _kept(index, subgraph), _join_ends(index, subgraph)
    position = {
        (tree.tree_id, attribute.attribute_id): (t, i)
        for t, tree in enumerate(intent.trees)
        for i, attribute in enumerate(tree.attributes)
    }
    for number, (join, via) in enumerate(zip(intent.joins, compression.bridges, strict=True), 1):
        (t, i), (u, j) = (
            position[join.from_tree, join.from_attribute],
            position[join.to_tree, join.to_attribute],
        )
        stations = [compression.trees[t], *via, compression.trees[u]]
        wanted = (compression.attributes[t][i], compression.attributes[u][j])
        if not _runs(index, stations, wanted, kept, pairs):
            yield f"join {number} is realised by no path of join edges through {list(via)}"


def _runs(
    index: LakeIndex,
    stations: list[int],
    wanted: tuple[int, int],
    kept: dict[int, set[int]],
    pairs: Collection[tuple[int, int]],
) -> bool:
    owner = index.graph.unions.class_cluster
    last = len(stations) - 2
    for step, (a, b) in enumerate(pairwise(stations)):
        if not any(
            owner[x] == a
            and owner[y] == b
            and x in kept.get(a, set())
            and y in kept.get(b, set())
            and (step != 0 or x == wanted[0])
            and (step != last or y == wanted[1])
            for x, y in pairs
        ):
            return False
    return True
