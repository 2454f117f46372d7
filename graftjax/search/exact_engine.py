"""The front door of GRAFT-Exact: an engine that enumerates where the other searches by beam."""

from __future__ import annotations

from graftjax.encode.encoder import Encoder
from graftjax.errors import UsageError
from graftjax.lake.record import LakeIndex
from graftjax.search.engine import Engine
from graftjax.search.exact import LIMIT, enumerate_exact, warm_up
from graftjax.search.finish import Outcome
from graftjax.search.guide import Outlook
from graftjax.search.region import Problem
from graftjax.search.settings import Settings


class ExactEngine(Engine):
    """An engine that enumerates instead of searching by beam.

    `search` raises TooManySyntheses (so a run reports the query as skipped) and has no `fill`.
    """

    def __init__(
        self, index: LakeIndex, encoder: Encoder, settings: Settings | None = None, limit: int = LIMIT
    ) -> None:
        super().__init__(index, encoder, settings)
        self._limit = limit

    def _compile(self, width: int, budget: int) -> None:
        warm_up(width, budget, self._dials)

    def _search(self, problem: Problem, outlook: Outlook | None, *, fill: bool) -> Outcome:
        if fill:
            raise UsageError("graft-exact stops by itself: use graft-fill to spend the budget")
        return enumerate_exact(problem, self._dials, self._limit).outcome
