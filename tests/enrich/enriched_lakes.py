"""A small lake with a base table, and its index by the encoder of hashed words."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from fake_encoder import WordEncoder  # pyright: ignore[reportMissingImports]

from graftjax.lake.index import build_index
from graftjax.lake.raw import RawTable
from graftjax.lake.record import LakeIndex
from graftjax.types import TableId


def raw(name: str, columns: dict) -> RawTable:
    """A table of the folder `p`."""
    return RawTable(TableId("p", name), pa.table(columns), tuple(columns), f"{name}.parquet")


def index_of(tables: list[RawTable]) -> LakeIndex:
    with tempfile.TemporaryDirectory() as folder:
        return build_index(tables, Path(folder) / "index", WordEncoder(), progress=False)
