"""In which order the tables of a union cluster are taken, and how much their rows overlap.

Letters: M clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graftjax.lake import sketch
from graftjax.lake.record import LakeIndex

COMPARED = 64
"""Tables per cluster that are compared row by row; further ones follow in order of size."""


@dataclass(frozen=True, eq=False)
class ShardOrder:
    """Large tables first, near copies of earlier ones last."""

    tables: tuple[np.ndarray, ...]
    """Per cluster its tables in the order of taking."""
    overlap: tuple[Float[np.ndarray, "_ _"], ...]
    """Per cluster the Jaccard of its compared tables' row sets, in that order; 1 on the diagonal."""


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
    return ShardOrder(tuple(orders), tuple(overlaps))
