"""An index on disk: columnar files, memory-mapped arrays, and a manifest that is written last.

    <folder>/current.json        which version is complete, its format, encoder and content digest
    <folder>/v-<digest>/         tables.parquet, columns.parquet, reports.parquet, arrays as .npy
    <folder>/texts/<encoder>/    encoded texts, batch by batch: survives a killed run

A version is written beside the old one and becomes current by one atomic rename.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import time
import uuid
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import xxhash
from tqdm import tqdm

from graftjax.encode.encoder import Encoder
from graftjax.encode.lexical import TrigramIndex
from graftjax.encode.space import TextSpace
from graftjax.errors import GraftError
from graftjax.files import DRAFT, digest_of, replacing, write_json, writing
from graftjax.lake.classes import ValueSets
from graftjax.lake.graph import LakeGraph
from graftjax.lake.joins import JoinEdges
from graftjax.lake.record import LakeIndex, NodeTexts
from graftjax.lake.unions import UnionClusters
from graftjax.types import Column, Skip, Table, TableId

FORMAT = 2
_POINTER = "current.json"
_BATCH = 2048
_DRAFT_AGE_S = 3600.0


class TextCache:
    """Vectors of texts in append-only parts; each finished batch is a part of its own."""

    def __init__(self, folder: Path, encoder_name: str) -> None:
        self._folder = Path(folder) / "texts" / xxhash.xxh64_hexdigest(encoder_name.encode())
        self._known: dict[str, np.ndarray] = {}
        for part in sorted(self._folder.glob("part-*.npz")):
            try:
                with part.open("rb") as file, np.load(file, allow_pickle=False) as data:
                    found = dict(zip(json.loads(bytes(data["texts"])), data["vectors"], strict=True))
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                continue  # a part that a kill or a full disk cut short: its texts are encoded again
            self._known.update(found)
        self._used: set[str] = set()

    def encode(self, texts: Iterable[str], encoder: Encoder, *, progress: bool | str) -> None:
        """Encode what is not known yet, saving batch by batch."""
        wanted = list(dict.fromkeys(texts))
        self._used.update(wanted)
        missing = sorted((text for text in wanted if text not in self._known), key=len)
        if not missing:
            return
        label = progress if isinstance(progress, str) else "encode"
        with tqdm(total=len(missing), desc=label, unit="text", disable=not progress) as bar:
            for start in range(0, len(missing), _BATCH):
                batch = missing[start : start + _BATCH]
                vectors = encoder.encode(batch).astype(np.float32)
                self._append(batch, vectors)
                self._known.update(zip(batch, vectors, strict=True))
                bar.update(len(batch))

    def vectors(self, texts: Sequence[str], dim: int) -> np.ndarray:
        """float32 [n, D], all of them known."""
        if not texts:
            return np.zeros((0, dim), np.float32)
        return np.stack([self._known[text] for text in texts])

    def tidy(self) -> None:
        """Merge the parts into one that holds only the texts in use."""
        parts = sorted(self._folder.glob("part-*.npz"))
        if len(parts) <= 1 and len(self._known) <= len(self._used):
            return
        kept = [text for text in self._known if text in self._used]
        if kept:
            self._append(kept, np.stack([self._known[text] for text in kept]))
        for part in parts:
            part.unlink(missing_ok=True)

    def _append(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        encoded = np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)
        numbers = [int(part.stem.split("-")[1]) for part in self._folder.glob("part-*.npz")]
        path = self._folder / f"part-{max(numbers, default=0) + 1:06d}.npz"
        with writing(self._folder), replacing(path) as draft, draft.open("wb") as file:
            np.savez(file, texts=encoded, vectors=vectors)


def content_digest(tables: Sequence[Table], encoder_name: str, headers: str) -> str:
    """Identity of what an index holds: equal digests mean the same tables, encoder and header mode."""
    digest = hashlib.blake2b(f"{FORMAT}|{encoder_name}|{headers}".encode(), digest_size=12)
    for table in tables:
        digest.update(json.dumps([table.id.source, table.id.name, table.content_hash]).encode())
    return digest.hexdigest()


def save(index: LakeIndex, folder: Path) -> None:
    """Write a new version and make it current; older versions are removed afterwards."""
    folder = Path(folder)
    digest = content_digest(index.tables, index.encoder_name, index.headers)
    version = folder / f"v-{digest}-{uuid.uuid4().hex[:8]}"
    with writing(folder, "the index"):
        with replacing(version) as draft:
            draft.mkdir()
            _write(index, draft)
        pointer = {
            "format": FORMAT,
            "version": version.name,
            "digest": digest,
            "encoder": index.encoder_name,
            "headers": index.headers,
            "files": {path.name: _file_hash(path) for path in sorted(version.iterdir())},
            "statistics": index.statistics(),
        }
        write_json(folder / _POINTER, pointer)
    _remove_old(folder)


_VERSION = re.compile(r"v-[0-9a-f]{24}-[0-9a-f]{8}")


def _remove_old(folder: Path) -> None:
    """Versions that are not current, and drafts that no running process can still be writing."""
    with contextlib.suppress(GraftError):
        current = manifest(folder)["version"]
        for old in folder.glob("v-*"):
            if _VERSION.fullmatch(old.name) and old.name != current:  # the user's own folders may lie here
                shutil.rmtree(old, ignore_errors=True)
    for draft in folder.glob(f"{DRAFT}*"):
        with contextlib.suppress(OSError):
            if time.time() - draft.stat().st_mtime > _DRAFT_AGE_S:
                shutil.rmtree(draft, ignore_errors=True)


def manifest(folder: Path) -> dict:
    """What `current.json` says; `GraftError` when the folder holds no finished index of this format."""
    path = Path(folder) / _POINTER
    try:
        pointer = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GraftError(f"{folder}: no finished index here; make one with `graftjax index`") from None
    except (OSError, ValueError) as error:
        raise GraftError(f"{path}: damaged ({error}); build the index again") from error
    if not isinstance(pointer, dict) or pointer.get("format") != FORMAT:
        found = pointer.get("format") if isinstance(pointer, dict) else "?"
        raise GraftError(
            f"{folder}: index format {found}, this version reads {FORMAT}; build the index again"
        )
    wanted = {"version": str, "digest": str, "encoder": str, "headers": str, "files": dict}
    if not all(isinstance(pointer.get(name), kind) for name, kind in wanted.items()):
        raise GraftError(f"{path}: damaged (incomplete); build the index again")
    return pointer


def load(folder: Path, *, verify: bool = True) -> LakeIndex:
    """Open the current version; arrays are memory-mapped. `verify` checks every file's hash (1 s per GB)."""
    folder = Path(folder)
    pointer = manifest(folder)
    version = folder / pointer["version"]
    try:
        for name, expected in pointer["files"].items():
            path = version / name
            if (
                not path.is_file()
                or path.stat().st_size != expected[0]
                or (verify and _file_hash(path) != expected)
            ):
                raise GraftError(f"{path}: missing or damaged; build the index again")
        return _read(version, folder, pointer)
    except (OSError, EOFError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraftError(f"{version}: damaged ({reason}); build the index again") from error


def _file_hash(path: Path) -> list:
    return [path.stat().st_size, digest_of(path)]


def _arrays(index: LakeIndex) -> dict[str, np.ndarray]:
    columns = [column for table in index.tables for column in table.columns]
    unions, joins, rows = index.graph.unions, index.graph.joins, index.space.trigrams.rows
    arrays = {f"nodes_{f.name}": getattr(index.nodes, f.name) for f in fields(NodeTexts)}
    arrays |= {f"unions_{f.name}": getattr(unions, f.name) for f in fields(UnionClusters)}
    arrays |= {f"joins_{f.name}": getattr(joins, f.name) for f in fields(JoinEdges)}
    arrays |= {f"values_{f.name}": getattr(index.values, f.name) for f in fields(ValueSets)}
    arrays |= {"trigrams_data": rows.data, "trigrams_indices": rows.indices, "trigrams_indptr": rows.indptr}
    arrays |= {"trigrams_idf": index.space.trigrams.idf, "column_table": index.graph.column_table}
    arrays["sketches"], arrays["sketch_offsets"] = _ragged([column.sketch for column in columns])
    arrays["row_sketches"], arrays["row_sketch_offsets"] = _ragged(index.row_sketches)
    arrays["dense"] = np.asarray(index.space.dense)
    return arrays


def _write(index: LakeIndex, folder: Path) -> None:
    tables = index.tables
    columns = [column for table in tables for column in table.columns]
    pq.write_table(
        pa.table(
            {
                "source": [t.id.source for t in tables],
                "name": [t.id.name for t in tables],
                "n_columns": pa.array([len(t.columns) for t in tables], pa.int32()),
                "n_rows": pa.array([t.n_rows for t in tables], pa.int64()),
                "origin": [t.origin for t in tables],
                "content_hash": [t.content_hash for t in tables],
            }
        ),
        folder / "tables.parquet",
    )
    pq.write_table(
        pa.table(
            {
                "name": [c.name for c in columns],
                "header": [c.header for c in columns],
                "kind": [c.kind for c in columns],
                "null_share": pa.array([c.null_share for c in columns], pa.float64()),
                "n_distinct": pa.array([c.n_distinct for c in columns], pa.int64()),
                "sample": pa.array([list(c.sample) for c in columns], pa.list_(pa.string())),
            }
        ),
        folder / "columns.parquet",
    )
    reports = [*(("skip", s) for s in index.skips), *(("note", s) for s in index.notes)]
    pq.write_table(
        pa.table(
            {
                "kind": pa.array([kind for kind, _ in reports], pa.string()),
                "origin": pa.array([s.origin for _, s in reports], pa.string()),
                "reason": pa.array([s.reason for _, s in reports], pa.string()),
            }
        ),
        folder / "reports.parquet",
    )
    for kind, texts in (("texts", index.space.texts), ("trigrams", tuple(index.space.trigrams.vocabulary))):
        pq.write_table(pa.table({"text": pa.array(list(texts), pa.string())}), folder / f"{kind}.parquet")
    for name, array in _arrays(index).items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)


