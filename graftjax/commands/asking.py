"""What the subcommands that ask a lake a question have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from graftjax.commands.lakes import check_budget
from graftjax.errors import UsageError
from graftjax.lakes import check_lake

if TYPE_CHECKING:
    from graftjax.open import Found, Lake


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A question, the lake it is asked of, and how it is searched."""

    question: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="QUESTION")]
    """The question, in English."""
    lake: str
    """Folder of the tables (indexed first when its index is missing or stale), folder of an index, or demo,
    spider, bird."""
    L: int = 10
    """At most this many tables."""
    fill: bool = False
    """Spend the whole budget. Otherwise the search stops when the next table is not worth it; for a question
    that was read by rules, when what it names is supported as well as the budget allows."""
    intents: Literal["auto", "lexical", "endpoint", "recorded"] = "auto"
    """Who reads the question: rules (lexical), a model at OPENAI_BASE_URL (endpoint), or the query file of
    demo, spider, bird (recorded); auto asks the model when OPENAI_API_KEY or OPENAI_BASE_URL is set."""
    encoder: str = "embedded"
    """Text encoder; the one that the index was made with."""
    guidance: Literal["auto", "learned", "exact"] = "auto"
    """Search by the value function (learned) or by exact gains; auto takes --checkpoint, else what
    `graftjax train` made for this lake, else exact gains."""
    checkpoint: Path | None = None
    """A trained value function: the folder of a training run, or of one of its checkpoints."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""


def check(arguments: Asking) -> None:
    """UsageError for what can be known to be wrong before anything is loaded."""
    if not arguments.question.strip():
        raise UsageError("the question is empty")
    check_budget(arguments.L)
    check_lake(arguments.lake, "--lake ")
    from graftjax.evaluate.guidance import check_guidance

    given = arguments.checkpoint
    check_guidance([] if given is None else [given], arguments.guidance)


def open_asked(arguments: Asking, tables: Path | None = None) -> Lake:
    """The lake; call `check` first."""
    from graftjax.open import open_lake

    return open_lake(
        arguments.lake,
        encoder=arguments.encoder,
        guidance=arguments.guidance,
        checkpoint=arguments.checkpoint,
        intents=arguments.intents,
        data_dir=arguments.data_dir,
        tables=tables,
    )


def ask(arguments: Asking, lake: Lake) -> Found:
    """The answer of the lake."""
    return lake.search(arguments.question, L=arguments.L, fill=arguments.fill or None)
