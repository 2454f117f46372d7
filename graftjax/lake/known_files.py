"""Profiles of files that were read before: an index that is brought up to date reads only what is new.

A file is told by its path, size, time of change and the table's identity. What was read is kept part by part,
so that a killed run loses at most the last one.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from jaxtyping import UInt64

from graftjax.files import read_json, replacing, write_json, writing
from graftjax.lake.tables_file import read_tables, write_tables
from graftjax.types import Skip, Table

FORMAT = 1
"""Of the parts and of what a reader makes of a file: parts of another number are read again."""
_FILES, _SECONDS = 512, 10.0
"""A part is written once it holds so many files or is so old."""
_PARTS = 64
"""Parts from which they are merged."""


class Profiled(NamedTuple):
    """A table as an index needs it, its rows forgotten."""

    table: Table
    row_sketch: UInt64[np.ndarray, " S"]
    notes: tuple[str, ...]
    """What was bent to read it."""


Items = tuple[Profiled | Skip, ...]


class Lake(NamedTuple):
    """The files of a lake as they were when it was indexed."""

    keys: tuple[str, ...]
    skips: tuple[Skip, ...]
    """What is no file that could be read."""


_DAMAGED = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, pa.ArrowException)
"""What reading a part that was cut short or altered may raise."""


class KnownFiles:
    """What the files of a lake were found to hold, under keys that change when a file does."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder) / "files"
        self._read: dict[str, Items] | None = None
        """What is on disk; None until something is asked for."""
        self._new: dict[str, Items] = {}
        self._keys: dict[str, None] = {}
        self._skips: list[Skip] = []
        self._since = time.monotonic()

    def get(self, key: str) -> Items | None:
        """What a file holds; None when it has to be read."""
        return self._known().get(key)

    def add(self, key: str, items: Iterable[Profiled | Skip]) -> None:
        """Remember what a file holds."""
        self._new[key] = tuple(items)
        if len(self._new) >= _FILES or time.monotonic() - self._since > _SECONDS:
            self.flush()

    def saw(self, item: str | Skip) -> None:
        """Note a file's key, or what else was found, as part of the lake."""
        if isinstance(item, Skip):
            self._skips.append(item)
        else:
            self._keys.setdefault(item)

    def flush(self) -> None:
        """Write what is new to disk."""
        if self._new:
            self._write(self._new)
            if self._read is not None:
                self._read.update(self._new)
            self._new = {}
        self._since = time.monotonic()

    def commit(self) -> None:
        """What was seen is what the index holds now. Many parts, or those of files that are gone, merge."""
        self.flush()
        lake = {
            "format": FORMAT,
            "keys": list(self._keys),
            "skips": [[s.origin, s.reason] for s in self._skips],
        }
        write_json(self._folder / "lake.json", lake)
        if self._read is None:
            return
        parts = self._parts()
        kept = {key: items for key, items in self._read.items() if key in self._keys}
        if kept and (len(parts) > _PARTS or len(self._read) > 1.25 * len(kept)):
            self._write(kept)
            for part in parts:
                shutil.rmtree(part, ignore_errors=True)

    def forget_lake(self) -> None:
        """The index is about to change: until the next `commit` nothing says what it holds."""
        path = self._folder / "lake.json"
        with writing(path):
            path.unlink(missing_ok=True)

    def lake(self) -> Lake | None:
        """What the last `commit` said; None when nothing did."""
        found = read_json(self._folder / "lake.json")
        if found is None or found.get("format") != FORMAT:
            return None
        try:
            lake = Lake(tuple(found["keys"]), tuple(Skip(*skip) for skip in found["skips"]))
        except (LookupError, TypeError):
            return None
        texts = (*lake.keys, *(text for skip in lake.skips for text in (skip.origin, skip.reason)))
        return lake if all(isinstance(text, str) for text in texts) else None

    def _known(self) -> dict[str, Items]:
        if self._read is None:
            self._read = {}
            for part in self._parts():
                try:
                    self._read.update(_read(part))
                except _DAMAGED:
                    continue  # cut short by a kill or a full disk: its files are read again
        return self._read

    def _parts(self) -> list[Path]:
        return sorted(self._folder.glob("part-[0-9]*"))

    def _write(self, found: dict[str, Items]) -> None:
        numbers = [int(part.name.split("-")[1]) for part in self._parts()]
        # Another process may write a part of the same number at the same time.
        path = self._folder / f"part-{max(numbers, default=0) + 1:06d}-{uuid.uuid4().hex[:8]}"
        with writing(self._folder), replacing(path) as draft:
            draft.mkdir()
            profiled = [item for items in found.values() for item in items if isinstance(item, Profiled)]
            write_tables(draft, [item.table for item in profiled], [item.row_sketch for item in profiled])
            files = {
                key: [
                    list(item.notes) if isinstance(item, Profiled) else [item.origin, item.reason, None]
                    for item in items
                ]
                for key, items in found.items()
            }
            (draft / "files.json").write_text(json.dumps({"format": FORMAT, "files": files}))


def _read(part: Path) -> dict[str, Items]:
    about = json.loads((part / "files.json").read_text())
    if about["format"] != FORMAT:
        return {}
    tables, row_sketches = read_tables(part)
    profiles = iter(zip(tables, row_sketches, strict=True))
    return {key: tuple(_item(saved, profiles) for saved in items) for key, items in about["files"].items()}


def _item(saved: Sequence, profiles) -> Profiled | Skip:
    if saved and saved[-1] is None:  # a note is never None
        return Skip(saved[0], saved[1])
    table, row_sketch = next(profiles)
    return Profiled(table, row_sketch, tuple(saved))
