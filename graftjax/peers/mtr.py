"""MTR: multi-table retrieval by decomposition. A table for each sub-question, one after another (Eq. 3).

Each step takes the table nearest to its sub-question and to the table taken last, in a weighted sum: the
paper names both anchors and leaves open how they are combined. With a budget beyond the sub-questions the
rounds go on, each sub-question taking its next-best table.

The decomposition is the recorded one of the question, or one sub-question for each tree of its intent graph;
the published method asks a language model for it.

Letters: N nodes, D the encoder's dimension, S sub-questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.concepts import subquestions
from graftjax.peers.peer import Peer, Ranking
from graftjax.peers.start import asked_text, start_of


@dataclass(frozen=True)
class MtrSettings:
    """Dials of MTR; the weights lie in [0, 1]."""

    last_weight: float = 0.2
    """Share of the table taken last in a step's score; the rest belongs to the sub-question."""
    question_weight: float = 0.0
    """Share of the whole question in what a sub-question asks for."""
    text: Literal["schema", "best"] = "schema"
    """What answers a sub-question: name and headers, or the better of them and the nearest column."""

    GRID: ClassVar[dict[str, tuple[object, ...]]] = {
        "last_weight": (0.0, 0.1, 0.2, 0.4),
        "question_weight": (0.0, 0.2, 0.4, 0.6),
        "text": ("schema", "best"),
    }
    """What the tuning tries."""


class Mtr(Peer):
    """Multi-table retrieval."""

    method = "mtr"

    def __init__(self, catalog: Catalog, settings: MtrSettings = MtrSettings()) -> None:
        super().__init__(catalog)
        self.settings = settings

    def prepare(self) -> None:
        _ = self.catalog.schema_vectors
        if self.settings.text == "best":
            _ = self.catalog.column_vectors

    def rank(self, query: Query, budget: int, seed: int) -> Ranking:
        """Nodes in the order in which they are taken, until their tables fill the budget; the base table's
        is taken already."""
        catalog, weight = self.catalog, self.settings.last_weight
        asked = self._relevance(query)  # [S, N]
        free = np.ones(len(catalog.leads), bool)
        like_last = np.zeros(len(free), np.float32)
        taken: list[int] = []
        spent = 0
        start = start_of(catalog, query)
        if start is not None:
            taken.append(start.node)
            free[start.node] = False
            spent = int(catalog.sizes[start.node])
            like_last = catalog.schema_vectors @ catalog.schema_vectors[start.node]
            if spent >= budget or not free.any():
                return Ranking(taken)
        for scores in cycle(asked):
            step = (1 - weight) * scores + weight * like_last if taken else scores
            node = int(np.argmax(np.where(free, step, -np.inf)))
            taken.append(node)
            free[node] = False
            spent += int(catalog.sizes[node])
            if spent >= budget or not free.any():
                break
            if weight:
                like_last = catalog.schema_vectors @ catalog.schema_vectors[node]
        return Ranking(taken)

    def _relevance(self, query: Query) -> Float[np.ndarray, "S N"]:
        """Every node's relevance to every sub-question."""
        catalog, share = self.catalog, self.settings.question_weight
        vectors = catalog.encoder.encode([asked_text(catalog, query), *subquestions(query)])
        asked = share * vectors[:1] + (1 - share) * vectors[1:]
        scores = asked @ catalog.schema_vectors.T
        if self.settings.text == "best":
            scores = np.maximum(scores, catalog.best_column(asked @ catalog.column_vectors.T))
        return scores
