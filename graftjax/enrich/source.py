"""The tables that are split: a target to predict, a key, features, and the columns of the base table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from graftjax.errors import GraftError, UsageError

Task = Literal["regression", "classification"]
TASKS: tuple[Task, ...] = ("regression", "classification")
ROW_ID = "row_id"
"""Header of the key of a source without one."""
LEAST_ID, IDS = 1_000_000, 9_000_000
"""Row ids are drawn without replacement from the numbers of seven digits."""


@dataclass(frozen=True, eq=False)
class Source:
    """One table to be split. `data` has the key first, then the features, and the target last."""

    name: str
    task: Task
    target: str
    key: str
    key_is_feature: bool
    """A key such as a date says something about the target; a number of a row must not."""
    base_columns: tuple[str, ...]
    """Features that the base table keeps; the others go to the pieces that are joined."""
    data: pa.Table

    @property
    def features(self) -> tuple[str, ...]:
        """All columns but key and target."""
        return tuple(name for name in self.data.column_names if name not in (self.key, self.target))


def read_sources(
    folder: Path, listing: str, *, rows: int, seed: int, names: Sequence[str] = ()
) -> list[Source]:
    """The sources that a listing such as `sources/sources.json` names, each cut to `rows` random rows.

    `names`: only these. Raises UsageError when the listing or a file is missing or broken.
    """
    path = folder / listing
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["sources"]
        wanted = [one for one in entries if not names or one["name"] in names]
        return [_read(folder, one, rows, seed) for one in wanted]
    except FileNotFoundError as error:
        raise UsageError(f"{error.filename}: no such file; open data are expected in {folder}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: not a list of sources ({type(error).__name__}: {error})") from error


def _read(folder: Path, entry: dict[str, Any], rows: int, seed: int) -> Source:
    name, target = entry["name"], entry["target"]
    data = pq.read_table(folder / entry["file"])
    keys = [entry["key"]] if isinstance(entry["key"], str) else entry["key"] or []
    base = tuple(entry["suggested_base"]["columns"])
    missing = {target, *keys, *base} - set(data.column_names)
    if missing:
        raise GraftError(f"{entry['file']} has no column {', '.join(sorted(missing))}")
    rng = rng_of(seed, name, "rows")
    if data.num_rows > rows:
        data = data.take(np.sort(rng.choice(data.num_rows, rows, replace=False)))
    key, values, is_feature = _key(data, keys, set(entry["not_features"]), rng)
    left_out = {*entry["not_features"], key, target}
    features = [column for column in data.column_names if column not in left_out]
    kept = [values, *(data[column] for column in features), data[target]]
    whole = pa.table(kept, names=[key, *features, target])
    return Source(
        name, entry["task"], target, key, is_feature, tuple(c for c in base if c in features), whole
    )


def _key(
    data: pa.Table, keys: Sequence[str], left_out: set[str], rng: np.random.Generator
) -> tuple[str, pa.ChunkedArray | pa.Array, bool]:
    """(header, values, whether it is a feature). A key of several columns is written into one text: the lake
    graph joins on single columns, as most data lakes' keys are found."""
    if len(keys) == 1:
        return keys[0], data[keys[0]], keys[0] not in left_out
    if keys:
        parts = zip(*(data[key].to_pylist() for key in keys), strict=True)
        return "_".join(keys), pa.array(["-".join(map(str, part)) for part in parts]), False
    ids = rng.choice(IDS, data.num_rows, replace=False) + LEAST_ID
    return ROW_ID, pa.array(ids), False


def rng_of(seed: int, name: str, purpose: str) -> np.random.Generator:
    """Random numbers of their own for each source and purpose."""
    return np.random.default_rng([seed, *(xxhash.xxh64_intdigest(text.encode()) for text in (name, purpose))])
