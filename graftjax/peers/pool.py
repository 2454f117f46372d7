"""Candidates of a question, with all scores that JAR and its greedy successor weigh.

Coarse relevance is the cosine of the question with a node's schema text, fine relevance that of a concept
of the question with a column (arXiv 2404.09889; there by Contriever, here by the lake's encoder).

Letters: P candidates, Q concepts, X columns of the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.compatibility import Compatibility
from graftjax.peers.concepts import concepts
from graftjax.peers.start import Start, asked_text, put_first, start_of

DECIMALS = 6
"""Cosines are rounded to what the encoder can tell apart, so that equal texts tie wherever they stand."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The nodes nearest to a question, nearest first."""

    nodes: Int[np.ndarray, " P"]
    beyond: tuple[int, ...]
    """The nodes that come next, for a budget that the pool can't spend."""
    coarse: Float[np.ndarray, " P"]
    fine: Float[np.ndarray, "Q P"]
    """Each concept with the best column of each node; −1 for a node without columns."""
    column_fine: Float[np.ndarray, "Q X"]
    """Each concept with each column."""
    column_place: Int[np.ndarray, " X"]
    """Which candidate has the column; ascending."""
    joins: Float[np.ndarray, "P P"]
    """Compatibility of the nodes; 0 on the diagonal."""
    inner: Float[np.ndarray, " P"]
    """Weight of the union edges among the tables of one node; 0 for a single table."""
    sizes: Int[np.ndarray, " P"]
    """Tables of each node."""
    started: bool = False
    """Whether the first candidate is chosen already: it holds the query's base table."""


def draw_pool(
    catalog: Catalog, compatibility: Compatibility, query: Query, *, size: int, budget: int
) -> Pool:
    """The `size` nodes nearest to the question; ties go in the order of the lake.

    `budget` counts tables and bounds how many nodes `beyond` has. The node of the query's base table, where
    there is one, comes first and is one more.
    """
    start: Start | None = start_of(catalog, query)
    vectors = catalog.encoder.encode([asked_text(catalog, query), *concepts(query)])
    relevance = (catalog.schema_vectors @ vectors[0]).round(DECIMALS)
    order = np.argsort(-relevance, kind="stable")
    if start is not None:
        order, size = np.array(put_first(start, order.tolist())), size + 1
    nodes = order[:size]
    first = np.searchsorted(catalog.column_node, nodes)
    counts = np.searchsorted(catalog.column_node, nodes, side="right") - first
    ends = np.cumsum(counts)
    columns = np.arange(int(counts.sum())) + np.repeat(first - (ends - counts), counts)
    column_fine = (vectors[1:] @ catalog.column_vectors[columns].T).round(DECIMALS)
    fine = np.full((len(vectors) - 1, len(nodes)), -1.0, np.float32)
    filled = np.flatnonzero(counts)
    if len(filled):
        fine[:, filled] = np.maximum.reduceat(column_fine, (ends - counts)[filled], axis=1)
    sizes = catalog.sizes[nodes]
    return Pool(
        nodes=nodes,
        beyond=tuple(order[size : size + budget].tolist()),
        coarse=relevance[nodes],
        fine=fine,
        column_fine=column_fine,
        column_place=np.repeat(np.arange(len(nodes)), counts),
        joins=compatibility.pairs(nodes),
        inner=np.where(sizes > 1, compatibility.union_weight(nodes), 0.0).astype(np.float32),
        sizes=sizes,
        started=start is not None,
    )


def twins(pool: Pool) -> Int[np.ndarray, " P"]:
    """For each candidate the first one that it can be exchanged with, as most shards of a table can."""
    size = len(pool.nodes)
    own = np.vstack([pool.coarse, pool.fine, pool.inner, pool.sizes])
    equal = (own[:, :, None] == own[:, None, :]).all(0)
    a, b = np.nonzero(np.triu(equal, 1))
    others = np.arange(size)
    differs = pool.joins[a] != pool.joins[b]
    differs &= (others != a[:, None]) & (others != b[:, None])
    alike = ~differs.any(1)
    first = others.copy()
    np.minimum.at(first, b[alike], a[alike])
    return first
