"""REaR: retrieve, expand, refine, without a language model.

(i) The nodes nearest to the question are the base. (ii) Nodes whose columns are nearest neighbours of the
base's columns join them, the best of these only. (iii) Base and additions are ordered anew by their relevance
and by how well they join with the other candidates.

The published method reranks in (ii) and (iii) with a cross-encoder. None is embedded here; in its place stand
cosines of the encoder (question with schema, question with the nearest column) and the share of the
question's words, by rarity, that a schema holds. Column neighbours are exact; the published ones come from an
approximate index. Over tables the shards of one table have equal columns, so by this measure they join one
another, as published; `skip_same_schema` leaves such pairs out.

Letters: N nodes, B base nodes, C candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float, Int

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.peer import Peer, Ranking
from graftjax.peers.rear_links import Links, WordIndex, column_links, lake_links
from graftjax.peers.start import asked_text, put_first, start_of


@dataclass(frozen=True)
class RearSettings:
    """Dials of REaR. The weights are ours: cosines are scaled unlike a cross-encoder's scores."""

    base: float = 2.0
    """Nodes retrieved in (i), as a multiple of the budget."""
    added: float = 1.0
    """Nodes added in (ii), as a multiple of the budget."""
    columns: int = 10
    """Neighbours of a column that count."""
    edges: Literal["columns", "lake"] = "columns"
    """What says that two nodes join: near columns, or the join edges found in the lake."""
    skip_same_schema: bool = False
    """Whether nodes of one name and the same headers are no partners; the lake's edges have no such pairs."""
    column_weight: float = 0.5
    """Weight of the nearest column in a relevance, beside 1 for the schema."""
    word_weight: float = 1.0
    """Weight of the words in common."""
    join_weight: float = 0.1
    """Weight of the joinability, beside 1 for the relevance."""
    partners: Literal["mean", "best"] = "mean"
    """A candidate's joinability in (iii): over all other candidates, or with the best of them."""
    weigh_partners: bool = False
    """Whether a join counts by the relevance of what it joins with, and not by itself alone."""

    GRID: ClassVar[dict[str, tuple[object, ...]]] = {
        "base": (0.5, 1.0, 2.0, 3.0),
        "added": (0.5, 1.0, 2.0),
        "columns": (5, 10, 30),
        "edges": ("columns", "lake"),
        "skip_same_schema": (False, True),
        "column_weight": (0.0, 0.5, 1.0),
        "word_weight": (0.0, 0.5, 1.0, 1.5),
        "join_weight": (0.0, 0.05, 0.1, 0.2, 0.5),
        "partners": ("mean", "best"),
        "weigh_partners": (False, True),
    }
    """What the tuning tries."""


class Rear(Peer):
    """Retrieve, expand, refine."""

    method = "rear"

    def __init__(self, catalog: Catalog, settings: RearSettings = RearSettings()) -> None:
        super().__init__(catalog)
        self.settings = settings

    @cached_property
    def _links(self) -> Links:
        settings = self.settings
        if settings.edges == "lake":
            return lake_links(self.catalog)
        return column_links(self.catalog, settings.columns, skip_same_schema=settings.skip_same_schema)

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self.catalog.schema_texts)

    def prepare(self) -> None:
        _ = self.catalog.schema_vectors, self._links
        if self.settings.column_weight:
            _ = self.catalog.column_vectors
        if self.settings.word_weight:
            _ = self._words

    def rank(self, query: Query, budget: int, seed: int) -> Ranking:
        """The candidates of (iii) by their score, then all other nodes by relevance. The base table's node is
        the first of (i)."""
        settings, links = self.settings, self._links
        cosine, relevance = self._relevance(query)
        base = np.argsort(-cosine, kind="stable")
        start = start_of(self.catalog, query)
        if start is not None:
            base = np.array(put_first(start, base.tolist()))
        base = base[: _times(settings.base, budget)]
        weight = _prominence(relevance) if settings.weigh_partners else np.ones_like(relevance)
        with_base = _with_any(links, base, weight)
        with_base[base] = 0.0
        joined = np.flatnonzero(with_base)
        promise = relevance[joined] + settings.join_weight * with_base[joined]
        added = joined[np.argsort(-promise, kind="stable")][: _times(settings.added, budget)]
        pool = np.concatenate([base, added])
        score = relevance[pool] + settings.join_weight * self._joinability(links, pool, weight[pool])
        first = pool[np.lexsort((pool, -score))]
        rest = np.argsort(-relevance, kind="stable")
        return Ranking(first.tolist() + rest[~np.isin(rest, first)].tolist())

    def _relevance(self, query: Query) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
        """Cosine of question and schema, and what stands in for a cross-encoder's score; both at most 1."""
        catalog, settings = self.catalog, self.settings
        text = asked_text(catalog, query)
        question = catalog.encoder.encode([text])[0]
        cosine = catalog.schema_vectors @ question
        relevance = cosine.copy()
        if settings.column_weight:
            relevance += settings.column_weight * catalog.best_column(catalog.column_vectors @ question)
        if settings.word_weight:
            relevance += settings.word_weight * self._words.shares(text)
        return cosine, relevance / (1 + settings.column_weight + settings.word_weight)

    def _joinability(
        self, links: Links, pool: Int[np.ndarray, " C"], weight: Float[np.ndarray, " C"]
    ) -> Float[np.ndarray, " C"]:
        """How well each candidate joins with the others, in [0, 1]."""
        groups = links.group[pool]
        joins = links.joins[groups][:, groups].toarray() * weight
        np.fill_diagonal(joins, 0.0)
        if self.settings.partners == "best":
            return joins.max(axis=1)
        return joins.sum(axis=1) / max(1, len(pool) - 1)


def _times(factor: float, budget: int) -> int:
    return max(1, round(factor * budget))


def _prominence(relevance: Float[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """Relevance as a weight: 1 for the most relevant node, 0 up to the median one."""
    low, high = np.median(relevance), relevance.max()
    return np.clip((relevance - low) / max(high - low, 1e-6), 0.0, 1.0).astype(np.float32)


def _with_any(
    links: Links, base: Int[np.ndarray, " B"], weight: Float[np.ndarray, " N"]
) -> Float[np.ndarray, " N"]:
    """How well each node joins with the base node that it joins best with."""
    joins = links.joins[links.group[base]].multiply(weight[base][:, None])
    return joins.max(axis=0).toarray().ravel()[links.group]
