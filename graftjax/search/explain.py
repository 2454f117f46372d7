"""From the arrays of a finished search back to tables, operators and reasons."""

from __future__ import annotations

import numpy as np

from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.exact import covariance, utility
from graftjax.lake.record import LakeIndex
from graftjax.search.finish import Outcome
from graftjax.search.region import Region
from graftjax.search.settings import ROWS
from graftjax.search.shards import ShardOrder
from graftjax.types import AtomSupport, Operator, Synthesis, TableId

WEAK = 0.5
"""ψ below which an entity counts as not found."""


def synthesis_of(
    index: LakeIndex,
    shards: ShardOrder,
    evidence: QueryEvidence,
    region: Region,
    outcome: Outcome,
    notes: tuple[str, ...],
) -> Synthesis:
    """The synthesis with exact U (float64), its operators and the evidence behind each atom."""
    count = int(outcome.num_tables)
    positions = outcome.table_cluster[:count]
    clusters = region.clusters[positions]
    tables = [int(shards.tables[c][s]) for c, s in zip(clusters, outcome.table_shard[:count], strict=True)]
    if not tables:
        return Synthesis(
            (), (), 0.0, notes=(*notes, "no table of the lake supports the question well enough")
        )
    operators, more = _operators(index, clusters, tables)
    reach = outcome.blocks[:count].max((0, 1))
    if not (reach[evidence.atoms.tree_entity] >= WEAK).any():
        more = (*more, "weak support: no table is about what the question names; this is the nearest guess")
    exact = _utility(evidence, region, outcome, count)
    return Synthesis(
        tuple(index.tables[t].id for t in tables),
        operators,
        exact,
        _support(index, evidence, region, outcome, tables),
        (*notes, *more),
    )


def _utility(evidence: QueryEvidence, region: Region, outcome: Outcome, count: int) -> float:
    cluster, shard = outcome.table_cluster[:count], outcome.table_shard[:count]
    jaccard = region.problem.correlation[cluster[:, None], shard[:, None], shard[None, :]]
    c = covariance(cluster, jaccard, ROWS, evidence.settings.noise)
    m = outcome.blocks[:count].reshape(count * ROWS, -1)
    return utility(m, c, evidence.atoms.num_atoms)


def _operators(
    index: LakeIndex, clusters: np.ndarray, tables: list[int]
) -> tuple[tuple[Operator, ...], tuple[str, ...]]:
    """How each table after the first is attached, and a note where no join was found."""
    graph, operators, notes = index.graph, [], []
    first: dict[int, int] = {}
    for at, (cluster, table) in enumerate(zip(clusters.tolist(), tables, strict=True)):
        if cluster in first:
            anchor = first[cluster]
            weight = float(min(graph.unions.table_score[anchor], graph.unions.table_score[table]))
            columns = _aligned(index, anchor, table)
            operators.append(
                Operator("union", index.tables[anchor].id, index.tables[table].id, columns, weight)
            )
            continue
        edges = graph.cluster_joins[cluster]
        near = [other for other in first if other in edges]
        if near:
            other = max(near, key=lambda c: (float(graph.joins.weight[edges[c]]), -c))
            operators.append(_join(index, other, first[other], table, edges[other]))
        elif at:
            notes.append(f"no join found between {index.tables[table].id} and the tables before it")
        first[cluster] = table
    return tuple(operators), tuple(notes)


def _aligned(index: LakeIndex, a: int, b: int) -> tuple[tuple[str, str], ...]:
    """Columns of two tables of one cluster that belong together."""
    column_class = index.graph.unions.column_class
    right = {int(column_class[c]): index.column_names[c] for c in index.graph.columns[b]}
    pairs = [(index.column_names[c], right.get(int(column_class[c]))) for c in index.graph.columns[a]]
    return tuple((left, name) for left, name in pairs if name is not None)


def _join(index: LakeIndex, anchor_cluster: int, anchor: int, new: int, edge: int) -> Operator:
    graph = index.graph
    refers, referred = int(graph.joins.refers[edge]), int(graph.joins.referred[edge])
    mine = refers if int(graph.unions.class_cluster[refers]) == anchor_cluster else referred
    other = referred if mine == refers else refers
    left, right = graph.column_of(anchor, mine), graph.column_of(new, other)
    columns = (
        () if left is None or right is None else ((index.column_names[left], index.column_names[right]),)
    )
    return Operator(
        "join", index.tables[anchor].id, index.tables[new].id, columns, float(graph.joins.weight[edge])
    )


def _support(
    index: LakeIndex, evidence: QueryEvidence, region: Region, outcome: Outcome, tables: list[int]
) -> tuple[AtomSupport, ...]:
    """Best evidence of each atom; nothing is named below a hundredth."""
    blocks = outcome.blocks[: len(tables)]
    result = []
    for atom, label in enumerate(evidence.atoms.labels):
        entries = blocks[:, :, atom]
        table, row = np.unravel_index(int(entries.argmax()), entries.shape)
        support = float(entries[table, row])
        where: TableId | None = None
        column = None
        if support >= 0.01:
            where = index.tables[tables[table]].id
            column = _column(index, region, outcome, tables, int(table), int(row))
        result.append(AtomSupport(label, round(support, 4), where, column))
    return tuple(result)


def _column(
    index: LakeIndex, region: Region, outcome: Outcome, tables: list[int], table: int, row: int
) -> str | None:
    action = int(outcome.table_action[table])
    if not 1 <= row < ROWS - 1 or action < 0 or row > len(region.images[action]):
        return None
    column = index.graph.column_of(tables[table], region.images[action][row - 1])
    return None if column is None else index.column_names[column]
