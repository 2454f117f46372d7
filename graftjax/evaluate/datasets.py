"""Which lake and which queries an experiment runs on, and where the lake's index is kept."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xxhash

from graftjax.demo import lake_folder, queries_file
from graftjax.errors import GraftError, UsageError
from graftjax.lake.benchmark import LAYOUTS, Benchmark
from graftjax.lake.folder import find_profiles, find_tables
from graftjax.lake.known_files import KnownFiles, Profiled
from graftjax.lake.raw import RawTable
from graftjax.lake.record import LakeIndex
from graftjax.types import Skip

BENCHMARKS = tuple(LAYOUTS)
DEV_LAKES = {f"{name}-dev": name for name in BENCHMARKS}
"""Lakes of a benchmark's development databases, pooled without shards: JAR's setting."""
_NAMED = (*BENCHMARKS, *DEV_LAKES, "demo")

_TITLES = {"spider": "Spider", "bird": "BIRD"}
_BIRD_DEV = frozenset(
    {
        "california_schools",
        "card_games",
        "codebase_community",
        "debit_card_specializing",
        "european_football_2",
        "financial",
        "formula_1",
        "student_club",
        "superhero",
        "thrombosis_prediction",
        "toxicology",
    }
)
"""Databases of BIRD's development set; another set of databases is shown as a subset."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A lake with the queries asked of it."""

    lake: str
    """Label in result files: spider, bird, spider-dev, bird-dev, demo, or a word of the folder's name."""
    title: str
    """Label for people; says so when the data are a subset or stand in for others."""
    location: Path
    """Absolute folder of the lake."""
    queries: Path
    """JSONL file of the queries, or the benchmark's own dev.json when `asks_dev`."""
    benchmark: Benchmark | None = None
    """None for the demo lake and a user's own folder."""
    asks_dev: bool = False
    """Whether `queries` is in the benchmark's form (see `graftjax.evaluate.dev_questions`)."""

    def raw_tables(self) -> Iterator[RawTable | Skip]:
        """All tables of the lake, and what could not be read."""
        return self.benchmark.raw_tables() if self.benchmark else find_tables(self.location)

    def tables(self, known: KnownFiles) -> Iterator[RawTable | Profiled | Skip]:
        """The same for an index: files of a folder that are known already are not read again."""
        return self.benchmark.raw_tables() if self.benchmark else find_profiles(self.location, known)

    def stamp(self) -> str:
        """Hex digest of the lake's files by path, size and time, in a folder by inode too.

        A new one means a stale index.
        """
        digest = xxhash.xxh3_128(f"{self.benchmark.seed if self.benchmark else ''}".encode())
        if self.benchmark:
            rule = [self.location / "shards.json"] if self.benchmark.sharded else []
            files = [str(path) for path in sorted([*self.benchmark.databases, *rule])]
        else:
            files = sorted(_files_below(self.location))
        for path in files:
            try:
                status = os.stat(path)
            except OSError:  # vanished, or a broken link: the reader reports it
                continue
            digest.update(os.fsencode(path) + b"\0%d %d\0" % (status.st_size, status.st_mtime_ns))
            if not self.benchmark:  # another file may have the size and time of the one it replaces
                digest.update(b"%d\0" % status.st_ino)
        return digest.hexdigest()


def _files_below(folder: Path) -> Iterator[str]:
    """Paths of all files below a folder; links to folders are followed, each folder once."""
    seen: set[tuple[int, int]] = set()
    for base, folders, names in os.walk(folder, followlinks=True):
        for name in folders.copy():
            try:
                status = os.stat(os.path.join(base, name))
            except OSError:
                folders.remove(name)
                continue
            if (status.st_dev, status.st_ino) in seen:
                folders.remove(name)
            seen.add((status.st_dev, status.st_ino))
        yield from (os.path.join(base, name) for name in names)


def resolve_dataset(
    lake: str = "auto",
    *,
    default: str = "spider",
    data_dir: Path | None = None,
    queries: Path | None = None,
) -> Dataset:
    """The data set that `--lake`, `--data-dir` and `--queries` ask for.

    `lake`: spider, bird, spider-dev, bird-dev, demo, a folder of tables, or auto. `auto` is `default`, or
    the demo lake, with a loud notice on stderr, when that benchmark is not under the data directory.

    Raises UsageError for an unknown lake, a missing folder or file, or a folder lake without queries.
    """
    if data_dir is not None and not data_dir.is_dir():
        raise UsageError(f"--data-dir {data_dir}: no such folder")
    if queries is not None and not queries.is_file():
        raise UsageError(f"--queries {queries}: no such file")
    if lake == "auto":
        try:
            return _named(default, data_dir, queries)
        except UsageError as reason:
            if queries is not None:  # its queries can't be asked of another lake
                raise
            _shout(f"{reason}", f"RUNNING ON THE BUNDLED DEMO LAKE INSTEAD: these are not {default} scores")
            return _demo(None, f"demo lake ({default} not found)")
    if lake == "demo":
        return _demo(queries, "demo lake")
    if lake in _NAMED:
        return _named(lake, data_dir, queries)
    folder = Path(lake)
    if not folder.is_dir():
        raise UsageError(f"--lake {lake}: neither {', '.join(('auto', *_NAMED))} nor a folder")
    if queries is None:
        raise UsageError(f"--lake {lake}: a folder of tables needs --queries FILE")
    folder = folder.resolve()
    label = re.sub(r"[^A-Za-z0-9.]+", "-", folder.name).strip("-.") or "folder"
    if label in _NAMED:  # results of a folder that is called like a benchmark stay apart
        label = f"{label}-folder"
    return Dataset(label, str(lake), folder, queries)


