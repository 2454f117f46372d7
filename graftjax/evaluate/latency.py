"""What a search costs: time by stage, throughput, memory, compilation. All times are in milliseconds unless
said, of warm calls, without the call to a language model."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from graftjax.intent.atoms import atoms_of
from graftjax.intent.schema import IntentGraph
from graftjax.search.engine import STACKED, Engine

STAGES = ("encode", "prepare", "search", "explain")
"""Texts to vectors; evidence and region; the compiled beam; tables, operators and reasons."""


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Mean, median and 95th percentile."""
    array = np.asarray(values, float)
    return {
        "mean": float(array.mean()),
        "p50": float(np.quantile(array, 0.5)),
        "p95": float(np.quantile(array, 0.95)),
    }


def stage_times(engine: Engine, intents: Sequence[IntentGraph], budget: int) -> dict[str, dict[str, float]]:
    """Time of each stage of one search; intents that name nothing are left out."""
    seconds: dict[str, list[float]] = {stage: [] for stage in STAGES}

    def clocked(stage: str, call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = call()
        seconds[stage].append(1000 * (time.perf_counter() - start))
        return result

    for intent in intents:
        atoms = atoms_of(intent)
        if not atoms.num_atoms:
            continue
        encoded = clocked("encode", lambda atoms=atoms: engine.encode([atoms]))
        question = clocked("prepare", lambda a=atoms, e=encoded: engine.prepare(a, e, budget))
        outcome = clocked("search", lambda q=question: engine.solve(q.region.problem, q.outlook, fill=False))
        clocked("explain", lambda q=question, o=outcome: engine.explain(q, o, budget, False))
    return {stage: quantiles(values) for stage, values in seconds.items() if values}


def throughput(
    engine: Engine, intents: Sequence[IntentGraph], budget: int, *, repeats: int = 3
) -> dict[str, float]:
    """Questions per second of `Engine.search_many`, in threads and stacked; best of `repeats`."""
    engine.warm_up([budget], intents, stacked=STACKED)

    def best(stacked: int) -> float:
        seconds = []
        for _ in range(repeats + 1):  # the first call fills caches
            start = time.perf_counter()
            engine.search_many(intents, budget=budget, stacked=stacked)
            seconds.append(time.perf_counter() - start)
        return len(intents) / min(seconds[1:])

    return {"threads": best(0), "stacked": best(STACKED)}


def compile_seconds(engine: Engine, budget: int) -> float:
    """Seconds to compile the search for one budget and any intent, nothing being cached."""
    cached = getattr(jax.config, "jax_enable_compilation_cache", True)
    jax.config.update("jax_enable_compilation_cache", False)
    jax.clear_caches()
    try:
        start = time.perf_counter()
        engine.warm_up([budget])
        return time.perf_counter() - start
    finally:
        jax.config.update("jax_enable_compilation_cache", cached)


def peak_memory_mib() -> float:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def folder_mib(folder: Path) -> float:
    """Size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / (1 << 20)
