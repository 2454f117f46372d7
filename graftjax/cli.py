"""The command `graftjax`: arguments → library → plain text."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import tyro

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError

if TYPE_CHECKING:
    from graftjax.lake.record import LakeIndex

# The library is imported inside the functions: JAX takes seconds to start, `--help` should not.

Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]


@dataclass(frozen=True)
class Index:
    """Index a folder tree of CSV, TSV, Parquet and SQLite files, or bring its index up to date."""

    folder: Folder
    """Folder of the tables."""
    out: Path | None = None
    """Folder of the index; default one per lake in the user's cache, where `search --lake FOLDER` looks."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""


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


@dataclass(frozen=True)
class Inspect:
    """Statistics of a lake, what could not be read and why, and its most joinable columns."""

    folder: Folder
    """Folder of the tables, or folder of an index."""
    encoder: str = "embedded"
    """Text encoder, when the folder has to be indexed first."""


@dataclass(frozen=True)
class Demo:
    """The main job on the bundled demo lake: one question answered, and the scores over all its questions."""

    query: str = "demo-fig4"
    """Id of the question that is shown."""
    L: int = 10
    """At most this many tables per question."""


def _subcommand(kind: type, name: str) -> Any:
    return Annotated[kind, tyro.conf.subcommand(name, prefix_name=False)]


COMMANDS: Any = (
    _subcommand(Index, "index")
    | _subcommand(Search, "search")
    | _subcommand(Inspect, "inspect")
    | _subcommand(Demo, "demo")
)


def run(argv: list[str] | None = None) -> int:
    """Carry out one command line; exit code 0. Raises GraftError, and SystemExit for `--help`."""
    match parse_arguments(COMMANDS, argv, program="graftjax"):
        case Index() as arguments:
            _index(arguments)
        case Search() as arguments:
            _search(arguments)
        case Inspect() as arguments:
            _inspect(arguments)
        case Demo() as arguments:
            _demo(arguments)
    return 0


def main() -> NoReturn:
    """Entry point of the installed command."""
    run_console(run, "graftjax")


def _open(folder: Path, encoder_name: str, out: Path | None = None) -> tuple[LakeIndex, Any]:
    """The index at `folder`, or the (fresh) index of the tables in it, with its encoder."""
    from graftjax.encode import load_encoder
    from graftjax.evaluate.datasets import Dataset, index_folder, open_lake
    from graftjax.lake.index import open_index

    encoder = load_encoder(encoder_name)
    if out is None and _is_index(folder):
        return open_index(folder, encoder.name), encoder
    place = folder.resolve()
    dataset = Dataset("lake", str(folder), place, queries=place)  # only experiments read the queries
    return open_lake(dataset, index_folder(dataset, out), encoder), encoder


def _is_index(folder: Path) -> bool:
    return (folder / "current.json").is_file()


def _check_folder(folder: Path, option: str) -> None:
    if not folder.is_dir():
        raise UsageError(f"{option}{folder}: no such folder")


def _check_budget(L: int) -> None:
    if L < 1:
        raise UsageError(f"--L must be at least 1, not {L}")


def _index(arguments: Index) -> None:
    _check_folder(arguments.folder, "")
    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise UsageError(f"--out {arguments.out}: not a folder")
    if arguments.out is None and _is_index(arguments.folder):
        raise UsageError(f"{arguments.folder}: this is an index; name the folder of the tables")
    from graftjax import describe

    index, _ = _open(arguments.folder, arguments.encoder, arguments.out)
    _print(describe.statistics(index), describe.skips(index.skips, "skipped"), f"index: {index.folder}")


def _inspect(arguments: Inspect) -> None:
    _check_folder(arguments.folder, "")
    from graftjax import describe

    if _is_index(arguments.folder):
        from graftjax.lake.index import open_index

        index = open_index(arguments.folder)  # whatever encoder made it
    else:
        index, _ = _open(arguments.folder, arguments.encoder)
    _print(
        describe.statistics(index),
        describe.skips(index.skips, "skipped"),
        describe.skips(index.notes, "read with changes"),
        describe.joinable_columns(index),
    )


def _search(arguments: Search) -> None:
    _check_budget(arguments.L)
    _check_folder(arguments.lake, "--lake ")
    from graftjax import describe
    from graftjax.evaluate.intents import prepare_intents
    from graftjax.evaluate.runs import synthesis_record
    from graftjax.intent import Query
    from graftjax.search.engine import Engine

    source = arguments.intents
    if source == "auto":
        configured = os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")
        source = "endpoint" if configured else "lexical"
    index, encoder = _open(arguments.lake, arguments.encoder)
    prepared = prepare_intents([Query("q", arguments.question)], source, index.tables)
    intent = prepared.queries[0].intent
    assert intent is not None  # prepare_intents gives every query one
    found = Engine(index, encoder).search(arguments.question, intent, budget=arguments.L, fill=arguments.fill)
    found = replace(found, notes=(*prepared.notes[0], *found.notes))
    if arguments.json:
        record = {
            "question": arguments.question,
            "intent": intent.model_dump(mode="json"),
            **(synthesis_record(found) or {}),
        }
        print(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _print(describe.answer(found))


def _demo(arguments: Demo) -> None:
    _check_budget(arguments.L)
    from graftjax import describe
    from graftjax.encode import load_encoder
    from graftjax.evaluate.cases import load_cases
    from graftjax.evaluate.datasets import index_folder, open_lake, resolve_dataset
    from graftjax.evaluate.runs import run_method, run_record
    from graftjax.peers.methods import METHODS, retriever_factory

    dataset = resolve_dataset("demo")
    encoder = load_encoder()
    folder = index_folder(dataset)
    index = open_lake(dataset, folder, encoder)
    cases = load_cases(dataset, [table.id for table in index.tables]).cases
    chosen = next((case for case in cases if case.query.id == arguments.query), None)
    if chosen is None:
        raise UsageError(f"--query {arguments.query}: no such question in {dataset.queries.name}")
    make = retriever_factory(index, encoder, None)
    retriever = make("graft")
    retriever.warm_up([arguments.L])
    found = retriever.retrieve(chosen.query, arguments.L, 0)
    hits = len(set(found.tables) & set(chosen.gold))
    counts = index.statistics()
    _print(
        f"{dataset.title}: {counts['tables']} tables, {counts['columns']} columns, {counts['rows']:,} rows",
        f"question: {chosen.query.question}",
        describe.answer(found.synthesis) if found.synthesis else "no synthesis",
        f"gold: {hits} of {len(chosen.gold)} gold tables found\n",
        f"all {len(cases)} questions, recorded intent graphs, at most {arguments.L} tables",
        "method       recall precision      F1 sufficiency  ms/query skipped",
    )
    for name in METHODS:
        retriever = make(name)
        retriever.warm_up([arguments.L])
        run = run_method(retriever, cases, budget=arguments.L, progress=sys.stderr.isatty())
        record = run_record(run, lake=dataset.lake, config={}, environment={})
        scores = record["metrics"]
        if scores is None:
            first = f" ({run.skipped[0][1]})" if run.skipped else ""
            _print(f"{name:<11} no question could be scored{first}")
            continue
        _print(
            f"{name:<11} {scores['recall']:>7.3f} {scores['precision']:>9.3f} {scores['f1']:>7.3f} "
            f"{scores['sufficiency']:>11.3f} {record['latency_ms']['mean']:>9.1f} {record['n_skipped']:>7}"
        )


def _print(*texts: str) -> None:
    for text in texts:
        if text:
            print(text, flush=True)
