"""Kinds of files by their names: what is read, and why the rest is not."""

from __future__ import annotations

from typing import NamedTuple

TEXT = frozenset({"csv", "tsv", "tab", "txt", "psv"})
PARQUET = frozenset({"parquet", "pq"})
SQLITE = frozenset({"sqlite", "sqlite3", "db", "db3", "s3db", "sl3"})
PACKED = frozenset({"gz", "bz2", "xz", "zst", "zip"})
SIDECARS = frozenset(f"{kind}-{part}" for kind in SQLITE for part in ("wal", "shm", "journal"))
"""Files that SQLite keeps beside a database; they are read with it."""

_SHEET = "spreadsheet: save each sheet as CSV"
_ARROW = "Arrow file: save it as Parquet"
_JSON = "JSON: save it as CSV or Parquet"
_STATISTICS = "data file of a statistics program: save it as CSV or Parquet"
_ARCHIVE = "archive: unpack it first"
UNREAD = (
    dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls", "ods", "numbers"), _SHEET)
    | dict.fromkeys(("feather", "arrow", "arrows", "ipc"), _ARROW)
    | dict.fromkeys(("json", "jsonl", "ndjson", "geojson"), _JSON)
    | dict.fromkeys(("sav", "dta", "sas7bdat", "rds", "rdata", "mat"), _STATISTICS)
    | dict.fromkeys((*PACKED, "tar", "tgz", "7z", "rar"), _ARCHIVE)
    | dict.fromkeys(("orc", "avro", "h5", "hdf5", "nc", "npy", "npz"), "save it as Parquet")
    | dict.fromkeys(("pkl", "pickle"), "a pickle may run code: save it as Parquet")
    | dict.fromkeys(("mdb", "accdb", "duckdb", "gpkg", "dbf", "sql"), "save its tables as CSV or Parquet")
)
"""Extensions of files that may well hold tables, with what is to be done; each such file is reported."""


class FileKind(NamedTuple):
    """What a file's name says."""

    stem: str
    extension: str
    """Lower case; that of the packing after it, as in `csv.gz`."""
    is_table: bool

    @property
    def is_sqlite(self) -> bool:
        return self.is_table and self.extension.split(".")[0] in SQLITE

    @property
    def is_parquet(self) -> bool:
        return self.is_table and self.extension.split(".")[0] in PARQUET

    @property
    def is_packed(self) -> bool:
        return "." in self.extension


def file_kind(name: str) -> FileKind:
    """Kind of a file by its name: `a.b.CSV.gz` is (`a.b`, `csv.gz`, True)."""
    stem, _, last = name.rpartition(".")
    if not stem:
        return FileKind(name, "", False)
    extension = last.lower()
    if extension in PACKED:
        inner, _, kind = stem.rpartition(".")
        if inner and kind.lower() in TEXT | PARQUET | SQLITE:
            return FileKind(inner, f"{kind.lower()}.{extension}", True)
    return FileKind(stem, extension, extension in TEXT | PARQUET | SQLITE)
