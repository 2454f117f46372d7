"""A folder tree → its tables, one at a time."""

from __future__ import annotations

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from graftjax.errors import GraftError, UsageError
from graftjax.lake.kinds import SIDECARS, UNREAD, file_kind
from graftjax.lake.names import plain_name
from graftjax.lake.raw import RawTable
from graftjax.lake.read_csv import read_csv
from graftjax.lake.read_parquet import read_parquet
from graftjax.lake.read_sqlite import read_sqlite
from graftjax.types import Skip, TableId

_NAMED = 3
"""Files of a kind that is not read are counted; so many of a kind are named."""


def find_tables(root: Path) -> Iterator[RawTable | Skip]:
    """Read all tables below a folder, in the order of their paths; one table is in memory at a time.

    The source of a table is its folder, relative to `root`; for SQLite the folder and the stem of the file
    (only the folder where both are the same word, as in `<db>/<db>.sqlite`, and no other table file is
    there). The name is the stem of the file, with the extension where two files of one folder share the stem.
    What looks like a table and can not be read, and what may hold tables in a format that is not read, is a
    Skip; other files are counted in one Skip per extension. A file that changes while it is read is read
    once more, and skipped if it changes again.

    Raises UsageError when `root` is not a folder.
    """
    root = Path(root)
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder")
    others: dict[str, list[str]] = defaultdict(list)
    seen: set[TableId] = set()
    for item in _walk(root, others):
        if isinstance(item, Skip):
            yield Skip(item.origin, plain_name(item.reason))
            continue
        # What the notes quote from a file, like the names, may hold anything.
        yield replace(_unseen(item, seen), notes=tuple(map(plain_name, item.notes)))
    for extension, names in sorted(others.items()):
        more = ", ..." if len(names) > _NAMED else ""
        count = f"{len(names)} {'file' if len(names) == 1 else 'files'}"
        yield Skip(extension, f"{count} of a kind that is not read: {', '.join(names[:_NAMED])}{more}")


def read_file(file: Path, id: TableId, origin: str) -> RawTable:
    """Read the one table of a delimited text or Parquet file, told by the extension.

    Raises GraftError, with a reason in plain words, when there is no table in it or it can not be read.
    """
    kind = file_kind(file.name)
    for _ in range(2):
        try:
            before = _state(file)
            if kind.is_parquet and kind.is_packed:
                raise GraftError("compressed Parquet file: unpack it first")
            table = (read_parquet if kind.is_parquet else read_csv)(file, id, origin)
            if _state(file) == before:
                return table
        except GraftError:
            raise
        except OSError as error:
            raise GraftError(f"can not be read: {_reason(error)}") from error
        except Exception as error:  # a fault of a reader must not end the others' work
            raise GraftError(f"can not be read: {_line(error)}") from error
    raise GraftError("changed while it was read")


def _state(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}".removesuffix(": ")


def _unseen(table: RawTable, seen: set[TableId]) -> RawTable:
    """Last resort against equal identities, for example a folder called like a database file."""
    id, count = table.id, 1
    while id in seen:
        count += 1
        id = TableId(table.id.source, f"{table.id.name}#{count}")
    seen.add(id)
    return table if id is table.id else replace(table, id=id)


def _identity(path: str | Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


class _Folder(NamedTuple):
    path: Path
    relative: PurePosixPath


def _walk(root: Path, others: dict[str, list[str]]) -> Iterator[RawTable | Skip]:
    visited = {_identity(root)}
    # A stack of our own: folders may be nested more deeply than generators can be.
    stack = [_read_folder(_Folder(root, PurePosixPath()), others)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, _Folder):
            try:
                identity = _identity(item.path)
            except OSError as error:
                yield Skip(plain_name(item.relative), f"folder can not be opened: {_reason(error)}")
                continue
            if identity in visited:  # a link back up, or a second way to a folder already read
                yield Skip(plain_name(item.relative), "link to a folder that is read elsewhere")
                continue
            visited.add(identity)
            stack.append(_read_folder(item, others))
        else:
            yield item


def _read_folder(folder: _Folder, others: dict[str, list[str]]) -> Iterator[RawTable | Skip | _Folder]:
    """The tables of a folder and the folders in it, in the order of their names."""
    relative = folder.relative
    try:
        with os.scandir(folder.path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        yield Skip(plain_name(relative) or ".", f"folder can not be listed: {_reason(error)}")
        return
    folders = set()
    for entry in entries.copy():
        try:
            if entry.is_dir():
                folders.add(entry.name)
        except OSError as error:  # a link to itself, or to a name that can not be
            entries.remove(entry)
            yield Skip(plain_name(relative / entry.name), f"can not be opened: {_reason(error)}")
    kinds = {entry.name: file_kind(entry.name) for entry in entries if entry.name not in folders}
    tables = [kind for kind in kinds.values() if kind.is_table]
    stems = Counter((kind.is_sqlite, kind.stem) for kind in tables)
    for entry in entries:
        name, path = entry.name, relative / entry.name
        if name.startswith("."):
            others["hidden"].append(plain_name(path))
        elif name in folders:
            yield _Folder(Path(entry.path), path)
        elif not kinds[name].is_table:
            extension = kinds[name].extension
            if extension in UNREAD:
                yield Skip(plain_name(path), UNREAD[extension])
            elif extension not in SIDECARS or name.rpartition("-")[0] not in kinds:
                others[plain_name(f"*.{extension}") if extension else "no extension"].append(plain_name(path))
        elif reason := _no_file(Path(entry.path)):
            yield Skip(plain_name(path), reason)
        elif kinds[name].is_sqlite:
            kind = kinds[name]
            if kind.is_packed:
                yield Skip(plain_name(path), "compressed database: unpack it first")
                continue
            alone = stems[True, kind.stem] == 1
            if alone and kind.stem == relative.name and len(tables) == 1:
                source = relative
            else:
                source = relative / (kind.stem if alone and kind.stem not in folders else name)
            yield from _read_database(Path(entry.path), plain_name(source), plain_name(path))
        else:
            stem = kinds[name].stem if stems[False, kinds[name].stem] == 1 else name
            origin = plain_name(path)
            try:
                yield read_file(Path(entry.path), TableId(plain_name(relative), plain_name(stem)), origin)
            except GraftError as error:
                yield Skip(origin, str(error))


def _read_database(file: Path, source: str, origin: str) -> Iterator[RawTable | Skip]:
    try:
        yield from read_sqlite(file, source, origin)
    except Exception as error:  # a fault of the reader must not end the others' work
        yield Skip(origin, f"can not be read: {_line(error)}")


def _no_file(path: Path) -> str | None:
    """Why a path is no file to be read."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "broken link, or the file has vanished"
    except OSError as error:
        return f"can not be opened: {_reason(error)}"
    return None if stat.S_ISREG(mode) else "not a regular file"


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