def data_directory(data_dir: Path | None) -> Path:
    """`data_dir`, else $GRAFTJAX_DATA, else ./data."""
    return Path(data_dir or os.environ.get("GRAFTJAX_DATA") or "data")


def index_folder(dataset: Dataset, index: Path | None = None) -> Path:
    """`index` when given, else a folder of its own for each lake location and seed in the user's cache."""
    if index is not None:
        return index
    seed = dataset.benchmark.seed if dataset.benchmark else ""
    key = xxhash.xxh3_64_hexdigest(os.fsencode(dataset.location) + f"\0{seed}".encode())
    return cache_directory() / f"{dataset.lake}-{key}"


def cache_directory() -> Path:
    """graftjax's folder under $XDG_CACHE_HOME, else under ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "graftjax"


def beside(index: Path, what: str) -> Path:
    """A path next to an index folder for what belongs to it without being part of it."""
    index = index.absolute()
    return index.with_name(f"{index.name}.{what}")


def open_lake(dataset: Dataset, folder: Path, encoder: Any) -> LakeIndex:
    """The lake's index, built first when it is missing, unreadable, of another encoder or stale.

    Stale means that files of the lake have changed since this function built the index. An index that has
    no such record (one built by hand) is taken as it is.
    """
    from graftjax.lake.index import build_index, open_index
    from graftjax.lake.update import add_files

    stamp, record = dataset.stamp(), beside(folder, "source.json")
    known = _read_stamp(record)
    reason = f"{folder}: no index there"
    if folder.exists() and known in (None, stamp):
        try:
            return open_index(folder, encoder.name)
        except GraftError as error:
            reason = str(error)
    elif folder.exists():
        reason = f"{folder}: the files of the lake have changed"
    folder.parent.mkdir(parents=True, exist_ok=True)
    files = KnownFiles(folder)
    index = None if dataset.benchmark else add_files(dataset.location, folder, encoder, files)
    if index is not None:
        print(f"{folder}: brought up to date, {len(index.tables)} tables", file=sys.stderr)
    else:
        print(f"{reason}; indexing {dataset.title} ...", file=sys.stderr)
        index = build_index(dataset.tables(files), folder, encoder, progress=sys.stderr.isatty())
    files.commit()
    record.write_text(json.dumps({"location": str(dataset.location), "stamp": stamp}), encoding="utf-8")
    return index


def _read_stamp(record: Path) -> str | None:
    try:
        return json.loads(record.read_text(encoding="utf-8"))["stamp"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return ""  # a broken record: build again


def _named(name: str, data_dir: Path | None, queries: Path | None) -> Dataset:
    return (_dev if name in DEV_LAKES else _benchmark)(name, data_dir, queries)


def _benchmark(name: str, data_dir: Path | None, queries: Path | None) -> Dataset:
    benchmark = Benchmark.open(name, data_directory(data_dir))
    if not benchmark.databases:
        raise UsageError(f"{name} at {benchmark.folder} has no databases (<db>/<db>.sqlite)")
    file = queries or benchmark.queries_file
    if not file.is_file():
        raise UsageError(f"{file}: no such query file; pass --queries FILE")
    title = _TITLES[name]
    if name == "bird" and {path.stem for path in benchmark.databases} != _BIRD_DEV:
        title = "BIRD subset"
    return Dataset(name, title, benchmark.folder.resolve(), file, benchmark)


def _dev(name: str, data_dir: Path | None, queries: Path | None) -> Dataset:
    from graftjax.evaluate.dev_questions import (
        dev_databases,
    )  # a sixth of a second that other lakes don't need

    benchmark = Benchmark.open(DEV_LAKES[name], data_directory(data_dir))
    file = benchmark.folder / "dev.json"
    try:
        wanted = dev_databases(file)
    except GraftError as error:
        raise UsageError(str(error)) from error
    whole = benchmark.whole(wanted)
    if not whole.databases:
        raise UsageError(f"{benchmark.folder} has none of the databases of {file.name}")
    title = f"{_TITLES[benchmark.name]} dev databases, unsharded"
    if {path.stem for path in whole.databases} != wanted:
        title = f"{title} (subset)"
    return Dataset(name, title, benchmark.folder.resolve(), queries or file, whole, asks_dev=queries is None)


def _demo(queries: Path | None, title: str) -> Dataset:
    return Dataset("demo", title, lake_folder().resolve(), queries or queries_file())


def _shout(*lines: str) -> None:
    rule = "!" * 78
    print(rule, *(f"!! {line}" for line in lines), rule, sep="\n", file=sys.stderr)
