"""Sampled records on disk: one Parquet file per chunk, whole or not there.

    <folder>/samples.json                      what was sampled and how; written first
    <folder>/chunk-<number>-<digest>.parquet   CHUNK records; the digest is that of the file

A chunk is written under another name and renamed, and read only if it has its digest.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, overload

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from graftjax.errors import GraftError
from graftjax.files import digest_of, replacing, write_json, writing
from graftjax.intent.schema import IntentGraph
from graftjax.trajectories.compress import Compression
from graftjax.trajectories.subgraph import Action, Subgraph

CHUNK = 128
"""Records per file."""
FORMAT = 1
_MANIFEST = "samples.json"
_OPEN_CHUNKS = 4
"""Chunks that are kept in memory when records are read."""


class Trajectory(NamedTuple):
    """A sampled subgraph, whose actions are the way to it, and the intent that it answers."""

    subgraph: Subgraph
    compression: Compression


_INT = pa.int32()
_INTS = pa.list_(_INT)
_NESTED = pa.list_(_INTS)
_SCHEMA = pa.schema(
    {
        "tables": _INTS,
        "operator": pa.list_(pa.string()),
        "anchor": _INTS,
        "new": _INTS,
        "edge": _INTS,
        "joins": _INTS,
        "keys": _NESTED,
        "payload": _NESTED,
        "value_column": _INTS,
        "value_texts": pa.list_(pa.list_(pa.string())),
        "intent": pa.string(),
        "trees": _INTS,
        "attributes": _NESTED,
        "attribute_is_key": pa.list_(pa.list_(pa.bool_())),
        "bridges": _NESTED,
    }
)


def _row(record: Trajectory) -> dict[str, Any]:
    subgraph, compression = record
    return {
        "tables": subgraph.tables,
        "operator": [action.operator for action in subgraph.actions],
        "anchor": [action.anchor for action in subgraph.actions],
        "new": [action.new for action in subgraph.actions],
        "edge": [action.edge for action in subgraph.actions],
        "joins": subgraph.joins,
        "keys": subgraph.keys,
        "payload": subgraph.payload,
        "value_column": [column for column, _ in subgraph.values],
        "value_texts": [texts for _, texts in subgraph.values],
        "intent": compression.intent.model_dump_json(),
        "trees": compression.trees,
        "attributes": compression.attributes,
        "attribute_is_key": compression.keys,
        "bridges": compression.bridges,
    }


def _nested(lists: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, lists))


def _record(row: dict[str, Any]) -> Trajectory:
    actions = zip(row["operator"], row["anchor"], row["new"], row["edge"], strict=True)
    return Trajectory(
        Subgraph(
            tables=tuple(row["tables"]),
            actions=tuple(Action(*action) for action in actions),
            joins=tuple(row["joins"]),
            keys=_nested(row["keys"]),
            payload=_nested(row["payload"]),
            values=tuple(zip(row["value_column"], _nested(row["value_texts"]), strict=True)),
        ),
        Compression(
            intent=IntentGraph.model_validate_json(row["intent"]),
            trees=tuple(row["trees"]),
            attributes=_nested(row["attributes"]),
            keys=_nested(row["attribute_is_key"]),
            bridges=_nested(row["bridges"]),
        ),
    )


def write_chunk(folder: Path, number: int, records: Sequence[Trajectory]) -> None:
    """Write a chunk in one step in place of any other of its number.

    Raises `GraftError` when the folder can't be written.
    """
    table = pa.Table.from_pylist([_row(record) for record in records], _SCHEMA)
    content = pa.BufferOutputStream()
    pq.write_table(table, content, compression="zstd")
    data = content.getvalue().to_pybytes()
    written = folder / f"chunk-{number:06d}-{digest_of(data, 64)}.parquet"
    with writing(folder), replacing(written) as draft:
        draft.write_bytes(data)
    for other in _files(folder, number):
        if other != written:
            with contextlib.suppress(OSError):
                other.unlink()


def find_chunk(folder: Path, number: int, size: int) -> Path | None:
    """File of a whole chunk of at least `size` records; None when there is none."""
    for path in _files(folder, number):
        with contextlib.suppress(OSError, pa.ArrowException):
            if _is_whole(path) and pq.read_metadata(path).num_rows >= size:
                return path
    return None


def _is_whole(path: Path) -> bool:
    """Whether a chunk's file has the digest that it is named after."""
    return path.stem.rpartition("-")[2] == digest_of(path, 64)


def _files(folder: Path, number: int) -> list[Path]:
    return sorted(folder.glob(f"chunk-{number:06d}-*.parquet"))


def read_chunk(path: Path) -> tuple[Trajectory, ...]:
    """Records of a chunk. Raises `GraftError` when the file is not what was written."""
    try:
        if not _is_whole(path):
            raise ValueError("its content has changed")
        return tuple(_record(row) for row in pq.read_table(path).to_pylist())
    except (OSError, ValueError, KeyError, TypeError, ValidationError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraftError(f"{path}: damaged ({reason}); sample again") from error


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Say what the folder holds, unless it says so already. `GraftError` when it can't be written."""
    whole = {"format": FORMAT, "chunk": CHUNK, **manifest}
    if read_manifest(folder) != whole:
        write_json(folder / _MANIFEST, whole)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What the folder says of itself; None for a folder without samples. `GraftError` when damaged."""
    path = folder / _MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise GraftError(f"{path}: can't be read ({error}); remove the folder and sample again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or manifest.get("chunk") != CHUNK:
        raise GraftError(f"{path}: not of this version's format; remove the folder and sample again")
    return manifest


@dataclass(frozen=True, eq=False)
class StoredTrajectories(Sequence[Trajectory]):
    """Records in a folder, read chunk by chunk when they are asked for."""

    chunks: tuple[Path, ...]
    count: int
    _open: dict[int, tuple[Trajectory, ...]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.count

    def _chunk(self, number: int) -> tuple[Trajectory, ...]:
        if number not in self._open:
            while len(self._open) >= _OPEN_CHUNKS:
                self._open.pop(next(iter(self._open)))
            self._open[number] = read_chunk(self.chunks[number])
        return self._open[number]

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self.count)))
        at = index + self.count if index < 0 else index
        if not 0 <= at < self.count:
            raise IndexError(f"record {index} of {self.count}")
        return self._chunk(at // CHUNK)[at % CHUNK]

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[i] for i in range(self.count))


def open_trajectories(folder: Path) -> StoredTrajectories:
    """Records of a finished run. Raises `GraftError` when there is none or a chunk is missing."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest is None or not isinstance(manifest.get("count"), int):
        raise GraftError(f"{folder}: no samples here")
    count, paths = manifest["count"], []
    for number in range(-(-count // CHUNK)):
        path = find_chunk(folder, number, min(CHUNK, count - number * CHUNK))
        if path is None:
            raise GraftError(
                f"{folder}: chunk {number} is missing or damaged; sample again to go on from the others"
            )
        paths.append(path)
    return StoredTrajectories(tuple(paths), count)
