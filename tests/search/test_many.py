"""Many questions at once, and other rewards: the same answers as one by one, the same numbers as by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_problems import BUDGET, RULES, dials, mixed, weighed
from small_lakes import encoder

from graftjax.demo import queries_file
from graftjax.errors import UsageError
from graftjax.igms.exact import covariance
from graftjax.igms.surrogates import REWARDS, surrogate_utility
from graftjax.intent import EMPTY_INTENT, read_queries
from graftjax.search.engine import Engine
from graftjax.search.programs import beam_program, finish_program
from graftjax.search.region import AtomKind
from graftjax.search.settings import ROWS, Settings


@pytest.fixture(scope="module")
def engine(demo_index):
    return Engine(demo_index, encoder())


@pytest.fixture(scope="module")
def intents():
    demo = [query.intent for query in list(read_queries(queries_file()))[:7]]
    return [demo[0], EMPTY_INTENT, *demo[1:]]


@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("stacked", [0, 3])
def test_many_at_once_are_answered_as_one_by_one(engine, intents, stacked, fill):
    alone = [engine.search("", intent, budget=BUDGET, fill=fill) for intent in intents]
    found = engine.search_many(intents, budget=BUDGET, fill=fill, stacked=stacked)
    # Texts that are encoded together differ in the last digits, which may turn the order of equals round.
    assert [set(one.tables) for one in found] == [set(one.tables) for one in alone]
    assert [one.notes for one in found] == [one.notes for one in alone]
    np.testing.assert_allclose([one.utility for one in found], [one.utility for one in alone], rtol=1e-3)


def test_stacks_are_warm_after_the_warm_up(engine, intents):
    engine.warm_up([BUDGET], intents, stacked=3)
    before = engine.num_compiled()
    engine.search_many(intents, budget=BUDGET, stacked=3)
    assert engine.num_compiled() == before


def test_no_questions_and_no_budget(engine, intents):
    assert engine.search_many([], budget=BUDGET) == []
    with pytest.raises(UsageError, match="at least 1"):
        engine.search_many(intents, budget=0)


@pytest.mark.parametrize(
    "reward",
    [pytest.param(name, marks=[pytest.mark.slow] if name in ("R2", "R3") else []) for name in REWARDS],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_compiled_reward_is_that_of_the_reported_units(reward, seed):
    problem = weighed(mixed(seed))
    problem.atom_kind[:] = AtomKind.ATTRIBUTE
    problem.atom_kind[10:15] = AtomKind.HAS_ATTRIBUTE
    rules = replace(RULES, least_gain=0.05, least_fragment_gain=0.02)
    states, score = beam_program(problem, None, dials(rules), None, network=None, beam=4, reward=reward)
    outcome = finish_program(problem, dials(rules), states, score, fill=True, reward=reward)
    count = int(outcome.num_tables)
    assert count > 3
    cluster, shard = np.asarray(outcome.table_cluster[:count]), np.asarray(outcome.table_shard[:count])
    jaccard = problem.correlation[cluster[:, None], shard[:, None], shard[None, :]]
    c = covariance(cluster, jaccard, ROWS, RULES.noise)
    m = np.asarray(outcome.blocks[:count]).reshape(count * ROWS, -1)
    relation = problem.atom_kind >= AtomKind.HAS_ATTRIBUTE
    expected = surrogate_utility(reward, m, c, RULES.noise, relation) * m.shape[1]
    assert float(outcome.logdet) == pytest.approx(expected, rel=2e-3)


@pytest.mark.slow
def test_a_surrogate_is_a_setting(engine, intents):
    for reward in REWARDS[1:]:
        other = engine.with_settings(Settings(reward=reward, least_gain=0.3))
        found = other.search("", intents[0], budget=BUDGET)
        assert found.tables
        assert np.isfinite(found.utility)
