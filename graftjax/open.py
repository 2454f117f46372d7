"""The front door in Python: a lake is opened, searched, and what was found is fused.

lake = graftjax.open_lake("FOLDER")
found = lake.search("Which departments hired in 2021?", L=10)
table = lake.fuse(found)
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from graftjax import describe
from graftjax.encode import load_encoder
from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.datasets import Dataset, index_folder
from graftjax.evaluate.datasets import open_lake as open_dataset
from graftjax.evaluate.guidance import Guidance, GuidanceMode, check_guidance, find_guidance
from graftjax.evaluate.intents import prepare_intents
from graftjax.evaluate.runs import synthesis_record
from graftjax.files import replacing, writing
from graftjax.fuse import Fused, FuseSettings, RawSource, fuse, lake_source
from graftjax.intent import IntentGraph, Query, read_queries
from graftjax.lake.index import open_index
from graftjax.lake.record import LakeIndex
from graftjax.lakes import dataset_of, rows_of
from graftjax.report import Story, page
from graftjax.search.cover import search_covering
from graftjax.search.engine import Engine
from graftjax.types import AtomSupport, Operator, Skip, Synthesis, TableId

IntentReader = Literal["auto", "lexical", "endpoint", "recorded"]


@dataclass(frozen=True, eq=False)
class Found:
    """The answer to a question: tables, and how they are joined and unioned. Printed, it explains itself."""

    question: str
    intent: IntentGraph
    synthesis: Synthesis
    guidance: Guidance

    @property
    def tables(self) -> tuple[TableId, ...]:
        """In the order of their retrieval; empty when nothing was found, `notes` say why."""
        return self.synthesis.tables

    @property
    def operators(self) -> tuple[Operator, ...]:
        return self.synthesis.operators

    @property
    def support(self) -> tuple[AtomSupport, ...]:
        """The evidence for each atom of the question."""
        return self.synthesis.support

    @property
    def utility(self) -> float:
        """U of Eq. (6)."""
        return self.synthesis.utility

    @property
    def notes(self) -> tuple[str, ...]:
        return self.synthesis.notes

    @property
    def plan(self) -> str:
        """For example `a ⋈ (b ∪ c)`."""
        return describe.plan(self.synthesis)

    def record(self) -> dict[str, Any]:
        """As JSON, the same as `graftjax search --json` prints."""
        return {
            "question": self.question,
            "intent": self.intent.model_dump(mode="json"),
            **self.guidance.record(),
            **(synthesis_record(self.synthesis) or {}),
        }

    def __str__(self) -> str:
        return describe.answer(self.synthesis)


@dataclass(frozen=True, eq=False)
class Lake:
    """An indexed lake with all that a search of it needs; made by `open_lake`."""

    index: LakeIndex
    engine: Engine
    guidance: Guidance
    intents: IntentReader
    title: str
    """For people."""
    _dataset: Dataset | None
    _tables: Path | None

    @property
    def skips(self) -> tuple[Skip, ...]:
        """Files, or parts of them, that are not in the lake, and why."""
        return self.index.skips

    def rows(self) -> RawSource:
        """Where the rows of the tables are read from; UsageError or GraftError when they can't be found."""
        return self._rows

    @cached_property
    def _rows(self) -> RawSource:
        data = self._dataset
        if data is not None:
            return lake_source(self.index.tables, data.location, data.benchmark)
        return rows_of(self.index.folder, self.index.tables, self._tables)

    def search(
        self,
        question: str,
        *,
        L: int = 10,
        fill: bool | None = None,
        intent: IntentGraph | None = None,
    ) -> Found:
        """The best answer of at most L tables; an answer without tables says why in its notes.

        `fill` spends the whole budget; without it the search stops when the next table is not worth it. Left
        open, it stops too, but goes on for a question that was read by rules until what that names is
        supported as well as the budget allows. `intent`: what the question asks for, default as the lake was
        opened to read questions.
        """
        notes: tuple[str, ...] = ()
        question = question.encode("utf-8", "replace").decode(
            "utf-8"
        )  # a terminal may hand over broken bytes
        if intent is None:
            intent, notes = self.read(question)
        if fill is None:
            found = search_covering(self.engine, question, intent, L)
        else:
            found = self.engine.search(question, intent, budget=L, fill=fill)
        return Found(question, intent, replace(found, notes=(*notes, *found.notes)), self.guidance)

    def read(self, question: str) -> tuple[IntentGraph, tuple[str, ...]]:
        """The intent graph of a question, and what its reader had to say."""
        source = self.intents
        if source == "auto":
            configured = os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")
            source = "endpoint" if configured else "lexical"
        query = Query("q", question)
        if source == "recorded":
            query = self._recorded(question)
        prepared = prepare_intents([query], source, self.index.tables)
        intent = prepared.queries[0].intent
        assert intent is not None  # prepare_intents gives every query one
        return intent, prepared.notes[0]

    def _recorded(self, question: str) -> Query:
        data = self._dataset
        if data is None or not data.queries.is_file():
            raise UsageError("recorded intents: only the lakes demo, spider and bird have some")
        for query in read_queries(data.queries):
            if query.question.strip() == question.strip():
                return query
        raise UsageError(f"recorded intents: {data.queries.name} has no such question")

    def fuse(self, found: Found, settings: FuseSettings | None = None) -> Fused:
        """One table of what was found: unions first, then joins.

        Raises FuseError when nothing was found or a join would have too many rows, GraftError when a table
        can't be read or has changed since it was indexed.
        """
        return fuse(found.synthesis, self.rows(), intent=found.intent, settings=settings or FuseSettings())

    def report(self, found: Found, path: str | Path, settings: FuseSettings | None = None) -> str:
        """Write an HTML page: the intent, the tables and why they are there, the fused table.

        A fusion that is refused is said on the page, and why is returned; else an empty text. Raises
        GraftError when the file can't be written.
        """
        fused, refusal = None, ""
        if found.tables:
            try:
                fused = self.fuse(found, settings)
            except UsageError:
                raise
            except GraftError as error:
                refusal = str(error)
        wanted = {id: self.index.tables[self.index.numbers[id]] for id in found.tables}
        text = page(
            Story(
                found.question, found.intent, found.synthesis, wanted, fused, refusal,
                self.title, _words(self.guidance), self.skips,
            )
        )  # fmt: skip
        path = Path(path)
        with writing(path), replacing(path) as draft:
            draft.write_text(text, encoding="utf-8")
        return refusal


