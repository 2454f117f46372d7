"""`graftjax inspect`: what is in a lake."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from graftjax.commands.lakes import show, show_json
from graftjax.errors import UsageError
from graftjax.lakes import check_lake


@dataclass(frozen=True)
class Inspect:
    """Statistics of a lake, what could not be read and why, its unions and its most joinable columns."""

    lake: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="LAKE")]
    """Folder of the tables, folder of an index, or demo, spider, bird."""
    most: int = 10
    """At most this many union clusters, keys and joins."""
    json: bool = False
    """Print it as JSON."""
    encoder: str = "embedded"
    """Text encoder, when the folder has to be indexed first."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""


def run(arguments: Inspect) -> None:
    """Print what the index says."""
    if arguments.most < 0:
        raise UsageError(f"--most can't be negative, and is {arguments.most}")
    check_lake(arguments.lake)
    from graftjax.lakes import dataset_of
    from graftjax.overview import overview_of, overview_text

    dataset = dataset_of(arguments.lake, arguments.data_dir)
    if dataset is None:
        from graftjax.lake.index import open_index

        index = open_index(Path(arguments.lake))  # whatever encoder made it
    else:
        from graftjax.encode import load_encoder
        from graftjax.evaluate.datasets import index_folder, open_lake

        index = open_lake(dataset, index_folder(dataset), load_encoder(arguments.encoder))
    found = overview_of(index, arguments.most)
    if arguments.json:
        show_json(found.record())
    else:
        show(overview_text(found))
