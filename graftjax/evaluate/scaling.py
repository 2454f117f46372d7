"""Cost of indexing and searching lakes of growing size, each size in processes of its own.

A child process builds the index and another one opens and searches it, so that peak memory is that of
one job and nothing of one size is warm for the next.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from graftjax.errors import GraftError
from graftjax.evaluate.growth import Growth, fit_growth
from graftjax.evaluate.mixed_lake import mixed_lake

BUDGET = 10
"""L of the searches."""


@dataclass(frozen=True)
class Job:
    """One size of one lake."""

    lake: str
    """spider or demo."""
    data_dir: Path | None
    seed: int
    size: int
    folder: Path
    """Of the index."""
    encoder: str
    runs: int
    """How often each question is asked of the warm engine."""


def measure(job: Job, *, keep_texts: bool = False) -> dict[str, Any]:
    """Build and search the lake of one size: a JSON object.

    What an earlier build left in the folder is removed first; with `keep_texts` encoded texts stay, and
    the time of encoding is then not that of a fresh build. Raises GraftError when a child dies.
    """
    if job.folder.exists() and not keep_texts:
        shutil.rmtree(job.folder)
    build = _alone(build_lake, job)
    return {"size": job.size, **build, "search": _alone(search_lake, job)}


def _alone(work: Callable[[Job], dict[str, Any]], job: Job) -> dict[str, Any]:
    """The result of a job in a fresh process."""
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(work, job).result()
    except BrokenProcessPool:
        raise GraftError(f"{work.__name__} of {job.size} tables was killed (out of memory?)") from None


def build_lake(job: Job) -> dict[str, Any]:
    """Index the lake: counts, seconds by stage, peak memory, bytes on disk."""
    from graftjax.encode import load_encoder
    from graftjax.lake.index import build_index
    from graftjax.lake.stages import StageClock

    encoder = load_encoder(job.encoder)
    encoder.warm_up(bulk=True)
    tables = mixed_lake(job.lake, job.data_dir, job.seed).raw_tables(job.size)
    before = peak_memory_mb()
    clock, start = StageClock(), time.perf_counter()
    index = build_index(tables, job.folder, encoder, clock=clock, progress=sys.stderr.isatty())
    total = time.perf_counter() - start
    cluster_sizes = np.array([len(members) for members in index.graph.members] or [0])
    files = {path.name: path.stat().st_size for path in _version(job.folder).iterdir()}
    embeddings = files["dense.npy"]
    counts = index.statistics()
    if counts["tables"] < job.size:
        raise GraftError(f"only {counts['tables']} tables could be made of {job.size}")
    # Making the tables is this measurement's own work, not the index's.
    return {
        "lake": counts,
        "graph": {
            "classes": index.graph.unions.num_classes,
            "texts": len(index.space.texts),
            "largest_cluster": int(cluster_sizes.max()),
            "mean_join_degree": index.graph.mean_join_degree(),
        },
        "make_tables_s": clock.seconds["read"],
        "index_s": total - clock.seconds["read"],
        "stages_s": {stage: s for stage, s in clock.seconds.items() if stage != "read"},
        "peak_memory_mb": peak_memory_mb(),
        "memory_before_mb": before,
        "disk_bytes": {"total": sum(files.values()), "embeddings": embeddings},
        "bytes_per_column": (sum(files.values()) - embeddings) / max(1, counts["columns"]),
        "largest_files": dict(sorted(files.items(), key=lambda item: -item[1])[:8]),
    }


def search_lake(job: Job) -> dict[str, Any]:
    """Open the index and ask the questions of the core: seconds, memory, latency in milliseconds."""
    from graftjax.encode import load_encoder
    from graftjax.lake.index import open_index
    from graftjax.search.engine import Engine

    encoder = load_encoder(job.encoder)
    cases = mixed_lake(job.lake, job.data_dir, job.seed).cases()
    asked = [(case.query.question, case.query.intent) for case in cases if case.query.intent is not None]
    if not asked:
        raise GraftError("no question with an intent can be asked of this lake")
    start = time.perf_counter()
    index = open_index(job.folder, encoder.name)
    opened = time.perf_counter()
    engine = Engine(index, encoder)
    ready = time.perf_counter()
    engine.warm_up([BUDGET], [intent for _, intent in asked])
    for question, intent in asked[:3]:
        engine.search(question, intent, budget=BUDGET)
    latency = np.empty((job.runs, len(asked)))
    for run in range(job.runs):
        for i, (question, intent) in enumerate(asked):
            begin = time.perf_counter()
            engine.search(question, intent, budget=BUDGET)
            latency[run, i] = 1000 * (time.perf_counter() - begin)
    return {
        "open_s": opened - start,
        "engine_s": ready - opened,
        "questions": len(asked),
        "L": BUDGET,
        "anchors_per_atom": engine.settings.anchors_per_atom,
        "latency_ms": {
            "mean": float(latency.mean()),
            "p50": float(np.quantile(latency, 0.5)),
            "p95": float(np.quantile(latency, 0.95)),
        },
        "latency_ms_per_question": np.median(latency, axis=0).round(3).tolist(),
        "peak_memory_mb": peak_memory_mb(),
    }


def peak_memory_mb() -> float:
    """Largest resident memory that this process has had, in MiB."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):  # unlike getrusage's, not inherited from the parent
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def _version(folder: Path) -> Path:
    from graftjax.lake import store

    return folder / store.manifest(folder)["version"]


