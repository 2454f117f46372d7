"""A file that holds tables: how it is read, and what tells that it has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from graftjax.errors import GraftError
from graftjax.lake.kinds import file_kind
from graftjax.lake.known_files import Profiled
from graftjax.lake.names import plain_name
from graftjax.lake.profile import profile_and_rows
from graftjax.lake.raw import RawTable
from graftjax.lake.read_csv import read_csv
from graftjax.lake.read_parquet import read_parquet
from graftjax.lake.read_sqlite import read_sqlite
from graftjax.types import Skip, TableId


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file that holds tables, not read yet."""

    path: Path
    origin: str
    """Relative to the lake's root, in plain characters."""
    source: str
    name: str | None
    """Of its only table; None for a database."""

    def key(self) -> str | None:
        """Changes with the file and with what its tables are called; None when the file is gone.

        A database is changed through the files beside it too.
        """
        kind = file_kind(self.path.name)
        try:
            state = [_state(self.path)]
            if kind.is_sqlite:
                logs = (self.path.with_name(f"{self.path.name}-{part}") for part in ("wal", "journal"))
                state += [_state(log) for log in logs if log.exists()]
        except OSError:
            return None
        return json.dumps([self.origin, self.source, self.name, state])

    def read(self) -> Iterator[RawTable | Skip]:
        """Its tables, and what of it can not be read."""
        for item in self._items():
            if isinstance(item, Skip):
                yield Skip(item.origin, plain_name(item.reason))
            else:  # what the notes quote from a file, like the names, may hold anything
                yield replace(item, notes=tuple(map(plain_name, item.notes)))

    def _items(self) -> Iterator[RawTable | Skip]:
        try:
            if self.name is None:
                yield from read_sqlite(self.path, self.source, self.origin)
            else:
                yield read_file(self.path, TableId(self.source, self.name), self.origin)
        except GraftError as error:
            yield Skip(self.origin, str(error))
        except Exception as error:  # a fault of the reader must not end the others' work
            yield Skip(self.origin, f"can not be read: {_line(error)}")


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
            raise GraftError(f"can not be read: {reason_of(error)}") from error
        except Exception as error:  # a fault of a reader must not end the others' work
            raise GraftError(f"can not be read: {_line(error)}") from error
    raise GraftError("changed while it was read")


def _state(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {_first_line(error)}".removesuffix(": ")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]


def profiled(item: RawTable | Skip) -> Profiled | Skip:
    """The profile of a table that was read; a Skip when it can't be profiled."""
    if isinstance(item, Skip):
        return item
    try:
        return Profiled(*profile_and_rows(item), item.notes)
    except (ValueError, TypeError, MemoryError) as error:  # pyarrow's errors are ValueErrors
        return Skip(item.origin, f"{item.id}: can't be profiled ({_first_line(error)})")


def reason_of(error: OSError) -> str:
    """Why a file can't be used, in plain words."""
    return error.strerror or str(error)
