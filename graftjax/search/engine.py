"""From a question with its intent to a synthesis: the front door of the search."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from graftjax.encode.encoder import Encoder
from graftjax.errors import UsageError
from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.support import node_support
from graftjax.intent.atoms import atoms_of
from graftjax.intent.schema import IntentGraph
from graftjax.lake.record import LakeIndex
from graftjax.search import beam
from graftjax.search.actions import Dials
from graftjax.search.explain import synthesis_of
from graftjax.search.region import ATOM_BUCKETS, build_region, empty_problem
from graftjax.search.settings import MAX_TREES, Settings
from graftjax.search.shards import order_shards
from graftjax.types import Synthesis


class Engine:
    """Searches one lake. Holds no state that a search changes."""

    def __init__(self, index: LakeIndex, encoder: Encoder, settings: Settings | None = None) -> None:
        self.index = index
        self.settings = settings or Settings()
        self._encoder = encoder
        self._shards = order_shards(index)
        score = self.settings.score
        as_float = lambda value: jnp.asarray(value, jnp.float32)  # noqa: E731
        self._dials = Dials(
            as_float(score.noise),
            as_float(score.join_endpoint_power),
            as_float(score.supported),
            as_float(self.settings.least_gain),
        )

    def warm_up(self, budgets: Sequence[int]) -> None:
        """Compile everything that searches with these budgets will need."""
        self._encoder.warm_up(bulk=True)
        for budget in budgets:
            for width in ATOM_BUCKETS:
                jax.block_until_ready(self._search(empty_problem(width, budget), False, budget))

    def num_compiled(self) -> int:
        """Compiled programs so far; a search after `warm_up` adds none."""
        from graftjax.encode import encoder

        return beam.search._cache_size() + encoder._forward()._cache_size()

    def search(self, question: str, intent: IntentGraph, *, budget: int, fill: bool = False) -> Synthesis:
        """Best synthesis of at most `budget` tables.

        Without `fill` the search stops by itself once no table is worth taking; with `fill` it spends
        the budget. An intent that names nothing, or an empty lake, gives an empty answer with a note.
        """
        if budget < 1:
            raise UsageError(f"the budget L must be at least 1, not {budget}")
        if not self.index.tables:
            return Synthesis((), (), 0.0, notes=("the lake has no tables",))
        atoms = atoms_of(intent)
        if not atoms.num_atoms:
            return Synthesis((), (), 0.0, notes=("the question names nothing to look for",))
        notes = list(atoms.notes)
        if len(atoms.tree_entity) > MAX_TREES:
            notes.append(f"the intent has {len(atoms.tree_entity)} trees; those beyond {MAX_TREES} were left out")
        support = node_support(self.index, atoms, self._encoder, self.settings.score)
        evidence = QueryEvidence(atoms, support, self.index.graph, self.settings.score)
        region = build_region(evidence, self._shards, self.settings, budget)
        outcome = jax.device_get(self._search(region.problem, fill, budget))
        return synthesis_of(self.index, self._shards, evidence, region, outcome, tuple(notes))

    def _search(self, problem: object, fill: bool, budget: int) -> beam.Outcome:
        return beam.search(
            problem, self._dials, np.asarray(fill), budget=budget, beam=self.settings.beam  # pyright: ignore
        )  # fmt: skip
