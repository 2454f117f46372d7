"""Join paths between clusters: directly, or through one bridge that the question does not name.

Letters: C candidate clusters, M clusters of the lake.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graftjax.lake.graph import LakeGraph

NO_BRIDGE = -1


@dataclass(frozen=True, eq=False)
class JoinPaths:
    """Best path between each two of C clusters."""

    direct: Float[np.ndarray, "C C"]
    """ω of the join edge; 0 without one; 1 on the diagonal."""
    weight: Float[np.ndarray, "C C"]
    """(∏ ω)^(1/|p|) of the best path, with the discount per bridge; 1 on the diagonal."""
    bridge: Int[np.ndarray, "C C"]
    """Lake number of the cluster in between; NO_BRIDGE for a direct path or none."""
    affinity: Float[np.ndarray, "C C"]
    """How many join partners two clusters have in common, each by its weights and the fewer others it has
    the more; 0 on the diagonal."""


def join_paths(graph: LakeGraph, clusters: np.ndarray, hop_discount: float) -> JoinPaths:
    """Paths of at most two join edges between the given clusters (lake numbers, distinct)."""
    count = len(clusters)
    position = {int(c): i for i, c in enumerate(clusters)}
    direct = np.eye(count, dtype=np.float32)
    neighbours = []
    for i, cluster in enumerate(clusters):
        edges = graph.cluster_joins[int(cluster)]
        weights = {b: float(graph.joins.weight[e]) for b, e in edges.items()}
        neighbours.append(weights)
        for b, w in weights.items():
            if b in position:
                direct[i, position[b]] = w
    weight, bridge = direct.copy(), np.full((count, count), NO_BRIDGE, np.int32)
    affinity = np.zeros((count, count), np.float32)
    middles = sorted({b for weights in neighbours for b in weights})
    if middles:
        column = {b: i for i, b in enumerate(middles)}
        reach = np.zeros((count, len(middles)), np.float32)
        for i, weights in enumerate(neighbours):
            for b, w in weights.items():
                reach[i, column[b]] = w
        rarity = 1.0 / np.log(2.0 + np.array([len(graph.cluster_joins[b]) for b in middles], np.float32))
        affinity = (reach * rarity) @ reach.T
        np.fill_diagonal(affinity, 0.0)
        own = np.array([position.get(b, -1) for b in middles])
        for i in range(count):
            through = np.sqrt(reach[i][None, :] * reach) * hop_discount  # [C, middles]
            through[:, own == i] = 0.0
            through[own[own >= 0], np.flatnonzero(own >= 0)] = 0.0
            best = through.argmax(1)
            value = through[np.arange(count), best]
            better = value > weight[i]
            better[i] = False
            weight[i, better] = value[better]
            bridge[i, better] = np.asarray(middles)[best[better]]
    return JoinPaths(direct, weight, bridge, affinity)
