"""An index on disk: columnar files, memory-mapped arrays, and a manifest that is written last.

    <folder>/current.json        which version is complete, its format, encoder and content digest
    <folder>/v-<digest>/         tables.parquet, columns.parquet, reports.parquet, arrays as .npy
    <folder>/a-<number>/         a table that came later, and what it adds to that version, or newer skips
    <folder>/texts/<encoder>/    encoded texts, batch by batch: survives a killed run
    <folder>/files/              profiles of files, part by part (see `known_files`)

A version is written beside the old one and becomes current by one atomic rename.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import re
import shutil
import time
import uuid
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from graftjax.encode.lexical import TrigramIndex
from graftjax.encode.space import TextSpace
from graftjax.errors import GraftError
from graftjax.files import DRAFT, alone_in, digest_of, replacing, write_json, writing
from graftjax.lake.addition import Addition, extended, read_addition, write_addition
from graftjax.lake.classes import ValueSets
from graftjax.lake.graph import LakeGraph
from graftjax.lake.joins import JoinEdges
from graftjax.lake.record import LakeIndex, NodeTexts
from graftjax.lake.tables_file import read_tables, write_tables
from graftjax.lake.unions import UnionClusters
from graftjax.types import Skip, Table

FORMAT = 2
_POINTER = "current.json"
_DRAFT_AGE_S = 3600.0


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
        with alone_in(folder):
            before = _current(folder)
            _point(folder, index, version, [])
            _remove_old(folder, before)


def append(
    index: LakeIndex, addition: Addition | None, folder: Path, over: frozenset[str]
) -> frozenset[str] | None:
    """Lay one table over the version that has the `places_of` `over`; `index` is what that makes.

    Without an addition only what was skipped is new. The new places; None, and nothing is laid, when another
    process has changed the version since.
    """
    with writing(folder, "the index"):
        place = folder / f"a-{uuid.uuid4().hex[:8]}"
        with replacing(place) as draft:
            draft.mkdir()
            if addition is not None:
                write_addition(addition, draft)
            _write_reports(index, draft)
        with alone_in(folder):
            pointer = manifest(folder)
            if places_of(pointer) != over:
                shutil.rmtree(place, ignore_errors=True)
                return None
            older = [entry for entry in additions_of(pointer) if holds_table(entry)]
            listed = [*older, _listed(place)]
            _point(folder, index, folder / pointer["version"], listed)
            _remove_old(folder, over)
    return places_of({"version": pointer["version"], "additions": listed})


def additions_of(pointer: dict) -> list[dict]:
    """Names and files of what was laid over a version, in order."""
    return pointer.get("additions", [])


def holds_table(addition: dict) -> bool:
    """Whether it is more than a newer list of what was skipped."""
    return "tables.parquet" in addition["files"]


def _point(folder: Path, index: LakeIndex, version: Path, additions: list[dict]) -> None:
    listed = _listed(version)
    pointer = {
        "format": FORMAT,
        "version": listed["name"],
        "digest": content_digest(index.tables, index.encoder_name, index.headers),
        "encoder": index.encoder_name,
        "headers": index.headers,
        "files": listed["files"],
        "additions": additions,
        "statistics": index.statistics(),
    }
    write_json(folder / _POINTER, pointer)


def _listed(folder: Path) -> dict:
    return {"name": folder.name, "files": {path.name: _file_hash(path) for path in sorted(folder.iterdir())}}


_VERSION = re.compile(r"v-[0-9a-f]{24}-[0-9a-f]{8}|a-[0-9a-f]{8}")


def places_of(pointer: dict) -> frozenset[str]:
    """Names of a version and of what lies over it."""
    return frozenset((pointer["version"], *(addition["name"] for addition in additions_of(pointer))))


def _current(folder: Path) -> frozenset[str]:
    """The places of the current version; empty when there is none."""
    try:
        return places_of(manifest(folder))
    except GraftError:
        return frozenset()


def _remove_old(folder: Path, before: frozenset[str]) -> None:
    """What was current before and is not now, and what else no running process can still be writing."""
    current = _current(folder)
    if not current:
        return
    for old in folder.iterdir():
        if old.name in current or not (_VERSION.fullmatch(old.name) or old.name.startswith(DRAFT)):
            continue  # the user's own folders may lie here
        with contextlib.suppress(OSError):
            if old.name in before or time.time() - old.stat().st_mtime > _DRAFT_AGE_S:
                shutil.rmtree(old, ignore_errors=True)


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
    additions = pointer.get("additions", [])
    if not (_has(pointer, wanted) and isinstance(additions, list)) or not all(
        isinstance(addition, dict) and _has(addition, {"name": str, "files": dict}) for addition in additions
    ):
        raise GraftError(f"{path}: damaged (incomplete); build the index again")
    return pointer


def _has(record: dict, wanted: dict[str, type]) -> bool:
    return all(isinstance(record.get(name), kind) for name, kind in wanted.items())


def load(folder: Path, *, verify: bool = True) -> LakeIndex:
    """Open the current version; arrays are memory-mapped. `verify` checks every file's hash (1 s per GB).

    When another process replaces the version meanwhile, the newer one is opened.
    """
    folder = Path(folder)
    while True:
        pointer = manifest(folder)
        try:
            return _opened(folder, pointer, verify)
        except GraftError:
            if manifest(folder) == pointer:
                raise


def _opened(folder: Path, pointer: dict, verify: bool) -> LakeIndex:
    version = folder / pointer["version"]
    collects = gc.isenabled()
    gc.disable()  # all of these objects stay: looking at them again and again would double the time
    try:
        _check_files(version, pointer["files"], verify)
        index, added, skips = _read(version, folder, pointer), [], None
        for addition in additions_of(pointer):
            version = folder / addition["name"]
            _check_files(version, addition["files"], verify)
            if holds_table(addition):
                added.append(read_addition(version, len(index.space.trigrams.vocabulary)))
            skips = tuple(_read_reports(version)["skip"])
        version = folder  # what is wrong from here on can't be told of one of them
        index = extended(index, added)
        return index if skips is None else replace(index, skips=skips)
    except (OSError, EOFError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraftError(f"{version}: damaged ({reason}); build the index again") from error
    finally:
        if collects:
            gc.enable()


def _check_files(folder: Path, files: dict, verify: bool) -> None:
    for name, expected in files.items():
        path = folder / name
        if (
            not path.is_file()
            or path.stat().st_size != expected[0]
            or (verify and _file_hash(path) != expected)
        ):
            raise GraftError(f"{path}: missing or damaged; build the index again")


def _file_hash(path: Path) -> list:
    return [path.stat().st_size, digest_of(path)]


def _arrays(index: LakeIndex) -> dict[str, np.ndarray]:
    unions, joins, rows = index.graph.unions, index.graph.joins, index.space.trigrams.rows
    arrays = {f"nodes_{f.name}": getattr(index.nodes, f.name) for f in fields(NodeTexts)}
    arrays |= {f"unions_{f.name}": getattr(unions, f.name) for f in fields(UnionClusters)}
    arrays |= {f"joins_{f.name}": getattr(joins, f.name) for f in fields(JoinEdges)}
    arrays |= {f"values_{f.name}": getattr(index.values, f.name) for f in fields(ValueSets)}
    arrays |= {"trigrams_data": rows.data, "trigrams_indices": rows.indices, "trigrams_indptr": rows.indptr}
    arrays |= {"trigrams_idf": index.space.trigrams.idf, "column_table": index.graph.column_table}
    arrays["dense"] = np.asarray(index.space.dense)
    return arrays


def _write(index: LakeIndex, folder: Path) -> None:
    write_tables(folder, index.tables, index.row_sketches)
    _write_reports(index, folder)
    for kind, texts in (("texts", index.space.texts), ("trigrams", tuple(index.space.trigrams.vocabulary))):
        pq.write_table(pa.table({"text": pa.array(list(texts), pa.string())}), folder / f"{kind}.parquet")
    for name, array in _arrays(index).items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)


def _write_reports(index: LakeIndex, folder: Path) -> None:
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


def _read_reports(folder: Path) -> dict[str, list[Skip]]:
    reports: dict[str, list[Skip]] = {"skip": [], "note": []}
    for row in pq.read_table(folder / "reports.parquet").to_pylist():
        reports[row["kind"]].append(Skip(row["origin"], row["reason"]))
    return reports


def _read(version: Path, folder: Path, pointer: dict) -> LakeIndex:
    array = lambda name: np.load(version / f"{name}.npy", mmap_mode="r", allow_pickle=False)  # noqa: E731

    def record(kind: type, prefix: str) -> Any:
        return kind(**{f.name: np.asarray(array(f"{prefix}_{f.name}")) for f in fields(kind)})

    tables, row_sketches = read_tables(version)
    reports = _read_reports(version)
    texts = pq.read_table(version / "texts.parquet")["text"].to_pylist()
    grams = pq.read_table(version / "trigrams.parquet")["text"].to_pylist()
    rows = sp.csr_matrix(
        (array("trigrams_data"), array("trigrams_indices"), array("trigrams_indptr")),
        shape=(len(texts), len(grams)),
    )
    idf = np.asarray(array("trigrams_idf"))
    trigrams = TrigramIndex({gram: i for i, gram in enumerate(grams)}, idf, (rows,), len(texts))
    graph = LakeGraph(
        record(UnionClusters, "unions"), record(JoinEdges, "joins"), np.asarray(array("column_table"))
    )
    return LakeIndex(
        tables,
        tuple(reports["skip"]),
        tuple(reports["note"]),
        graph,
        record(ValueSets, "values"),
        TextSpace(tuple(texts), np.asarray(array("dense")), trigrams),
        record(NodeTexts, "nodes"),
        row_sketches,
        pointer["encoder"],
        pointer["headers"],
        folder,
    )
