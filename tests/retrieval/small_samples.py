"""A lake of plain arrays with the embedded encoder."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pyarrow as pa
from small_lakes import encoder

from graftjax.lake.index import build_index
from graftjax.lake.raw import RawTable
from graftjax.lake.record import LakeIndex
from graftjax.types import TableId

TABLES = {
    "airlines": {"uid": [1, 2, 3, 4], "name": ["A", "B", "C", "D"], "country": ["x", "y", "x", "z"]},
    "flights_1": {"flight_no": [10, 11, 12], "airline": [1, 2, 3], "distance": [5.5, 6.5, 7.5]},
    "flights_2": {"flight_no": [20, 21, 22], "airline": [4, 2, 3], "distance": [8.5, 6.25, 7.75]},
    "clubs": {"club_id": [1, 2, 3], "city": ["Cork", "Bray", "Cobh"], "points": [40, 50, 60]},
    "weather": {"station": ["north", "south"], "rainfall": [3.5, 4.5], "wind speed": [7, 8]},
    "songs": {"song_id": [5, 6, 7], "title": ["Do", "Re", "Mi"], "singer name": ["Ann", "Bob", "Cid"]},
}


@cache
def lake() -> LakeIndex:
    raw = [
        RawTable(TableId("db", name), pa.table(columns), tuple(columns), f"{name}.csv")
        for name, columns in TABLES.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        return build_index(raw, Path(folder) / "index", encoder(), progress=False)
