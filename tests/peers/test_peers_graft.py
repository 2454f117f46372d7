from __future__ import annotations

import pytest
from contract_checks import check_retriever

from graftjax.errors import GraftError, UsageError
from graftjax.intent import EMPTY_INTENT, Query
from graftjax.peers.contract import Retrieval, check_retrieval
from graftjax.peers.graft import Graft
from graftjax.peers.methods import METHODS, check_methods
from graftjax.types import Synthesis, TableId


class FirstTables:
    """An engine that answers with the first tables of its lake and remembers what it was asked."""

    def __init__(self, tables):
        self.ids = tuple(table.id for table in tables)
        self.asked = []

    def warm_up(self, budgets, *, based=False):
        self.budgets = tuple(budgets)

    def search(self, question, intent, *, budget, fill=False):
        self.asked.append((question, intent, budget, fill))
        tables = self.ids[:budget] if intent.trees else ()
        return Synthesis(tables, (), float(len(tables)), notes=() if tables else ("nothing fits",))


@pytest.mark.parametrize("name", ["graft", "graft-fill", "graft-exact"])
def test_contract(name):
    check_retriever(lambda index: Graft(FirstTables(index.tables), fill=name == "graft-fill", name=name))


def test_recorded_intent_fill_and_notes_are_passed_on():
    engine = FirstTables([])
    for graft in (Graft(engine), Graft(engine, fill=True)):
        answer = graft.retrieve(Query("q", "Who?", intent=EMPTY_INTENT), 4, 0)
        assert answer.notes == ("nothing fits",)
        assert answer.synthesis is not None
    assert engine.asked == [("Who?", EMPTY_INTENT, 4, False), ("Who?", EMPTY_INTENT, 4, True)]
    assert (Graft(engine).name, Graft(engine, fill=True).name) == ("graft", "graft-fill")
    assert Graft(engine, name="graft-exact").name == "graft-exact"


def test_a_shared_engine_is_warmed_up_once_for_each_budget():
    engine, warmed = FirstTables([]), set()
    Graft(engine, warmed=warmed).warm_up([5, 10])
    Graft(engine, fill=True, warmed=warmed).warm_up([5, 10])
    assert engine.budgets == (5, 10)
    Graft(engine, fill=True, warmed=warmed).warm_up([10, 15])
    assert engine.budgets == (15,)


def test_methods_are_checked():
    assert check_methods(["dtr", "graft", "graft-exact", "dtr"]) == ("dtr", "graft", "graft-exact")
    with pytest.raises(UsageError, match="unknown method 'dtrr'"):
        check_methods(["dtrr"])
    with pytest.raises(UsageError, match=r"unknown method 'graft\+unions'"):
        check_methods(["graft+unions"])
    with pytest.raises(UsageError, match="at least one"):
        check_methods([])
    assert set(check_methods(METHODS)) == set(METHODS)


def test_answers_that_break_the_contract_are_errors():
    one, two = TableId("a", "1"), TableId("a", "2")
    check_retrieval(Retrieval((one, two)), 2)
    with pytest.raises(GraftError, match="2 tables for a budget of 1"):
        check_retrieval(Retrieval((one, two)), 1)
    with pytest.raises(GraftError, match="twice"):
        check_retrieval(Retrieval((one, one)), 2)