def _words(guidance: Guidance) -> str:
    if guidance.checkpoint is None:
        return "exact gains"
    return f"a value function trained with seed {guidance.training_seed} for {guidance.step:,} updates"


def open_lake(
    lake: str | Path,
    *,
    encoder: str = "embedded",
    guidance: GuidanceMode = "auto",
    checkpoint: str | Path | None = None,
    intents: IntentReader = "auto",
    data_dir: str | Path | None = None,
    tables: str | Path | None = None,
) -> Lake:
    """Open a lake, indexed first when its index is missing or stale.

    Args:
      lake: folder of the tables, folder of an index, or demo, spider, bird (`./demo` is a folder).
      encoder: text encoder; the one that the index was made with.
      guidance: search by the value function (learned) or by exact gains; auto takes `checkpoint`, else what
        `graftjax train` made for this lake, else exact gains. Which it is, is said in a line on stderr.
      checkpoint: a trained value function, the folder of a run.
      intents: who reads questions: rules (lexical), a model at OPENAI_BASE_URL (endpoint), the query file of
        a named lake (recorded); auto asks the model when OPENAI_API_KEY or OPENAI_BASE_URL is set.
      data_dir: folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data.
      tables: folder of the tables, where `lake` is an index that does not say where they lie.

    Raises UsageError for an unknown lake or checkpoint, GraftError when the lake can't be opened.
    """
    checkpoint, data_dir, tables = (
        None if place is None else Path(place) for place in (checkpoint, data_dir, tables)
    )
    check_guidance([] if checkpoint is None else [checkpoint], guidance)
    dataset = dataset_of(lake, data_dir)
    if tables is not None and dataset is not None:
        raise UsageError(f"--tables {tables}: only an index needs it, and {lake} is no index")
    encoding = load_encoder(encoder)
    if dataset is None:
        index = open_index(Path(lake), encoding.name)
    else:
        index = open_dataset(dataset, index_folder(dataset), encoding)
    found = find_guidance(index.folder, encoding.name, checkpoint, guidance)
    engine = Engine(index, encoding, guide=found.guide)
    return Lake(index, engine, found, intents, str(lake), dataset, tables)