CURVES: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    "search, mean (ms)": lambda one: one["search"]["latency_ms"]["mean"],
    "search, p95 (ms)": lambda one: one["search"]["latency_ms"]["p95"],
    "index (s)": lambda one: one["index_s"],
    "peak memory of the build (MiB)": lambda one: one["peak_memory_mb"],
    "index on disk (MB)": lambda one: one["disk_bytes"]["total"] / 1e6,
    "open (s)": lambda one: one["search"]["open_s"] + one["search"]["engine_s"],
}
"""What is fitted and drawn."""


def growths(measured: Sequence[Mapping[str, Any]]) -> dict[str, Growth | None]:
    """Growth of every curve over the sizes, and of each stage of the build."""
    sizes = [one["size"] for one in measured]
    found = {name: fit_growth(sizes, [of(one) for one in measured]) for name, of in CURVES.items()}
    for stage in measured[0]["stages_s"] if measured else ():
        seconds = [one["stages_s"].get(stage, 0.0) for one in measured]
        found[f"index: {stage} (s)"] = fit_growth(sizes, seconds)
    return found


def as_text(measured: Sequence[Mapping[str, Any]]) -> str:
    """A table with one line per size, where the build's time goes, and the fitted exponents."""
    lines = [
        "tables   columns   clusters  index s  peak MiB   MB  B/column  open s  mean ms  p50 ms  p95 ms",
    ]
    for one in measured:
        search, latency = one["search"], one["search"]["latency_ms"]
        lines.append(
            f"{one['size']:>6,} {one['lake']['columns']:>9,} {one['lake']['clusters']:>10,} "
            f"{one['index_s']:>8.1f} {one['peak_memory_mb']:>9,.0f} {one['disk_bytes']['total'] / 1e6:>4.0f} "
            f"{one['bytes_per_column']:>9,.0f} {search['open_s'] + search['engine_s']:>7.1f} "
            f"{latency['mean']:>8.1f} {latency['p50']:>7.1f} {latency['p95']:>7.1f}"
        )
    lines.append("")
    for one in measured:
        stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in one["stages_s"].items())
        lines.append(f"{one['size']:>6,} tables, seconds of the build: {stages}")
    lines.append("")
    for name, growth in growths(measured).items():
        if growth:
            low_high = f" [{growth.interval[0]:.2f}, {growth.interval[1]:.2f}]" if growth.interval else ""
            lines.append(f"{name}: n^{growth.exponent:.2f}{low_high}")
    return "\n".join(lines)


def growth_record(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The exponents as JSON."""
    return {name: growth and asdict(growth) for name, growth in growths(measured).items()}
