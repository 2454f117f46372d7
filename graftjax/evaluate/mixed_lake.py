"""Lakes of any size for the scaling measurement: real tables first, altered copies of them after that.

The tables form one sequence per seed, and the lake of n tables is the first n of it, so a larger lake
holds every smaller one. The sequence: whole databases of the questions asked (the core, in every
lake); all other databases of Spider and BIRD and all open tables, in a random order of databases;
then, round after round in another order, an altered copy of each of them (`altered`). A source table
of more than MAX_ROWS rows is cut to a random choice of that many, and one of more than MAX_COLUMNS
columns is left out. The demo lake is its own core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

import numpy as np
import xxhash

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.altered import alter, draw_alteration
from graftjax.evaluate.cases import Case, load_cases
from graftjax.evaluate.datasets import Dataset, data_directory, resolve_dataset
from graftjax.lake.benchmark import Benchmark
from graftjax.lake.raw import RawTable
from graftjax.lake.read_parquet import read_parquet
from graftjax.types import Skip, TableId

RULE = 1
"""Number of the rule by which lakes are made: another one makes other lakes of the same seed."""
CORE_TABLES = 500
"""Most tables of the core; every lake has at least this many."""
MAX_ROWS = 4_000
MAX_COLUMNS = 50


@dataclass(frozen=True)
class Unit:
    """Tables that stay together: a database, or one open table."""

    name: str
    source_tables: Callable[[], Iterator[RawTable]]
    """As they are, not dealt to shards."""
    deal: Callable[[RawTable], Iterator[RawTable]]
    """The unaltered shards of a source table."""
    place: str = ""
    """Before the sources of its tables: two collections may have databases of one name."""

    def tables(self, seed: int, number: int) -> Iterator[RawTable]:
        """The real tables (`number` 0), or those of an altered copy."""
        how = draw_alteration(seed, self.name, number) if number else None
        for raw in self.source_tables():
            if 0 < raw.data.num_columns <= MAX_COLUMNS:
                cut = _cut(raw, seed)
                for part in alter(cut, how) if how else self.deal(cut):
                    yield replace(part, id=TableId(self.place + part.id.source, part.id.name))


@dataclass(frozen=True)
class MixedLake:
    """The sequence of tables of one seed."""

    dataset: Dataset
    """Whose questions are asked."""
    core: tuple[Unit, ...]
    others: tuple[Unit, ...]
    seed: int

    def raw_tables(self, size: int) -> Iterator[RawTable]:
        """The lake of `size` tables; fewer when there is nothing to copy."""
        return islice(self._sequence(), size)

    def core_tables(self) -> Iterator[RawTable]:
        """What every lake begins with."""
        for unit in self.core:
            yield from unit.tables(self.seed, 0)

    def cases(self) -> tuple[Case, ...]:
        """The questions that the core alone can answer."""
        core: frozenset[TableId] = frozenset(raw.id for raw in self.core_tables())
        cases = load_cases(self.dataset, core).cases
        return tuple(case for case in cases if not case.reason and core.issuperset(case.gold))

    def _sequence(self) -> Iterator[RawTable]:
        yield from self.core_tables()
        for number in count():
            units = self.others if number == 0 else (*self.core, *self.others)
            order = np.random.default_rng([self.seed, number]).permutation(len(units))
            found = False
            for place in order:
                for raw in units[place].tables(self.seed, number):
                    found = True
                    yield raw
            if number and not found:
                return


def mixed_lake(lake: str, data_dir: Path | None, seed: int) -> MixedLake:
    """The lake of a seed: `spider` (with what lies beside it of bird/ and open_data/) or `demo`.

    Raises UsageError for another word, or when Spider is not under the data directory.
    """
    if lake not in ("spider", "demo"):
        raise UsageError(f"--lake {lake}: choose spider or demo")
    dataset = resolve_dataset(lake, data_dir=data_dir)
    if dataset.benchmark is None:
        tables = tuple(_read(dataset.raw_tables()))  # small enough to be read once
        whole = Unit("demo", lambda: iter(tables), lambda raw: iter((raw,)))
        return MixedLake(dataset, (whole,), (), seed)
    folder = data_directory(data_dir)
    core_names = _core_names(dataset, seed)
    units = _benchmark_units(dataset.benchmark)
    core = tuple(unit for unit in units if unit.name in core_names)
    others = [unit for unit in units if unit.name not in core_names]
    if (folder / "bird").is_dir():
        others += _benchmark_units(Benchmark.open("bird", folder), "bird/")
    open_data = folder / "open_data"
    files = sorted([*open_data.glob("distractors/*.parquet"), *open_data.glob("sources/*.parquet")])
    return MixedLake(dataset, core, (*others, *map(_open_unit, files)), seed)


def _core_names(dataset: Dataset, seed: int) -> frozenset[str]:
    """Databases of the questions, drawn at random, as long as their tables fit the core."""
    benchmark = dataset.benchmark
    assert benchmark is not None
    size: dict[str, int] = {}
    for (database, _), shards in benchmark.shard_counts.items():
        size[database] = size.get(database, 0) + shards
    asked = sorted({case.query.db_id for case in load_cases(dataset, ()).cases} & size.keys())
    room, chosen = CORE_TABLES, set()
    for place in np.random.default_rng([seed, 1 << 20]).permutation(len(asked)):
        if size[asked[place]] <= room:
            room -= size[asked[place]]
            chosen.add(f"{benchmark.name}/{asked[place]}")
    return frozenset(chosen)


def _benchmark_units(benchmark: Benchmark, place: str = "") -> list[Unit]:
    def unit(path: Path) -> Unit:
        source = lambda: _read(benchmark.source_tables(path))  # noqa: E731
        return Unit(f"{benchmark.name}/{path.stem}", source, benchmark.deal, place)

    return [unit(path) for path in benchmark.databases]


def _open_unit(path: Path) -> Unit:
    *folders, name = path.stem.split("__")
    id = TableId("/".join(folders) or path.parent.name, name)

    def source() -> Iterator[RawTable]:
        try:
            yield read_parquet(path, id, path.name)
        except GraftError:
            return

    return Unit(f"open/{path.stem}", source, lambda raw: iter((raw,)), "open/")


def _read(tables: Iterator[RawTable | Skip]) -> Iterator[RawTable]:
    return (raw for raw in tables if not isinstance(raw, Skip))


def _cut(raw: RawTable, seed: int) -> RawTable:
    """At most MAX_ROWS rows; the same ones in every copy, which chooses among them again."""
    if raw.data.num_rows <= MAX_ROWS:
        return raw
    rng = np.random.default_rng([seed, xxhash.xxh64_intdigest(str(raw.id).encode())])
    rows = np.sort(rng.choice(raw.data.num_rows, MAX_ROWS, replace=False))
    return RawTable(raw.id, raw.data.take(rows), raw.headers, raw.origin, raw.notes)
