"""`graftjax demo`: the main job on the bundled lake."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graftjax.commands.lakes import check_budget, show
from graftjax.errors import UsageError

SHOWN = ("graft", "graft-fill", "graft-exact", "dtr", "rear", "greedy-jar")
"""Methods that answer all demo questions within seconds; the others take up to seconds a question."""


@dataclass(frozen=True)
class Demo:
    """The main job on the bundled demo lake: one question answered, and the scores over all its questions."""

    query: str = "demo-fig4"
    """Id of the question that is shown."""
    L: int = 10
    """At most this many tables per question."""
    guidance: Literal["auto", "learned", "exact"] = "auto"
    """Search by the value function (learned) or by exact gains; auto takes --checkpoint, else what
    `graftjax train` made for this lake, else exact gains."""
    checkpoint: Path | None = None
    """A trained value function: the folder of a training run, or of one of its checkpoints."""


def run(arguments: Demo) -> None:
    """Print the answer and the scores."""
    check_budget(arguments.L)
    from graftjax.evaluate.guidance import check_guidance, find_guidance

    given = arguments.checkpoint
    check_guidance([] if given is None else [given], arguments.guidance)
    from graftjax import describe
    from graftjax.encode import load_encoder
    from graftjax.evaluate.cases import load_cases
    from graftjax.evaluate.datasets import index_folder, open_lake, resolve_dataset
    from graftjax.evaluate.runs import run_method, run_record
    from graftjax.peers.methods import retriever_factory

    dataset = resolve_dataset("demo")
    encoder = load_encoder()
    folder = index_folder(dataset)
    index = open_lake(dataset, folder, encoder)
    cases = load_cases(dataset, [table.id for table in index.tables]).cases
    chosen = next((case for case in cases if case.query.id == arguments.query), None)
    if chosen is None:
        raise UsageError(f"--query {arguments.query}: no such question in {dataset.queries.name}")
    guidance = find_guidance(folder, encoder.name, given, arguments.guidance)
    make = retriever_factory(index, encoder, None, guidance.guide)
    retriever = make("graft")
    retriever.warm_up([arguments.L])
    found = retriever.retrieve(chosen.query, arguments.L, 0)
    hits = len(set(found.tables) & set(chosen.gold))
    counts = index.statistics()
    show(
        f"{dataset.title}: {counts['tables']} tables, {counts['columns']} columns, {counts['rows']:,} rows",
        f"question: {chosen.query.question}",
        describe.answer(found.synthesis) if found.synthesis else "no synthesis",
        f"gold: {hits} of {len(chosen.gold)} gold tables found\n",
        f"all {len(cases)} questions, recorded intent graphs, at most {arguments.L} tables",
        "method       recall precision      F1 sufficiency  ms/query skipped",
    )
    for name in SHOWN:
        retriever = make(name)
        retriever.warm_up([arguments.L])
        timed = run_method(retriever, cases, budget=arguments.L, progress=sys.stderr.isatty())
        record = run_record(timed, lake=dataset.lake, config={}, environment={})
        scores = record["metrics"]
        if scores is None:
            first = f" ({timed.skipped[0][1]})" if timed.skipped else ""
            show(f"{name:<11} no question could be scored{first}")
            continue
        show(
            f"{name:<11} {scores['recall']:>7.3f} {scores['precision']:>9.3f} {scores['f1']:>7.3f} "
            f"{scores['sufficiency']:>11.3f} {record['latency_ms']['mean']:>9.1f} {record['n_skipped']:>7}"
        )
