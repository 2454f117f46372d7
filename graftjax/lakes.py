"""Which lake a user means, and where the rows of an index lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from graftjax.errors import GraftError, UsageError

if TYPE_CHECKING:
    from graftjax.evaluate.datasets import Dataset
    from graftjax.fuse import BenchmarkSource, FolderSource
    from graftjax.lake.benchmark import Benchmark
    from graftjax.types import Table, TableId

# What reads a lake is imported inside the functions: the command line is checked before JAX starts.

NAMED = ("demo", "spider", "bird")
"""Lakes that go by a name; a folder that is called so is meant by `./demo`."""


def is_index(folder: Path) -> bool:
    """Whether a folder is that of an index."""
    return (folder / "current.json").is_file()


def check_lake(lake: str | Path, option: str = "") -> None:
    """UsageError for what is neither a named lake nor a folder; `option` is what the user put before it."""
    if lake not in NAMED and Path(lake).is_file():
        raise UsageError(f"{option}{lake}: is a file; name the folder it lies in")
    if lake not in NAMED and not Path(lake).is_dir():
        raise UsageError(f"{option}{lake}: no such folder, and none of the lakes {', '.join(NAMED)}")


def dataset_of(lake: str | Path, data_dir: Path | None = None) -> Dataset | None:
    """The lake by its name or folder; None for a folder that is an index. A Path is always a folder.

    Raises UsageError for an unknown lake.
    """
    from graftjax.evaluate.datasets import resolve_dataset

    check_lake(lake)
    if lake in NAMED:
        return resolve_dataset(str(lake), data_dir=data_dir)
    return None if is_index(Path(lake)) else folder_dataset(Path(lake))


def folder_dataset(folder: Path) -> Dataset:
    """The lake of the tables in a user's folder, under the label that experiments give it.

    One label means one index, with one value function beside it, whatever command made them.
    """
    from graftjax.demo import queries_file
    from graftjax.evaluate.datasets import resolve_dataset

    place = folder.resolve()
    dataset = resolve_dataset(str(place), queries=queries_file())
    return replace(dataset, title=str(folder), queries=place)  # only experiments read the queries


def rows_of(
    index_folder: Path, tables: Sequence[Table], folder: Path | None = None
) -> FolderSource | BenchmarkSource:
    """The source of the rows of an index that was opened by its own folder.

    `folder`: where its tables lie; default what was recorded beside the index when it was built. The folder
    of a benchmark is known by the names of its shards.

    Raises UsageError when nothing says where the tables lie, GraftError when that folder is gone.
    """
    from graftjax.evaluate.datasets import beside
    from graftjax.files import read_json
    from graftjax.fuse import lake_source

    if folder is None:
        place = (read_json(beside(index_folder, "source.json")) or {}).get("location")
        if not isinstance(place, str):
            raise UsageError(
                f"{index_folder}: the index does not say where its tables lie; pass --tables FOLDER"
            )
        folder = Path(place)
        if not folder.is_dir():
            raise GraftError(f"{folder}: the folder that was indexed is gone; pass --tables FOLDER")
    elif not folder.is_dir():
        raise UsageError(f"--tables {folder}: no such folder")
    return lake_source(tables, folder, _benchmark_at(folder, {table.id for table in tables}))


def _benchmark_at(folder: Path, ids: set[TableId]) -> Benchmark | None:
    """The benchmark in a folder that deals exactly such tables, as shards or whole."""
    from graftjax.lake.benchmark import LAYOUTS, Benchmark

    if folder.name not in LAYOUTS or not (folder / LAYOUTS[folder.name]).is_dir():
        return None
    sharded = Benchmark.open(folder.name, folder.parent)
    for benchmark in (sharded, sharded.whole({id.source for id in ids})):
        if ids <= {id for shards in benchmark.shards.values() for id in shards}:
            return benchmark
    return None
