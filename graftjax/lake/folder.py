"""A folder tree → its tables, one at a time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from graftjax.errors import GraftError, UsageError
from graftjax.lake.raw import RawTable
from graftjax.lake.read_csv import read_csv
from graftjax.lake.read_parquet import read_parquet
from graftjax.lake.read_sqlite import read_sqlite
from graftjax.types import Skip, TableId

_TEXT = frozenset({"csv", "tsv", "tab", "txt"})
_PARQUET = frozenset({"parquet", "pq"})
_SQLITE = frozenset({"sqlite", "sqlite3", "db", "db3"})
_PACKED = frozenset({"gz", "bz2", "xz", "zst"})


def find_tables(root: Path) -> Iterator[RawTable | Skip]:
    """Read all tables below a folder, in the order of their paths; one table is in memory at a time.

    The source of a table is its folder, relative to `root`; for SQLite the folder and the stem of the file
    (only the folder where both are the same word, as in `<db>/<db>.sqlite`, and no other table file is
    there). The name is the stem of the file, with the extension where two files of one folder share the stem.
    What looks like a table and can not be read is a Skip; other files are counted in one Skip per extension.

    Raises UsageError when `root` is not a folder.
    """
    root = Path(root)
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder")
    others: Counter[str] = Counter()
    seen: set[TableId] = set()
    for item in _walk(root, PurePosixPath(), {_identity(root)}, others):
        if isinstance(item, RawTable):
            item = _unseen(item, seen)
        yield item
    for extension, count in sorted(others.items()):
        yield Skip(extension, f"{count} {'file' if count == 1 else 'files'} of a kind that is not read")


def _unseen(table: RawTable, seen: set[TableId]) -> RawTable:
    """Last resort against equal identities, for example a folder called like a database file."""
    id, count = table.id, 1
    while id in seen:
        count += 1
        id = TableId(table.id.source, f"{table.id.name}#{count}")
    seen.add(id)
    return table if id is table.id else replace(table, id=id)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _walk(
    folder: Path, relative: PurePosixPath, visited: set[tuple[int, int]], others: Counter[str]
) -> Iterator[RawTable | Skip]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Skip(_plain(relative), f"folder can not be listed: {error.strerror or error}")
        return
    folders = set()
    for entry in entries.copy():
        try:
            if entry.is_dir():
                folders.add(entry.name)
        except OSError as error:  # a link to itself, or to a name that can not be
            entries.remove(entry)
            yield Skip(_plain(relative / entry.name), f"can not be opened: {error.strerror or error}")
    files = [entry.name for entry in entries if entry.name not in folders]
    kinds = {name: _split(name) for name in files}
    tables = [name for name in files if kinds[name][2]]
    stems = Counter((_reads_sqlite(kinds[name]), kinds[name][0]) for name in tables)
    for entry in entries:
        name, path = entry.name, relative / entry.name
        if name.startswith("."):
            others["hidden"] += 1
        elif name in folders:
            try:
                identity = _identity(Path(entry.path))
            except OSError as error:
                yield Skip(_plain(path), f"folder can not be opened: {error.strerror or error}")
                continue
            if identity in visited:  # a link back up, or a second way to a folder already read
                yield Skip(_plain(path), "link to a folder that is read elsewhere")
                continue
            visited.add(identity)
            yield from _walk(Path(entry.path), path, visited, others)
        elif not kinds[name][2]:
            others[f"*.{kinds[name][1]}" if kinds[name][1] else "no extension"] += 1
        elif not Path(entry.path).exists():
            yield Skip(_plain(path), "broken link, or the file has vanished")
        elif not Path(entry.path).is_file():
            yield Skip(_plain(path), "not a regular file")
        elif _reads_sqlite(kinds[name]):
            stem, extension, _ = kinds[name]
            if extension in _SQLITE:
                alone = stems[True, stem] == 1
                if alone and stem == relative.name and len(tables) == 1:
                    source = relative
                else:
                    source = relative / (stem if alone and stem not in folders else name)
                yield from read_sqlite(Path(entry.path), _plain(source), _plain(path))
            else:
                yield Skip(_plain(path), "compressed database: unpack it first")
        else:
            yield _read_file(Path(entry.path), relative, path, kinds[name], stems)


def _read_file(
    file: Path,
    relative: PurePosixPath,
    path: PurePosixPath,
    kind: tuple[str, str, bool],
    stems: Counter[tuple[bool, str]],
) -> RawTable | Skip:
    stem, extension, _ = kind
    name = stem if stems[False, stem] == 1 else path.name
    id, origin = TableId(_plain(relative), _plain(PurePosixPath(name))), _plain(path)
    try:
        if extension in _PARQUET:
            return read_parquet(file, id, origin)
        if extension.split(".")[0] in _PARQUET:
            return Skip(origin, "compressed Parquet file: unpack it first")
        return read_csv(file, id, origin)
    except GraftError as error:
        return Skip(origin, str(error))
    except OSError as error:
        return Skip(origin, f"can not be read: {error.strerror or error}")


def _split(name: str) -> tuple[str, str, bool]:
    """(stem, extension, whether it looks like a table): `a.b.CSV.gz` is (`a.b`, `csv.gz`, True)."""
    stem, _, last = name.rpartition(".")
    if not stem:
        return name, "", False
    extension = last.lower()
    if extension in _PACKED:
        inner, _, kind = stem.rpartition(".")
        if inner and kind.lower() in _TEXT | _PARQUET | _SQLITE:
            return inner, f"{kind.lower()}.{extension}", True
    return stem, extension, extension in _TEXT | _PARQUET | _SQLITE


def _reads_sqlite(kind: tuple[str, str, bool]) -> bool:
    return kind[1].split(".")[0] in _SQLITE


def _plain(path: PurePosixPath) -> str:
    """The path as text that every encoder takes: bytes of a name that are not UTF-8 are spelled `\\xff`."""
    text = "" if path == PurePosixPath() else str(path)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
