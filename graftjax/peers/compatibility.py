"""How well two nodes go together: JAR's compatibility of tables, or the edges of the lake graph.

Published (arXiv 2404.09889): two columns of one kind score u · (½ J + ¼ c + ¼ o), where u is the
larger uniqueness of the two, J the Jaccard similarity of their values, c the cosine of their texts and o
the overlap coefficient of the words of their names; two tables score as their best pair of columns. JAR's
released code differs from its paper, and this module follows the paper: it divides the common values by the
second column's values (here by the union of both), counts NULL as a value (here NULL never matches), and
fails on an empty table (here 0). Three choices are ours. A text is the names of table and column without
that of the database. Values are those of column classes, so a shard is judged by the rows of its whole
table. Nodes of one union cluster are unionable, and go together by the weight of their union edge; without
`unions` the formula applies to the shards as they are: rows are dealt out, a key has no value in common,
and only names count.

Letters: K column classes, M clusters, U distinct values, A and B classes picked for rows and columns, N
nodes, P of them candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int

from graftjax.encode.text import column_text
from graftjax.lake.partition import members_of
from graftjax.lake.shared_values import SharedValues
from graftjax.peers.catalog import Catalog

Joins = Literal["columns", "lake"]
"""`columns`: JAR's formula; `lake`: the join edges that were found when the lake was indexed."""
VALUES, MEANING, NAME = 0.5, 0.25, 0.25
"""Shares of J, c and o."""
KEPT_CLUSTERS = 4096
"""Up to this many, all pairs of clusters are computed once (64 MiB); beyond, those of a query alone."""
_BLOCK = 512
_KEPT_PAIRS = 1 << 14
_FAMILIES = ("number", "text", "date", "boolean", "empty")


@runtime_checkable
class ClassScores(Protocol):
    """Scores in [0, 1] of pairs of column classes."""

    def block(self, rows: Int[np.ndarray, " A"], cols: Int[np.ndarray, " B"]) -> Float[np.ndarray, "A B"]: ...


