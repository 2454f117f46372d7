"""A fused table: its SQL, what each step did to the rows, and the rows themselves when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from graftjax.errors import GraftError
from graftjax.fuse.output import write_batches
from graftjax.fuse.run import Session
from graftjax.types import TableId


@dataclass(frozen=True, slots=True)
class StepRows:
    """Rows after one step of a fusion."""

    step: str
    rows: int


@dataclass(frozen=True, slots=True)
class FusedColumn:
    """A column of the result and the columns of the lake that it comes from."""

    name: str
    origins: tuple[tuple[TableId, str], ...]
    """(table, name in the index); none for the column that names the source of a union's rows."""


@dataclass(frozen=True, eq=False)
class Fused:
    """The tables of a synthesis as one."""

    sql: str
    """In DuckDB's dialect, over `inputs`."""
    n_rows: int
    columns: tuple[FusedColumn, ...]
    steps: tuple[StepRows, ...]
    """Unions, then joins, then filters; the last one has `n_rows`."""
    inputs: Mapping[str, TableId]
    """Name in `sql` → table of the lake."""
    preview: pa.Table
    """The first rows."""
    notes: tuple[str, ...]
    others: tuple[Fused, ...]
    """Parts of the synthesis that no operator connects with this one, fused by themselves."""
    tables: Mapping[str, pa.Table] = field(repr=False)
    """Name in `sql` → rows."""
    _session: Session = field(repr=False)

    def batches(self) -> pa.RecordBatchReader:
        """The rows as a stream; read it to its end before the next call."""
        return self._session.reader(self.sql)

    def to_arrow(self) -> pa.Table:
        """All rows."""
        return self._session.table(self.sql)

    def to_pandas(self) -> Any:
        """All rows as a pandas DataFrame; GraftError when pandas isn't installed."""
        try:
            import pandas  # noqa: F401  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise GraftError("pandas isn't installed: pip install pandas") from error
        return self.to_arrow().to_pandas()

    def write(self, path: Path | str) -> None:
        """Write all rows in one step, as the suffix says: .csv, .tsv, .parquet, .pq, .arrow, .feather, .ipc.

        In CSV a text that a spreadsheet would run as a formula gets an apostrophe before it: one that
        starts with = + - @, a tab or a carriage return, and is not a plain number.
        """
        write_batches(self.batches, Path(path))

    def record(self) -> dict[str, Any]:
        """As JSON, without the rows; tables are [source, name] pairs."""
        return {
            "sql": self.sql,
            "n_rows": self.n_rows,
            "columns": [
                {"name": c.name, "origins": [[t.source, t.name, column] for t, column in c.origins]}
                for c in self.columns
            ],
            "steps": [{"step": step.step, "rows": step.rows} for step in self.steps],
            "inputs": {name: [id.source, id.name] for name, id in self.inputs.items()},
            "notes": list(self.notes),
            "others": [other.record() for other in self.others],
        }
