"""What the compiled search saves, side by side in one run: `make bench` prints the figures."""

from __future__ import annotations

import time

import jax
import numpy as np
import pytest
from small_lakes import encoder

from graftjax.demo import lake_folder, queries_file
from graftjax.encode.compile_cache import use_compile_cache
from graftjax.evaluate.cases import Case
from graftjax.evaluate.exactness import compare, summary
from graftjax.evaluate.latency import compile_seconds, throughput
from graftjax.intent import read_queries
from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index
from graftjax.search.engine import Engine

pytestmark = pytest.mark.benchmark
BUDGET = 10
MOST_MS = 40.0


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    use_compile_cache()
    return build_index(find_tables(lake_folder()), tmp_path_factory.mktemp("demo"), encoder(), progress=False)


@pytest.fixture(scope="module")
def cases():
    return [Case(query) for query in read_queries(queries_file())]


def test_a_question_is_answered_within_the_bound_and_several_at_once_are_faster(index, cases):
    intents = [case.query.intent for case in cases]
    engine = Engine(index, encoder())
    engine.warm_up([BUDGET])
    times = []
    for _ in range(3):
        for intent in intents:
            start = time.perf_counter()
            engine.search("", intent, budget=BUDGET)
            times.append(1000 * (time.perf_counter() - start))
    many = throughput(engine, intents, BUDGET)
    mean = float(np.mean(times[len(intents) :]))
    print(
        f"\none by one {mean:.1f} ms a question ({1000 / mean:.0f}/s), in threads {many['threads']:.0f}/s, "
        f"stacked {many['stacked']:.0f}/s on {jax.default_backend()}"
    )
    assert mean < MOST_MS
    assert max(many.values()) > 1000 / mean


def test_the_beam_is_faster_than_enumeration(index, cases):
    found = summary(compare(index, encoder(), cases, BUDGET))
    print(
        f"\nbeam {found['beam_ms']:.1f} ms, enumeration {found['exact_ms']['mean']:.1f} ms: "
        f"{found['time_ratio']:.1f} times; the beam finds {100 * found['optimum_found']:.0f} % of the optima"
    )
    assert found["n_enumerated"] == len(cases)
    assert found["time_ratio"] > 1


def test_compilation_is_timed_and_done_again(index, cases):
    engine = Engine(index, encoder())
    intent = cases[0].query.intent
    engine.search("", intent, budget=BUDGET)
    seconds = compile_seconds(engine, BUDGET)
    print(f"\ncompilation without any cache: {seconds:.1f} s")
    assert seconds > 0.2
    before = engine.num_compiled()
    engine.search("", intent, budget=BUDGET)
    assert engine.num_compiled() == before
