"""A folder tree → its table files, and their tables, one at a time."""

from __future__ import annotations

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from graftjax.errors import UsageError
from graftjax.lake.kinds import SIDECARS, UNREAD, file_kind
from graftjax.lake.known_files import Items, KnownFiles, Profiled
from graftjax.lake.names import plain_name
from graftjax.lake.raw import RawTable
from graftjax.lake.table_file import TableFile, profiled, reason_of
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
    seen: set[TableId] = set()
    for item in find_files(root):
        if isinstance(item, Skip):
            yield item
            continue
        for found in item.read():
            yield found if isinstance(found, Skip) else replace(found, id=unseen(found.id, seen))


def find_profiles(root: Path, known: KnownFiles) -> Iterator[Profiled | Skip]:
    """The tables of `find_tables`, profiled; files that are known already are not read."""
    seen: set[TableId] = set()
    for item in find_files(root):
        if isinstance(item, Skip):
            known.saw(item)
            yield item
            continue
        for found in read_profiles(item, known):
            if isinstance(found, Skip):
                yield found
            else:
                table = replace(found.table, id=unseen(found.table.id, seen))
                yield found._replace(table=table)


def read_profiles(file: TableFile, known: KnownFiles) -> Items:
    """The tables of a file, from what is known when it is."""
    key = file.key()
    found = None if key is None else known.get(key)
    if found is None:
        found = tuple(map(profiled, file.read()))
        if key is not None and key == file.key():
            known.add(key, found)
    if key is not None:
        known.saw(key)
    return found


def find_files(root: Path) -> Iterator[TableFile | Skip]:
    """The files of `find_tables`, none of them opened."""
    root = Path(root)
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder")
    others: dict[str, list[str]] = defaultdict(list)
    for item in _walk(root, others):
        yield Skip(item.origin, plain_name(item.reason)) if isinstance(item, Skip) else item
    for extension, names in sorted(others.items()):
        more = ", ..." if len(names) > _NAMED else ""
        count = f"{len(names)} {'file' if len(names) == 1 else 'files'}"
        yield Skip(extension, f"{count} of a kind that is not read: {', '.join(names[:_NAMED])}{more}")


def unseen(id: TableId, seen: set[TableId]) -> TableId:
    """Last resort against equal identities, for example a folder called like a database file."""
    own, count = id, 1
    while own in seen:
        count += 1
        own = TableId(id.source, f"{id.name}#{count}")
    seen.add(own)
    return own


def _identity(path: str | Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


class _Folder(NamedTuple):
    path: Path
    relative: PurePosixPath


def _walk(root: Path, others: dict[str, list[str]]) -> Iterator[TableFile | Skip]:
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
                yield Skip(plain_name(item.relative), f"folder can not be opened: {reason_of(error)}")
                continue
            if identity in visited:  # a link back up, or a second way to a folder already read
                yield Skip(plain_name(item.relative), "link to a folder that is read elsewhere")
                continue
            visited.add(identity)
            stack.append(_read_folder(item, others))
        else:
            yield item


def _read_folder(folder: _Folder, others: dict[str, list[str]]) -> Iterator[TableFile | Skip | _Folder]:
    """The tables of a folder and the folders in it, in the order of their names."""
    relative, own = folder.relative, plain_name(folder.relative)
    try:
        with os.scandir(folder.path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        yield Skip(own or ".", f"folder can not be listed: {reason_of(error)}")
        return
    folders = set()
    for entry in entries.copy():
        try:
            if entry.is_dir():
                folders.add(entry.name)
        except OSError as error:  # a link to itself, or to a name that can not be
            entries.remove(entry)
            yield Skip(plain_name(relative / entry.name), f"can not be opened: {reason_of(error)}")
    kinds = {entry.name: file_kind(entry.name) for entry in entries if entry.name not in folders}
    tables = [kind for kind in kinds.values() if kind.is_table]
    stems = Counter((kind.is_sqlite, kind.stem) for kind in tables)
    for entry in entries:
        name = entry.name
        origin = plain_name(f"{relative}/{name}" if relative.parts else name)
        if name.startswith("."):
            others["hidden"].append(origin)
        elif name in folders:
            yield _Folder(Path(entry.path), relative / name)
        elif not kinds[name].is_table:
            extension = kinds[name].extension
            if extension in UNREAD:
                yield Skip(origin, UNREAD[extension])
            elif extension not in SIDECARS or name.rpartition("-")[0] not in kinds:
                others[plain_name(f"*.{extension}") if extension else "no extension"].append(origin)
        elif reason := _no_file(entry):
            yield Skip(origin, reason)
        elif kinds[name].is_sqlite:
            kind = kinds[name]
            if kind.is_packed:
                yield Skip(origin, "compressed database: unpack it first")
                continue
            alone = stems[True, kind.stem] == 1
            if alone and kind.stem == relative.name and len(tables) == 1:
                source = relative
            else:
                source = relative / (kind.stem if alone and kind.stem not in folders else name)
            yield TableFile(Path(entry.path), origin, plain_name(source), None)
        else:
            stem = kinds[name].stem if stems[False, kinds[name].stem] == 1 else name
            yield TableFile(Path(entry.path), origin, own, plain_name(stem))


def _no_file(entry: os.DirEntry[str]) -> str | None:
    """Why an entry is no file to be read."""
    try:
        mode = entry.stat().st_mode
    except FileNotFoundError:
        return "broken link, or the file has vanished"
    except OSError as error:
        return f"can not be opened: {reason_of(error)}"
    return None if stat.S_ISREG(mode) else "not a regular file"
