"""The part of the experiments that is repeated in minutes: one budget on each lake that is there.

Searches by exact gains and peers need no training; the rows of a learned value are repeated when its value
functions are there. The exact MIP of JAR is left out: it takes longer than all else together.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graftjax.errors import GraftError
from graftjax.evaluate.cases import load_cases, with_queries
from graftjax.evaluate.comparison import summary
from graftjax.evaluate.datasets import Dataset, beside, index_folder, open_lake, resolve_dataset
from graftjax.evaluate.guidance import Guidance, find_guidances
from graftjax.evaluate.intents import prepare_intents
from graftjax.evaluate.significance import Record
from graftjax.peers.contract import Retriever
from graftjax.peers.methods import GUIDED, PEERS
from graftjax.peers.peer import WITH_UNIONS
from graftjax.results.cells import figures_of
from graftjax.results.expected import Cell, Expected, Figure, cell_of, header
from graftjax.results.verdicts import Verdict, crashed, judge

LAKES = ("demo", "spider", "bird")
BUDGET = 10
"""L of the quick run: the one that the paper's ablations use."""
TRAINED_RUNS = 3
"""Training seeds looked for: 0, 1, 2, as in peers.py."""
EXACT = " by exact gains"
"""Added to the name of a method when no value function guides it."""
PEER_METHODS = (*(name for name in PEERS if name != "jar"), "greedy-jar" + WITH_UNIONS)
"""Every peer once, and the closest one, which is told of unions; a second view of a lake takes a minute."""
FILES = ("quick", "peers")
"""Files of results/ whose figures are compared: the first has what the second lacks."""


@dataclass(frozen=True)
class Repeated:
    """What was run on one lake."""

    lake: str
    title: str = ""
    encoder: str = ""
    figures: dict[str, Figure] = field(default_factory=dict)
    crashed: dict[str, str] = field(default_factory=dict)
    """Method → what it ended with before a single query was asked."""
    unlearned: str = ""
    """Why nothing was guided by a learned value; empty when it was."""
    why: str = ""
    """Why nothing was run at all; empty when something was."""
    environment: dict[str, Any] = field(default_factory=dict)


def repeat(
    lake: str,
    *,
    data_dir: Path | None = None,
    encoder: str = "embedded",
    peers: Sequence[str] | None = None,
) -> Repeated:
    """Run the quick part on one lake; `why` says what is missing when that is not possible. `peers`: default
    all of `PEER_METHODS`."""
    try:
        dataset = resolve_dataset(lake, data_dir=data_dir)
    except GraftError as error:
        return Repeated(lake, why=str(error))
    return _repeat(dataset, encoder, PEER_METHODS if peers is None else peers)


def _repeat(dataset: Dataset, encoder_name: str, peers: Sequence[str]) -> Repeated:
    from graftjax.encode import load_encoder
    from graftjax.evaluate.environment import environment
    from graftjax.peers.methods import retriever_factory

    encoder = load_encoder(encoder_name)
    folder = index_folder(dataset, None)
    index = open_lake(dataset, folder, encoder)
    loaded = load_cases(dataset, [table.id for table in index.tables])
    prepared = prepare_intents([case.query for case in loaded.cases], "recorded", index.tables)
    cases = with_queries(loaded.cases, prepared.queries)
    trained = find_guidances(folder, encoder.name, (), "auto", seed=0, runs=TRAINED_RUNS)
    learned = [one for one in trained if one.checkpoint is not None]
    unlearned = "" if learned else f"no value function: graftjax train {dataset.lake}"

    bench = _Bench(dataset, encoder.name, cases, environment())
    records: list[Record] = []
    crashes: dict[str, str] = {}
    for guidance in (Guidance(), *learned):
        make = retriever_factory(index, encoder, beside(folder, "peers"), guidance.guide)
        for method in GUIDED if guidance.checkpoint else (*GUIDED, *peers):
            name = method + EXACT if method in GUIDED and guidance.checkpoint is None else method
            try:
                records.append(_run(bench, guidance, make(method)) | {"method": name})
            except Exception as error:  # a method that can't start is reported, and the others still run
                crashes[name] = f"{type(error).__name__}: {error}"
    return Repeated(
        dataset.lake,
        dataset.title,
        encoder.name,
        figures_of(summary(records)["lakes"]),
        crashes,
        unlearned,
        environment=bench.place,
    )


@dataclass(frozen=True, eq=False)
class _Bench:
    """An opened lake with its cases."""

    dataset: Dataset
    encoder: str
    cases: Sequence[Any]
    place: dict[str, Any]


def _run(bench: _Bench, guidance: Guidance, retriever: Retriever) -> dict[str, Any]:
    from graftjax.evaluate.runs import run_method, run_record

    retriever.warm_up([BUDGET])
    run = run_method(
        retriever, bench.cases, budget=BUDGET, seed=guidance.training_seed, progress=sys.stderr.isatty()
    )
    return run_record(
        run,
        lake=bench.dataset.lake,
        config={"guided_by": guidance.record() if retriever.name in GUIDED else None},
        environment=bench.place,
        more={"lake_title": bench.dataset.title, "encoder": bench.encoder},
    )


def verdicts_of(repeated: Repeated, on_record: Sequence[Expected]) -> list[Verdict]:
    """The figures on record for this lake and budget, each with what came out now."""
    found = []
    for expected in on_record:
        for name, figure in expected.figures.items():
            cell = cell_of(name)
            if figure.tolerance is None or cell is None or not _is_quick(cell, repeated.lake):
                continue
            if cell.method in repeated.crashed:
                found.append(crashed(name, figure, repeated.crashed[cell.method]))
                continue
            ours = None if repeated.why else repeated.figures.get(name)
            why = repeated.why or (repeated.unlearned if cell.method in GUIDED else "")
            title = expected.details.get("titles", {}).get(cell.lake, repeated.title)
            if not repeated.why and title != repeated.title:
                ours, why = None, f"on record is {title}, here is {repeated.title}"
            elif not repeated.why and expected.encoder != repeated.encoder:
                ours, why = None, f"on record is the encoder {expected.encoder}"
            found.append(judge(name, figure, ours, why))
    return found


def _is_quick(cell: Cell, lake: str) -> bool:
    known = (*GUIDED, *(name + EXACT for name in GUIDED), *PEER_METHODS)
    return (cell.lake, cell.budget) == (lake, BUDGET) and cell.method in known


def on_record(repeated: Sequence[Repeated]) -> Expected:
    """What results/quick.yaml holds: figures by exact gains of all lakes, and all of the demo lake's."""
    ran = [one for one in repeated if not one.why]
    if not ran:
        raise GraftError("nothing was run")
    figures = {
        name: figure
        for one in ran
        for name, figure in one.figures.items()
        if (cell := cell_of(name)) is not None
        and (cell.method.endswith(EXACT) or (one.lake == "demo" and cell.method not in GUIDED))
    }
    return Expected(
        **header("quick", ran[0].environment),
        seeds=(0,),
        encoder=ran[0].encoder,
        guidance="exact",
        figures=figures,
        details={"titles": {one.lake: one.title for one in ran}},
    )