class Compatibility:
    """Compatibility of nodes, symmetric and in [0, 1]; a node with itself has 0."""

    def __init__(self, catalog: Catalog, *, joins: Joins = "columns", unions: bool = True) -> None:
        self.catalog = catalog
        self.unions = unions
        self._scores: ClassScores = ColumnFormula(catalog) if joins == "columns" else LakeEdges(catalog)
        known = np.unique(catalog.column_class).astype(np.int64)
        owner = catalog.index.graph.unions.class_cluster[known]
        self._classes = [known[own] for own in members_of(owner, catalog.index.graph.unions.num_clusters)]
        apart = joins == "columns" and not unions
        uniqueness = catalog.index.values.uniqueness()
        self._own = [
            (VALUES if apart else 0.0) * uniqueness[own].max(initial=0.0) for own in self._classes
        ]  # the best pair is a column with itself: J = 0, c = o = 1
        self._columns = lru_cache(_KEPT_PAIRS)(
            lambda low, high: self._scores.block(self._classes[low], self._classes[high])
        )

    def prepare(self) -> None:
        """Compute what is computed once."""
        if len(self._classes) <= KEPT_CLUSTERS:
            _ = self._best, self._union_weight

    def pairs(self, nodes: Sequence[int] | Int[np.ndarray, " P"]) -> Float[np.ndarray, "P P"]:
        """Best score of any pair of columns, for each pair of nodes."""
        nodes = np.asarray(nodes, np.int64)
        clusters = self.catalog.cluster[nodes]
        if len(self._classes) <= KEPT_CLUSTERS:
            found = self._best[np.ix_(clusters, clusters)]
        else:
            met, place = np.unique(clusters, return_inverse=True)
            found = self._best_of(met)[np.ix_(place, place)]
        same = clusters[:, None] == clusters[None, :]
        found = np.where(same, self._within(nodes, clusters), found).astype(np.float32)
        np.fill_diagonal(found, 0.0)
        return found

    def columns(self, a: int, b: int) -> Float[np.ndarray, "A B"]:
        """Scores of all pairs of columns of two nodes; a union edge counts as one pair."""
        first, second = (int(self.catalog.cluster[node]) for node in (a, b))
        if first == second:
            return self._within(np.array([a, b]), np.array([first, second]))[:1, 1:].astype(np.float32)
        low, high = min(first, second), max(first, second)  # one order, for one rounding
        scores = self._columns(low, high)
        return scores if first == low else scores.T

    def union_weight(self, nodes: Int[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
        """Weight of the union edges inside each node; 0 when unions don't count."""
        return self._union_weight[nodes]

    @cached_property
    def _union_weight(self) -> Float[np.ndarray, " N"]:
        members, sizes = self.catalog.members, self.catalog.sizes
        if not self.unions or not len(sizes):
            return np.zeros(len(sizes), np.float32)
        score = self.catalog.index.graph.unions.table_score[np.concatenate(members)]
        return np.minimum.reduceat(score, np.cumsum(sizes) - sizes)

    def _within(self, nodes: np.ndarray, clusters: np.ndarray) -> np.ndarray:
        """What nodes of one cluster have together, as a matrix over all pairs."""
        if self.unions:
            weight = self.union_weight(nodes)
        else:
            weight = np.array([self._own[cluster] for cluster in clusters.tolist()])
        return np.minimum(weight[:, None], weight[None, :])

    @cached_property
    def _best(self) -> Float[np.ndarray, "M M"]:
        return self._best_of(np.arange(len(self._classes)))

    def _best_of(self, clusters: np.ndarray) -> Float[np.ndarray, "M M"]:
        """Best scores of all pairs of these clusters; the diagonal means nothing."""
        parts = [self._classes[cluster] for cluster in clusters.tolist()]
        counts = np.array([len(part) for part in parts], np.int64)
        best = np.zeros((len(parts), len(parts)), np.float32)
        filled = np.flatnonzero(counts)
        if not len(filled):
            return best
        classes = np.concatenate(parts)
        ends = np.cumsum(counts)
        starts = (ends - counts)[filled]
        first = 0
        while first < len(filled):
            last = first + 1  # whole clusters, about a block of classes
            while last < len(filled) and ends[filled[last]] - starts[first] <= _BLOCK:
                last += 1
            scores = self._scores.block(classes[starts[first] : ends[filled[last - 1]]], classes)
            by_row = np.maximum.reduceat(scores, starts[first:last] - starts[first], axis=0)
            best[np.ix_(filled[first:last], filled)] = np.maximum.reduceat(by_row, starts, axis=1)
            first = last
        return np.maximum(best, best.T)


class ColumnFormula:
    """JAR's formula."""

    def __init__(self, catalog: Catalog) -> None:
        index = catalog.index
        values = index.values
        shared = SharedValues.of(values)
        self._universe = len(shared.universe)
        shape = (len(values.limit), self._universe)
        self._present = sp.csr_matrix(shared.present, dtype=np.float32)
        self._counts = values.counts().astype(np.float32)
        self._cut = np.searchsorted(shared.universe, values.limit, side="right")
        """Values below this position are known in full; all of them where a class has no limit."""
        owner = np.repeat(np.arange(shape[0], dtype=np.int64), values.counts())
        self._places = owner * self._universe + shared.present.indices
        self._uniqueness = values.uniqueness().astype(np.float32)
        self._family = _families(catalog)
        texts, self._vectors = _speakers(catalog)
        self._words = _word_matrix(texts)
        self._word_counts = np.asarray(self._words.sum(1)).ravel()

    def block(self, rows: Int[np.ndarray, " A"], cols: Int[np.ndarray, " B"]) -> Float[np.ndarray, "A B"]:
        names = (self._words[rows] @ self._words[cols].T).toarray()
        names /= np.maximum(np.minimum.outer(self._word_counts[rows], self._word_counts[cols]), 1.0)
        scores = np.clip(self._vectors[rows] @ self._vectors[cols].T, 0.0, 1.0) * MEANING
        scores += NAME * names + VALUES * self.jaccard(rows, cols)
        scores *= np.maximum.outer(self._uniqueness[rows], self._uniqueness[cols])
        scores *= self._family[rows][:, None] == self._family[cols][None, :]
        filled = self._counts > 0
        scores *= filled[rows][:, None] & filled[cols][None, :]
        return np.minimum(scores, 1.0)

    def jaccard(self, rows: Int[np.ndarray, " A"], cols: Int[np.ndarray, " B"]) -> Float[np.ndarray, "A B"]:
        """|a ∩ b| / |a ∪ b|; where a set is known only up to a limit, both are compared below the smaller."""
        both = (self._present[rows] @ self._present[cols].T).toarray()
        either = np.add.outer(self._counts[rows], self._counts[cols]) - both
        for at in np.flatnonzero(self._cut[rows] < self._universe).tolist():
            self._limited(int(rows[at]), cols, both[at], either[at])
        for at in np.flatnonzero(self._cut[cols] < self._universe).tolist():
            self._limited(int(cols[at]), rows, both[:, at], either[:, at])
        return both / np.maximum(either, 1.0)

    def _limited(self, one: int, others: np.ndarray, both: np.ndarray, either: np.ndarray) -> None:
        """Put in the counts below the limit of `one`, where it is the smaller."""
        cut = self._cut[one]
        at = np.flatnonzero(self._cut[others] >= cut)
        known = self._below(np.array([one]), cut)[0]
        start = self._present.indptr[one]
        held = np.zeros(self._universe, np.float32)
        held[self._present.indices[start : start + known]] = 1.0
        both[at] = self._present[others[at]] @ held
        either[at] = known + self._below(others[at], cut) - both[at]

    def _below(self, classes: np.ndarray, cut: int) -> np.ndarray:
        """Known values of each class below a position."""
        end = np.searchsorted(self._places, classes * np.int64(self._universe) + cut)
        return end - self._present.indptr[classes]


class LakeEdges:
    """Weights of the lake graph's join edges, whichever side refers to the other."""

    def __init__(self, catalog: Catalog) -> None:
        joins = catalog.index.graph.joins
        size = catalog.index.graph.unions.num_classes
        edges = sp.coo_matrix((joins.weight, (joins.refers, joins.referred)), shape=(size, size)).tocsr()
        self._edges = edges.maximum(edges.T).tocsr()

    def block(self, rows: Int[np.ndarray, " A"], cols: Int[np.ndarray, " B"]) -> Float[np.ndarray, "A B"]:
        return self._edges[rows][:, cols].toarray().astype(np.float32)


def _families(catalog: Catalog) -> Int[np.ndarray, " K"]:
    """What most columns of each class hold, whole numbers and others alike; empty columns have no say."""
    graph = catalog.index.graph
    kinds = [column.kind for table in catalog.index.tables for column in table.columns]
    numbers = {"integer": 0, "real": 0} | {family: i for i, family in enumerate(_FAMILIES)}
    votes = np.zeros((graph.unions.num_classes, len(_FAMILIES)), np.int64)
    np.add.at(votes, (graph.unions.column_class, np.array([numbers[kind] for kind in kinds], np.int64)), 1)
    votes[:, -1] = 0
    return np.where(votes.any(1), votes.argmax(1), len(_FAMILIES) - 1)


def _speakers(catalog: Catalog) -> tuple[list[str], Float[np.ndarray, "K D"]]:
    """Text and vector of each class: those of its first column; empty for a class without a column here."""
    names = [column_text(lead.id.name, name) for lead in catalog.leads for name in catalog.headers(lead)]
    met, first = np.unique(catalog.column_class, return_index=True)
    texts = [""] * catalog.index.graph.unions.num_classes
    vectors = np.zeros((len(texts), catalog.encoder.dim), np.float32)
    vectors[met] = catalog.column_vectors[first]
    for number, column in zip(met.tolist(), first.tolist(), strict=True):
        texts[number] = names[column]
    return texts, vectors


def _word_matrix(texts: Sequence[str]) -> sp.csr_matrix:
    """Which words each text has, one row a text."""
    vocabulary: dict[str, int] = {}
    found = [sorted({vocabulary.setdefault(word, len(vocabulary)) for word in t.split()}) for t in texts]
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in found])]).astype(np.int64)
    columns = np.array([word for words in found for word in words], np.int64)
    shape = (len(texts), max(1, len(vocabulary)))
    return sp.csr_matrix((np.ones(len(columns), np.float32), columns, offsets), shape=shape)
