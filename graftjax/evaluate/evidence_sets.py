"""Real evidence: the units of tables that a search returns, and of tables drawn from a query's region.

Letters: q units (rows with support only), n tables, a atoms, R rows per table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graftjax.encode.encoder import Encoder
from graftjax.igms.evidence import QueryEvidence
from graftjax.intent.atoms import atoms_of
from graftjax.intent.schema import IntentGraph
from graftjax.lake.record import LakeIndex
from graftjax.search.engine import Engine
from graftjax.search.region import Region
from graftjax.search.settings import ROWS, Settings
from graftjax.search.shards import ShardOrder

OPERATOR = ROWS - 1
"""Row of a table's block that is its operator unit; row 0 is the table, those between are columns."""
SHARDS_DRAWN = 4
"""Most tables of one cluster in a set that is drawn from a region."""


@dataclass(frozen=True, eq=False)
class EvidenceSet:
    """Units of some tables for one question, table by table."""

    support: Float[np.ndarray, "q a"]
    table: Int[np.ndarray, " q"]
    """Position of each unit's table in `tables`."""
    row: Int[np.ndarray, " q"]
    """Which unit of its table."""
    tables: Int[np.ndarray, " n"]
    """Lake numbers."""
    cluster: Int[np.ndarray, " n"]
    columns: tuple[tuple[int, ...], ...]
    """Per unit the physical columns that it speaks of, as lake numbers."""


def pack(
    index: LakeIndex,
    tables: Sequence[int],
    blocks: Float[np.ndarray, "n R a"],
    images: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, ...]],
) -> EvidenceSet:
    """Units of tables with their blocks. `images`: column class of each column row, per table; `ends`: the
    physical columns that each table's operator joins."""
    graph = index.graph
    at, row = np.nonzero(blocks.any(2))
    columns: list[tuple[int, ...]] = []
    for t, r in zip(at.tolist(), row.tolist(), strict=True):
        if r == 0:
            columns.append(tuple(int(c) for c in graph.columns[tables[t]]))
        elif r == OPERATOR:
            columns.append(ends[t])
        else:
            column = graph.column_of(tables[t], images[t][r - 1])
            columns.append(() if column is None else (column,))
    numbers = np.asarray(tables, np.int64)
    return EvidenceSet(
        blocks[at, row].astype(np.float64),
        at,
        row,
        numbers,
        graph.unions.table_cluster[numbers],
        tuple(columns),
    )


class Collector:
    """Evidence of questions asked of one lake, under the search's settings."""

    def __init__(self, index: LakeIndex, encoder: Encoder, settings: Settings | None = None) -> None:
        self.index = index
        self.settings = settings or Settings()
        self._engine = Engine(index, encoder, self.settings)
        self.shards: ShardOrder = self._engine.shards

    def region(self, intent: IntentGraph, budget: int) -> tuple[QueryEvidence, Region] | None:
        """The question's evidence and region, as the search makes them; None for an intent without atoms."""
        atoms = atoms_of(intent)
        if not atoms.num_atoms:
            return None
        question = self._engine.prepare(atoms, self._engine.encode([atoms]), budget)
        return question.evidence, question.region

    def synthesis(self, evidence: QueryEvidence, region: Region) -> EvidenceSet | None:
        """Units of what `graft-fill` returns; None for an empty answer."""
        found = self._engine.solve(region.problem, None, fill=True)
        count = int(found.num_tables)
        clusters = region.clusters[found.table_cluster[:count]].tolist()
        tables = [
            int(self.shards.tables[c][s]) for c, s in zip(clusters, found.table_shard[:count], strict=True)
        ]
        image: dict[int, tuple[int, ...]] = {}
        for cluster, action in zip(clusters, found.table_action[:count].tolist(), strict=True):
            if action >= 0:
                image.setdefault(cluster, region.images[action])
        ends = [self._ends(tables[i], clusters[i], tables[:i], clusters[:i]) for i in range(count)]
        images = [image.get(cluster, ()) for cluster in clusters]
        blocks = np.asarray(found.blocks[:count, :, : evidence.atoms.num_atoms])
        packed = pack(self.index, tables, blocks, images, ends)
        return packed if len(packed.row) else None

    def drawn(
        self, evidence: QueryEvidence, region: Region, count: int, rng: np.random.Generator
    ) -> EvidenceSet | None:
        """Units of up to `count` tables drawn from the region, with some of their shards; no operators."""
        problem = region.problem
        tables: list[int] = []
        rows, images = [], []
        used: set[int] = set()
        for action in rng.permutation(np.flatnonzero(problem.action_valid)):
            cluster = int(region.clusters[problem.cluster[action]])
            if cluster in used:
                continue
            used.add(cluster)
            more = int(rng.integers(1, SHARDS_DRAWN + 1))
            for table in self.shards.tables[cluster][: min(more, count - len(tables))]:
                tables.append(int(table))
                rows.append(problem.rows[action, :, : evidence.atoms.num_atoms])
                images.append(region.images[action])
            if len(tables) >= count:
                break
        if not tables:
            return None
        packed = pack(self.index, tables, np.stack(rows), images, [()] * len(tables))
        return packed if len(packed.row) else None

    def _ends(
        self, table: int, cluster: int, before: Sequence[int], clusters: Sequence[int]
    ) -> tuple[int, ...]:
        """Both columns of the strongest join edge to an earlier table; () when there is none."""
        graph = self.index.graph
        near = [i for i, other in enumerate(clusters) if other in graph.cluster_joins[cluster]]
        if not near:
            return ()
        edge_to = graph.cluster_joins[cluster]
        best = max(near, key=lambda i: (float(graph.joins.weight[edge_to[clusters[i]]]), -i))
        edge = edge_to[clusters[best]]
        found = []
        for end in (int(graph.joins.refers[edge]), int(graph.joins.referred[edge])):
            owner = table if int(graph.unions.class_cluster[end]) == cluster else before[best]
            column = graph.column_of(owner, end)
            found += [] if column is None else [column]
        return tuple(found)
