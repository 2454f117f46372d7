"""Scores of many enriched tables: each distinct one once, in worker processes, kept on disk.

Methods and budgets that find the same usable tables share a score, and a killed experiment goes on where it
stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash
from tqdm import tqdm

from graftjax.enrich import predict
from graftjax.enrich.frame import frame_of
from graftjax.enrich.integrate import integrate
from graftjax.enrich.links import Links, link
from graftjax.enrich.manifest import Manifest, SourceEntry
from graftjax.enrich.source import rng_of
from graftjax.errors import GraftError
from graftjax.files import read_json, replacing
from graftjax.fuse import MemorySource, RawSource
from graftjax.lake.record import LakeIndex
from graftjax.types import TableId

RULE = 1
"""Number of the rule of integration and prediction: scores of another one are not taken."""


@dataclass(frozen=True, slots=True)
class Job:
    """One enriched table to be scored by one deal of folds."""

    source: str
    tables: tuple[TableId, ...]
    """The usable ones, sorted."""
    seed: int


class Scorer:
    """Scores for the sources of one lake."""

    def __init__(
        self,
        index: LakeIndex,
        rows: RawSource,
        manifest: Manifest,
        folder: Path,
        *,
        shuffled: bool = False,
    ) -> None:
        """`folder`: where scores are kept. `shuffled`: the leak test, with targets dealt anew among the rows
        of a source, in its base and pieces alike."""
        self._index = index
        self._rows = rows
        self._entries = {source.name: source for source in manifest.sources}
        self._folder = folder
        self._shuffled = shuffled
        self._common = [RULE, predict.SETTINGS, manifest.digest, shuffled]
        self._dealt: dict[str, Mapping[TableId, pa.Table]] = {}

    def links(self, source: str, tables: Iterable[TableId]) -> Links:
        """What the tables add to the base of a source."""
        entry = self._entries[source]
        return link(self._index, entry.base, tuple(tables), entry.target)

    def job(self, source: str, tables: Iterable[TableId], seed: int) -> Job:
        """The score that a retrieved set needs."""
        return Job(source, self.links(source, tables).usable, seed)

    def scores(
        self, jobs: Iterable[Job], *, workers: int = 1, progress: bool = True
    ) -> dict[Job, dict[str, Any]]:
        """The outcome of each job: rmse, nrmse, accuracy, trivial, rows, columns, notes; or `error`.

        What is kept on disk is read, the rest computed by `workers` processes (1: in this one).
        """
        distinct = list(dict.fromkeys(jobs))
        found = {job: kept for job in distinct if (kept := read_json(self._path(job))) is not None}
        open_jobs = [job for job in distinct if job not in found]
        bar = tqdm(total=len(open_jobs), desc="score", unit="table", disable=not progress)
        with bar:
            for job, outcome in self._computed(open_jobs, workers):
                found[job] = outcome
                if "error" not in outcome:
                    self._keep(job, outcome)
                bar.update()
        return found

    def _computed(self, jobs: list[Job], workers: int) -> Iterable[tuple[Job, dict[str, Any]]]:
        if workers <= 1 or len(jobs) < 2:
            for job in jobs:
                yield job, outcome_of(*self._task(job))
            return
        # A forked child of a process with JAX's threads may hang.
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_one_thread) as pool:
            waiting: dict[Any, Job] = {}
            for job in jobs:
                waiting[pool.submit(outcome_of, *self._task(job))] = job
                while len(waiting) >= 3 * workers:  # tables wait in memory
                    done = next(as_completed(waiting))
                    yield waiting.pop(done), done.result()
            for done in as_completed(list(waiting)):
                yield waiting.pop(done), done.result()

    def _task(self, job: Job) -> tuple[Links, dict[TableId, pa.Table], SourceEntry, int]:
        entry = self._entries[job.source]
        links = self.links(job.source, job.tables)
        data = dict(self._rows.read((entry.base, *job.tables)))
        if self._shuffled:
            dealt = self._dealt.setdefault(job.source, shuffled_target(entry, self._rows))
            data.update({table: dealt[table] for table in data if table in dealt})
        return links, data, entry, job.seed

    def _path(self, job: Job) -> Path:
        links = self.links(job.source, job.tables)
        steps = [
            [s.kind, str(s.anchor), str(s.new), [list(pair) for pair in s.columns]] for s in links.operators()
        ]
        contents = {str(t): self._index.tables[self._index.numbers[t]].content_hash for t in job.tables}
        key = json.dumps([self._common, job.source, job.seed, contents, steps], sort_keys=True)
        return self._folder / job.source / f"{xxhash.xxh3_128_hexdigest(key.encode())}.json"

    def _keep(self, job: Job, outcome: Mapping[str, Any]) -> None:
        path = self._path(job)
        with replacing(path) as draft:
            draft.write_text(json.dumps(outcome), encoding="utf-8")


def outcome_of(
    links: Links, data: Mapping[TableId, pa.Table], entry: SourceEntry, seed: int
) -> dict[str, Any]:
    """Integrate, then predict; a failure is told as `error`, never as a score."""
    try:
        enriched = integrate(
            links, MemorySource(data), target=entry.target, key=entry.key, key_is_feature=entry.key_is_feature
        )
        frame = frame_of(enriched, entry.task)
        outcome = predict.evaluate(frame, seed)
    except GraftError as error:
        return {"error": str(error)}
    return {
        **asdict(outcome),
        "rows": enriched.num_rows,
        "columns": int(frame.numbers.shape[1]),
        "notes": list(enriched.notes),
    }


def shuffled_target(entry: SourceEntry, rows: RawSource) -> dict[TableId, pa.Table]:
    """The tables with the target, its values dealt anew among all their rows."""
    ids = [piece.table for piece in entry.pieces if not piece.group]
    headers = [
        next(here for here, there in piece.columns if there == entry.target)
        for piece in entry.pieces
        if not piece.group
    ]
    tables = rows.read(ids)
    names = [_spelt(tables[id], header) for id, header in zip(ids, headers, strict=True)]
    values = pa.concat_arrays(
        [
            tables[id][name].combine_chunks().cast(tables[ids[0]][names[0]].type)
            for id, name in zip(ids, names, strict=True)
        ]
    )
    order = rng_of(0, entry.name, "shuffle").permutation(len(values))
    values = values.take(pa.array(order))
    dealt, start = {}, 0
    for id, name in zip(ids, names, strict=True):
        table = tables[id]
        own = values.slice(start, table.num_rows)
        dealt[id] = table.set_column(table.column_names.index(name), name, own)
        start += table.num_rows
    return dealt


def _spelt(table: pa.Table, header: str) -> str:
    """A header as the lake's reader names the column."""
    plain = " ".join(header.split())
    return plain if plain in table.column_names else table.column_names[-1]


def _one_thread() -> None:
    """Workers share the processors: each predictor takes one."""
    os.environ["OMP_NUM_THREADS"] = "1"
    np.seterr(all="ignore")
