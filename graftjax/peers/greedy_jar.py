"""Greedy successor of JAR: the next node is the one that adds most (Boutaleb et al., arXiv 2511.13418).

A node's gain is a weighted sum of three: by how much it raises the best fine relevance of each concept,
summed over the concepts; its compatibility with the nodes chosen before it; its coarse relevance.
Candidates and scores are JAR's (`pool`). As in the released code, compatibility is summed over all chosen
nodes; counting the best partner only is a choice of ours (`partner`). Weights are those that the authors
give for their experiments (2, 1, 4); the defaults of their code are 2, 1, 3. The code answers as many nodes
as asked for whatever they add, and so does this. Here, as in `jar_model`, a node that stands for several
tables spends as many of the budget.

Letters: P candidates, Q concepts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float, Int

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.compatibility import Joins
from graftjax.peers.join_aware import JoinAware
from graftjax.peers.peer import Ranking


@dataclass(frozen=True)
class GreedyJarSettings:
    """Dials of the greedy selection."""

    pool: int = 20
    """Candidates."""
    coverage: float = 2.0
    joins: float = 1.0
    coarse: float = 4.0
    partner: Literal["all", "best"] = "all"
    """Compatibility with the chosen nodes: their sum, or the largest."""
    compatibility: Joins = "columns"
    """JAR's formula, or the join edges of the lake graph."""
    unions: bool = True
    """Whether union edges count as compatibility."""

    GRID: ClassVar[dict[str, tuple[object, ...]]] = {
        "pool": (20, 50, 100),
        "coarse": (1.0, 4.0, 16.0, 64.0),
        "coverage": (0.5, 2.0, 8.0),
        "joins": (0.1, 0.3, 1.0, 3.0),
        "partner": ("all", "best"),
        "compatibility": ("columns", "lake"),
        "unions": (True, False),
    }
    """What the tuning tries."""


class GreedyJar(JoinAware):
    """Greedy join-aware retrieval."""

    method = "greedy-jar"

    def __init__(self, catalog: Catalog, settings: GreedyJarSettings = GreedyJarSettings()) -> None:
        super().__init__(catalog, settings)
        self.settings = settings

    def rank(self, query: Query, budget: int, seed: int) -> Ranking:
        """Candidates in the order in which they are added, until their tables fill the budget."""
        pool = self.candidates(query, budget)
        order = greedy(
            pool.fine, pool.joins, pool.coarse, pool.sizes, budget, self.settings, started=pool.started
        )
        return Ranking((*(int(pool.nodes[place]) for place in order), *pool.beyond))


def greedy(
    fine: Float[np.ndarray, "Q P"],
    joins: Float[np.ndarray, "P P"],
    coarse: Float[np.ndarray, " P"],
    sizes: Int[np.ndarray, " P"],
    budget: int,
    settings: GreedyJarSettings,
    *,
    started: bool = False,
) -> list[int]:
    """Places in the pool in the order of selection; equal gains go in the pool's order. `started`: the first
    candidate is chosen before any is weighed."""
    best = np.zeros((len(fine), 1), np.float32)
    together = np.zeros(len(coarse), np.float32)
    free = np.ones(len(coarse), bool)
    order: list[int] = []
    spent = 0
    while spent < budget and len(order) < len(coarse):
        coverage = np.maximum(fine - best, 0.0).sum(0)
        gain = settings.coverage * coverage + settings.joins * together + settings.coarse * coarse
        place = 0 if started and not order else int(np.where(free, gain, -np.inf).argmax())
        order.append(place)
        free[place] = False
        spent += int(sizes[place])
        best = np.maximum(best, fine[:, place, None])
        if settings.partner == "all":
            together = together + joins[place]
        else:
            together = np.maximum(together, joins[place])
    return order
