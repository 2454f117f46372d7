"""Lakes and intents written by hand, and one real encoder for all tests of scoring and search."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from graftjax.encode import load_encoder
from graftjax.intent import IntentGraph, parse_intent
from graftjax.lake.graph import LakeGraph
from graftjax.lake.index import build_index
from graftjax.lake.joins import JoinEdges
from graftjax.lake.raw import RawTable
from graftjax.lake.record import LakeIndex
from graftjax.lake.unions import UnionClusters
from graftjax.types import TableId


@cache
def encoder():
    return load_encoder()


def index_of(tables: Mapping[str, Mapping[str, Sequence[object]]]) -> LakeIndex:
    """Index of a lake given as table name → header → values."""
    raw = [
        RawTable(TableId("db", name), pa.table(dict(columns)), tuple(columns), f"{name}.csv")
        for name, columns in tables.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        return build_index(raw, Path(folder) / "index", encoder(), progress=False)


def intent_of(
    trees: Mapping[str, Mapping[str, Sequence[str]]], *joins: tuple[str, str, str, str]
) -> IntentGraph:
    """Intent given as entity → attribute → values; a join is (entity, attribute, entity, attribute)."""
    return parse_intent(
        {
            "trees": [
                {
                    "tree_id": entity,
                    "entity": entity,
                    "attributes": [
                        {"attribute_id": name, "name": name, "values": list(values)}
                        for name, values in attributes.items()
                    ],
                }
                for entity, attributes in trees.items()
            ],
            "joins": [
                {"from_tree": a, "from_attribute": b, "to_tree": c, "to_attribute": d} for a, b, c, d in joins
            ],
        }
    )


def graph_of(
    class_cluster: Sequence[int],
    edges: Sequence[tuple[int, int, float]] = (),
    tables: Sequence[int] | None = None,
) -> LakeGraph:
    """Graph of clusters with the given column classes and join edges (class, class, weight).

    `tables`: the number of tables of each cluster, one if left out; each has all columns of its cluster.
    """
    owner = np.asarray(class_cluster, np.int32)
    count = tables or [1] * (int(owner.max(initial=-1)) + 1)
    table_cluster = np.repeat(np.arange(len(count)), count).astype(np.int32)
    classes = [np.flatnonzero(owner == c) for c in table_cluster]
    column_table = np.repeat(np.arange(len(classes)), [len(part) for part in classes]).astype(np.int32)
    column_class = np.concatenate([*classes, np.zeros(0)]).astype(np.int32)
    unions = UnionClusters(table_cluster, column_class, owner, np.ones(len(table_cluster), np.float32))
    refers, referred, weight = zip(*edges, strict=True) if edges else ((), (), ())
    weights = np.asarray(weight, np.float32)
    joins = JoinEdges(np.asarray(refers, np.int32), np.asarray(referred, np.int32), weights, weights)
    return LakeGraph(unions, joins, column_table)
