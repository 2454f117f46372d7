"""Runs that are one row of a table: the same lake, method, budget and swept settings; seeds are averaged.

Letters: Q queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftjax.errors import UsageError
from graftjax.evaluate.metrics import METRICS, bootstrap_interval
from graftjax.evaluate.significance import Record, scores_by_query
from graftjax.results.records import flat

KEY = ("lake", "method", "L")
"""What always tells rows apart."""
_PLACES = frozenset(
    ("L", "lake", "lakes", "method", "methods", "seed", "runs", "command", "out", "summary", "readme",
     "fresh", "data_dir", "index", "index_folder", "queries_file", "encoder_name")
)  # fmt: skip
"""Fields of a configuration that say which runs one command made and where, not how they were made."""
_RUN_OF = (
    "lake_statistics.",
    "intent_sources.",
    "guided_by.checkpoint",
    "guided_by.training_seed",
    "guided_by.step",
)
"""The same for what follows from the lake or the seed."""
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Metric:
    """Mean over the queries, with the bootstrap interval over them and the spread over seeds."""

    mean: float
    low: float
    high: float
    sd: float | None
    """Standard deviation of the runs' means; None for one run."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: runs that differ by seed alone."""

    lake: str
    method: str
    budget: int
    by: dict[str, Any]
    """Swept field → value."""
    runs: int
    queries: int
    """Queries that are in the means."""
    skipped: int
    """Queries that at least one run has no score for: they are in no mean."""
    metrics: dict[str, Metric]
    """Empty when there is no score, for the reason in `why`."""
    tables: float | None
    """Tables returned per query."""
    ms: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """All rows, and what has to be known to compare them."""

    by: tuple[str, ...]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]


def summarise(records: Sequence[Record], by: Sequence[str] | None = None, *, shared: bool = False) -> Summary:
    """The table of the runs. `by`: fields of the configurations that tell rows apart (dotted where nested);
    None finds those that differ between runs of one lake, method, budget and seed. `shared`: score only the
    queries that every row of a lake has a score for.

    UsageError for a field that no run has.
    """
    configs = [_config(record) for record in records]
    fields = swept_fields(records, configs) if by is None else tuple(dict.fromkeys(by))
    for name in fields:
        if not any(name in config for config in configs):
            raise UsageError(f"--by {name}: no run has such a field; {_known(configs)}")
    names = _lake_names(records)
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record, config in zip(records, configs, strict=True):
        key = (
            names[id(record)],
            record["method"],
            record["L"],
            *(config.get(name, _NONE) for name in fields),
        )
        groups.setdefault(key, []).append(record)
    kept = _shared_queries(groups) if shared else {}
    rows = tuple(
        _row(key, fields, runs, kept.get(key[0])) for key, runs in sorted(groups.items(), key=_place)
    )
    remarks = [*_mixed_lakes(names), *_alike(groups), *_different_queries(groups, shared), *_skips(rows)]
    return Summary(fields, rows, tuple(remarks))


