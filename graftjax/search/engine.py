"""From questions with their intents to syntheses: the front door of the search."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from graftjax.encode import encoder as encoding
from graftjax.encode.encoder import Encoder
from graftjax.errors import UsageError
from graftjax.igms.support import EncodedTexts
from graftjax.intent.atoms import IntentAtoms, atoms_of
from graftjax.intent.schema import IntentGraph
from graftjax.lake.record import LakeIndex
from graftjax.search.actions import dials_of
from graftjax.search.explain import synthesis_of
from graftjax.search.finish import Outcome
from graftjax.search.guide import Guide, Outlook
from graftjax.search.programs import Values, beam_program, finish_program, num_compiled
from graftjax.search.question import Question, encode_atoms, left_out, prepare
from graftjax.search.region import ATOM_BUCKETS, BUDGET_BUCKETS, Problem, bucket, empty_problem
from graftjax.search.settings import Settings
from graftjax.search.shards import ShardOrder, order_shards
from graftjax.types import Synthesis, TableId

STACKED = 16
"""Questions in one call of `search_many` on an accelerator."""


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
        self.encoder = encoder
        self.shards = order_shards(index)
        self._dials = dials_of(self.settings)

    def with_settings(self, settings: Settings) -> Engine:
        """The same lake and encoder under other settings; nothing is computed again."""
        other = copy.copy(self)
        other.settings, other._dials = settings, dials_of(settings)
        return other

    def warm_up(
        self,
        budgets: Sequence[int],
        intents: Sequence[IntentGraph] | None = None,
        *,
        stacked: int = 0,
        based: bool = False,
    ) -> None:
        """Compile what searches with these budgets will need: for the given intents, else for any intent.

        `stacked`: also for that many questions in one call. `based`: also with a base table. Compilation
        runs in parallel; compiled programs are kept between processes.
        """
        if intents is None:
            widths = set(ATOM_BUCKETS)
        else:
            widths = {bucket(atoms_of(intent).num_atoms, ATOM_BUCKETS) for intent in intents}
        capacity = {bucket(self._room(budget), BUDGET_BUCKETS) for budget in budgets}
        counts = (0, stacked) if stacked else (0,)
        shapes = {(width, size, count, False) for width in widths for size in capacity for count in counts}
        if based:
            more = {bucket(self._room(budget + 1), BUDGET_BUCKETS) for budget in budgets}
            shapes |= {(width, size, 0, True) for width in widths for size in more}
        self.encoder.warm_up(bulk=True)
        if self.index.tables:
            _ = self.index.kinds, self.index.graph.cluster_joins, self.index.space.known([""])
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:  # a compilation takes a gigabyte
            list(pool.map(lambda shape: self._compile(*shape), sorted(shapes)))

    def num_compiled(self) -> int:
        """Compiled programs so far; a search after `warm_up` adds none."""
        return num_compiled() + encoding._forward()._cache_size()

    def search(
        self,
        question: str,
        intent: IntentGraph,
        *,
        budget: int,
        fill: bool = False,
        base: TableId | None = None,
    ) -> Synthesis:
        """Best synthesis of at most `budget` tables.

        Without `fill` the search stops by itself once no table is worth taking; with `fill` it spends
        the budget, and for a rough intent then also looks at the question as a whole. An intent that names
        nothing, or an empty lake, gives an empty answer with a note.

        `base`: a table that the user starts with. It comes first in the synthesis, beside the budget; what
        follows are its further shards and tables that join it, and tables for what else the intent names. An
        intent that names nothing gives no answer here either.
        Raises UsageError when the lake has no such table.
        """
        atoms, asked = atoms_of(intent), _asked(question, intent, fill)
        answer = self._no_answer(atoms, budget)
        number = None
        if base is not None:
            number = self.index.numbers.get(base)
            if number is None:
                raise UsageError(f"base table {base}: not in the lake")
        return answer or self._one(atoms, self.encode([atoms], [asked]), budget, fill, asked, number)

    def search_many(
        self,
        intents: Sequence[IntentGraph],
        *,
        budget: int,
        fill: bool = False,
        questions: Sequence[str] = (),
        stacked: int | None = None,
    ) -> list[Synthesis]:
        """The syntheses of many questions, for throughput; each as `search` gives it.

        `questions`: one per intent, or none (then rough intents spend the budget by themselves).
        All texts are encoded together. `stacked` problems are searched in one call; 0 searches them one by
        one in as many threads as there are processors, which is the default on CPUs: there a stack only
        waits for its slowest member.
        """
        if stacked is not None and stacked < 0:
            raise UsageError(f"stacked must be 0 or more, not {stacked}")
        if stacked is None:
            stacked = 0 if jax.default_backend() == "cpu" else STACKED
        if questions and len(questions) != len(intents):
            raise UsageError(f"{len(questions)} questions for {len(intents)} intents")
        asked = [
            _asked(question, intent, fill)
            for question, intent in zip(questions or [""] * len(intents), intents, strict=True)
        ]
        many = [atoms_of(intent) for intent in intents]
        answers = [self._no_answer(atoms, budget) for atoms in many]
        left = [place for place, answer in enumerate(answers) if answer is None]
        encoded = self.encode([many[place] for place in left], [asked[place] for place in left])
        ready = lambda place: self.prepare(many[place], encoded, budget, asked[place])  # noqa: E731
        one = lambda place: self._one(many[place], encoded, budget, fill, asked[place])  # noqa: E731
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            if not stacked:
                found = list(pool.map(one, left))
            else:
                prepared = list(pool.map(ready, left))
                outcomes = self._search_stacked(prepared, stacked, fill)
                found = [
                    self.explain(question, outcome, budget, fill)
                    for question, outcome in zip(prepared, outcomes, strict=True)
                ]
        for place, answer in zip(left, found, strict=True):
            answers[place] = answer
        return [answer for answer in answers if answer is not None]

    def _no_answer(self, atoms: IntentAtoms, budget: int) -> Synthesis | None:
        """The empty answer where nothing can be looked for."""
        if budget < 1:
            raise UsageError(f"the budget L must be at least 1, not {budget}")
        if not self.index.tables:
            return Synthesis((), (), 0.0, notes=("the lake has no tables",))
        if not atoms.num_atoms:
            return Synthesis((), (), 0.0, notes=("the question names nothing to look for",))
        return None

    def _room(self, budget: int) -> int:
        """L as far as it matters: no more than the lake has, nor than the largest compiled shape."""
        return max(1, min(budget, len(self.index.tables), BUDGET_BUCKETS[-1]))

    def encode(self, intents: Sequence[IntentAtoms], questions: Sequence[str] = ()) -> EncodedTexts:
        """Vectors of all texts that these intents, and the questions that are not empty, are matched by."""
        return encode_atoms(intents, self.encoder, self.index.space, [text for text in questions if text])

    def prepare(
        self,
        atoms: IntentAtoms,
        encoded: EncodedTexts,
        budget: int,
        question: str = "",
        base: int | None = None,
        shards: ShardOrder | None = None,
    ) -> Question:
        """Stage 1: evidence and region of an intent whose texts, and whose question, are encoded."""
        return prepare(
            self.index, shards or self.shards, self.settings, self.guide, atoms, encoded, self._room(budget),
            question, base,
        )  # fmt: skip

    def _one(
        self,
        atoms: IntentAtoms,
        encoded: EncodedTexts,
        budget: int,
        fill: bool,
        asked: str,
        base: int | None = None,
    ) -> Synthesis:
        if base is None:
            question = self.prepare(atoms, encoded, budget, asked)
            outcome = self.solve(question.region.problem, question.outlook, fill=fill)
            return self.explain(question, outcome, budget, fill)
        shards = self.shards.led_by(int(self.index.graph.unions.table_cluster[base]), base)
        question = self.prepare(atoms, encoded, budget + 1, asked, base, shards)
        outcome = self.solve(question.region.problem, question.outlook, fill=fill, based=True)
        return self.explain(question, outcome, budget, fill, shards)

    def explain(
        self,
        question: Question,
        outcome: Outcome,
        budget: int,
        fill: bool,
        shards: ShardOrder | None = None,
    ) -> Synthesis:
        """The synthesis that an outcome stands for, with exact U, operators and reasons."""
        notes = left_out(question.evidence.atoms)
        own = 0 if shards is None else 1  # the base costs none of the budget
        room, count = self._room(budget + own) - own, int(outcome.num_tables) - own
        if room < min(budget, len(self.index.tables) - own):
            notes.append(f"a search takes at most {room} tables; L = {budget} is more")
        most = min(budget, BUDGET_BUCKETS[-1] - own)
        if fill and int(outcome.num_tables) and count < most:
            notes.append(
                f"only {count} of at most {most} tables: the search found no other table near the question"
            )
        return synthesis_of(
            self.index, shards or self.shards, question.evidence, question.region, outcome, tuple(notes)
        )

    def _compile(self, width: int, budget: int, stacked: int, based: bool) -> None:
        problem = empty_problem(width, budget)
        outlook = self.guide.empty_outlook(problem) if self.guide else None
        if stacked:
            problem, outlook = _stack([problem] * stacked), _stack([outlook] * stacked)
        for fill in (False, True):
            jax.block_until_ready(self._launch(problem, outlook, fill=fill, many=stacked > 0, based=based))

    def solve(self, problem: Problem, outlook: Outlook | None, *, fill: bool, based: bool = False) -> Outcome:
        """Stages 2 and 3 for one problem: the answer's arrays, on the host."""
        return jax.device_get(self._launch(problem, outlook, fill=fill, based=based))

    def _search_stacked(self, questions: Sequence[Question], size: int, fill: bool) -> list[Outcome]:
        """Answers in the order of the questions; a call has problems of one shape, the last repeated."""
        by_width: dict[int, list[int]] = {}
        for place, question in enumerate(questions):
            by_width.setdefault(len(question.region.problem.atom_mask), []).append(place)
        answers: dict[int, Outcome] = {}
        for places in by_width.values():
            for start in range(0, len(places), size):
                chosen = places[start : start + size]
                filled = chosen + chosen[-1:] * (size - len(chosen))
                problem = _stack([questions[place].region.problem for place in filled])
                outlook = _stack([questions[place].outlook for place in filled])
                outcome = jax.device_get(self._launch(problem, outlook, fill=fill, many=True))
                for row, place in enumerate(chosen):
                    answers[place] = jax.tree.map(lambda leaf, row=row: leaf[row], outcome)
        return [answers[place] for place in range(len(questions))]

    def _launch(
        self, problem: Any, outlook: Any, *, fill: bool, many: bool = False, based: bool = False
    ) -> Outcome:
        """The answer as device arrays that may not be there yet."""
        reward, network, values = self.settings.reward, None, None
        if self.guide is not None and outlook is not None:
            network = self.guide.network
            values = Values(*self.guide.device_params, self.guide.device_gamma)
        states, score = beam_program(
            problem, outlook, self._dials, values,
            network=network, beam=self.settings.beam, reward=reward, many=many,
            based=based,
        )  # fmt: skip
        return finish_program(problem, self._dials, states, score, fill=fill, reward=reward, many=many)


def _asked(question: str, intent: IntentGraph, fill: bool) -> str:
    """The question where the search looks at it as a whole, else nothing."""
    return question if fill and intent.rough else ""


def _stack(records: Sequence[Any]) -> Any:
    """Records of arrays with a leading axis; None of Nones."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *records)
