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
    a, b, score, containment = _scored(a, b, values, shared, wording, uniqueness)
    best = np.zeros(len(known))
    np.maximum.at(best, a, score)
    return _edges(a, b, score, containment, best)


def added_edges(
    values: ValueSets,
    class_cluster: Int[np.ndarray, " K"],
    wording: Wording,
    new: Int[np.ndarray, " n"],
    old: JoinEdges,
) -> JoinEdges:
    """Edges of classes that are new in a lake, or have new values, with all others. `old`: the other edges.

    The cost goes with their number.

    As `join_edges` would find them, but for three things: a class that was there before is a candidate when
    it is near to the new one (not only the new one to it), it keeps the edges it has beside the new ones, and
    its best score is read off their weights.
    """
    new = new[values.counts()[new] > 0]
    if not len(new):
        return NO_EDGES
    uniqueness, size = values.uniqueness(), len(class_cluster)
    filled = np.flatnonzero(values.counts() > 0)
    keys = filled[uniqueness[filled] >= LEAST_UNIQUENESS]
    shared = SharedValues.around(values, new)
    near_new, near = wording.nearest_of_few(new, (keys, filled), class_cluster, NEIGHBOURS)
    pairs = [near_new.astype(np.int64) * size + near]
    rare = shared.present[:, np.flatnonzero((shared.holders > 1) & (shared.holders <= RARE))]
    row, column = (rare[new] @ rare.T).nonzero()
    pairs.append(new[row].astype(np.int64) * size + column)
    x, y = np.divmod(distinct(np.concatenate(pairs)), size)
    a, b = np.concatenate([x, y]), np.concatenate([y, x])
    a, b = np.divmod(distinct(a * size + b), size)
    keep = (class_cluster[a] != class_cluster[b]) & (uniqueness[b] >= LEAST_UNIQUENESS)
    a, b, score, containment = _scored(a[keep], b[keep], values, shared, wording, uniqueness)
    best = np.zeros(size)
    np.maximum.at(best, old.refers, old.weight * FULL_SCORE)
    np.maximum.at(best, a, score)
    return _edges(a, b, score, containment, best)


def _scored(
    a: np.ndarray,
    b: np.ndarray,
    values: ValueSets,
    shared: SharedValues,
    wording: Wording,
    uniqueness: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(a, b, score, containment) of the candidates that can reach the least score."""
    # What follows costs by the pair: those that can't reach it for certain go first.
    most = _most_containment(values, values.counts(), a, b) * (1.0 + RARITY_SHARE)
    possible = np.flatnonzero(most * np.sqrt(uniqueness[b]) >= LEAST_SCORE)
    a, b = a[possible], b[possible]
    likeness = wording.likeness(a, b)
    possible = np.flatnonzero(np.sqrt(uniqueness[b]) * (likeness + RARITY_SHARE) >= LEAST_SCORE)
    a, b, likeness = a[possible], b[possible], likeness[possible]
    containment, specificity = shared.confirm(a, b)
    score = containment * np.sqrt(uniqueness[b]) * (likeness + RARITY_SHARE * np.sqrt(np.sqrt(specificity)))
    return a, b, score, containment


def _edges(
    a: np.ndarray, b: np.ndarray, score: np.ndarray, containment: np.ndarray, best: np.ndarray
) -> JoinEdges:
    """The edges that are kept; `best` [K] is the best score of each referring class."""
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
