"""Syntheses come back from result files as they were, and what can't be fused is counted and named."""

from __future__ import annotations

import json

import pytest

from graftjax.errors import GraftError
from graftjax.evaluate.fusions import run_fusions, synthesis_of_record
from graftjax.evaluate.runs import synthesis_record
from graftjax.fuse import FuseSettings
from graftjax.fuse.sources import FolderSource
from graftjax.lake.folder import find_tables
from graftjax.lake.profile import profile_table
from graftjax.types import AtomSupport, Operator, Synthesis, TableId

CITY, HOTEL, GONE = TableId("", "city"), TableId("", "hotel"), TableId("", "gone")


def _answer(*tables, columns=(("city_id", "city_id"),)):
    steps = tuple(Operator("join", tables[0], other, columns, 0.9) for other in tables[1:])
    support = (AtomSupport("entity: City", 0.97, tables[0], None), AtomSupport("value: x", 0.0, None, None))
    return Synthesis(tables, steps, 1.25, support, ("a note",))


@pytest.fixture
def source(tmp_path):
    (tmp_path / "city.csv").write_text("city_id,name\n1,Ulm\n2,Bonn\n3,Kiel\n")
    (tmp_path / "hotel.csv").write_text("hotel_id,city_id\n10,1\n11,1\n12,3\n")
    return FolderSource(tmp_path, [profile_table(raw) for raw in find_tables(tmp_path)])


def _query(id, answer):
    return {"id": id, "synthesis": json.loads(json.dumps(synthesis_record(answer)))}


def test_a_synthesis_comes_back_from_its_record():
    answer = _answer(CITY, HOTEL)
    assert synthesis_of_record(json.loads(json.dumps(synthesis_record(answer)))) == answer


def test_what_executes_and_what_has_rows_are_counted_and_failures_named(source):
    found = run_fusions(
        source,
        [
            _query("joined", _answer(CITY, HOTEL)),
            _query("missing", _answer(CITY, GONE)),
            _query("no column", _answer(CITY, HOTEL, columns=(("mayor", "city_id"),))),
            _query("nothing", Synthesis((), (), 0.0)),
            {"id": "a peer", "synthesis": None},
        ],
        FuseSettings(),
    )
    assert (found.count, found.executed, found.filled) == (3, 1, 1)
    assert [id for id, _ in found.failures] == ["missing", "no column"]
    assert found.shares() == {"executed": pytest.approx(1 / 3), "non_empty": pytest.approx(1 / 3)}


def test_a_refused_join_does_not_count_as_executed(source):
    found = run_fusions(source, [_query("large", _answer(CITY, HOTEL))], FuseSettings(most_rows=1))
    assert found.executed == 0
    assert "more than the limit" in found.failures[0][1]


def test_no_syntheses_have_no_shares_and_a_broken_record_is_told(source):
    assert run_fusions(source, [], FuseSettings()).shares() == {}
    with pytest.raises(GraftError, match="q1: not the record"):
        run_fusions(source, [{"id": "q1", "synthesis": {"tables": []}}], FuseSettings())
