"""What JAR and its successor share: candidates by relevance, with the compatibility of each pair of them."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, runtime_checkable

from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.compatibility import Compatibility, Joins
from graftjax.peers.peer import Peer
from graftjax.peers.pool import Pool, draw_pool


@runtime_checkable
class PoolSettings(Protocol):
    """The dials that decide the pool."""

    @property
    def pool(self) -> int: ...

    @property
    def compatibility(self) -> Joins: ...

    @property
    def unions(self) -> bool: ...


class JoinAware(Peer):
    """A peer that chooses among the most relevant nodes by how they go together."""

    def __init__(self, catalog: Catalog, settings: PoolSettings) -> None:
        super().__init__(catalog)
        self._pool_settings = settings

    @cached_property
    def compatibility(self) -> Compatibility:
        """Made once for a lake."""
        dials = self._pool_settings
        made = Compatibility(self.catalog, joins=dials.compatibility, unions=dials.unions)
        made.prepare()
        return made

    def prepare(self) -> None:
        _ = self.catalog.schema_vectors, self.compatibility

    def candidates(self, query: Query, budget: int) -> Pool:
        """The pool of a query."""
        return draw_pool(
            self.catalog, self.compatibility, query, size=self._pool_settings.pool, budget=budget
        )
