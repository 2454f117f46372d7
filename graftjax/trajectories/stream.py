"""Many samples: drawn in parallel, the same whatever the number of processes, kept on disk as they come.

Record i takes its seed from stratum i (in turn) with a generator of its own, made from (seed, i). So
neither chunks nor processes nor the number of records change a record.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from tqdm import tqdm

import graftjax
from graftjax.errors import GraftError, UsageError
from graftjax.lake.record import LakeIndex
from graftjax.lake.store import content_digest
from graftjax.trajectories import chunks
from graftjax.trajectories.chunks import CHUNK, StoredTrajectories, Trajectory
from graftjax.trajectories.columns import sample_subgraph
from graftjax.trajectories.compress import compress
from graftjax.trajectories.samplers import SAMPLERS, SamplerName
from graftjax.trajectories.settings import SampleSettings
from graftjax.trajectories.structure import Structure

_CHUNKS_PER_PROCESS = 32
"""Fewer do not repay the start of a process (about a second)."""


@dataclass(frozen=True, eq=False)
class Source:
    """All that determines the records of a run, as far as it is asked for them."""

    lake: Structure
    settings: SampleSettings
    seed: int
    sampler: SamplerName
    strata: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, index: LakeIndex, settings: SampleSettings, seed: int, sampler: SamplerName = "centrality"
    ) -> Source:
        """Source over an indexed lake."""
        lake = Structure.of(index)
        return cls(lake, settings, seed, sampler, SAMPLERS[sampler].strata(lake, settings))

    def record(self, number: int) -> Trajectory:
        """Record of that number. The lake must have tables."""
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, number]))
        table = int(rng.choice(self.strata[number % len(self.strata)]))
        subgraph = sample_subgraph(self.lake, SAMPLERS[self.sampler], self.settings, table, rng)
        return Trajectory(subgraph, compress(self.lake, subgraph))

    def write(self, folder: Path, number: int, count: int) -> None:
        """Make a chunk of a run of `count` records and store it."""
        first = number * CHUNK
        records = [self.record(i) for i in range(first, min(first + CHUNK, count))]
        chunks.write_chunk(folder, number, records)


def sample_trajectories(
    index: LakeIndex,
    settings: SampleSettings,
    count: int,
    seed: int,
    sampler: SamplerName = "centrality",
    folder: Path | None = None,
    processes: int | None = None,
    progress: bool = True,
) -> Sequence[Trajectory]:
    """`count` records of a lake; none if it has no tables.

    With a `folder` they are streamed to disk and read back when asked for; a run that was killed, or
    that wants more records than the last, goes on from the chunks that are whole. Without one they are
    held in memory. `processes`: None for as many as there are processors and enough work.

    Raises:
      UsageError: an argument is out of range, or the folder holds samples of other settings.
      GraftError: the folder can't be written, or a process failed.
    """
    if count < 0 or seed < 0:
        raise UsageError(f"the number of samples and the seed can't be negative ({count}, {seed})")
    if processes is not None and processes < 1:
        raise UsageError(f"the number of processes must be at least 1, not {processes}")
    if sampler not in get_args(SamplerName):
        raise UsageError(f"no sampler '{sampler}'; choose from {', '.join(get_args(SamplerName))}")
    count = count if index.tables else 0
    source = Source.of(index, settings, seed, sampler)
    if folder is not None:
        return _stored(source, _identity(index, source), Path(folder), count, processes, progress)
    if _workers(processes, -(-count // CHUNK)) == 1:
        numbers = tqdm(range(count), desc="sample", unit="sample", disable=not progress)
        return tuple(source.record(i) for i in numbers)
    with tempfile.TemporaryDirectory(prefix="graftjax-samples-") as place:
        return tuple(_stored(source, {}, Path(place), count, processes, progress))


def _identity(index: LakeIndex, source: Source) -> dict[str, object]:
    """What two runs must share for their chunks to fit together."""
    settings = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(source.settings).items()
    }
    lake = content_digest(index.tables, index.encoder_name, index.headers)
    return {"lake": lake, "seed": source.seed, "sampler": source.sampler, "settings": settings}


def _stored(
    source: Source,
    identity: dict[str, object],
    folder: Path,
    count: int,
    processes: int | None,
    progress: bool,
) -> StoredTrajectories:
    """Make the chunks that are not there yet."""
    before = chunks.read_manifest(folder)
    if before is not None:
        other = [name for name, value in identity.items() if before.get(name) != value]
        if other:
            raise UsageError(
                f"{folder} holds samples with another {' and '.join(other)}; choose another folder"
            )
    chunks.write_manifest(folder, {**identity, "count": count})
    size = lambda number: min(CHUNK, count - number * CHUNK)  # noqa: E731
    total = -(-count // CHUNK)
    missing = [n for n in range(total) if chunks.find_chunk(folder, n, size(n)) is None]
    with tqdm(total=count, desc="sample", unit="sample", disable=not progress) as bar:
        bar.update(count - sum(map(size, missing)))
        for number in _make(source, folder, count, missing, _workers(processes, len(missing))):
            bar.update(size(number))
    return chunks.open_trajectories(folder)


def _workers(processes: int | None, num_chunks: int) -> int:
    """Processes to use: as many as asked for, else no more than repay their start."""
    if processes is not None:
        return max(1, min(processes, num_chunks))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, num_chunks // _CHUNKS_PER_PROCESS))


def _make(source: Source, folder: Path, count: int, missing: list[int], processes: int) -> Iterator[int]:
    """Make chunks, here or in processes; yields the number of each one that is done."""
    if processes == 1 or not sys.executable:
        for number in missing:
            source.write(folder, number, count)
            yield number
        return
    with tempfile.TemporaryDirectory(prefix="graftjax-source-") as place:
        job = Path(place) / "source.pickle"
        job.write_bytes(pickle.dumps(source))
        # A thread for each process does no more than read a line when a chunk is done.
        with ThreadPoolExecutor(processes) as pool:
            workers = [_Worker(job, folder, count, missing[i::processes], i) for i in range(processes)]
            try:
                waiting = {pool.submit(worker.next_line): worker for worker in workers}
                while waiting:
                    done = next(as_completed(waiting))
                    worker, line = waiting.pop(done), done.result()
                    if line:
                        waiting[pool.submit(worker.next_line)] = worker
                        if line.strip().isdigit():
                            yield int(line)
                    else:
                        worker.check()
            finally:
                for worker in workers:
                    worker.stop()


class _Worker:
    """A fresh interpreter that makes some chunks and prints the number of each.

    No fork, which is not safe once JAX has threads, and none of `multiprocessing`, which would run the
    caller's script again where that has no `if __name__ == "__main__"`. The child never imports JAX.
    """

    def __init__(self, job: Path, folder: Path, count: int, numbers: list[int], name: int) -> None:
        home = str(Path(graftjax.__file__).resolve().parent.parent)
        path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
        arguments = [str(job), str(folder.resolve()), str(count), ",".join(map(str, numbers))]
        self._errors = job.with_name(f"errors-{name}")
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                # -P: a module of the working folder must not come before the library.
                [sys.executable, "-P", "-m", "graftjax.trajectories.worker", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONPATH": path},
            )

    def next_line(self) -> str:
        """What the process prints next; empty once it has ended."""
        return self._process.stdout.readline() if self._process.stdout else ""

    def check(self) -> None:
        """Raises `GraftError` unless the process ended well."""
        if self._process.wait():
            lines = self._errors.read_text(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else f"exit status {self._process.returncode}"
            raise GraftError(f"a sampling process failed: {reason}")

    def stop(self) -> None:
        """End the process, done or not."""
        self._process.kill()
        self._process.communicate()
