"""What the subcommands share: which lake is meant, and lines for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from graftjax.errors import UsageError
from graftjax.lakes import folder_dataset, is_index

if TYPE_CHECKING:
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


def check_folder(folder: Path, option: str = "") -> None:
    """UsageError for a folder that isn't there; `option` is what the user put before it."""
    if folder.is_file():
        raise UsageError(f"{option}{folder}: is a file; name the folder it lies in")
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


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False), flush=True)
