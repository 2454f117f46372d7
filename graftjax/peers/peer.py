"""What all peers share: an order of a catalog's nodes becomes an answer within the budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.contract import Retrieval, check_budget
from graftjax.peers.start import put_first, start_of

WITH_UNIONS = "+unions"
"""Ends the name of a peer that runs over union clusters."""


class Ranking(NamedTuple):
    """What a peer answers."""

    nodes: Sequence[int]
    """Best first, no repeats; it may be longer than the budget."""
    notes: tuple[str, ...] = ()


class Peer(ABC):
    """A method over the nodes of a catalog."""

    method: ClassVar[str]
    """Its name over tables."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    @property
    def name(self) -> str:
        return self.method + (WITH_UNIONS if self.catalog.view == "clusters" else "")

    def warm_up(self, budgets: Sequence[int]) -> None:
        """Make what is made once for a lake, and compile the encoder for a question's texts."""
        self.prepare()
        self.catalog.encoder.warm_up(bulk=True)

    def retrieve(self, query: Query, budget: int, seed: int) -> Retrieval:
        """At most `budget` tables, each node's tables together; ties go in the order of the lake.

        A query's base table is the first one chosen, costs nothing and is not part of the answer.
        """
        check_budget(budget)
        if not self.catalog.leads:
            return Retrieval((), notes=("the lake has no tables",))
        if not any(character.isalnum() for character in query.question):
            return Retrieval((), notes=("the question has no words",))
        start = start_of(self.catalog, query)
        given = 0 if start is None else 1
        ranking = self.rank(query, budget + given, seed)
        tables = self.catalog.expand(put_first(start, ranking.nodes), budget, query.base)
        notes = ranking.notes
        total = len(self.catalog.index.tables) - given
        if len(tables) < budget:
            short = f"the lake has only {total} tables" if total < budget else "the method chose no more"
            notes = (*notes, f"{short} ({len(tables)} of {budget})")
        return Retrieval(tables, notes=notes)

    def prepare(self) -> None:  # noqa: B027
        """Whatever is computed once for a lake and should not be part of a first query."""

    @abstractmethod
    def rank(self, query: Query, budget: int, seed: int) -> Ranking:
        """An order of the nodes; `budget` counts tables, the base table among them where a query has one, and
        `catalog.sizes` how many a node brings."""
