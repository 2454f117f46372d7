"""`graftjax inspect`: what is in a lake."""

from __future__ import annotations

from dataclasses import dataclass

from graftjax.commands.lakes import Folder, check_folder, is_index, open_folder, show


@dataclass(frozen=True)
class Inspect:
    """Statistics of a lake, what could not be read and why, and its most joinable columns."""

    folder: Folder
    """Folder of the tables, or folder of an index."""
    encoder: str = "embedded"
    """Text encoder, when the folder has to be indexed first."""


def run(arguments: Inspect) -> None:
    """Print what the index says."""
    check_folder(arguments.folder)
    from graftjax import describe

    if is_index(arguments.folder):
        from graftjax.lake.index import open_index

        index = open_index(arguments.folder)  # whatever encoder made it
    else:
        index, _ = open_folder(arguments.folder, arguments.encoder)
    show(
        describe.statistics(index),
        describe.skips(index.skips, "skipped"),
        describe.skips(index.notes, "read with changes"),
        describe.joinable_columns(index),
    )
