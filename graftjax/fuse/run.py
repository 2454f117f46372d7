"""DuckDB without the outside world: no files, no extensions, no code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import duckdb
import pyarrow as pa

from graftjax.errors import UsageError
from graftjax.fuse.errors import FuseError
from graftjax.fuse.settings import FuseSettings
from graftjax.fuse.terms import Term, text


@lru_cache(maxsize=4)
def _database(threads: int, memory: str) -> duckdb.DuckDBPyConnection:
    """An empty database for all sessions with these settings: to make one takes longer than most fusions."""
    locked: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
        "lock_configuration": "true",
        "threads": str(threads),
        "memory_limit": memory,
    }
    try:
        return duckdb.connect(":memory:", config=locked)
    except duckdb.Error as error:
        raise UsageError(f"DuckDB refuses memory={memory!r}: {_line(error)}") from error


class Session:
    """A connection that sees the given Arrow tables and nothing else."""

    def __init__(self, tables: Mapping[str, pa.Table], settings: FuseSettings) -> None:
        # Tables are registered with a connection; others of the same database do not see them.
        self._connection = _database(settings.threads, settings.memory).cursor()
        for name, data in tables.items():
            self.register(name, data)

    def register(self, name: str, data: pa.Table) -> None:
        """Make a table known under a name, or replace the one of that name."""
        self._connection.register(name, data)

    def table(self, query: Term | str) -> pa.Table:
        """The whole result."""
        try:
            return self._relation(query).to_arrow_table()
        except duckdb.Error as error:
            raise _fuse_error(error) from error

    def reader(self, query: Term | str) -> pa.RecordBatchReader:
        """The result in batches; it ends when the session is asked for something else."""
        try:
            return pa.RecordBatchReader.from_stream(self._relation(query))
        except duckdb.Error as error:
            raise _fuse_error(error) from error

    def numbers(self, query: Term) -> list[int]:
        """The single row of a result of counts; NULL (the sum of nothing) is 0."""
        (row,) = self.table(query).to_pylist()
        return [int(value or 0) for value in row.values()]

    def _relation(self, query: Term | str) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(query if isinstance(query, str) else text(query))


def _fuse_error(error: duckdb.Error) -> FuseError:
    if isinstance(error, duckdb.OutOfMemoryException):
        return FuseError(f"the fusion needs more memory than is allowed: {_line(error)}")
    return FuseError(f"DuckDB refuses the fusion: {_line(error)}")


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
