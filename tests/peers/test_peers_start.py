"""Peers that start from a table of the user's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contract_checks import catalog_of, index_of, make_lake, make_table
from fake_encoder import WordEncoder

from graftjax.errors import GraftError
from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.contract import check_retrieval
from graftjax.peers.graft import Graft
from graftjax.peers.greedy_jar import GreedyJarSettings, greedy
from graftjax.peers.jar_model import Weights, reduced, solve
from graftjax.peers.jar_published import published
from graftjax.peers.join_aware import JoinAware
from graftjax.peers.methods import PEERS, peer_class
from graftjax.peers.pool import draw_pool
from graftjax.peers.start import asked_text, put_first, start_of
from graftjax.types import Synthesis, TableId

CONCERT = TableId("music", "concert_1")
QUESTION = Query("q", "Which tables help to predict the year here?", base=CONCERT)


def lake():
    """Three shards of one table, a table that joins with it, and others."""
    third = make_table("music", "concert_3", "concert_id", "stadium_id", "year", rows=(7, 8, 9))
    return [*make_lake(), third]


INDEX = index_of(lake())


def peer(name, view="tables"):
    kind, settings = peer_class(name)
    made = kind(Catalog(INDEX, WordEncoder(), view), settings())  # type: ignore[call-arg]
    made.warm_up([3])
    return made


@pytest.mark.parametrize("view", ["tables", "clusters"])
@pytest.mark.parametrize("name", PEERS)
def test_contract_with_a_base(name, view):
    own = peer(name, view)
    others = len(INDEX.tables) - 1
    for base in INDEX.tables:
        query = replace(QUESTION, base=base.id)
        for budget in (1, 3, 20):
            answer = own.retrieve(query, budget, 0)
            check_retrieval(answer, budget)
            assert base.id not in answer.tables
            assert len(answer.tables) == min(budget, others)
            assert answer == own.retrieve(query, budget, 0)


@pytest.mark.parametrize("name", PEERS)
def test_over_clusters_the_other_shards_of_the_base_come_first(name):
    answer = peer(name, "clusters").retrieve(QUESTION, 4, 0)
    assert set(answer.tables[:2]) == {TableId("music", "concert_2"), TableId("music", "concert_3")}


@pytest.mark.parametrize("view", ["tables", "clusters"])
@pytest.mark.parametrize("name", PEERS)
def test_an_unknown_base_is_an_error(name, view):
    with pytest.raises(GraftError, match="not in the lake"):
        peer(name, view).retrieve(replace(QUESTION, base=TableId("no", "table")), 3, 0)


@pytest.mark.parametrize("name", ["dtr", "pneuma", "rear", "greedy-jar", "jar", "mtr"])
def test_the_base_matters(name):
    """The question alone says nothing of singers or stadiums."""
    own = peer(name)
    found = {base: own.retrieve(replace(QUESTION, base=base), 2, 0).tables for base in (
        TableId("music", "singer"), TableId("music", "concert_2"))}  # fmt: skip
    assert TableId("opera", "singer") in found[TableId("music", "singer")]
    assert TableId("opera", "singer") not in found[TableId("music", "concert_2")]


def test_the_text_has_the_base_and_without_one_nothing_changes():
    catalog = catalog_of(lake())
    assert asked_text(catalog, replace(QUESTION, base=None)) == QUESTION.question
    text = asked_text(catalog, QUESTION)
    assert text == f"{QUESTION.question} concert: concert id, stadium id, year"
    assert start_of(catalog, replace(QUESTION, base=None)) is None
    assert put_first(None, (3, 1, 2)) == [3, 1, 2]
    start = start_of(catalog, QUESTION)
    assert start is not None
    assert put_first(start, [90, start.node, 91]) == [start.node, 90, 91]


def pool_of(own: JoinAware, query: Query, budget=4):
    return draw_pool(own.catalog, own.compatibility, query, size=6, budget=budget)


def test_the_pool_has_the_base_first_and_one_more():
    own = peer("greedy-jar")
    assert isinstance(own, JoinAware)
    with_base, without = pool_of(own, QUESTION), pool_of(own, replace(QUESTION, base=None))
    assert with_base.started
    assert not without.started
    assert INDEX.tables[int(own.catalog.members[with_base.nodes[0]][0])].id == CONCERT
    assert len(with_base.nodes) == len(without.nodes) + 1 == 7
    assert len(set(with_base.nodes.tolist())) == 7


def test_greedy_weighs_all_others_against_the_base():
    fine = np.array([[0.9, 0.8, 0.1]], np.float32)
    joins = np.array([[0, 0.2, 0.9], [0.2, 0, 0], [0.9, 0, 0]], np.float32)
    coarse, sizes = np.array([0.1, 0.5, 0.45], np.float32), np.ones(3, np.int64)
    settings = GreedyJarSettings(coverage=2, joins=1, coarse=1)
    assert greedy(fine, joins, coarse, sizes, 2, settings, started=True) == [0, 2]
    alone = greedy(fine, 0 * joins, coarse, sizes, 2, settings, started=True)
    assert alone == [0, 1]


@pytest.mark.parametrize("connected", [True, False])
def test_the_program_chooses_the_base_and_both_formulations_agree(connected):
    own = peer("jar")
    assert isinstance(own, JoinAware)
    pool = pool_of(own, QUESTION)
    weights = Weights(coarse=0.5)
    one = reduced(pool, 4, weights, connected=connected)
    two = published(pool, 4, weights, own.compatibility.columns, connected=connected)
    found = [solve(program, relaxed=False, seconds=20, gap=1e-6) for program in (one, two)]
    assert abs(found[0].objective - found[1].objective) < 1e-4
    for solution in found:
        assert solution.x is not None
        assert solution.x[0] > 0.5
        assert round(float(solution.x[: len(pool.nodes)].sum())) == 4
    free = reduced(replace(pool, started=False), 4, weights, connected=connected)
    assert solve(free, relaxed=False, seconds=20, gap=1e-6).objective >= found[0].objective - 1e-6


class Engine:
    """Remembers what it is asked."""

    def __init__(self):
        self.asked = []

    def warm_up(self, budgets, *, based=False):
        return None

    def search(self, question, intent, *, budget, fill=False, **more):
        self.asked.append(more)
        return Synthesis((), (), 0.0, notes=("nothing",))


def test_graft_hands_the_base_on_only_when_there_is_one():
    engine = Engine()
    Graft(engine).retrieve(QUESTION, 3, 0)
    Graft(engine).retrieve(replace(QUESTION, base=None), 3, 0)
    assert engine.asked == [{"base": CONCERT}, {}]
