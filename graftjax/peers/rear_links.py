"""What REaR looks up: which nodes join by near columns or by the lake's edges, and which words they hold.

Letters: N nodes, G groups of nodes that join alike, Y columns of the groups, J pairs of groups.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from graftjax.encode.text import words
from graftjax.peers.catalog import Catalog

_BLOCK_CELLS = 1 << 22
"""Cosines held at one time."""


class Links(NamedTuple):
    """Which groups join."""

    group: Int[np.ndarray, " N"]
    """Group of each node."""
    joins: csr_array
    """float32 [G, G], symmetric: joinability of a node of one group with another of the other."""


def lake_links(catalog: Catalog) -> Links:
    """Join edges of the lake with their weights; nodes of one union cluster join alike."""
    graph = catalog.index.graph
    owner, joins = graph.unions.class_cluster, graph.joins
    a, b = owner[joins.refers], owner[joins.referred]
    return Links(catalog.cluster, _strongest(a, b, joins.weight, graph.unions.num_clusters))


def column_links(catalog: Catalog, count: int, *, skip_same_schema: bool) -> Links:
    """Nodes joined by the `count` nearest columns, in other nodes, of each column; their cosine counts.

    Nodes of one schema have equal neighbours, so each schema is compared once, and a schema that is reached
    is reached with all its nodes.
    """
    number: dict[str, int] = {}
    group = np.array([number.setdefault(text, len(number)) for text in catalog.schema_texts], np.int64)
    first = np.zeros(len(number), np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    places = np.flatnonzero(np.isin(catalog.column_node, first))
    owner = group[catalog.column_node[places]]  # [Y]
    copies = np.bincount(group, minlength=len(number))
    vectors = catalog.column_vectors[places]
    starts: list[np.ndarray] = [np.zeros(0, np.int64)]
    ends: list[np.ndarray] = [np.zeros(0, np.int64)]
    cosines: list[np.ndarray] = [np.zeros(0, np.float32)]
    depth = min(len(places), count + int(np.bincount(owner).max(initial=0)))
    rows = max(1, _BLOCK_CELLS // max(1, len(places)))
    for start in range(0, len(places), rows):
        block = slice(start, start + rows)
        scores = vectors[block] @ vectors.T
        own = owner[block, None] == owner
        alone = skip_same_schema | (copies[owner[block]] < 2)
        scores[own & alone[:, None]] = -2.0  # below any cosine
        near = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
        value = np.take_along_axis(scores, near, axis=1)
        order = np.lexsort((near, -value), axis=1)
        near, value = np.take_along_axis(near, order, axis=1), np.take_along_axis(value, order, axis=1)
        worth = copies[owner[near]] - (owner[near] == owner[block, None])
        before = np.cumsum(worth, axis=1) - worth
        row, rank = np.nonzero((before < count) & (value > 0) & (worth > 0))
        starts.append(owner[block][row])
        ends.append(owner[near[row, rank]])
        cosines.append(value[row, rank])
    joins = _strongest(np.concatenate(starts), np.concatenate(ends), np.concatenate(cosines), len(number))
    return Links(group, joins)


def _strongest(
    a: Int[np.ndarray, " J"], b: Int[np.ndarray, " J"], value: Float[np.ndarray, " J"], size: int
) -> csr_array:
    """The symmetric matrix with the largest value of each pair, whichever of the two came first."""
    row, column, value = np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([value, value])
    order = np.lexsort((-value, column, row))
    row, column, value = row[order], column[order], value[order]
    new = np.ones(len(row), bool)
    new[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    return csr_array((value[new].astype(np.float32), (row[new], column[new])), shape=(size, size))


class WordIndex:
    """Words of texts, each weighted by its rarity among them."""

    def __init__(self, texts: Sequence[str]) -> None:
        holders: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for word in sorted(set(words(text).split())):
                holders.setdefault(word, []).append(number)
        self._count = len(texts)
        self._holders = {word: np.array(numbers) for word, numbers in holders.items()}

    def shares(self, question: str) -> Float[np.ndarray, " N"]:
        """The share of the question's words, by weight, that each text holds; unknown words are left out."""
        shares, total = np.zeros(self._count, np.float32), 0.0
        for word in dict.fromkeys(words(" ".join(re.findall(r"\w+", question))).split()):
            if word in self._holders:
                holders = self._holders[word]
                weight = float(np.log1p(self._count / len(holders)))
                shares[holders] += weight
                total += weight
        return shares / total if total else shares