def swept_fields(records: Sequence[Record], configs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Fields with several values among runs of one lake, method, budget and seed, in the order met."""
    seen: dict[tuple[Any, ...], dict[str, set[Any]]] = {}
    for record, config in zip(records, configs, strict=True):
        own = seen.setdefault((*(record[name] for name in KEY), record["seed"]), {})
        for name, value in config.items():
            if name not in _PLACES and not name.startswith(_RUN_OF):
                own.setdefault(name, set()).add(value)
    several = dict.fromkeys(name for own in seen.values() for name, values in own.items() if len(values) > 1)
    # A field that splits the runs as an earlier one does would only repeat its column.
    splits: dict[tuple[int, ...], str] = {}
    for name in several:
        values = [config.get(name, _NONE) for config in configs]
        order = {value: number for number, value in enumerate(dict.fromkeys(values))}
        splits.setdefault(tuple(order[value] for value in values), name)
    return tuple(splits.values())


def _config(record: Record) -> dict[str, Any]:
    return dict(flat({**record["config"], **{key: record[key] for key in ("encoder",) if key in record}}))


def _known(configs: Sequence[Mapping[str, Any]]) -> str:
    names = sorted({name for config in configs for name in config if name not in _PLACES})
    return f"there are {', '.join(names)}" if names else "their configurations are empty"


def _lake_names(records: Sequence[Record]) -> dict[int, str]:
    """Label of each run's lake; lakes of one label but another size get it in brackets."""
    sizes = {id(one): one["config"].get("lake_statistics", {}).get("tables") for one in records}
    by_label: dict[str, set[Any]] = {}
    for one in records:
        by_label.setdefault(one["lake"], set()).add(sizes[id(one)])
    return {
        id(one): f"{one['lake']} ({sizes[id(one)]} tables)" if len(by_label[one["lake"]]) > 1 else one["lake"]
        for one in records
    }


def _row(key: tuple[Any, ...], fields: tuple[str, ...], runs: Sequence[Record], kept: set[str] | None) -> Row:
    scores = scores_by_query(runs)
    named = {one["id"] for run in runs for one in (*run["per_query"], *run["skipped"])}
    own = [{one["id"] for one in run["per_query"]} for run in runs]
    whole = set.intersection(*own)
    chosen = sorted(whole if kept is None else whole & kept)
    timed = [run for run in runs if run.get("latency_ms")]
    parts = dict(zip(fields, key[3:], strict=True))
    why = ""
    if len({_asked(run) for run in runs}) > 1:
        why = "its runs were asked different questions"
    elif any(len(sets) > 1 for sets in _gold(runs).values()):
        why = "its runs have different gold tables"
    elif not chosen:
        why = "not one query has a score in all runs" if kept is None else "no query in common"
    metrics: dict[str, Metric] = {}
    if not why:
        matrix = np.array([scores[id] for id in chosen], np.float64)  # [Q, 4]
        per_run = [_means(run, set(chosen)) for run in runs]
        for position, name in enumerate(METRICS):
            low, high = bootstrap_interval(matrix[:, position])
            sd = float(np.std([one[position] for one in per_run], ddof=1)) if len(runs) > 1 else None
            metrics[name] = Metric(float(matrix[:, position].mean()), low, high, sd)
    return Row(
        key[0], key[1], key[2], parts, len(runs), len(chosen) if not why else 0, len(named - whole), metrics,
        float(np.mean([run["mean_retrieved"] for run in timed])) if timed and not why else None,
        float(np.mean([run["latency_ms"]["mean"] for run in timed])) if timed and not why else None,
        why,
    )  # fmt: skip


def _means(run: Record, chosen: set[str]) -> np.ndarray:
    rows = scores_by_query([run])
    return np.mean([rows[id] for id in rows if id in chosen], axis=0)


def _asked(run: Record) -> frozenset[str]:
    return frozenset(one["id"] for one in (*run["per_query"], *run["skipped"]))


def _gold(runs: Sequence[Record]) -> dict[str, set[frozenset[tuple[str, ...]]]]:
    found: dict[str, set[frozenset[tuple[str, ...]]]] = {}
    for one in (one for run in runs for one in run["per_query"]):
        found.setdefault(one["id"], set()).add(frozenset(tuple(pair) for pair in one["gold"]))
    return found


def _shared_queries(groups: Mapping[tuple[Any, ...], Sequence[Record]]) -> dict[str, set[str]]:
    """Lake → queries that all of its runs have a score for."""
    found: dict[str, set[str]] = {}
    for key, runs in groups.items():
        for run in runs:
            own = {one["id"] for one in run["per_query"]}
            found[key[0]] = found[key[0]] & own if key[0] in found else own
    return found


def _place(item: tuple[tuple[Any, ...], Any]) -> tuple[Any, ...]:
    """Rows go by lake, budget, then as the values sort; numbers before words."""
    lake, method, budget, *values = item[0]
    return (lake, budget, *((0, float(v), "") if _is_number(v) else (1, 0.0, str(v)) for v in values), method)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mixed_lakes(names: Mapping[int, str]) -> list[str]:
    several = sorted({name for name in names.values() if name.endswith(" tables)")})
    if not several:
        return []
    return [f"lakes of one name but of different sizes are kept apart: {', '.join(several)}"]


def _alike(groups: Mapping[tuple[Any, ...], Sequence[Record]]) -> list[str]:
    found = []
    for key, runs in groups.items():
        seeds = [run["seed"] for run in runs]
        for seed in sorted({seed for seed in seeds if seeds.count(seed) > 1}):
            found.append(
                f"{key[0]} {key[1]} L={key[2]}: {seeds.count(seed)} runs have seed {seed} and nothing else "
                "tells them apart: they are averaged (--by may name a field)"
            )
    return found


def _different_queries(groups: Mapping[tuple[Any, ...], Sequence[Record]], shared: bool) -> list[str]:
    found = []
    for lake in dict.fromkeys(key[0] for key in groups):
        runs = [run for key, own in groups.items() if key[0] == lake for run in own]
        asked = {_asked(run) for run in runs}
        if len(asked) > 1:
            advice = "" if shared else "; --shared scores the common ones alone"
            found.append(f"{lake}: rows were asked different questions, so they can't be compared{advice}")
        unlike = sorted(id for id, sets in _gold(runs).items() if len(sets) > 1)
        if unlike:
            found.append(f"{lake}: the gold tables of {len(unlike)} queries differ (first: {unlike[0]})")
    return found


def _skips(rows: Sequence[Row]) -> list[str]:
    return [
        f"{row.lake} {row.method} L={row.budget}: {row.why or f'{row.skipped} queries skipped, not scored'}"
        for row in rows
        if row.skipped or row.why
    ]
