"""`python -m graftjax.results summarise | check | record | readme | plots`: results/ as data."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from graftjax.console import parse_arguments, run_console
from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.metrics import METRICS
from graftjax.files import replacing, writing

PROGRAM = "python -m graftjax.results"


@dataclass(frozen=True)
class Summarise:
    """A table of runs: means, intervals over queries, spread over seeds; what can't be compared is said."""

    paths: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PATH")]
    """Result files of runs, folders of them (at any depth), or globs in quotes; one or more."""
    by: tuple[str, ...] = ()
    """Fields of the runs' configurations that tell rows apart (dotted where nested); none: those that differ
    between runs of one lake, method, L and seed."""
    shared: bool = False
    """Score only the queries that all rows of a lake have a score for."""
    metric: str = "f1"
    """Metric of the plot: recall, precision, f1 or sufficiency."""
    x: str | None = None
    """Horizontal axis of the plot: L or a field; default the first swept field, else L."""
    plot: Path | None = None
    """SVG file for the plot."""
    csv: Path | None = None
    """CSV file for the table."""
    json: Path | None = None
    """JSON file for the table."""


@dataclass(frozen=True)
class Check:
    """Repeat the quick part of the experiments and compare it with results/: OK, NEAR (within two
    tolerances), OFF, or not run. Exit code 1 when something is OFF or nothing could be run."""

    lakes: tuple[str, ...] = ("demo", "spider", "bird")
    """Lakes to run on; those whose data are not there are reported as not run."""
    results: Path = Path("results")
    """Folder of the figures on record."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""


@dataclass(frozen=True)
class RecordQuick(Check):
    """Run what `check` runs and put it on record as results/quick.yaml."""


@dataclass(frozen=True)
class Readme:
    """Renew the blocks of the README that are made of results/*.yaml."""

    document: Path = Path("README.md")
    """The document with the blocks."""
    results: Path = Path("results")
    """Folder of the figures on record."""
    check: bool = False
    """Write nothing; exit code 1 when a block is not as it would be written."""


@dataclass(frozen=True)
class Plots:
    """Draw the figures of results/*.yaml against L, or against what was swept, as SVG files."""

    results: Path = Path("results")
    """Folder of the figures on record."""
    out: Path = Path("docs")
    """Folder for the files, <experiment>.svg."""
    metric: str = "f1"
    """Metric to draw: recall, precision, f1, sufficiency, or one of the experiment's own."""


def _subcommand(kind: type, name: str) -> Any:
    return Annotated[kind, tyro.conf.subcommand(name, prefix_name=False)]


COMMANDS: Any = (
    _subcommand(Summarise, "summarise")
    | _subcommand(Check, "check")
    | _subcommand(RecordQuick, "record")
    | _subcommand(Readme, "readme")
    | _subcommand(Plots, "plots")
)


def run(argv: list[str] | None = None) -> int:
    """Carry out one command line and give its exit code."""
    match parse_arguments(COMMANDS, argv, program=PROGRAM):
        case Summarise() as arguments:
            return summarise(arguments)
        case RecordQuick() as arguments:
            return record(arguments)
        case Check() as arguments:
            return check(arguments)
        case Readme() as arguments:
            return readme(arguments)
        case Plots() as arguments:
            return plots(arguments)
    return 0


def summarise(arguments: Summarise) -> int:
    """Print the table; exit code 1 when a file was refused or a row has no score."""
    from graftjax.results import groups
    from graftjax.results.panels import summary_panels
    from graftjax.results.plot import svg
    from graftjax.results.records import find_runs
    from graftjax.results.tables import csv_text, json_text, refused_lines, text_table

    if arguments.metric not in METRICS:
        raise UsageError(f"--metric {arguments.metric}: choose from {', '.join(METRICS)}")
    found = find_runs(arguments.paths)
    summary = groups.summarise(found.records, arguments.by or None, shared=arguments.shared)
    if arguments.x is not None and arguments.x not in ("L", *summary.by):
        known = ", ".join(("L", *summary.by))
        raise UsageError(f"--x {arguments.x}: the rows do not differ by it; choose from {known}")
    if summary.rows:
        print("\n".join(text_table(summary)))
    print("\n".join(refused_lines(found.refused)), end="\n" if found.refused else "")
    if found.others:
        print(f"{found.others} JSON files are no runs of a method and were left out")
    if arguments.plot is not None:
        _save(arguments.plot, svg(summary_panels(summary, arguments.metric, arguments.x)))
    if arguments.csv is not None:
        _save(arguments.csv, csv_text(summary))
    if arguments.json is not None:
        _save(arguments.json, json_text(summary, found.refused))
    return int(bool(found.refused) or any(not row.metrics for row in summary.rows))


def check(arguments: Check) -> int:
    """Print a line a figure."""
    from graftjax.results import quick
    from graftjax.results.expected import read
    from graftjax.results.verdicts import counts, lines

    _check_lakes(arguments)
    expected = [read(arguments.results / f"{name}.yaml") for name in quick.FILES]
    verdicts = []
    for lake in dict.fromkeys(arguments.lakes):
        found = quick.repeat(lake, data_dir=arguments.data_dir, encoder=arguments.encoder)
        verdicts += quick.verdicts_of(found, expected)
    print("\n".join(lines(verdicts)))
    number = counts(verdicts)
    if number["not run"] == len(verdicts):
        raise GraftError("not one figure could be checked")
    return int(number["OFF"] > 0)


def record(arguments: RecordQuick) -> int:
    """Write results/quick.yaml."""
    from graftjax.results import quick
    from graftjax.results.expected import write

    _check_lakes(arguments)
    found = [
        quick.repeat(lake, data_dir=arguments.data_dir, encoder=arguments.encoder)
        for lake in dict.fromkeys(arguments.lakes)
    ]
    for one in found:
        if one.why:
            print(f"{one.lake}: not run: {one.why}", file=sys.stderr)
    path = arguments.results / f"{quick.FILES[0]}.yaml"
    write(path, quick.on_record(found))
    print(f"figures in {path}")
    return 0


def readme(arguments: Readme) -> int:
    """Renew or compare the blocks."""
    from graftjax.evaluate.markdown import renew, renewed
    from graftjax.results.blocks import blocks
    from graftjax.results.expected import read_all

    made = blocks(_on_record(arguments.results, read_all))
    for made_by, found in made.items():
        before, after = renewed(arguments.document, found, made_by)
        if arguments.check and before != after:
            raise GraftError(f"{arguments.document} is not what results/ says: run `{PROGRAM} readme`")
        if not arguments.check:
            renew(arguments.document, found, made_by)
    print(f"{arguments.document}: {', '.join(name for found in made.values() for name in found)}")
    return 0


def plots(arguments: Plots) -> int:
    """Write one SVG file for each experiment with curves."""
    from graftjax.results.expected import read_all
    from graftjax.results.panels import expected_panels
    from graftjax.results.plot import svg

    for name, expected in _on_record(arguments.results, read_all).items():
        panels = expected_panels(expected, arguments.metric)
        if panels:
            path = arguments.out / f"{name.replace('_', '-')}.svg"
            _save(path, svg(panels))
            print(path)
    return 0


def _on_record(folder: Path, read_all: Any) -> Any:
    if not folder.is_dir():
        raise UsageError(f"--results {folder}: no such folder")
    found = read_all(folder)
    if not found:
        raise UsageError(f"--results {folder}: no *.yaml there")
    return found


def _check_lakes(arguments: Check) -> None:
    from graftjax.results.quick import LAKES

    for lake in arguments.lakes:
        if lake not in LAKES:
            raise UsageError(f"--lakes {lake}: choose from {', '.join(LAKES)}")
    if not arguments.lakes:
        raise UsageError(f"--lakes needs at least one of {', '.join(LAKES)}")
    if not arguments.results.is_dir():
        raise UsageError(f"--results {arguments.results}: no such folder")


def _save(path: Path, text: str) -> None:
    with writing(path), replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_console(run, PROGRAM)