def _read(version: Path, folder: Path, pointer: dict) -> LakeIndex:
    array = lambda name: np.load(version / f"{name}.npy", mmap_mode="r", allow_pickle=False)  # noqa: E731

    def record(kind: type, prefix: str) -> Any:
        return kind(**{f.name: np.asarray(array(f"{prefix}_{f.name}")) for f in fields(kind)})

    raw = pq.read_table(version / "columns.parquet").to_pydict()
    sketches = _slices(array("sketches"), array("sketch_offsets"))
    columns = [
        Column(name, header, kind, null_share, n_distinct, tuple(sample), sketch)
        for name, header, kind, null_share, n_distinct, sample, sketch in zip(
            *raw.values(), sketches, strict=True
        )
    ]
    raw = pq.read_table(version / "tables.parquet").to_pydict()
    tables, start = [], 0
    for source, name, width, n_rows, origin, content in zip(*raw.values(), strict=True):
        tables.append(
            Table(TableId(source, name), tuple(columns[start : start + width]), n_rows, origin, content)
        )
        start += width
    reports: dict[str, list[Skip]] = {"skip": [], "note": []}
    for kind, origin, reason in zip(
        *pq.read_table(version / "reports.parquet").to_pydict().values(), strict=True
    ):
        reports[kind].append(Skip(origin, reason))
    texts = pq.read_table(version / "texts.parquet")["text"].to_pylist()
    grams = pq.read_table(version / "trigrams.parquet")["text"].to_pylist()
    rows = sp.csr_matrix(
        (array("trigrams_data"), array("trigrams_indices"), array("trigrams_indptr")),
        shape=(len(texts), len(grams)),
    )
    idf = np.asarray(array("trigrams_idf"))
    trigrams = TrigramIndex({gram: i for i, gram in enumerate(grams)}, idf, rows, len(texts))
    graph = LakeGraph(
        record(UnionClusters, "unions"), record(JoinEdges, "joins"), np.asarray(array("column_table"))
    )
    return LakeIndex(
        tuple(tables),
        tuple(reports["skip"]),
        tuple(reports["note"]),
        graph,
        record(ValueSets, "values"),
        TextSpace(tuple(texts), array("dense"), trigrams),
        record(NodeTexts, "nodes"),
        tuple(_slices(array("row_sketches"), array("row_sketch_offsets"))),
        pointer["encoder"],
        pointer["headers"],
        folder,
    )


def _ragged(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int64)
    return (np.concatenate(arrays) if arrays else np.zeros(0)).astype(np.uint64), offsets


def _slices(flat: np.ndarray, offsets: np.ndarray) -> list[np.ndarray]:
    flat = np.asarray(flat)  # still mapped, but slicing a memmap itself takes ten times as long
    return [flat[a:b] for a, b in pairwise(offsets.tolist())]
