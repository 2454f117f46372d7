"""Where the rows of a lake's tables come from: an index keeps profiles, not rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

from graftjax.errors import GraftError
from graftjax.fuse.keep import Kept
from graftjax.lake.benchmark import Benchmark, SourceTable
from graftjax.lake.kinds import file_kind
from graftjax.lake.names import plain_name
from graftjax.lake.profile import profile_table
from graftjax.lake.raw import RawTable
from graftjax.lake.read_sqlite import read_sqlite
from graftjax.lake.table_file import read_file
from graftjax.types import Skip, Table, TableId

KEPT_BYTES = 1 << 30
"""Bytes of tables that a source keeps for the next question."""


def _fresh() -> Kept:
    return Kept(KEPT_BYTES)


@runtime_checkable
class RawSource(Protocol):
    """Gives the rows of tables; columns are named as in the index."""

    def read(self, tables: Sequence[TableId]) -> Mapping[TableId, pa.Table]:
        """The data of each of the tables; GraftError, naming it, for one that is not there."""
        ...

    def notes(self, tables: Sequence[TableId]) -> tuple[str, ...]:
        """What was not read literally of tables that were read, in plain words."""
        ...


@dataclass(frozen=True, eq=False)
class MemorySource:
    """Tables that are in memory already."""

    data: Mapping[TableId, pa.Table]

    def read(self, tables: Sequence[TableId]) -> dict[TableId, pa.Table]:
        for id in tables:
            if id not in self.data:
                raise GraftError(f"{id}: no such table in memory")
        return {id: self.data[id] for id in tables}

    def notes(self, tables: Sequence[TableId]) -> tuple[str, ...]:
        return ()


class _Indexed:
    """What an index knows of its tables."""

    tables: Sequence[Table]
    _notes: dict[TableId, tuple[str, ...]]

    def notes(self, tables: Sequence[TableId]) -> tuple[str, ...]:
        """What was not read literally of tables that were read, in plain words."""
        return tuple(f"{id}: {note}" for id in tables for note in self._notes.get(id, ()))

    @cached_property
    def _known(self) -> dict[TableId, Table]:
        return {table.id: table for table in self.tables}

    def _profile(self, id: TableId) -> Table:
        try:
            return self._known[id]
        except KeyError:
            raise GraftError(f"{id}: no such table in the index") from None


@dataclass(frozen=True, eq=False)
class FolderSource(_Indexed):
    """Reads the files of a folder lake again, only those that are needed, each once."""

    root: Path
    """Folder that was indexed."""
    tables: Sequence[Table]
    """Profiles from the index."""
    check: bool = True
    """Compare what is read with the content hash of the index."""
    _kept: Kept[TableId, pa.Table] = field(default_factory=_fresh, repr=False)
    _notes: dict[TableId, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def read(self, tables: Sequence[TableId]) -> dict[TableId, pa.Table]:
        known = {id: self._profile(id) for id in tables}
        data: dict[TableId, pa.Table] = {}
        files: dict[str, list[TableId]] = {}
        for id in known:
            table = self._kept.get(id)
            if table is not None:
                data[id] = table
            else:
                files.setdefault(known[id].origin, []).append(id)
        for origin, ids in files.items():
            for id, raw in self._read_file(origin, ids):
                data[id] = table = _verified(raw, known[id], str(self.root / origin), self.check)
                self._kept.put(id, table, table.nbytes)
                self._notes[id] = tuple(map(plain_name, raw.notes))
        return data

    def _read_file(self, origin: str, ids: list[TableId]) -> Iterable[tuple[TableId, RawTable]]:
        path = _file(self.root, origin)
        if not path.is_file():
            raise GraftError(f"{path}: the file of table {ids[0]} has vanished; index the lake again")
        try:
            if file_kind(path.name).is_sqlite:
                return _from_database(path, origin, ids)
            return [(ids[0], read_file(path, ids[0], origin))]
        except GraftError as error:
            raise GraftError(f"{path}: {error}") from error
        except OSError as error:
            raise GraftError(f"{path}: can not be read: {error.strerror or error}") from error


@dataclass(frozen=True, eq=False)
class BenchmarkSource(_Indexed):
    """Deals the shards of a benchmark lake from its databases again, each database read once."""

    benchmark: Benchmark
    tables: Sequence[Table]
    """Profiles from the index."""
    check: bool = True
    """Compare what is dealt with the content hash of the index."""
    _kept: Kept[TableId, pa.Table] = field(default_factory=_fresh, repr=False)
    _notes: dict[TableId, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _databases: Kept[str, dict[str, RawTable]] = field(default_factory=_fresh, repr=False)

    def read(self, tables: Sequence[TableId]) -> dict[TableId, pa.Table]:
        known, owner = {id: self._profile(id) for id in tables}, self._owner
        data = {id: table for id in known if (table := self._kept.get(id)) is not None}
        for id in known:
            if id in data:
                continue
            if id not in owner:
                raise GraftError(f"{id}: {self.benchmark.name} deals no such table; index the lake again")
            database, name = owner[id]
            raw = self._database(database).get(name)
            if raw is None:
                raise GraftError(f"{id}: table {name} of {database} can not be read; index the lake again")
            wanted = {other for other in known if owner.get(other) == (database, name)}
            for shard in self.benchmark.deal(raw):
                if shard.id in wanted:
                    place = f"{self.benchmark.folder / shard.origin}"
                    data[shard.id] = table = _verified(shard, known[shard.id], place, self.check)
                    self._kept.put(shard.id, table, table.nbytes)
                    self._notes[shard.id] = shard.notes
        return data

    @cached_property
    def _owner(self) -> dict[TableId, SourceTable]:
        return {id: source for source, ids in self.benchmark.shards.items() for id in ids}

    def _database(self, name: str) -> dict[str, RawTable]:
        found = self._databases.get(name)
        if found is None:
            found = {
                raw.id.name.lower(): raw
                for path in self.benchmark.databases
                if path.stem == name
                for raw in self.benchmark.source_tables(path)
                if isinstance(raw, RawTable)
            }
            self._databases.put(name, found, sum(raw.data.nbytes for raw in found.values()))
        return found


def lake_source(
    tables: Sequence[Table], location: Path, benchmark: Benchmark | None = None, *, check: bool = True
) -> FolderSource | BenchmarkSource:
    """The source of an indexed lake: of `benchmark` if it is one, else of the folder `location`."""
    if benchmark is not None:
        return BenchmarkSource(benchmark, tables, check)
    return FolderSource(location, tables, check)


def _verified(raw: RawTable, known: Table, place: str, check: bool) -> pa.Table:
    names = [column.name for column in known.columns]
    same = raw.data.column_names == names and raw.data.num_rows == known.n_rows
    if same and check and known.content_hash:
        same = profile_table(raw).content_hash == known.content_hash
    if not same:
        raise GraftError(f"{place}: table {known.id} has changed since it was indexed; index the lake again")
    return raw.data


def _file(root: Path, origin: str) -> Path:
    path = root / origin
    if "\\x" in origin and not path.exists():
        # Bytes of a name that can not be printed are spelt out in the index.
        raw = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), origin.encode())
        return root / raw.decode("utf-8", "surrogateescape")
    return path


def _from_database(path: Path, origin: str, ids: list[TableId]) -> list[tuple[TableId, RawTable]]:
    """The wanted tables of a database, whose names may carry the `#2` of equal identities."""
    wanted = {}
    for id in ids:
        wanted.setdefault(id.name, id)
    found: dict[TableId, RawTable] = {}
    fallback = {re.sub(r"#\d+$", "", id.name): id for id in ids}
    reasons = []
    for raw in read_sqlite(path, ids[0].source, origin):
        if isinstance(raw, Skip):
            reasons.append(raw.reason)
            continue
        id = wanted.get(raw.id.name) or fallback.get(raw.id.name)
        if id is not None:
            found[id] = raw
        if len(found) == len(ids):
            break
    for id in ids:
        if id not in found:
            why = f" ({reasons[0]})" if reasons else ""
            raise GraftError(f"has no table {id.name} any more{why}; index the lake again")
    return list(found.items())
