from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from contract_checks import catalog_of, check_peer, make_lake
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.intent import Query, extract
from graftjax.peers import concepts
from graftjax.peers.greedy_jar import GreedyJar, GreedyJarSettings, greedy

READ = cache(extract)


@pytest.fixture(autouse=True)
def _each_question_is_read_once(monkeypatch):
    """The contract asks the same questions over and over; reading the long one takes half a second."""
    monkeypatch.setattr(concepts, "extract", READ)


def slowly(fine, joins, coarse, sizes, budget, dials):
    """The selection as the paper puts it, one candidate after the other."""
    chosen, spent = [], 0
    while spent < budget and len(chosen) < len(coarse):
        gains = {}
        for node in range(len(coarse)):
            if node in chosen:
                continue
            covered = [max([0.0, *(row[other] for other in chosen)]) for row in fine]
            coverage = sum(max(0.0, row[node] - best) for row, best in zip(fine, covered, strict=True))
            partners = [joins[node, other] for other in chosen]
            together = sum(partners) if dials.partner == "all" else max(partners, default=0.0)
            gains[node] = dials.coverage * coverage + dials.joins * together + dials.coarse * coarse[node]
        chosen.append(max(gains, key=lambda node: (gains[node], -node)))
        spent += sizes[chosen[-1]]
    return chosen


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from(["all", "best"]))
def test_as_the_slow_reference(seed, budget, partner):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    # Halves and quarters: sums are exact, so ties are ties in both.
    fine = (rng.integers(-4, 9, (int(rng.integers(1, 4)), size)) / 8).astype(np.float32)
    joins = np.triu(rng.integers(0, 9, (size, size)) / 8, 1).astype(np.float32)
    joins += joins.T
    coarse = (rng.integers(0, 9, size) / 8).astype(np.float32)
    sizes = rng.integers(1, 4, size)
    dials = GreedyJarSettings(coverage=2.0, joins=1.0, coarse=4.0, partner=partner)
    assert greedy(fine, joins, coarse, sizes, budget, dials) == slowly(
        fine, joins, coarse, sizes, budget, dials
    )


def test_contract():
    check_peer(GreedyJar)
    check_peer(lambda catalog: GreedyJar(catalog, GreedyJarSettings(pool=3, compatibility="lake")))


def test_a_chosen_partner_decides_between_equal_candidates():
    fine = np.zeros((1, 3), np.float32)
    coarse = np.array([0.9, 0.5, 0.5], np.float32)
    joins = np.zeros((3, 3), np.float32)
    joins[0, 2] = joins[2, 0] = 0.1
    ones = np.ones(3, np.int64)
    assert greedy(fine, joins, coarse, ones, 2, GreedyJarSettings()) == [0, 2]
    assert greedy(fine, joins, coarse, ones, 2, GreedyJarSettings(joins=0.0)) == [0, 1]


def test_without_joins_and_coverage_it_is_the_order_of_relevance():
    catalog = catalog_of(make_lake())
    question = Query("q", "concert year stadium")
    dials = GreedyJarSettings(coverage=0.0, joins=0.0)
    relevance = (catalog.schema_vectors @ catalog.encoder.encode([question.question])[0]).round(6)
    nearest = np.argsort(-relevance, kind="stable")
    answer = GreedyJar(catalog, dials).retrieve(question, 5, 0)
    assert answer.tables == tuple(catalog.leads[node].id for node in nearest[:5])


@pytest.mark.parametrize("view", ["tables", "clusters"])
def test_budget_beyond_the_pool_is_spent(view):
    answer = GreedyJar(catalog_of(make_lake(), view), GreedyJarSettings(pool=2)).retrieve(
        Query("q", "singer"), 7, 0
    )
    assert len(answer.tables) == 7
