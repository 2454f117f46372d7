"""GRAFT behind the retrievers' contract.

`graft` stops by itself, `graft-fill` spends the budget,
`graft-exact` returns the best that `graft` can build.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from graftjax.intent import IntentGraph, Query, extract
from graftjax.peers.contract import Retrieval, check_budget
from graftjax.types import Synthesis


@runtime_checkable
class SearchEngine(Protocol):
    """The part of `graftjax.search.engine.Engine` used here."""

    def warm_up(self, budgets: Sequence[int], *, based: bool = False) -> object: ...

    def search(self, question: str, intent: IntentGraph, *, budget: int, fill: bool = False) -> Synthesis: ...


class Graft:
    """Search under IGMS (Algorithm 3) as a retriever: by beam, or by whatever the engine does, under a name.

    `graft` and `graft-fill` may share one engine, and the budgets that it is warm for in `warmed`. `based`:
    queries come with a base table, which wants programs of its own.
    """

    def __init__(
        self,
        engine: SearchEngine,
        *,
        fill: bool = False,
        name: str | None = None,
        warmed: set[int] | None = None,
        based: bool = False,
    ) -> None:
        self.name = name or ("graft-fill" if fill else "graft")
        self._engine = engine
        self._fill = fill
        self._warmed = set() if warmed is None else warmed
        self._based = based

    def warm_up(self, budgets: Sequence[int]) -> None:
        cold = [budget for budget in budgets if budget not in self._warmed]
        if cold:
            self._engine.warm_up(cold, based=self._based)
            self._warmed.update(cold)

    def retrieve(self, query: Query, budget: int, seed: int) -> Retrieval:
        """Tables and operators for the query's intent graph, or for a lexical one when it has none. A query's
        base table is where the search starts.

        The search draws nothing at random, so the seed plays no part.
        """
        check_budget(budget)
        notes: tuple[str, ...] = ()
        intent = query.intent
        if intent is None:
            extraction = extract(query.question)
            intent, notes = extraction.intent, extraction.notes
        base = {} if query.base is None else {"base": query.base}
        synthesis = self._engine.search(query.question, intent, budget=budget, fill=self._fill, **base)
        tables = tuple(table for table in synthesis.tables if table != query.base)
        return Retrieval(tables, synthesis, (*notes, *synthesis.notes))
