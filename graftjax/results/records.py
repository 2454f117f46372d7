"""Result files of runs, found by path and believed only after they were checked.

A file that is broken, cut short, or at odds with its own queries is refused with the reason: it gives no row,
and above all no score of 0.
"""

from __future__ import annotations

import glob
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.metrics import METRICS, score
from graftjax.evaluate.significance import Record
from graftjax.types import TableId

_NEEDED = (
    "lake", "method", "L", "seed", "n_queries", "n_skipped", "metrics", "per_query", "skipped", "config",
)  # fmt: skip
_CLOSE = 1e-6
"""Two means of the same scores differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that gives no row."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """The runs below some paths."""

    records: tuple[Record, ...]
    paths: tuple[Path, ...]
    """Where each record was read."""
    refused: tuple[Refused, ...]
    others: int
    """JSON files that are no runs (of latency.py, scaling.py, ...)."""


def find_runs(patterns: Sequence[str]) -> Found:
    """Read all run files below the paths: files, folders (at any depth), or globs (`**` too).

    UsageError for a path that is not there, a glob that meets nothing, and where no file is a run file.
    """
    records: list[Record] = []
    paths: list[Path] = []
    refused: list[Refused] = []
    others = 0
    files = _files(patterns)
    for path in files:
        try:
            found = _read(path)
        except GraftError as error:
            refused.append(Refused(path, str(error)))
            continue
        if found is None:
            others += 1
        else:
            records.append(found)
            paths.append(path)
    if not records and not refused:
        what = f"the {others} JSON files there are no runs" if others else "no JSON file there"
        raise UsageError(f"{' '.join(patterns) or 'no path given'}: {what}")
    return Found(tuple(records), tuple(paths), tuple(refused), others)


def _files(patterns: Sequence[str]) -> list[Path]:
    """Each file once, whichever pattern names it, in order."""
    found: dict[Path, Path] = {}
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            own = sorted(path.rglob("*.json"))
        elif path.is_file():
            own = [path]
        else:
            own = []
            for hit in sorted(map(Path, glob.glob(pattern, recursive=True))):
                own += sorted(hit.rglob("*.json")) if hit.is_dir() else [hit] if hit.suffix == ".json" else []
            if not own:
                raise UsageError(f"{pattern}: no such file or folder")
        for one in own:
            if not one.name.startswith(".draft-"):
                found.setdefault(one.resolve(), one)
    return [*found.values()]


def _read(path: Path) -> Record | None:
    """A checked run; None for a JSON file that is none. GraftError: why it is refused."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (OSError, UnicodeDecodeError) as error:
        raise GraftError(f"can't be read ({getattr(error, 'strerror', None) or error})") from error
    except json.JSONDecodeError as error:
        raise GraftError(f"not whole JSON (line {error.lineno}): a run that was cut short?") from error
    if not isinstance(record, dict) or not ("per_query" in record or {"method", "metrics"} <= record.keys()):
        return None
    check_record(record)
    return record


def _no_constant(name: str) -> NoReturn:
    raise GraftError(f"holds {name}, which is no number")


def check_record(record: Mapping[str, Any]) -> None:
    """GraftError unless the run's fields are there, of the right kind, and agree with its queries."""
    for name in _NEEDED:
        if name not in record:
            raise GraftError(f"has no field {name!r}")
    kinds = {"L": int, "seed": int, "n_queries": int, "n_skipped": int, "per_query": list, "skipped": list}
    for name, kind in (kinds | {"lake": str, "method": str, "config": dict}).items():
        if not isinstance(record[name], kind):
            raise GraftError(f"field {name!r} is no {kind.__name__}")
    try:
        rows = [_row(one) for one in record["per_query"]]
        ids = [one["id"] for one in (*record["per_query"], *record["skipped"])]
    except (KeyError, TypeError, ValueError) as error:
        raise GraftError(f"a query's record lacks {error}") from error
    if len(set(ids)) < len(ids):
        raise GraftError("a query is there twice")
    if len(record["skipped"]) != record["n_skipped"] or len(ids) != record["n_queries"]:
        raise GraftError(
            f"says {record['n_queries']} queries with {record['n_skipped']} skipped, but lists "
            f"{len(rows)} and {len(record['skipped'])}: queries are missing"
        )
    _check_means(record["metrics"], rows)


def _row(one: Mapping[str, Any]) -> tuple[float, ...]:
    """The query's metrics; GraftError when they are not those of its tables."""
    row = tuple(float(one[name]) for name in ("recall", "precision", "f1", "sufficient"))
    if not all(math.isfinite(value) and 0 <= value <= 1 for value in row):
        raise GraftError(f"query {one['id']}: a metric is outside of [0, 1]")
    retrieved, gold = ([TableId(*pair) for pair in one[name]] for name in ("retrieved", "gold"))
    right = score(retrieved, gold)
    if any(abs(value - getattr(right, name)) > _CLOSE for name, value in zip(METRICS, row, strict=True)):
        raise GraftError(f"query {one['id']}: its metrics are not those of its tables")
    return row


def _check_means(metrics: Any, rows: Sequence[tuple[float, ...]]) -> None:
    if not rows:
        if metrics is not None:
            raise GraftError("has means without a scored query")
        return
    if not isinstance(metrics, dict):
        raise GraftError("has scored queries but no means")
    for name, column in zip(METRICS, zip(*rows, strict=True), strict=True):
        value = metrics.get(name)
        if not isinstance(value, int | float) or abs(value - math.fsum(column) / len(rows)) > _CLOSE:
            raise GraftError(f"its {name} is not the mean of its queries'")


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of each field at any depth; lists as tuples."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _hashable(value)


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return json.dumps(value, sort_keys=True)
    return tuple(_hashable(one) for one in value) if isinstance(value, list | tuple) else value
