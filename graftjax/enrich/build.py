"""A lake for enrichment as a folder: the pieces of all sources, and distractors beside them.

`<cache>/enrichment/<kind>-…/lake/` is what is indexed; `manifest.json` beside it says what is what, and no
search ever sees it. Distractors are links to the files where they lie.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow.parquet as pq
import xxhash

from graftjax.demo import lake_folder
from graftjax.enrich.made import made_sources
from graftjax.enrich.manifest import Manifest, PieceEntry, SourceEntry, read_manifest, write_manifest
from graftjax.enrich.source import Source, read_sources
from graftjax.enrich.split import RULE, Piece, split
from graftjax.errors import GraftError, UsageError
from graftjax.files import replacing, writing
from graftjax.types import TableId

Kind = Literal["open-data", "open-data-tuning", "demo"]
KINDS: tuple[Kind, ...] = ("open-data", "open-data-tuning", "demo")
LISTINGS = {
    "open-data": "sources/sources.json",
    "open-data-tuning": "sources_extra/sources_extra.json",
}
FOLDER = "open_data"
"""Below the data directory."""
ROWS = 8_000
"""Most rows of a source, a random choice: a quarter of them is the base table. It bounds the predictor's
time, which is most of the experiment's."""
DEMO_ROWS = 800
TUNING_SEED = 1_000
"""Added to the seed of the tuning lake, so that nothing of its split is the experiment's."""
PLACE = "portal"
"""Folder of the pieces, the same for all sources: it must not tell them apart."""


@dataclass(frozen=True, slots=True)
class EnrichmentLake:
    """A lake that was built."""

    folder: Path
    manifest: Manifest

    @property
    def lake(self) -> Path:
        """What is indexed."""
        return self.folder / "lake"


def build_lake(
    kind: Kind,
    cache: Path,
    *,
    data: Path | None = None,
    seed: int = 0,
    rows: int | None = None,
    distractors: int | None = None,
    names: Sequence[str] = (),
) -> EnrichmentLake:
    """The lake of a kind, made when it is not there yet; the same arguments give the same tables.

    `data`: the data directory, which holds open_data/ (the demo needs none). `rows`: most rows of a source,
    default `ROWS`. `distractors`: so many, a random choice, instead of all. `names`: only these sources.
    Raises UsageError when data are missing.
    """
    rows = (DEMO_ROWS if kind == "demo" else ROWS) if rows is None else rows
    if rows < 40 or (distractors is not None and distractors < 0):
        raise UsageError("a source needs at least 40 rows, and the number of distractors can't be negative")
    open_data = (data or Path("data")) / FOLDER
    if kind != "demo" and not open_data.is_dir():
        raise UsageError(f"{open_data}: no such folder")
    parts = [kind, f"rule{RULE}", f"seed{seed}", f"rows{rows}"]
    parts += [f"distractors{distractors}"] if distractors is not None else []
    parts += [xxhash.xxh32_hexdigest("\0".join(sorted(names)).encode())] if names else []
    place = cache / "enrichment" / "-".join(parts)
    if (place / "manifest.json").is_file():
        try:
            return EnrichmentLake(place, read_manifest(place))
        except GraftError:
            pass  # of another version: made again
    own_seed = seed + (TUNING_SEED if kind == "open-data-tuning" else 0)
    if kind == "demo":
        sources = made_sources(own_seed, rows, names)
        others = {"others": lake_folder()}
    else:
        sources = read_sources(open_data, LISTINGS[kind], rows=rows, seed=own_seed, names=names)
        others = _distractors(open_data / "distractors", distractors, own_seed)
    if not sources:
        raise UsageError(f"none of the sources is called {', '.join(names)}")
    with writing(place.parent, "lake"), replacing(place) as draft:
        entries, digest = _write(sources, draft / "lake", own_seed)
        for name, target in others.items():
            link = draft / "lake" / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.abspath(target), target_is_directory=target.is_dir())
        manifest = Manifest(kind, RULE, own_seed, rows, len(others), digest, entries)
        write_manifest(draft, manifest)
    return EnrichmentLake(place, manifest)


def _write(sources: Sequence[Source], lake: Path, seed: int) -> tuple[tuple[SourceEntry, ...], str]:
    """Write all pieces; their entries and a digest of their contents."""
    folder = lake / PLACE
    folder.mkdir(parents=True)
    taken: set[str] = {source.name for source in sources}
    digest = xxhash.xxh3_128()
    entries = []
    for source in sources:
        own = []
        for piece in split(source, seed, taken):
            path = folder / f"{piece.name}.parquet"
            pq.write_table(piece.table(source), path, compression="zstd")
            digest.update(path.name.encode() + path.read_bytes())
            own.append(_entry(piece))
        entries.append(
            SourceEntry(
                source.name, source.task, source.target, source.key, source.key_is_feature, tuple(own)
            )
        )
    return tuple(entries), digest.hexdigest()


def _entry(piece: Piece) -> PieceEntry:
    columns = tuple(zip(piece.headers, piece.columns, strict=True))
    return PieceEntry(TableId(PLACE, piece.name), piece.role, piece.group, len(piece.rows), columns)


def _distractors(folder: Path, count: int | None, seed: int) -> dict[str, Path]:
    """Where each distractor goes in the lake → its file: `a__b__c.parquet` is table c of folder a/b."""
    files = sorted(folder.glob("*.parquet"))
    if count is not None and count < len(files):
        chosen = np.random.default_rng([seed, len(files)]).choice(len(files), count, replace=False)
        files = [files[number] for number in np.sort(chosen)]
    return {file.name.replace("__", "/"): file for file in files}
