"""The front door of GRAFT-Exact: an engine that enumerates where the other searches by beam."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from graftjax.encode.encoder import Encoder
from graftjax.errors import UsageError
from graftjax.lake.record import LakeIndex
from graftjax.search.engine import Engine
from graftjax.search.exact import LIMIT, enumerate_exact, warm_up
from graftjax.search.finish import Outcome
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

    def _compile(self, width: int, budget: int, stacked: int, based: bool) -> None:
        del stacked, based  # problems are enumerated one by one
        warm_up(width, budget, self._dials)

    def _launch(
        self, problem: Any, outlook: Any, *, fill: bool, many: bool = False, based: bool = False
    ) -> Outcome:
        del outlook  # no value function takes part
        if based:
            raise UsageError("graft-exact starts with no table: use graft or graft-fill with a base table")
        if fill:
            raise UsageError("graft-exact stops by itself: use graft-fill to spend the budget")
        if self.settings.reward != "igms":
            raise UsageError(f"graft-exact compares exact utilities: reward {self.settings.reward} has none")
        if many:
            each = [jax.tree.map(lambda leaf, at=at: leaf[at], problem) for at in range(len(problem.budget))]
            return jax.tree.map(lambda *leaves: np.stack(leaves), *map(self._enumerate, each))
        return self._enumerate(problem)

    def _enumerate(self, problem: Problem) -> Outcome:
        return enumerate_exact(problem, self._dials, self._limit).outcome
