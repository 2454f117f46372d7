"""What a lake for enrichment holds: which table is which piece of which source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftjax.enrich.source import Task
from graftjax.enrich.split import Role
from graftjax.errors import GraftError
from graftjax.types import TableId

FILE = "manifest.json"


@dataclass(frozen=True, slots=True)
class PieceEntry:
    """One table of a source."""

    table: TableId
    role: Role
    group: str
    rows: int
    columns: tuple[tuple[str, str], ...]
    """(header of the piece, header of the source)."""


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One source with its pieces, the base table first."""

    name: str
    task: Task
    target: str
    """Header in the base table, whose headers are never altered."""
    key: str
    key_is_feature: bool
    pieces: tuple[PieceEntry, ...]

    @property
    def base(self) -> TableId:
        return self.pieces[0].table

    @property
    def gold(self) -> tuple[TableId, ...]:
        """All pieces but the base table."""
        return tuple(piece.table for piece in self.pieces[1:])


@dataclass(frozen=True, slots=True)
class Manifest:
    """All sources of a lake."""

    kind: str
    rule: int
    seed: int
    rows: int
    """Most rows of a source."""
    distractors: int
    digest: str
    """Of the contents of all pieces: equal digests mean equal tables."""
    sources: tuple[SourceEntry, ...]


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `manifest.json` into the folder."""
    text = json.dumps(_record(manifest), indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; GraftError when there is none or it is broken."""
    path = folder / FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        sources = tuple(_source(one) for one in record.pop("sources"))
        return Manifest(**record, sources=sources)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GraftError(f"{path}: not a manifest ({type(error).__name__}: {error})") from error


def _record(manifest: Manifest) -> dict[str, Any]:
    record = {name: getattr(manifest, name) for name in Manifest.__slots__ if name != "sources"}
    return {**record, "sources": [_source_record(one) for one in manifest.sources]}


def _source_record(source: SourceEntry) -> dict[str, Any]:
    record = {name: getattr(source, name) for name in SourceEntry.__slots__ if name != "pieces"}
    pieces = [
        {
            "table": [piece.table.source, piece.table.name],
            "role": piece.role,
            "group": piece.group,
            "rows": piece.rows,
            "columns": [list(pair) for pair in piece.columns],
        }
        for piece in source.pieces
    ]
    return {**record, "pieces": pieces}


def _source(record: dict[str, Any]) -> SourceEntry:
    pieces = tuple(
        PieceEntry(
            TableId(*one["table"]),
            one["role"],
            one["group"],
            one["rows"],
            tuple((here, there) for here, there in one["columns"]),
        )
        for one in record.pop("pieces")
    )
    return SourceEntry(**record, pieces=pieces)
