"""One question step by step, and what other methods miss: the paper's Figure 4.

Command:   python experiments/case_study.py --readme README.md
Hardware:  2 CPU cores
Time:      half a minute on a built index
Expected:  results/case_study.yaml and docs/case_study.svg as they are in the repository

The question of Figure 4 is `demo-fig4` of the demo lake, whose tables around it have the paper's shape:
clubs, a bridge of identifiers alone, and two row shards of the game records. Any other question of a lake
can be named by --id, or asked by --question: one of the query file's own, else it is read by rules (or by a
model, where OPENAI_BASE_URL or OPENAI_API_KEY is set), and then nothing is known to be missed.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from _points import PointArgs, check_common, on_record, save

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import beside
from graftjax.evaluate.guidance import check_guidance
from graftjax.evaluate.metrics import METRICS
from graftjax.evaluate.variants import Bench, open_bench
from graftjax.files import replacing, writing
from graftjax.peers.methods import PEERS, check_methods
from graftjax.results.expected import Figure, figure_name

FIG4 = "demo-fig4"


@dataclass(frozen=True)
class Args(PointArgs):
    """Arguments of the case study."""

    lake: str = "demo"
    """demo, spider, bird, auto (Spider, else the demo lake), or a folder of tables with --queries."""
    id: str | None = None
    """The question, by its id in the query file; default the first one, for the demo lake that of Figure 4.
    """
    question: str | None = None
    """The question itself, instead of --id."""
    L: int = 5
    """Budget: at most this many tables."""
    fill: bool = False
    """Let GRAFT spend the whole budget instead of stopping by itself."""
    methods: tuple[str, ...] = PEERS
    """Methods that GRAFT is compared with; all spend the budget."""
    guidance: Literal["auto", "learned", "exact"] = "exact"
    """Search by exact gains, or by a value function: --checkpoint, else what was trained for the lake."""
    checkpoint: Path | None = None
    """A trained value function: the folder of a training run."""
    picture: Path | None = None
    """File for the picture; default docs/case_study.svg with --readme, else a file in --out."""
    out: Path = Path("results/case_study")
    """Folder for what is not on record."""
    summary: Path | None = None
    """File for the figures; default results/case_study.yaml with --readme, else a file in --out."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    check_common(args)
    check_guidance([] if args.checkpoint is None else [args.checkpoint], args.guidance)
    if args.L < 1:
        raise UsageError(f"--L must be at least 1, not {args.L}")
    methods = check_methods(args.methods)
    if args.question is not None and not args.question.strip():
        raise UsageError("--question is empty")
    if args.id is not None and args.question is not None:
        raise UsageError("--id and --question both name a question: give one")
    if args.picture is not None and args.picture.suffix.lower() != ".svg":
        raise UsageError(f"--picture {args.picture}: the name must end with .svg")
    bench = open_bench(
        args.lake, data_dir=args.data_dir, encoder=args.encoder, queries=args.queries, index_at=args.index
    )
    case, known = _case(bench, args)
    from graftjax.evaluate.case_picture import case_picture
    from graftjax.evaluate.case_study import answer_of, answers, gold_synthesis, walk
    from graftjax.evaluate.guidance import find_guidance
    from graftjax.peers.methods import retriever_factory
    from graftjax.report.boxes import bridge_tables
    from graftjax.search.engine import Engine

    guidance = find_guidance(bench.index.folder, bench.encoder.name, args.checkpoint, args.guidance)
    engine = Engine(bench.index, bench.encoder, guide=guidance.guide)
    taken = walk(engine, case.query, args.L, fill=args.fill)
    gold = case.gold if known else ()
    reference = gold_synthesis(bench.index, gold)
    bridges = bridge_tables(taken.synthesis) | _between(reference, bench)
    make = retriever_factory(bench.index, bench.encoder, beside(bench.index.folder, "peers"))
    name = "graft-fill" if args.fill else "graft"
    found = [answer_of(name, taken.synthesis.tables, gold, bench.index, bridges)]
    found += answers(case.query, gold, methods, make, bench.index, args.L, bridges)
    tables = {table.id: table for table in bench.index.tables if table.id in taken.synthesis.tables}
    picture = case_picture(case.query.question, case.query.intent, taken.synthesis, tables, reference, found)
    place = on_record(args.picture, args, "docs/case_study.svg")
    with writing(place), replacing(place) as draft:
        draft.write_text(picture, encoding="utf-8")
    lines = _lines(case.query, taken, found, gold)
    figures, details = _figures(bench.dataset.lake, args.L, taken, found)
    details["question"] = {"id": case.query.id, "text": case.query.question}
    figures_at = on_record(args.summary, args, "results/case_study.yaml")
    save(
        "case_study", args, figures_at, lines, figures, bench.place, over="one question",
        encoder=bench.encoder.name, guidance=guidance.record()["guidance"], details=details,
    )  # fmt: skip
    print(f"picture in {place}")
    return 0


