"""Training data enrichment: the paper's Tables 4 and 5, with reference rows, intervals and gains.

Command:   python experiments/enrichment.py --readme README.md
Hardware:  2 CPU cores
Time:      39 min with nothing at hand (12 min of it to split the sources and index the lake); a minute with
           --lake demo
Expected:  results/enrichment.yaml as it is in the repository

Each source is split into a base table and pieces; a question asks for tables that help to predict the base
table's target. What a method retrieves is joined and unioned with the base by the lake graph's own edges, the
same way for all, and a fixed predictor is scored by five folds of the base's rows. Scores are kept, so a
killed run goes on where it stopped. --shuffle-target is the leak test.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from _points import on_record
from _tables import RunArgs, check_args

from graftjax.console import parse_arguments, run_console
from graftjax.enrich.build import EnrichmentLake, Kind, build_lake
from graftjax.enrich.predict import check_installed
from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.datasets import (
    Dataset,
    beside,
    cache_directory,
    data_directory,
    index_folder,
    open_lake,
)
from graftjax.evaluate.report import Record, skip_lines
from graftjax.files import replacing, writing
from graftjax.peers.methods import GUIDED, PEERS, check_methods
from graftjax.peers.peer import WITH_UNIONS

MADE_BY = "make reproduce-enrichment"


@dataclass(frozen=True)
class Args(RunArgs):
    """Arguments of the enrichment experiment."""

    methods: tuple[str, ...] = (
        "graft-fill",
        "graft",
        *(name + end for name in PEERS for end in ("", WITH_UNIONS)),
    )
    """Methods to run, one or more; the reference rows (base table alone, random tables, all gold pieces) are
    always there."""
    lake: Literal["auto", "open-data", "open-data-tuning", "demo"] = "auto"
    """open-data (20 sources among 8,177 distractors), open-data-tuning (the four spare sources, on which
    dials may be chosen), demo (made sources in the demo lake); auto: open-data, else demo."""
    forms: Literal["template", "features", "reworded"] = "reworded"
    """Questions: the paper's template without or with named features, or free wordings."""
    rows: int | None = None
    """Most rows of a source, a random choice; default 8,000, demo 800."""
    distractors: int | None = None
    """So many of the distractors, a random choice, instead of all."""
    runs: int = 3
    """Number of runs, with seeds seed, seed + 1, ... of the predictor's folds and of the random tables."""
    split_seed: int = 0
    """Seed of the split into pieces."""
    sources: tuple[str, ...] = ()
    """Only these sources, by name."""
    shuffle_target: bool = False
    """The leak test: targets are dealt anew among the rows of each source; writes no summary."""
    workers: int = 0
    """Processes of the predictor; 0: one for each processor."""
    index: Path | None = None
    """Folder of the lake's index; default in the user's cache. Built when missing or stale."""
    out: Path = Path("results/enrichment")
    """Folder for the result files, one JSON per task, method, L and seed."""
    summary: Path | None = None
    """File for the summary; default results/enrichment.yaml with --readme, else a file in --out."""
    plot: Path | None = None
    """SVG of the metrics against L."""
    readme: Path | None = None
    """Document whose blocks `enrichment-regression` and `enrichment-classification` are renewed."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    check_args(args)
    if args.workers < 0:
        raise UsageError(f"--workers must be 0 or more, not {args.workers}")
    if args.readme is not None and not args.readme.is_file():
        raise UsageError(f"--readme {args.readme}: no such file")
    check_installed()
    lake = _lake(args)
    records = _run(args, lake)
    if args.shuffle_target:
        from graftjax.enrich.summary import leak_lines

        print("\n".join(leak_lines(records)))
    else:
        _summarise(args, lake, records)
    print("\n".join(skip_lines(records)))
    print(f"\n{len(records)} result files in {args.out}")
    if any(record["metrics"] is None for record in records):
        raise GraftError("a run has not one scored query; see `skipped` in its result file")
    return 0


def _lake(args: Args) -> EnrichmentLake:
    """The lake that is asked for, made when it is not there; the demo's, loudly, without open data."""
    kind: Kind = "open-data" if args.lake == "auto" else args.lake
    options: dict[str, Any] = {"seed": args.split_seed, "rows": args.rows, "names": args.sources}
    data = data_directory(args.data_dir)
    try:
        return build_lake(kind, cache_directory(), data=data, distractors=args.distractors, **options)
    except UsageError as reason:
        if args.lake != "auto" or args.sources:
            raise
        rule = "!" * 78
        print(
            rule,
            f"!! {reason}",
            "!! RUNNING ON THE MADE DEMO SOURCES INSTEAD",
            rule,
            sep="\n",
            file=sys.stderr,
        )
        return build_lake("demo", cache_directory(), **options)


