"""SQLite files opened without a trace: nothing is written beside them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

_MAGIC = b"SQLite format 3\x00"
_HOT_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
COPY_BYTES = 1 << 31
"""A database up to this size (2 GiB) is copied, where changes beside it have to be brought in."""


def is_database(path: Path) -> str:
    """Why a file is no SQLite database; "" if it seems to be one. Raises OSError."""
    with path.open("rb") as file:
        start = file.read(16)
    if start == _MAGIC:
        return ""
    return "not a SQLite database (or an encrypted one)" if start else "empty file"


def sqlite_uri(path: Path, immutable: bool) -> str:
    """Address of a database for reading; an immutable one is not even locked."""
    return f"file:{quote(str(path.absolute()))}?" + ("mode=ro&immutable=1" if immutable else "mode=rw")


@contextmanager
def database_copy(path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The database to read, with notes: `path` itself, or a copy that brings in what lies beside it.

    SQLite keeps changes that are not in the file yet in a write-ahead log (-wal), and what an interrupted
    change has to be undone with in a journal (-journal).
    """
    log, journal = (path.with_name(f"{path.name}-{part}") for part in ("wal", "journal"))
    beside = [(log, "write-ahead log")] if log.is_file() and log.stat().st_size else []
    if _is_hot(journal):
        beside.append((journal, "journal of an interrupted change"))
    if not beside:
        yield path, ()
        return
    told = " and ".join(kind for _, kind in beside)
    size = sum(file.stat().st_size for file in (path, *(file for file, _ in beside)))
    if size > COPY_BYTES:
        yield path, (f"the {told} beside the file is not taken into account: too large to be copied",)
        return
    with tempfile.TemporaryDirectory(prefix="graftjax-") as folder:
        copy = Path(folder) / "copy.sqlite"
        shutil.copyfile(path, copy)
        for file, _ in beside:
            shutil.copyfile(file, copy.with_name(copy.name + file.name.removeprefix(path.name)))
        yield copy, (f"read with the {told} beside the file",)


def _is_hot(journal: Path) -> bool:
    try:
        if not journal.is_file():  # a pipe must not be waited for
            return False
        with journal.open("rb") as file:
            return file.read(len(_HOT_JOURNAL)) == _HOT_JOURNAL
    except OSError:
        return False
