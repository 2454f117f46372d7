"""The lake graph, or a part of it, as a padded `jraph.GraphsTuple` with typed node and edge sets.

Letters: t tables of the selection; see `graftjax.typed_graph` for the shapes of the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np

from graftjax.errors import UsageError
from graftjax.lake.record import LakeIndex
from graftjax.typed_graph import BUCKETS, EdgeType, NodeType, TypedGraph, build

_Edge = tuple[int, int, EdgeType, float]


def to_graphs_tuple(
    index: LakeIndex,
    tables: Sequence[int],
    *,
    node_buckets: Sequence[int] = BUCKETS,
    edge_buckets: Sequence[int] = BUCKETS,
) -> TypedGraph:
    """The part of the lake graph that lies on `tables` (positions in `index.tables`, [t]).

    Nodes, in this order, with their dense vectors [D] as features: the tables as given (`node_number`:
    position in `index.tables`), their columns (position in `index.column_names`), and one value summary for
    each column class among them that has values (number of the class). Edges: table to column and column to
    value summary with weight 1, unions between tables (earlier to later in the lake), joins from the
    referring to the referred column. Shards of two joined clusters are linked pair by pair, so edges grow
    with the product of their numbers.

    Raises `UsageError` for a table that the index does not have or that is named twice, and for a selection
    beyond the largest bucket.
    """
    chosen = [int(table) for table in tables]
    for table in chosen:
        if not 0 <= table < len(index.tables):
            raise UsageError(
                f"table number {table} is out of range: the index has {len(index.tables)} tables"
            )
    if len(set(chosen)) < len(chosen):
        raise UsageError("a table is selected twice")
    graph, nodes = index.graph, index.nodes
    columns = np.concatenate([*(graph.columns[table] for table in chosen), np.zeros(0, np.int64)]).astype(
        np.int64
    )
    column_class = graph.unions.column_class[columns]
    classes = np.unique(column_class)
    classes = classes[index.values.counts()[classes] > 0]

    place_of_table = {table: place for place, table in enumerate(chosen)}
    place_of_value = {k: len(chosen) + len(columns) + i for i, k in enumerate(classes.tolist())}
    columns_of_class: dict[int, list[int]] = defaultdict(list)
    edges: list[_Edge] = []
    for i, (column, k) in enumerate(zip(columns.tolist(), column_class.tolist(), strict=True)):
        place = len(chosen) + i
        columns_of_class[k].append(place)
        edges.append((place_of_table[int(graph.column_table[column])], place, EdgeType.TABLE_HAS_COLUMN, 1.0))
        if k in place_of_value:
            edges.append((place, place_of_value[k], EdgeType.COLUMN_HAS_VALUE, 1.0))
    edges += _unions(index, place_of_table)
    edges += _joins(index, columns_of_class)

    texts = np.concatenate(
        [
            nodes.table[graph.unions.table_cluster[np.asarray(chosen, np.int64)], 0],
            nodes.context[column_class, 0],
            nodes.value[classes],
        ]
    )
    senders, receivers, kinds, weights = zip(*edges, strict=True) if edges else ((), (), (), ())
    return build(
        np.asarray(index.space.dense[texts], np.float32),
        np.repeat(
            np.array([NodeType.TABLE, NodeType.COLUMN, NodeType.VALUE_SUMMARY], np.int32),
            [len(chosen), len(columns), len(classes)],
        ),
        np.concatenate([np.asarray(chosen, np.int64), columns, classes]),
        np.asarray(senders, np.int64),
        np.asarray(receivers, np.int64),
        np.asarray(kinds, np.int64),
        np.asarray(weights, np.float32),
        node_buckets=node_buckets,
        edge_buckets=edge_buckets,
    )


def _unions(index: LakeIndex, place_of_table: dict[int, int]) -> list[_Edge]:
    """All pairs of chosen tables of one cluster."""
    unions = index.graph.unions
    of_cluster: dict[int, list[int]] = defaultdict(list)
    for table in sorted(place_of_table):
        of_cluster[int(unions.table_cluster[table])].append(table)
    score = unions.table_score
    return [
        (place_of_table[a], place_of_table[b], EdgeType.UNION, float(min(score[a], score[b])))
        for members in of_cluster.values()
        for i, a in enumerate(members)
        for b in members[i + 1 :]
    ]


def _joins(index: LakeIndex, columns_of_class: dict[int, list[int]]) -> list[_Edge]:
    """All pairs of chosen columns whose classes a join edge connects."""
    joins = index.graph.joins
    here = np.array(sorted(columns_of_class), np.int64)
    inside = np.flatnonzero(np.isin(joins.refers, here) & np.isin(joins.referred, here))
    return [
        (a, b, EdgeType.JOIN, float(joins.weight[edge]))
        for edge in inside
        for a, b in product(
            columns_of_class[int(joins.refers[edge])], columns_of_class[int(joins.referred[edge])]
        )
    ]
