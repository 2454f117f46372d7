"""What the subcommands that fuse an answer have in common."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graftjax.commands.asking import Asking
from graftjax.errors import UsageError

if TYPE_CHECKING:
    from graftjax.fuse import FuseSettings


@dataclass(frozen=True, kw_only=True)
class Fusing(Asking):
    """How the tables that were found become one."""

    join: Literal["auto", "inner", "left", "full"] = "auto"
    """Kind of every join; auto is inner where at least half of the rows have a partner, else left."""
    columns: Literal["all", "asked"] = "all"
    """asked: only the columns that support an attribute of the question."""
    filters: bool = False
    """Keep only the rows that have the values that the question names."""
    most_rows: int = 5_000_000
    """A join that would have more rows is refused before it runs."""
    tables: Path | None = None
    """Folder of the tables, where --lake is an index that does not say where they lie."""


def fuse_settings(arguments: Fusing) -> FuseSettings:
    """The settings; UsageError for one that is out of range."""
    if arguments.most_rows < 1:
        raise UsageError(f"--most-rows must be at least 1, not {arguments.most_rows}")
    if arguments.tables is not None and not arguments.tables.is_dir():
        raise UsageError(f"--tables {arguments.tables}: no such folder")
    from graftjax.fuse import FuseSettings

    return FuseSettings(
        kind=arguments.join,
        columns=arguments.columns,
        filters=arguments.filters,
        most_rows=arguments.most_rows,
    )


def check_writable(path: Path, option: str) -> None:
    """UsageError for a file that can't be made, before an hour is spent on what goes into it."""
    if path.is_dir():
        raise UsageError(f"{option} {path}: is a folder, not a file")
    above = next((folder for folder in path.absolute().parents if folder.exists()), None)
    if above is None or not above.is_dir():
        raise UsageError(f"{option} {path}: {above} is not a folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {path}: {above} can't be written")
