"""`graftjax index`: a folder of tables → its index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from graftjax.commands.lakes import Folder, check_folder, check_place, open_folder, show
from graftjax.errors import UsageError
from graftjax.lakes import is_index


@dataclass(frozen=True)
class Index:
    """Index a folder tree of CSV, TSV, Parquet and SQLite files, or bring its index up to date."""

    folder: Folder
    """Folder of the tables."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["--index"])] = None
    """Folder of the index; default one per lake in the user's cache, where `search --lake FOLDER` looks."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""


def run(arguments: Index) -> None:
    """Index, and print what was found."""
    check_folder(arguments.folder)
    check_place(arguments.out, "--out")
    if arguments.out is not None and arguments.out.resolve().is_relative_to(arguments.folder.resolve()):
        raise UsageError(f"--out {arguments.out}: lies among the tables, and would be read as some of them")
    if arguments.out is None and is_index(arguments.folder):
        raise UsageError(f"{arguments.folder}: this is an index; name the folder of the tables")
    from graftjax import describe

    index, _ = open_folder(arguments.folder, arguments.encoder, arguments.out)
    if not index.tables:
        show(f"{arguments.folder}: no tables there that can be read")
    show(describe.statistics(index), describe.skips(index.skips, "skipped"), f"index: {index.folder}")
