"""Spider and BIRD in their official layouts as one pooled lake of row shards (paper Sec. 5.2).

All databases are pooled, keys are stripped (only values travel), and every row of a source table is
dealt to exactly one of its shards. Shards are numbered over the whole lake, together with all other
tables of the same name, so that a name tells nothing about the source beyond the table's own name.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice
from pathlib import Path

import numpy as np
import xxhash

from graftjax.errors import GraftError, UsageError
from graftjax.lake.raw import RawTable
from graftjax.lake.read_sqlite import list_tables, read_sqlite
from graftjax.types import Skip, TableId

LAYOUTS = {"spider": "database", "bird": "dev_databases"}
"""Folder of `<db>/<db>.sqlite` files under `<data-dir>/<benchmark>`."""

_UNSHARDED_SHARE, _MAX_SHARDS = 0.45, 16  # used only when shards.json is absent

SourceTable = tuple[str, str]
"""(database, lower-case table name)."""


@dataclass(frozen=True)
class Benchmark:
    """One text-to-SQL benchmark adapted to the data-lake setting."""

    name: str
    folder: Path
    seed: int = 11
    """Deals rows to shards and, without a shards.json, draws the number of shards."""
    only: frozenset[str] | None = None
    """The databases that are pooled; None: all that are there."""
    sharded: bool = True
    """False: every table is whole and has its own name."""

    @classmethod
    def open(cls, name: str, data_dir: Path) -> Benchmark:
        """Benchmark `name` under `data_dir`; `UsageError` when it is not there."""
        if name not in LAYOUTS:
            raise UsageError(f"unknown benchmark {name!r}: choose from {', '.join(LAYOUTS)}")
        folder = Path(data_dir) / name
        if not (folder / LAYOUTS[name]).is_dir():
            raise UsageError(
                f"{name} is not at {folder / LAYOUTS[name]}: "
                f"pass --data-dir or set GRAFTJAX_DATA to the folder that holds {name}/"
            )
        return cls(name, folder, cls._seed_of(folder))

    @staticmethod
    def _seed_of(folder: Path) -> int:
        path = folder / "shards.json"
        seed = _read_json(path).get("seed", 11)
        if not isinstance(seed, int) or seed < 0:
            raise GraftError(f"{path}: seed must be a whole number from 0, not {seed!r}")
        return seed

    def whole(self, databases: Iterable[str]) -> Benchmark:
        """The lake of these databases (of those that are there), without shards."""
        return replace(self, only=frozenset(databases), sharded=False)

    @property
    def queries_file(self) -> Path:
        return self.folder / "queries.jsonl"

    @cached_property
    def databases(self) -> tuple[Path, ...]:
        """The SQLite files, by name of the database."""
        files = sorted((self.folder / LAYOUTS[self.name]).glob("*/*.sqlite"))
        return tuple(
            path
            for path in files
            if path.stem == path.parent.name and (self.only is None or path.stem in self.only)
        )

    @cached_property
    def sources(self) -> dict[SourceTable, str]:
        """Source table to its name as the database spells it."""
        return {(path.stem, name.lower()): name for path in self.databases for name in list_tables(path)}

    @cached_property
    def shard_counts(self) -> dict[SourceTable, int]:
        """Number of row shards per source table: shards.json, else drawn by the seed."""
        if not self.sharded:
            return dict.fromkeys(self.sources, 1)
        path = self.folder / "shards.json"
        listed = _read_json(path).get("shards", {})
        if not isinstance(listed, dict) or not all(isinstance(n, int) and n > 0 for n in listed.values()):
            raise GraftError(f'{path}: "shards" must give a positive number for each table')
        listed = {key.lower(): count for key, count in listed.items()}
        counts = {}
        for database, table in self.sources:
            key = f"{database}.{table}".lower()
            if listed:
                counts[database, table] = listed.get(key, 1)
            else:
                rng = _rng(self.seed, "count", key)
                sharded = rng.random() >= _UNSHARDED_SHARE
                counts[database, table] = int(rng.integers(2, _MAX_SHARDS + 1)) if sharded else 1
        return counts

    @cached_property
    def shards(self) -> dict[SourceTable, tuple[TableId, ...]]:
        """Identities of the shards of each source table.

        Tables that share a name anywhere in the pooled lake are numbered together in a random
        order; a name that is unique in the lake stays as it is. A number that would give a shard the
        name of another table of its database is left out. In a lake without shards all names stay.
        """
        if not self.sharded:
            return {source: (TableId(source[0], spelt),) for source, spelt in self.sources.items()}
        by_name: dict[str, list[tuple[SourceTable, int]]] = defaultdict(list)
        for source, number in sorted(self.shard_counts.items()):
            by_name[source[1]].extend((source, part) for part in range(number))
        shards: dict[SourceTable, dict[int, TableId]] = defaultdict(dict)
        for name, parts in by_name.items():
            databases = {source[0] for source, _ in parts}
            free = (n for n in count(1) if not any((d, f"{name}_{n}") in self.sources for d in databases))
            numbers = list(islice(free, len(parts)))
            order = _rng(self.seed, "name", name).permutation(len(parts))
            for (source, part), place in zip(parts, order, strict=True):
                spelt = self.sources[source]
                label = spelt if len(parts) == 1 else f"{spelt}_{numbers[place]}"
                shards[source][part] = TableId(source[0], label)
        return {source: tuple(ids[part] for part in range(len(ids))) for source, ids in shards.items()}

    def gold(self, database: str, gold_tables: tuple[str, ...] | list[str]) -> tuple[TableId, ...]:
        """All shards of the gold source tables (the gold set of a query)."""
        found: list[TableId] = []
        for table in gold_tables:
            source = (database, table.lower())
            if source not in self.shards:
                raise GraftError(f"gold table {table!r} is not in database {database!r} of {self.name}")
            found.extend(self.shards[source])
        return tuple(found)

    def raw_tables(self) -> Iterator[RawTable | Skip]:
        """All tables of the pooled lake, database by database."""
        for path in self.databases:
            for raw in self.source_tables(path):
                yield from (raw,) if isinstance(raw, Skip) else self.deal(raw)

    def source_tables(self, path: Path) -> Iterator[RawTable | Skip]:
        """The tables of one of `databases` as they are, before they are dealt to shards."""
        for raw in read_sqlite(path, path.stem, path.relative_to(self.folder).as_posix()):
            if isinstance(raw, Skip) or (path.stem, raw.id.name.lower()) in self.sources:
                yield raw

    def deal(self, raw: RawTable) -> Iterator[RawTable]:
        """The shards of a source table, or of a part of its rows."""
        source = (raw.id.source, raw.id.name.lower())
        ids = self.shards[source]
        if len(ids) == 1:
            yield RawTable(ids[0], raw.data, raw.headers, raw.origin, raw.notes)
            return
        order = _rng(self.seed, "rows", f"{source[0]}.{source[1]}").permutation(raw.data.num_rows)
        for part, shard in enumerate(ids):
            yield RawTable(shard, raw.data.take(order[part :: len(ids)]), raw.headers, raw.origin, raw.notes)


def statistics(tables: Iterator[RawTable | Skip] | list[RawTable | Skip]) -> dict[str, int]:
    """Numbers of tables, columns and rows, as in the paper's Table 1."""
    counts = {"tables": 0, "columns": 0, "rows": 0}
    for table in tables:
        if not isinstance(table, Skip):
            counts["tables"] += 1
            counts["columns"] += table.data.num_columns
            counts["rows"] += table.data.num_rows
    return counts


def _read_json(path: Path) -> dict:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise GraftError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(data, dict):
        raise GraftError(f"{path}: not readable (a JSON object is wanted)")
    return data


def _rng(seed: int, purpose: str, name: str) -> np.random.Generator:
    """A generator that depends on the name, not on the order in which tables are met."""
    return np.random.default_rng([seed, xxhash.xxh64_intdigest(f"{purpose}:{name}".encode())])
