"""Join edges between column classes: found by meaning or by rare shared values, confirmed on values.

Candidates come from nearest neighbours of column texts (as in DeepJoin) and from values that only a
few classes have. A candidate (a, b) reads "a refers to b": a's values lie in b, and b looks like a
key. Keys numbered 1..n lie in each other everywhere; what tells them apart is the wording and how
rare the shared values are. Letters: K classes, D dimension, J edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int

from graftjax.lake.classes import WHOLE, ValueSets

NEIGHBOURS = 96
"""Candidates per class by wording."""
RARE = 12
"""A value that at most this many classes share makes each pair of them a candidate."""
PARTNERS = 12
"""Edges kept per referring class."""
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


def join_edges(
    values: ValueSets,
    class_cluster: Int[np.ndarray, " K"],
    header_vectors: Float[np.ndarray, "K V D"],
    context_vectors: Float[np.ndarray, "K V D"],
) -> JoinEdges:
    """Edges of the lake; a class without values has none.

    `header_vectors`: the header alone. `context_vectors`: table and header ("club id" refers to the
    `id` of "club", so a header is also compared with the other side's context). V readings of each
    class, the best pair of readings counts; unused ones repeat the first.
    """
    known = values.counts()
    if not known.any():
        return NO_EDGES
    uniqueness = values.uniqueness()
    rarity = _rarity(values)
    a, b = _candidates(values, class_cluster, header_vectors, context_vectors, uniqueness)
    if not len(a):
        return NO_EDGES
    containment, specificity = _confirm(values, rarity, a, b)
    wording = _wording(header_vectors, context_vectors, a, b)
    score = containment * np.sqrt(uniqueness[b]) * (wording + 0.3 * np.sqrt(np.sqrt(specificity)))
    best = np.zeros(len(known))
    np.maximum.at(best, a, score)
    keep = (score >= LEAST_SCORE) & (containment >= LEAST_CONTAINMENT) & (_rank(a, score) < PARTNERS)
    a, b, score, containment = a[keep], b[keep], score[keep], containment[keep]
    # An edge far below the best partner of its column is a chance likeness more often than not.
    weight = np.minimum(1.0, score / FULL_SCORE) * score / best[a]
    return JoinEdges(
        a.astype(np.int32), b.astype(np.int32), weight.astype(np.float32), containment.astype(np.float32)
    )


def _wording(header: np.ndarray, context: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Likeness of the two columns' texts in [0, 1], over the best pair of readings."""
    result = _likeness(header[:, 0], context[:, 0], header[:, 0], context[:, 0], a, b)
    changed = (header != header[:, :1]).any(2) | (context != context[:, :1]).any(2)  # [K, V]
    for v in range(header.shape[1]):
        for w in range(header.shape[1]):
            some = np.flatnonzero((changed[a, v] | (v == 0)) & (changed[b, w] | (w == 0))) if v or w else []
            if len(some):
                other = _likeness(header[:, v], context[:, v], header[:, w], context[:, w], a[some], b[some])
                result[some] = np.maximum(result[some], other)
    return np.clip(result, 0.0, 1.0)


def _likeness(
    header: np.ndarray, context: np.ndarray, header_b: np.ndarray, context_b: np.ndarray,
    a: np.ndarray, b: np.ndarray, block: int = 1 << 15,
) -> np.ndarray:  # fmt: skip
    result = np.empty(len(a), np.float32)
    dot = lambda x, y: np.einsum("nd,nd->n", x, y)  # noqa: E731
    for start in range(0, len(a), block):
        i, j = a[start : start + block], b[start : start + block]
        crossed = np.maximum(dot(header[i], context_b[j]), dot(context[i], header_b[j]))
        name = np.maximum(dot(header[i], header_b[j]), crossed)
        result[start : start + block] = 0.6 * name + 0.4 * dot(context[i], context_b[j])
    return result


def _candidates(
    values: ValueSets, cluster: np.ndarray, header: np.ndarray, context: np.ndarray, uniqueness: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ordered pairs (a, b) of filled classes in different clusters with a key-like b."""
    filled = np.flatnonzero(values.counts() > 0)
    keys = filled[uniqueness[filled] >= 0.05]
    size, block = len(cluster), 1024
    left, left_header, left_context = _readings(header, context, filled)
    right, right_header, right_context = _readings(header, context, keys)
    codes = []
    for start in range(0, len(left), block):
        i, h, c = (part[start : start + block] for part in (left, left_header, left_context))
        name = np.maximum(h @ right_header.T, np.maximum(h @ right_context.T, c @ right_header.T))
        likeness = 0.6 * name + 0.4 * (c @ right_context.T)
        likeness[cluster[i][:, None] == cluster[right][None, :]] = -np.inf
        keep = min(NEIGHBOURS, len(right))
        if not keep:
            break
        near = np.argpartition(-likeness, keep - 1, axis=1)[:, :keep]
        codes.append((i[:, None].astype(np.int64) * size + right[near]).ravel())
    codes.append(_rare_pairs(values, size))
    pairs = np.unique(np.concatenate(codes))
    a, b = pairs // size, pairs % size
    keep = (cluster[a] != cluster[b]) & (uniqueness[b] >= 0.05)
    return a[keep], b[keep]


def _readings(header: np.ndarray, context: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, ...]:
    """(class, header vector, context vector) of each distinct reading."""
    h, c = header[classes], context[classes]
    changed = (h != h[:, :1]).any(2) | (c != c[:, :1]).any(2)
    changed[:, 0] = True
    row, variant = np.nonzero(changed)
    return classes[row], h[row, variant], c[row, variant]


def _rare_pairs(values: ValueSets, size: int) -> np.ndarray:
    """Codes a·size + b of all ordered pairs that share a value which few classes have."""
    owner = np.repeat(np.arange(size), values.counts())
    order = np.argsort(values.hashes, kind="stable")
    hashes, owner = values.hashes[order], owner[order]
    starts = np.flatnonzero(np.r_[True, hashes[1:] != hashes[:-1]]) if len(hashes) else np.zeros(0, int)
    counts = np.diff(np.r_[starts, len(hashes)])
    codes = []
    for count in range(2, RARE + 1):
        rows = owner[starts[counts == count][:, None] + np.arange(count)]
        for shift in range(1, count):
            codes.append(np.unique(rows * size + np.roll(rows, shift, axis=1)))
    return np.unique(np.concatenate(codes)) if codes else np.zeros(0, np.int64)


def _rarity(values: ValueSets) -> np.ndarray:
    """Per known hash 1 / (number of other classes that have it), 1 where at most one other has it."""
    _, inverse, counts = np.unique(values.hashes, return_inverse=True, return_counts=True)
    return (1.0 / np.maximum(1, counts - 1))[inverse]


def _confirm(
    values: ValueSets, rarity: np.ndarray, a: np.ndarray, b: np.ndarray, block: int = 1 << 14
) -> tuple[np.ndarray, np.ndarray]:
    """Containment of a in b and mean rarity of the shared values, for each pair.

    Where a set is known only up to a limit, both sides are compared below the smaller limit.
    """
    universe, column = np.unique(values.hashes, return_inverse=True)
    shape = (len(values.offsets) - 1, len(universe))
    present = sp.csr_matrix((np.ones(len(column), np.float32), column, values.offsets), shape=shape)
    weighted = sp.csr_matrix((rarity.astype(np.float32), column, values.offsets), shape=shape)
    shared, rare = np.empty(len(a)), np.empty(len(a))
    for start in range(0, len(a), block):
        i, j = a[start : start + block], b[start : start + block]
        shared[start : start + block] = np.asarray(present[i].multiply(present[j]).sum(1)).ravel()
        rare[start : start + block] = np.asarray(weighted[i].multiply(present[j]).sum(1)).ravel()
    size = values.counts()[a].astype(np.float64)
    for pair in np.flatnonzero((values.limit[a] != WHOLE) | (values.limit[b] != WHOLE)):
        if shared[pair]:
            left, right = values.of(a[pair]), values.of(b[pair])
            limit = min(values.limit[a[pair]], values.limit[b[pair]])
            left = left[: np.searchsorted(left, limit, side="right")]
            below = len(np.intersect1d(left, right, assume_unique=True))
            # A handful of comparable values proves little: all shared, known values then decide.
            size[pair], rare[pair] = (
                (len(left), rare[pair] * below / shared[pair]) if len(left) >= 8 else (size[pair], rare[pair])
            )
            shared[pair] = below if len(left) >= 8 else shared[pair]
    containment = shared / np.maximum(size, 1.0)
    return np.minimum(containment, 1.0), np.clip(rare / np.maximum(shared, 1.0), 0.0, 1.0)


def _rank(group: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Position of each entry among those of its group, best first."""
    order = np.lexsort((-score, group))
    sorted_group = group[order]
    first = np.flatnonzero(np.r_[True, sorted_group[1:] != sorted_group[:-1]])
    sizes = np.diff(np.r_[first, len(group)])
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(first, sizes)
    return rank
