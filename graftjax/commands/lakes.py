"""What the subcommands share: which lake is meant, and lines for people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from graftjax.errors import UsageError

if TYPE_CHECKING:
    from graftjax.evaluate.datasets import Dataset
    from graftjax.lake.record import LakeIndex

Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]


def open_folder(folder: Path, encoder_name: str, out: Path | None = None) -> tuple[LakeIndex, Any]:
    """The index at `folder`, or the (fresh) index of the tables in it, with its encoder."""
    from graftjax.encode import load_encoder
    from graftjax.evaluate.datasets import index_folder, open_lake
    from graftjax.lake.index import open_index

    encoder = load_encoder(encoder_name)
    if out is None and is_index(folder):
        return open_index(folder, encoder.name), encoder
    dataset = folder_dataset(folder)
    return open_lake(dataset, index_folder(dataset, out), encoder), encoder


def folder_dataset(folder: Path) -> Dataset:
    """The lake of the tables in a user's folder, under the label that experiments give it.

    One label means one index, with one value function beside it, whatever command made them.
    """
    from graftjax.demo import queries_file
    from graftjax.evaluate.datasets import resolve_dataset

    place = folder.resolve()
    dataset = resolve_dataset(str(place), queries=queries_file())
    return replace(dataset, title=str(folder), queries=place)  # only experiments read the queries


def is_index(folder: Path) -> bool:
    """Whether a folder is that of an index."""
    return (folder / "current.json").is_file()


def check_folder(folder: Path, option: str = "") -> None:
    """UsageError for a folder that isn't there; `option` is what the user put before it."""
    if not folder.is_dir():
        raise UsageError(f"{option}{folder}: no such folder")


def check_place(folder: Path | None, option: str) -> None:
    """UsageError for something that is no folder, where the option's folder is to be made."""
    if folder is not None and folder.exists() and not folder.is_dir():
        raise UsageError(f"{option} {folder}: not a folder")


def check_budget(L: int) -> None:
    """UsageError for a budget that leaves no room for a table."""
    if L < 1:
        raise UsageError(f"--L must be at least 1, not {L}")


def show(*texts: str) -> None:
    """Print what is not empty."""
    for text in texts:
        if text:
            print(text, flush=True)
