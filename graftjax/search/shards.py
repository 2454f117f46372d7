"""In which order the tables of a union cluster are taken, and how much their rows overlap.

Letters: M clusters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from graftjax.igms.settings import ScoreSettings
from graftjax.lake import sketch
from graftjax.lake.record import LakeIndex

COMPARED = 64
"""Tables per cluster that are compared row by row; further ones follow in order of size."""


@dataclass(frozen=True, eq=False)
class ShardOrder:
    """Large tables first, near copies of earlier ones last."""

    tables: tuple[np.ndarray, ...]
    """Per cluster its tables in the order of taking."""
    copied: tuple[Float[np.ndarray, " _"], ...]
    """Per cluster each compared table's largest Jaccard with an earlier one."""
    overlap: tuple[Float[np.ndarray, "_ _"], ...]
    """Per cluster the Jaccard of its compared tables' row sets, in that order; 1 on the diagonal."""
    _added: dict[tuple[int, float, float], np.ndarray] = field(default_factory=dict)

    def led_by(self, cluster: int, table: int) -> ShardOrder:
        """The same order but for one table, which comes first in its cluster."""
        order = self.tables[cluster]
        at = int(np.flatnonzero(order == table)[0])
        compared = self.overlap[cluster]
        if at >= len(compared):  # beyond those that were compared: taken to have rows of its own
            compared = np.pad(compared[:-1, :-1], ((1, 0), (1, 0)))
            compared[0, 0] = 1.0
        else:
            moved = np.r_[at, np.delete(np.arange(len(compared)), at)]
            compared = compared[np.ix_(moved, moved)]
        with_one = lambda parts, new: (*parts[:cluster], new, *parts[cluster + 1 :])  # noqa: E731
        return ShardOrder(
            with_one(self.tables, np.r_[table, np.delete(order, at)]),
            with_one(self.copied, np.tril(compared, -1).max(1, initial=0.0)),
            with_one(self.overlap, compared),
        )

    def added(self, cluster: int, score: ScoreSettings) -> Float[np.ndarray, " _"]:
        """Weight that each further compared table of a cluster adds to its rows in J (see `search.state`)."""
        key = cluster, score.shard_correlation, score.noise
        found = self._added.get(key)
        if found is None:
            overlap = self.overlap[cluster].astype(np.float64)
            jaccard = score.shard_correlation + (1 - score.shard_correlation) * overlap
            self._added[key] = found = added_weights(jaccard, score.noise).astype(np.float32)
        return found

    def fresh(self, cluster: int, count: int, least_novelty: float) -> int:
        """How many of the first `count` tables are not near copies of earlier ones."""
        return count - int((self.copied[cluster][:count] > 1 - least_novelty).sum())


def added_weights(
    jaccard: Float[np.ndarray, "*clusters S S"], noise: float
) -> Float[np.ndarray, "*clusters S"]:
    """w(k + 1) − w(k) for k = 0..S−1, where w(k) = 1ᵀ (K + σ0² I)⁻¹ 1 for the first k tables; float64.

    With K + σ0² I = L Lᵀ and y = L⁻¹ 1, w(k) is the sum of the first k entries of y².
    """
    size = jaccard.shape[-1]
    factor = np.linalg.cholesky(jaccard.astype(np.float64) + noise * np.eye(size))
    ones = np.ones((*jaccard.shape[:-1], 1))
    return np.linalg.solve(factor, ones)[..., 0] ** 2


def order_shards(index: LakeIndex, copy: float = 0.5) -> ShardOrder:
    """Order every cluster; tables with a row Jaccard of at least `copy` with an earlier one go last."""
    orders, overlaps = [], []
    for members in index.graph.members:
        ranked = sorted(members.tolist(), key=lambda t: (-index.tables[t].n_rows, index.tables[t].id))
        head = ranked[:COMPARED]
        overlap = np.eye(len(head), dtype=np.float32)
        for i, a in enumerate(head):
            for j in range(i):
                overlap[i, j] = overlap[j, i] = sketch.jaccard(
                    index.row_sketches[a], index.row_sketches[head[j]]
                )
        fresh: list[int] = []
        copies: list[int] = []
        for i in range(len(head)):
            (copies if fresh and overlap[i, fresh].max() >= copy else fresh).append(i)
        order = fresh + copies
        orders.append(np.asarray([head[i] for i in order] + ranked[COMPARED:], np.int64))
        overlaps.append(overlap[np.ix_(order, order)])
    copied = (np.tril(overlap, -1).max(1, initial=0.0) for overlap in overlaps)
    return ShardOrder(tuple(orders), tuple(copied), tuple(overlaps))
