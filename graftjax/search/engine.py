"""From a question with its intent to a synthesis: the front door of the search."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import jax

from graftjax.encode import encoder
from graftjax.encode.encoder import Encoder
from graftjax.errors import UsageError
from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.support import EncodedTexts, atom_texts, node_support
from graftjax.intent.atoms import JOIN, atoms_of
from graftjax.intent.schema import IntentGraph
from graftjax.lake.record import LakeIndex
from graftjax.search.actions import dials_of
from graftjax.search.explain import synthesis_of
from graftjax.search.finish import Outcome
from graftjax.search.guide import Guide, Outlook
from graftjax.search.programs import finish_program, gain_program, num_compiled, value_program
from graftjax.search.region import ATOM_BUCKETS, BUDGET_BUCKETS, Problem, bucket, build_region, empty_problem
from graftjax.search.settings import MAX_JOINS, MAX_TREES, Settings
from graftjax.search.shards import order_shards
from graftjax.types import Synthesis


class Engine:
    """Searches one lake: by the value function of a `guide`, or by exact gains without one.

    Holds no state that a search changes.
    """

    def __init__(
        self,
        index: LakeIndex,
        encoder: Encoder,
        settings: Settings | None = None,
        guide: Guide | None = None,
    ) -> None:
        self.index = index
        self.guide = guide
        self.settings = settings or Settings()
        self._encoder = encoder
        self._shards = order_shards(index)
        self._dials = dials_of(self.settings)

    def with_settings(self, settings: Settings) -> Engine:
        """The same lake and encoder under other settings; nothing is computed again."""
        other = copy.copy(self)
        other.settings, other._dials = settings, dials_of(settings)
        return other

    def warm_up(self, budgets: Sequence[int], intents: Sequence[IntentGraph] | None = None) -> None:
        """Compile what searches with these budgets will need: for the given intents, else for any intent.

        Compilation runs in parallel; compiled programs are kept between processes.
        """
        if intents is None:
            widths = set(ATOM_BUCKETS)
        else:
            widths = {bucket(atoms_of(intent).num_atoms, ATOM_BUCKETS) for intent in intents}
        capacity = {bucket(self._room(budget), BUDGET_BUCKETS) for budget in budgets}
        shapes = {(width, size) for width in widths for size in capacity}
        self._encoder.warm_up(bulk=True)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda shape: self._compile(*shape), sorted(shapes)))

    def _room(self, budget: int) -> int:
        """L as far as it matters: no more than the lake has, nor than the largest compiled shape."""
        return max(1, min(budget, len(self.index.tables), BUDGET_BUCKETS[-1]))

    def _compile(self, width: int, budget: int) -> None:
        problem = empty_problem(width, budget)
        outlook = self.guide and self.guide.empty_outlook(problem)
        for fill in (False, True):
            self._search(problem, outlook, fill=fill)

    def num_compiled(self) -> int:
        """Compiled programs so far; a search after `warm_up` adds none."""
        return num_compiled() + encoder._forward()._cache_size()

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
            notes.append(
                f"the intent has {len(atoms.tree_entity)} trees; those beyond {MAX_TREES} were left out"
            )
        num_joins = int((atoms.edge_kind == JOIN).sum())
        if num_joins > MAX_JOINS:
            notes.append(f"the intent has {num_joins} joins; those beyond {MAX_JOINS} were left out")
        texts = (text for group in atom_texts(atoms) for text in group)
        encoded = EncodedTexts.of(texts, self._encoder)
        support = node_support(self.index, atoms, encoded, self.settings.score)
        evidence = QueryEvidence(atoms, support, self.index.graph, self.settings.score)
        room = self._room(budget)
        if room < min(budget, len(self.index.tables)):
            notes.append(f"a search takes at most {room} tables; L = {budget} is more")
        region = build_region(evidence, self._shards, self.settings, room)
        outlook = self.guide and self.guide.outlook(self.index, evidence, region, encoded.vectors)
        outcome = self._search(region.problem, outlook, fill=fill)
        count = int(outcome.num_tables)
        if fill and 0 < count < budget:
            notes.append(
                f"only {count} of at most {budget} tables: no other table of the lake bears on the question"
            )
        return synthesis_of(self.index, self._shards, evidence, region, outcome, tuple(notes))

    def _search(self, problem: Problem, outlook: Outlook | None, *, fill: bool) -> Outcome:
        return jax.device_get(self._launch(problem, outlook, fill=fill, many=False))

    def _launch(self, problem: Problem, outlook: Outlook | None, *, fill: bool, many: bool) -> Outcome:
        """The answer as device arrays that may not be there yet."""
        beam = self.settings.beam
        if self.guide is None or outlook is None:
            states, score = gain_program(problem, self._dials, beam=beam, many=many)
        else:
            params, scales = self.guide.device_params
            states, score = value_program(
                problem, outlook, self._dials, params, scales, self.guide.device_gamma,
                beam=beam, network=self.guide.network, many=many,
            )  # fmt: skip
        return finish_program(problem, self._dials, states, score, fill=fill, many=many)