def _case(bench: Bench, args: Args) -> tuple[Any, bool]:
    """The case asked for, and whether its gold tables are known."""
    from graftjax.evaluate.cases import Case
    from graftjax.evaluate.intents import prepare_intents
    from graftjax.intent.query import Query

    for warning in bench.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if args.question is not None:
        asked = args.question.encode("utf-8", "replace").decode("utf-8").strip()
        for case in bench.cases:
            if case.query.question.strip() == asked:
                return case, not case.reason
        configured = os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")
        source = "endpoint" if configured else "lexical"
        prepared = prepare_intents([Query("asked", asked)], source, bench.index.tables)
        return Case(prepared.queries[0]), False
    wanted = args.id or (FIG4 if bench.dataset.lake == "demo" and args.queries is None else None)
    for case in bench.cases:
        if wanted in (None, case.query.id):
            return replace(case), not case.reason
    raise UsageError(f"--id {wanted}: {bench.dataset.queries.name} has no such question")


def _between(reference: Any, bench: Bench) -> set[Any]:
    """Gold tables that are joined with two others or more and hold keys alone."""
    from graftjax.report.boxes import key_columns

    keys = key_columns(reference)
    partners: dict[Any, int] = {}
    for step in reference.operators:
        for table in (step.anchor, step.new) if step.kind == "join" else ():
            partners[table] = partners.get(table, 0) + 1
    profiles = {table.id: table for table in bench.index.tables if table.id in partners}
    return {
        table
        for table, count in partners.items()
        if count > 1 and all((table, column.name) in keys for column in profiles[table].columns)
    }


def _lines(query: Any, taken: Any, found: list[Any], gold: Any) -> list[str]:
    """The story as Markdown."""
    from graftjax import describe

    lines = [f"**{query.question}**", "", "What it asks for:", ""]
    for tree in query.intent.trees:
        parts = [
            attribute.name + (f" = {' or '.join(attribute.values)}" if attribute.values else "")
            for attribute in tree.attributes
        ]
        lines.append(f"* {tree.entity}: {', '.join(parts) or 'nothing of it'}")
    for join in query.intent.joins:
        ends = [
            f"{query.intent.tree(tree).entity}.{query.intent.attribute(tree, attribute).name}"
            for tree, attribute in (
                (join.from_tree, join.from_attribute),
                (join.to_tree, join.to_attribute),
            )
        ]
        lines.append(f"* join: {' = '.join(ends)}")
    lines += [
        "",
        "| step | table | how | gain in log det J | U | brings | next best |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, step in enumerate(taken.steps, 1):
        brings = "; ".join(step.brings[:4]) + ("; ..." if len(step.brings) > 4 else "")
        rivals = "; ".join(
            f"{rival.table} ({rival.gain:.2f}{'' if rival.admissible else ', not admissible'})"
            for rival in step.rivals[:2]
        )
        lines.append(
            f"| {number} | {step.table} | {_how(step)} | {step.gain:.2f} | {step.utility:.3f} | "
            f"{_cell(brings)} | {_cell(rivals)} |"
        )
    lines += ["", f"Answer: `{describe.plan(taken.synthesis)}`", ""]
    lines += ["| method | gold tables found | others | what goes wrong |", "|---|---|---|---|"]
    for one in found:
        hits = f"{len(gold) - len(one.missed)} of {len(gold)}" if gold else "not known"
        wrong = "; ".join(one.failings) or ("nothing" if gold else "–")
        others = one.others if gold else len(one.tables)
        lines.append(f"| {one.method} | {hits} | {others} | {_cell(wrong)} |")
    return lines


def _how(step: Any) -> str:
    if step.operator is None:
        return {"first": "first table", "bridge": "bridge"}.get(step.kind, "no link found")
    columns = ", ".join(f"{left} = {right}" for left, right in step.operator.columns[:1])
    joined = f"{step.operator.anchor}" + (
        f" on {columns}" if step.operator.kind == "join" and columns else ""
    )
    return f"{step.kind} with {joined}"


def _cell(text: str) -> str:
    return text.replace("|", "/") or "–"


def _figures(
    lake: str, budget: int, taken: Any, found: list[Any]
) -> tuple[dict[str, Figure], dict[str, Any]]:
    figures = {}
    for one in found:
        for metric in METRICS if one.score is not None else ():
            value = float(getattr(one.score, metric))
            figures[figure_name(lake, one.method, budget, metric)] = Figure(value=value, n=1, tolerance=0.0)
    steps = [
        {
            "table": str(step.table),
            "how": _how(step),
            "gain": round(step.gain, 4),
            "U": round(step.utility, 4),
        }
        for step in taken.steps
    ]
    returned = {one.method: [str(table) for table in one.tables] for one in found}
    return figures, {
        "steps": steps,
        "returned": returned,
        "failings": {o.method: list(o.failings) for o in found},
    }


if __name__ == "__main__":
    run_console(main, "case_study.py")
