"""Join edges between column classes: found by meaning or by rare shared values, confirmed on values.

Candidates come from nearest neighbours of column texts (as in DeepJoin) and from values that only a
few classes have. A candidate (a, b) reads "a refers to b": a's values lie in b, and b looks like a
key. Keys numbered 1..n lie in each other everywhere; what tells them apart is the wording and how
rare the shared values are. Letters: K classes, J edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graftjax.lake.classes import WHOLE, ValueSets
from graftjax.lake.partition import distinct
from graftjax.lake.shared_values import SharedValues
from graftjax.lake.wording import Wording

NEIGHBOURS = 96
"""Candidates per class by wording."""
RARE = 12
"""A value that at most this many classes share makes each pair of them a candidate."""
PARTNERS = 12
"""Edges kept per referring class."""
LEAST_UNIQUENESS = 0.05
"""Distinct values per cell below which nothing refers to a class."""
RARITY_SHARE = 0.3
"""What the rarest shared values add to the likeness by wording, which is at most 1."""
LEAST_SCORE = 0.58
LEAST_CONTAINMENT = 0.3
FULL_SCORE = 1.25
"""Score from which an edge has full confidence."""


@dataclass(frozen=True, eq=False)
class JoinEdges:
    """Edges between classes of different clusters."""

    refers: Int[np.ndarray, " J"]
    """The referring class (foreign key)."""
    referred: Int[np.ndarray, " J"]
    weight: Float[np.ndarray, " J"]
    """Confidence in (0, 1]."""
    containment: Float[np.ndarray, " J"]


NO_EDGES = JoinEdges(
    np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32)
)


def join_edges(values: ValueSets, class_cluster: Int[np.ndarray, " K"], wording: Wording) -> JoinEdges:
    """Edges of the lake; a class without values has none."""
    known = values.counts()
    if not known.any():
        return NO_EDGES
    uniqueness = values.uniqueness()
    shared = SharedValues.of(values)
    a, b = _candidates(values, shared, class_cluster, wording, uniqueness)
    # What follows costs by the pair: those that can't reach the least score for certain go first.
    most = _most_containment(values, known, a, b) * (1.0 + RARITY_SHARE)
    possible = np.flatnonzero(most * np.sqrt(uniqueness[b]) >= LEAST_SCORE)
    a, b = a[possible], b[possible]
    likeness = wording.likeness(a, b)
    possible = np.flatnonzero(np.sqrt(uniqueness[b]) * (likeness + RARITY_SHARE) >= LEAST_SCORE)
    a, b, likeness = a[possible], b[possible], likeness[possible]
    if not len(a):
        return NO_EDGES
    containment, specificity = shared.confirm(a, b)
    score = containment * np.sqrt(uniqueness[b]) * (likeness + RARITY_SHARE * np.sqrt(np.sqrt(specificity)))
    best = np.zeros(len(known))
    np.maximum.at(best, a, score)
    keep = (score >= LEAST_SCORE) & (containment >= LEAST_CONTAINMENT) & (_rank(a, score) < PARTNERS)
    a, b, score, containment = a[keep], b[keep], score[keep], containment[keep]
    # An edge far below the best partner of its column is a chance likeness more often than not.
    weight = np.minimum(1.0, score / FULL_SCORE) * score / best[a]
    return JoinEdges(
        a.astype(np.int32), b.astype(np.int32), weight.astype(np.float32), containment.astype(np.float32)
    )


def _candidates(
    values: ValueSets,
    shared: SharedValues,
    cluster: np.ndarray,
    wording: Wording,
    uniqueness: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Ordered pairs (a, b) of filled classes in different clusters with a key-like b, sorted."""
    filled = np.flatnonzero(values.counts() > 0)
    keys = filled[uniqueness[filled] >= LEAST_UNIQUENESS]
    near_a, near_b = wording.nearest(filled, keys, cluster, NEIGHBOURS)
    size = len(cluster)
    near = distinct(near_a.astype(np.int64) * size + near_b)
    pairs = distinct(np.concatenate([near, shared.rare_pairs(RARE)]))
    a, b = pairs // size, pairs % size
    keep = (cluster[a] != cluster[b]) & (uniqueness[b] >= LEAST_UNIQUENESS)
    return a[keep], b[keep]


def _most_containment(values: ValueSets, known: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Upper bound of the containment of a in b by their sizes; 1 where a set is not known to the end."""
    whole = (values.limit[a] == WHOLE) & (values.limit[b] == WHOLE)
    return np.where(whole, np.minimum(1.0, known[b] / np.maximum(known[a], 1)), 1.0)


def _rank(group: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Position of each entry among those of its group, best first."""
    order = np.lexsort((-score, group))
    sorted_group = group[order]
    first = np.flatnonzero(np.r_[True, sorted_group[1:] != sorted_group[:-1]])
    sizes = np.diff(np.r_[first, len(group)])
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(first, sizes)
    return rank
