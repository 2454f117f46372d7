"""The command `graftjax`: its subcommands under one name."""

from __future__ import annotations

import sys
from functools import reduce
from operator import or_
from typing import Annotated, Any, NoReturn

import tyro

from graftjax.commands import demo, fuse, index, inspect, report, search, train
from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError

_KINDS = {
    "index": index.Index,
    "train": train.Train,
    "search": search.Search,
    "fuse": fuse.Fuse,
    "report": report.Report,
    "inspect": inspect.Inspect,
    "demo": demo.Demo,
}
COMMANDS: Any = reduce(
    or_, (Annotated[kind, tyro.conf.subcommand(name, prefix_name=False)] for name, kind in _KINDS.items())
)


def run(argv: list[str] | None = None) -> int:
    """Carry out one command line; exit code 0. Raises GraftError, and SystemExit for `--help`."""
    given = sys.argv[1:] if argv is None else argv
    if given and not given[0].startswith("-") and given[0] not in _KINDS:
        raise UsageError(f"unknown command {given[0]!r}: choose from {', '.join(_KINDS)}")
    match parse_arguments(COMMANDS, argv, program="graftjax"):
        case index.Index() as arguments:
            index.run(arguments)
        case train.Train() as arguments:
            train.run(arguments)
        case search.Search() as arguments:
            search.run(arguments)
        case fuse.Fuse() as arguments:
            fuse.run(arguments)
        case report.Report() as arguments:
            report.run(arguments)
        case inspect.Inspect() as arguments:
            inspect.run(arguments)
        case demo.Demo() as arguments:
            demo.run(arguments)
    return 0


def main() -> NoReturn:
    """Entry point of the installed command."""
    run_console(run, "graftjax")