def _run(args: Args, lake: EnrichmentLake) -> list[Record]:
    """Retrieve by all methods, score what they found, write the result files."""
    from graftjax.encode import load_encoder
    from graftjax.enrich.questions import cases_of
    from graftjax.enrich.runs import LABELS, method_runs, reference_runs, scored_records
    from graftjax.enrich.score import Scorer
    from graftjax.evaluate.environment import environment
    from graftjax.evaluate.guidance import find_guidances
    from graftjax.evaluate.runs import write_record
    from graftjax.fuse import lake_source
    from graftjax.peers.methods import retriever_factory

    encoder = load_encoder(args.encoder)
    kind = lake.manifest.kind
    # The lakes of one kind differ by their folders, so each has an index of its own.
    dataset = Dataset(f"enrichment-{kind}", f"enrichment lake ({kind})", lake.lake.resolve(), lake.lake)
    folder = index_folder(dataset, args.index)
    index = open_lake(dataset, folder, encoder)
    cases = cases_of(lake.manifest, args.forms)
    seeds = tuple(range(args.seed, args.seed + args.runs))
    counts = {"questions": len(cases), **index.statistics()}
    print(f"{dataset.title}: " + ", ".join(f"{value:,} {name}" for name, value in counts.items()))
    guided = find_guidances(folder, encoder.name, args.checkpoint[:1], args.guidance, seed=args.seed, runs=1)[
        0
    ]
    make = retriever_factory(
        index, encoder, beside(folder, "peers"), guided.guide, tuned=args.dials == "tuned", based=True
    )
    budgets = sorted(set(args.L))
    runs = reference_runs(index, cases, budgets, seeds)
    runs += method_runs((make(name) for name in check_methods(args.methods)), cases, budgets, seeds)
    scores = beside(folder, "scores")
    scorer = Scorer(
        index,
        lake_source(index.tables, dataset.location),
        lake.manifest,
        scores,
        shuffled=args.shuffle_target,
    )
    config = {
        **dataclasses.asdict(args),
        "command": shlex.join(["python", *sys.argv]),
        "encoder_name": encoder.name,
        "guided_by": guided.record(),
        "lake_folder": str(lake.folder),
        "lake_statistics": counts,
    }
    before = "" if kind == "open-data" else f"{kind}-"
    before += "shuffled-" if args.shuffle_target else ""
    records: list[Record] = []
    records += scored_records(
        runs,
        scorer,
        workers=args.workers or len(os.sched_getaffinity(0)),
        label=lambda task: before + LABELS[task],
        config=config,
        environment=environment(),
        more={"lake_title": dataset.title, "encoder": encoder.name, "form": args.forms},
    )
    for record in records:
        guide = guided.record() if record["method"] in GUIDED else None
        write_record(args.out, {**record, "config": {**config, "guided_by": guide}})
    return records


def _summarise(args: Args, lake: EnrichmentLake, records: list[Record]) -> None:
    from graftjax.enrich.shown import blocks, curves
    from graftjax.enrich.summary import details_of, figures_of
    from graftjax.evaluate.markdown import renew
    from graftjax.results.expected import Expected, header, write

    figures, details = figures_of(records), details_of(records)
    about = {
        "titles": {record["lake"]: record["lake_title"] for record in records},
        "questions": args.forms,
        "lake": records[0]["config"]["lake_statistics"],
        "split": {name: getattr(lake.manifest, name) for name in ("kind", "rule", "seed", "rows", "digest")},
    }
    by = records[0]["config"]["guided_by"]
    expected = Expected(
        **header("enrichment", records[0]["environment"]),
        seeds=tuple(range(args.seed, args.seed + args.runs)),
        over="sources",
        encoder=records[0]["encoder"],
        guidance=by["guidance"],
        figures=figures,
        details={**about, **details},
    )
    write(on_record(args.summary, args, "results/enrichment.yaml"), expected)
    made = blocks(figures, details)
    for lines in made.values():
        print("\n".join(lines), end="\n\n")
    if args.readme is not None:
        renew(args.readme, made, MADE_BY)
    if args.plot is not None:
        with writing(args.plot.parent, "plot"), replacing(args.plot) as draft:
            draft.write_text(curves(figures), encoding="utf-8")


if __name__ == "__main__":
    run_console(main, "enrichment.py")
