"""Files and folders written in one step, and digests of files.

A draft is made next to its place and renamed when it is whole, so that a kill or a full disk leaves the old
content or the new one, never a part.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import xxhash
from filelock import FileLock

from graftjax.errors import GraftError

DRAFT = ".draft-"
"""How the names of drafts begin: what a killed process leaves can be told by it."""
LOCK = ".graftjax.lock"
"""The file that `alone_in` locks; it may be deleted when nothing runs."""
_HASHES = {64: xxhash.xxh3_64, 128: xxhash.xxh3_128}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The path of a draft for the block to make, a file or a folder, which then takes the place of `path`.

    The folder around it is made. When the block fails the draft is removed and `path` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{DRAFT}{uuid.uuid4().hex[:12]}")
    try:
        yield draft
        if draft.is_dir() and path.is_dir():  # a folder is only renamed over an empty one
            shutil.rmtree(path)
        os.replace(draft, path)
    finally:
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keeps others out of their `alone_in` of the same folder, processes and threads, while the block runs.

    For what is read, changed and written back: `replacing` alone would let the later of two writers undo the
    earlier one.
    """
    with FileLock(folder / LOCK):
        yield


@contextmanager
def writing(place: Path, what: str = "") -> Iterator[None]:
    """Turns an OSError of the block into a GraftError: `place`: `what` can't be written, and why."""
    try:
        yield
    except OSError as error:
        said = f"{what} can't be written" if what else "can't be written"
        raise GraftError(f"{place}: {said} ({error.strerror or error})") from error


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write an object in one step; GraftError when that is not possible."""
    text = json.dumps(value, indent=1)
    with writing(path), replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object; None when the file is missing or cut short."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def digest_of(content: Path | bytes, bits: Literal[64, 128] = 128) -> str:
    """Hex digest (XXH3) of a file's content, or of bytes."""
    if isinstance(content, bytes):
        return _HASHES[bits](content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, _HASHES[bits]).hexdigest()
