from __future__ import annotations

import json

import pytest
from small_lakes import encoder

from graftjax.demo import lake_folder, queries_file
from graftjax.encode.compile_cache import use_compile_cache
from graftjax.evaluate.cases import Case
from graftjax.evaluate.exactness import compare, rows, summary
from graftjax.intent import Query, read_queries
from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    use_compile_cache()
    return build_index(find_tables(lake_folder()), tmp_path_factory.mktemp("demo"), encoder(), progress=False)


@pytest.fixture(scope="module")
def cases():
    return [Case(query) for query in list(read_queries(queries_file()))[:5]]


def test_the_beam_is_never_better_than_the_exact_search(index, cases):
    extra = [Case(Query("none", "What?")), Case(cases[0].query, reason="no gold")]
    compared = compare(index, encoder(), [*cases, *extra], 8)
    assert [one.id for one in compared] == [case.query.id for case in cases]
    for one in compared:
        assert one.decided_gap is not None
        assert one.decided_gap >= -1e-4
        assert one.joint_gap is not None
        assert one.joint_gap >= -1e-4
    found = summary(compared)
    assert found["n_enumerated"] == len(cases)
    assert found["same_tables"] >= 0.6
    assert found["time_ratio"] == pytest.approx(found["exact_ms"]["mean"] / found["beam_ms"])
    assert json.loads(json.dumps(rows(compared)))[0]["id"] == cases[0].query.id


def test_refused_questions_are_counted_and_nothing_else(index, cases):
    compared = compare(index, encoder(), cases, 8, limit=1)
    found = summary(compared)
    assert found["n_questions"] == len(cases)
    assert found["n_enumerated"] == 0
    assert found["optimum_found"] is found["time_ratio"] is found["decided_gap"]["max"] is None
    assert json.dumps(found)
