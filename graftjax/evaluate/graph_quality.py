"""How good the discovered lake graph is: union pairs and join edges against what the benchmark knows.

Union truth: two tables are shards of one source table. Join truth: a foreign key of the benchmark's
schema file whose two tables have rows and share at least one value; foreign keys inside one table
are left out. A foreign key counts as found when a join edge connects the two columns' classes, in
either direction; it is `blurred` when a table is spread over several clusters, and then any pair of
its clusters will do.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np

from graftjax.errors import GraftError
from graftjax.lake.benchmark import Benchmark, SourceTable
from graftjax.lake.record import LakeIndex
from graftjax.types import TableId

SCHEMA_FILES = {"spider": "tables.json", "bird": "dev_tables.json"}


@dataclass(frozen=True)
class GraphQuality:
    union_precision: float
    union_recall: float
    foreign_keys: int
    """Foreign keys that count: both tables have rows and the values overlap."""
    join_recall: float
    join_precision: float
    """Share of joinable cluster pairs that some foreign key connects (other pairs may be joinable too)."""
    mean_join_degree: float
    """Mean number of joinable clusters per cluster."""
    clusters: int


def measure(index: LakeIndex, benchmark: Benchmark) -> GraphQuality:
    """Compare an index of `benchmark` with its schema file; `GraftError` when that is missing."""
    source = _source_of(index, benchmark)
    precision, recall = _unions(index, source)
    found, total, good, pairs = _joins(index, benchmark, source)
    return GraphQuality(
        precision, recall, total, found / max(1, total), good / max(1, pairs),
        index.graph.mean_join_degree(), index.graph.unions.num_clusters,
    )  # fmt: skip


def _source_of(index: LakeIndex, benchmark: Benchmark) -> dict[TableId, SourceTable]:
    source = {shard: source for source, shards in benchmark.shards.items() for shard in shards}
    for table in index.tables:
        if table.id not in source:
            raise GraftError(f"{index.folder}: not an index of {benchmark.name} (it has no table {table.id})")
    return source


def _unions(index: LakeIndex, source: dict[TableId, SourceTable]) -> tuple[float, float]:
    choose = lambda counts: sum(n * (n - 1) // 2 for n in counts)  # noqa: E731
    said = both = 0
    true = choose(Counter(source[t.id] for t in index.tables).values())
    for members in index.graph.members:
        said += choose([len(members)])
        both += choose(Counter(source[index.tables[t].id] for t in members).values())
    return both / max(1, said), both / max(1, true)


def _joins(
    index: LakeIndex, benchmark: Benchmark, source: dict[TableId, SourceTable]
) -> tuple[int, int, int, int]:
    """Foreign keys (found, all that count) and joinable cluster pairs (that a foreign key connects, all)."""
    path = benchmark.folder / SCHEMA_FILES[benchmark.name]
    try:
        schemas = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GraftError(f"{path}: needed to judge join edges, not readable ({error})") from error
    classes: dict[tuple, set[int]] = {}
    column = 0
    for table in index.tables:
        for entry in table.columns:
            key = (*source[table.id], entry.name.lower())
            classes.setdefault(key, set()).add(int(index.graph.unions.column_class[column]))
            column += 1
    owner = index.graph.unions.class_cluster
    edges = set(zip(index.graph.joins.refers.tolist(), index.graph.joins.referred.tolist(), strict=True))
    found = total = 0
    true_pairs: set[frozenset[int]] = set()
    for schema in schemas:
        for a, b in schema["foreign_keys"]:
            ends = []
            for position in (a, b):
                table, name = schema["column_names_original"][position]
                ends.append((schema["db_id"], schema["table_names_original"][table].lower(), name.lower()))
            if ends[0][:2] == ends[1][:2]:
                continue
            left, right = (classes.get(end, set()) for end in ends)
            pairs = {(x, y) for x in left for y in right if owner[x] != owner[y] and _share(index, x, y)}
            if not pairs:
                continue
            total += 1
            hits = {(x, y) for x, y in pairs if (x, y) in edges or (y, x) in edges}
            found += bool(hits)
            true_pairs |= {frozenset((int(owner[x]), int(owner[y]))) for x, y in pairs}
    cluster_pairs = {frozenset((int(owner[x]), int(owner[y]))) for x, y in edges}
    return found, total, len(cluster_pairs & true_pairs), len(cluster_pairs)


def _share(index: LakeIndex, x: int, y: int) -> bool:
    return bool(len(np.intersect1d(index.values.of(x), index.values.of(y), assume_unique=True)))


def as_text(quality: GraphQuality) -> str:
    """The figures, a line each."""
    return "\n".join(
        f"{name.replace('_', ' '):20} {value:.3f}"
        if isinstance(value, float)
        else f"{name.replace('_', ' '):20} {value}"
        for name, value in vars(quality).items()
    )
