"""Small lakes for tests of sampling: made from a graph, with or without values, no encoder needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from graftjax.encode.lexical import TrigramIndex
from graftjax.encode.space import TextSpace
from graftjax.lake.classes import pool_classes
from graftjax.lake.graph import LakeGraph
from graftjax.lake.joins import JoinEdges
from graftjax.lake.record import VARIANTS, LakeIndex, NodeTexts
from graftjax.lake.sketch import build, hash_value
from graftjax.lake.unions import UnionClusters
from graftjax.lake.values import normalise
from graftjax.types import Column, Table, TableId

NamedTables = Sequence[tuple[str, Sequence[str]]]


def lake_of(
    clusters: Sequence[NamedTables],
    edges: Sequence[tuple[str, str, float]] = (),
    values: Mapping[str, Sequence[str]] | None = None,
) -> LakeIndex:
    """Index of a lake.

    A cluster is a list of (table name, headers); columns of one header in one cluster are one class.
    Edges and values name a class as "first table.header".
    """
    values = values or {}
    class_of: dict[tuple[int, str], int] = {}
    named: dict[str, int] = {}
    tables, table_cluster, column_table, column_class, columns, class_cluster = [], [], [], [], [], []
    for number, members in enumerate(clusters):
        for name, headers in members:
            own = []
            for header in headers:
                if (number, header) not in class_of:
                    class_of[number, header] = len(class_cluster)
                    class_cluster.append(number)
                label = f"{members[0][0]}.{header}"
                named[label] = class_of[number, header]
                column_class.append(class_of[number, header])
                column_table.append(len(tables))
                own.append(_column(header, values.get(label, [f"{label} {i}" for i in range(4)])))
            columns += own
            tables.append(Table(TableId("db", name), tuple(own), 4, content_hash=name))
            table_cluster.append(number)
    ints = lambda items: np.asarray(items, np.int32).reshape(-1)  # noqa: E731
    unions = UnionClusters(
        ints(table_cluster), ints(column_class), ints(class_cluster), np.ones(len(tables), np.float32)
    )
    weight = np.asarray([w for _, _, w in edges], np.float32)
    joins = JoinEdges(
        ints([named[a] for a, _, _ in edges]), ints([named[b] for _, b, _ in edges]), weight, weight
    )
    k, m = len(class_cluster), len(clusters)
    blank = lambda count: np.zeros((count, VARIANTS), np.int32)  # noqa: E731
    nodes = NodeTexts(blank(m), blank(m), blank(k), blank(k), np.full(k, -1, np.int32), np.zeros(k, np.int32))
    return LakeIndex(
        tables=tuple(tables),
        skips=(),
        notes=(),
        graph=LakeGraph(unions, joins, ints(column_table)),
        values=pool_classes(columns, [4] * len(columns), unions.column_class, k),
        space=TextSpace((), np.zeros((0, 8), np.float32), TrigramIndex.build(())),
        nodes=nodes,
        row_sketches=(),
        encoder_name="none",
        headers="keep",
        folder=Path(),
    )


def _column(header: str, sample: Sequence[str]) -> Column:
    hashes = build(np.array([hash_value(normalise(value)) for value in sample], np.uint64))
    return Column(header, header, "text", 0.0, len(hashes), tuple(sample), hashes)


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[NamedTables], list[tuple[str, str, float]]]:
    """Arguments of `lake_of`: up to six clusters, whose tables may lack columns, some of them all keys.

    (The lake itself is made in the test: checked functions draw random numbers, which strategies may not.)
    """
    clusters, labels = [], []
    for c in range(draw(st.integers(1, 6))):
        headers = [f"c{c}h{i}" for i in range(draw(st.integers(0, 4)))]
        count = draw(st.integers(1, 4))
        members = [(f"table{c}_{t}", headers) for t in range(count)]
        for t in range(1, count):
            kept = [header for header in headers if draw(st.integers(0, 5))]
            members[t] = (f"table{c}_{t}", kept)
        clusters.append(members)
        labels += [(c, f"table{c}_0.{header}") for header in headers]
    pairs = [(a, b) for c, a in labels for d, b in labels if c != d]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=12)) if pairs else []
    edges = [(a, b, draw(st.floats(0.05, 1.0))) for a, b in chosen]
    return clusters, edges
