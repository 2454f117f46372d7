"""What a retriever must offer to be compared, and what it must keep to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from graftjax.errors import GraftError, UsageError
from graftjax.intent import Query
from graftjax.types import Synthesis, TableId


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Answer of a retriever to one query."""

    tables: tuple[TableId, ...]
    """Best first, at most the budget, no duplicates."""
    synthesis: Synthesis | None = None
    """The operators that integrate the tables; None for a method that only ranks."""
    notes: tuple[str, ...] = ()
    """Reasons for a shorter or empty answer, in plain words."""


@runtime_checkable
class Retriever(Protocol):
    """A method over one lake.

    `retrieve` returns the same tables for the same query, budget and seed, and a shorter answer with a note
    (never an error) when the lake is small or empty or when the question says nothing.
    """

    @property
    def name(self) -> str:
        """As `--methods` and the result files spell it."""
        ...

    def warm_up(self, budgets: Sequence[int]) -> None:
        """Compile and load whatever a first query would otherwise wait for."""
        ...

    def retrieve(self, query: Query, budget: int, seed: int) -> Retrieval:
        """At most `budget` tables for `query`; `UsageError` when the budget is below 1."""
        ...


def check_budget(budget: int) -> None:
    """`UsageError` when the budget is below 1."""
    if budget < 1:
        raise UsageError(f"the budget L must be at least 1, not {budget}")


def check_retrieval(retrieval: Retrieval, budget: int) -> None:
    """`GraftError` when an answer is over budget or holds a table twice: its scores would be wrong."""
    if len(retrieval.tables) > budget:
        raise GraftError(f"the method returned {len(retrieval.tables)} tables for a budget of {budget}")
    if len(set(retrieval.tables)) < len(retrieval.tables):
        raise GraftError("the method returned a table twice")
