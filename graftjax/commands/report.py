"""`graftjax report`: a question → its answer as one HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graftjax.commands.asking import ask, check, open_asked
from graftjax.commands.fusing import Fusing, check_writable, fuse_settings
from graftjax.commands.lakes import show
from graftjax.errors import UsageError
from graftjax.lake.names import counted

SUFFIXES = (".html", ".htm")


@dataclass(frozen=True, kw_only=True)
class Report(Fusing):
    """Answer a question in one HTML page: what it asks for, the tables and why they are there, the fused
    table. The page is complete in itself and runs nothing."""

    out: Path
    """File of the page, .html."""


def run(arguments: Report) -> None:
    """Write the page."""
    check(arguments)
    if arguments.out.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--out {arguments.out}: the name must end with {' or '.join(SUFFIXES)}")
    check_writable(arguments.out, "--out")
    settings = fuse_settings(arguments)
    lake = open_asked(arguments, arguments.tables)
    lake.rows()  # fails here, not after the search, when they can't be found
    found = ask(arguments, lake)
    refusal = lake.report(found, arguments.out, settings)
    notes = [f"note: {note}" for note in found.notes]
    if refusal:
        notes.append(f"note: not fused: {refusal}")
    show(f"{arguments.out}: {counted(len(found.tables), 'table')}", *notes)
