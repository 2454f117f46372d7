"""`graftjax search`: a question → the tables that answer it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from graftjax.commands.lakes import check_budget, check_folder, open_folder, show


@dataclass(frozen=True)
class Search:
    """Find the tables that answer a question, and how to join and union them."""

    question: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="QUESTION")]
    """The question, in English."""
    lake: Path
    """Folder of the tables (indexed first when its index is missing or stale), or folder of an index."""
    L: int = 10
    """At most this many tables."""
    fill: bool = False
    """Spend the whole budget instead of stopping when the next table is not worth it."""
    json: bool = False
    """Print the answer as JSON."""
    intents: Literal["auto", "lexical", "endpoint"] = "auto"
    """Who reads the question: rules (lexical) or a model at OPENAI_BASE_URL (endpoint); auto asks the model
    when OPENAI_API_KEY or OPENAI_BASE_URL is set."""
    encoder: str = "embedded"
    """Text encoder; the one that the index was made with."""
    guidance: Literal["auto", "learned", "exact"] = "auto"
    """Search by the value function (learned) or by exact gains; auto takes --checkpoint, else what
    `graftjax train` made for this lake, else exact gains."""
    checkpoint: Path | None = None
    """A trained value function: the folder of a training run, or of one of its checkpoints."""


def run(arguments: Search) -> None:
    """Print the answer."""
    check_budget(arguments.L)
    check_folder(arguments.lake, "--lake ")
    from graftjax.evaluate.guidance import check_guidance, find_guidance

    given = arguments.checkpoint
    check_guidance([] if given is None else [given], arguments.guidance)
    from graftjax import describe
    from graftjax.evaluate.intents import prepare_intents
    from graftjax.evaluate.runs import synthesis_record
    from graftjax.intent import Query
    from graftjax.search.engine import Engine

    source = arguments.intents
    if source == "auto":
        configured = os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")
        source = "endpoint" if configured else "lexical"
    index, encoder = open_folder(arguments.lake, arguments.encoder)
    guidance = find_guidance(index.folder, encoder.name, given, arguments.guidance)
    prepared = prepare_intents([Query("q", arguments.question)], source, index.tables)
    intent = prepared.queries[0].intent
    assert intent is not None  # prepare_intents gives every query one
    engine = Engine(index, encoder, guide=guidance.guide)
    found = engine.search(arguments.question, intent, budget=arguments.L, fill=arguments.fill)
    found = replace(found, notes=(*prepared.notes[0], *found.notes))
    if arguments.json:
        record = {
            "question": arguments.question,
            "intent": intent.model_dump(mode="json"),
            **guidance.record(),
            **(synthesis_record(found) or {}),
        }
        print(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        show(describe.answer(found))
