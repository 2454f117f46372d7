"""The compiled beam search against brute force, on small made-up problems.

All problems share one compiled program: one bucket of budgets, one of widths.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest
from brute_force import Partial, Rules, all_outcomes, log_det, steps
from made_problems import (
    BUDGET,
    RULES,
    WIDTH,
    add,
    bridge,
    dials,
    empty,
    link,
    mixed,
    names,
    shards,
    weighed,
    witnesses,
)

from graftjax.igms.exact import covariance
from graftjax.igms.exact import log_det as exact_log_det
from graftjax.search.finish import Outcome
from graftjax.search.programs import beam_program, finish_program
from graftjax.search.region import Problem, empty_problem
from graftjax.search.settings import ROWS, Settings

BEAM = Settings().beam


def search(problem: Problem, fill: bool = False, rules: Rules = RULES) -> Outcome:
    problem = weighed(problem, rules)
    states, score = beam_program(problem, None, dials(rules), None, network=None, beam=BEAM)
    return jax.device_get(finish_program(problem, dials(rules), states, score, fill=fill))


def test_with_room_for_all_the_best_of_all_sequences_is_found():
    """Three trees with two candidates each and one join atom: no two orders differ in value."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        problem = witnesses(rng, 3, 2)
        problem.joins[0] = 13, 0, 1
        for a in (0, 1):
            for b in (2, 3):
                if rng.random() < 0.4:
                    link(problem, a, b, rng.random())
                else:
                    bridge(problem, a, b, 6 + 2 * a + b - 2, rng.random())
        outcomes = all_outcomes(problem, RULES)
        best, value = max(outcomes, key=lambda item: item[1])
        outcome = search(problem)
        assert float(outcome.logdet) == pytest.approx(value, rel=1e-4), seed
        assert names(outcome) == best, seed


def test_shards_are_completed_and_near_copies_left():
    for seed in range(6):
        rng = np.random.default_rng(100 + seed)
        problem = witnesses(rng, 2, 1)
        for cluster in (0, 1):
            shards(problem, cluster, 4, int(rng.integers(1, 5)), rng.choice([0.5, 0.9, 0.98]))
            if problem.fresh[cluster] < 4:
                problem.correlation[cluster, 0, 3] = problem.correlation[cluster, 3, 0] = 0.99
        best, value = max(all_outcomes(problem, RULES), key=lambda item: item[1])
        outcome = search(problem)
        assert float(outcome.logdet) == pytest.approx(value, rel=1e-3), seed
        assert names(outcome) == best, seed
        for cluster in (0, 1):
            assert sum(c == cluster for c, _ in names(outcome)) <= problem.fresh[cluster]


@pytest.mark.parametrize("seed", range(8))
def test_a_result_is_one_of_the_admissible_sequences(seed):
    problem = mixed(seed)
    outcomes = all_outcomes(problem, RULES)
    outcome = search(problem)
    same_tables = [value for tables, value in outcomes if tables == names(outcome)]
    assert same_tables
    assert min(abs(value - float(outcome.logdet)) for value in same_tables) < 1e-3
    best = max(value for _, value in outcomes)
    assert 0.95 * best <= float(outcome.logdet) <= best + 1e-3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fill", [False, True])
def test_the_reported_value_is_the_exact_one_of_the_reported_units(seed, fill):
    problem = mixed(seed)
    outcome = search(problem, fill)
    count = int(outcome.num_tables)
    cluster, shard = outcome.table_cluster[:count], outcome.table_shard[:count]
    jaccard = problem.correlation[cluster[:, None], shard[:, None], shard[None, :]]
    c = covariance(cluster, jaccard, ROWS, RULES.noise)
    m = outcome.blocks[:count].reshape(count * ROWS, WIDTH)
    assert float(outcome.logdet) == pytest.approx(exact_log_det(m, c), rel=1e-3)
    assert not outcome.blocks[count:].any()


@pytest.mark.parametrize("seed", range(4))
def test_filling_continues_what_the_search_found(seed):
    problem = mixed(seed)
    found, filled = search(problem), search(problem, True)
    count = int(found.num_tables)
    assert int(filled.num_tables) >= count
    assert np.array_equal(filled.table_cluster[:count], found.table_cluster[:count])
    assert np.array_equal(filled.table_shard[:count], found.table_shard[:count])
    assert float(filled.logdet) >= float(found.logdet) - 1e-5


@pytest.mark.parametrize("budget", [1, 2, 7, 8])
def test_no_table_is_taken_twice_and_never_more_than_the_budget(budget):
    problem = witnesses(np.random.default_rng(5), 6, 2)._replace(budget=np.asarray(budget, np.int32))
    for cluster in range(12):
        shards(problem, cluster, 3, 3, 0.9)
    for fill in (False, True):
        found = names(search(problem, fill))
        assert len(found) == len(set(found)) == budget


@pytest.mark.parametrize("each", [1, 2, 5])
@pytest.mark.parametrize("clusters", [1, 3, 9])
def test_filling_takes_all_there_is_up_to_the_budget(clusters, each):
    problem = empty()
    for number in range(clusters):
        # One tree, so all but the first are second witnesses; nothing is worth a table by itself.
        add(problem, number, number, (0,), **{f"r1a{number}": 0.1})
        shards(problem, number, each, 1, 0.99)
    assert int(search(problem).num_tables) == 1, "the best first table is better than no answer"
    filled = search(problem, True)
    assert int(filled.num_tables) == min(BUDGET, clusters * each)
    assert float(filled.logdet) > 0


def test_a_weak_table_does_not_slip_in_by_coming_first():
    """The best first table needs no least gain; a weaker one used to profit from that by coming first."""
    problem = empty()
    add(problem, 0, 0, (0,), r0a0=0.9, r1a1=0.9)
    add(problem, 1, 1, (1,), r0a2=0.2)
    assert names(search(problem)) == ((0, 0),)
    problem.action_valid[0] = False
    assert names(search(problem)) == ((1, 0),)


def test_a_bridge_that_the_budget_has_no_room_for_is_left_out():
    """The last place used to stay empty when the only table left would have liked a bridge beside it."""
    problem = empty()
    add(problem, 0, 0, (0,), r0a0=1.0, r1a1=1.0)
    shards(problem, 0, BUDGET - 1, BUDGET - 1, 0.9)
    add(problem, 1, 1, (1,), r0a2=0.2)
    problem.entity[0, 0], problem.entity[1, 1] = 1.0, 1.0
    problem.joins[0] = 13, 0, 1
    bridge(problem, 0, 1, 2, 0.9)
    # Its own gain is too small for `graft`, which fills up with shards; one place is left for the fill.
    filled = search(problem, True, replace(RULES, least_gain=1.0))
    assert names(filled) == (*((0, shard) for shard in range(BUDGET - 1)), (1, 0))


def test_a_bridge_comes_with_the_witness_that_needs_it():
    problem = empty()
    add(problem, 0, 0, (0,), r0a0=0.9, r1a1=0.9)
    add(problem, 1, 1, (1,), r0a2=0.6, r1a3=0.6)
    problem.entity[0, 0], problem.entity[1, 1] = 0.9, 0.6
    problem.joins[0] = 13, 0, 1
    bridge(problem, 0, 1, 2, 0.8)
    outcome = search(problem)
    assert outcome.table_cluster[:3].tolist() == [0, 2, 1]
    assert outcome.table_action[:3].tolist() == [0, -1, 1]
    expected = np.zeros((ROWS, WIDTH), np.float32)
    expected[-1, 13] = 0.8 * np.sqrt(0.9 * 0.6)
    assert outcome.blocks[1] == pytest.approx(expected)
    assert not outcome.blocks[2, -1].any()
    link(problem, 0, 1, 0.8)
    problem.bridge[:] = -1
    assert search(problem).table_cluster[:3].tolist() == [0, 1, -1]


def test_a_fragment_needs_its_witness_and_counts_for_what_is_missing():
    problem = empty()
    add(problem, 0, 0, (0,), r0a0=0.9, r1a1=0.9)
    add(problem, 1, 1, fragment=0, r1a1=0.95, r2a2=0.9, r2a3=0.9)
    problem.entity[0, 0] = 0.9
    problem.edge_mask[3] = True
    assert search(problem).table_cluster[:2].tolist() == [0, -1], "no join leads to it"
    link(problem, 0, 1, 0.64)
    outcome = search(problem)
    assert outcome.table_cluster[:2].tolist() == [0, 1]
    expected = np.zeros((ROWS, WIDTH), np.float32)
    expected[2, 2], expected[2, 3] = 0.9 * 0.8, 0.9 * 0.8 * 0.9  # along √ω, the edge with the entity
    assert outcome.blocks[1] == pytest.approx(expected)
    problem.action_valid[0] = False
    assert int(search(problem, True).num_tables) == 0


@pytest.mark.parametrize("fill", [False, True])
def test_without_candidates_nothing_is_found(fill):
    outcome = search(empty_problem(WIDTH, BUDGET), fill)
    assert int(outcome.num_tables) == 0
    assert float(outcome.logdet) == 0.0
    assert (outcome.table_cluster == -1).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("fill", [False, True])
def test_broken_numbers_never_win(bad, fill):
    problem = witnesses(np.random.default_rng(3), 2, 2)
    broken = witnesses(np.random.default_rng(3), 2, 2)
    problem.action_valid[1] = False
    broken.rows[1] = bad
    sound, outcome = search(problem, fill), search(broken, fill)
    assert names(outcome) == names(sound)
    assert float(outcome.logdet) == pytest.approx(float(sound.logdet))
    broken.action_valid[[0, 2, 3]] = False
    assert int(search(broken, fill).num_tables) == 0


def test_one_slot_for_a_set_of_tables_however_it_is_reached():
    """Five trees of equal worth give ten pairs in twenty orders: more than the beam has slots.

    The best answer has slightly weaker witnesses for three trees, which two joins make up for. Its pairs rank
    just behind the ten, so they are kept only if each of those has one slot.
    """
    problem = empty()
    strong, weak, omega = (np.sqrt(1.1 * np.expm1(gain)) for gain in (0.8, 0.6, 0.35))
    for tree in range(5):
        add(problem, tree, tree, (tree,), **{f"r1a{tree}": strong})
    for tree in range(3):
        add(problem, 5 + tree, 5 + tree, (tree,), **{f"r1a{tree}": weak})
    problem.entity[:] = 1.0
    problem.joins[:2] = [(13, 0, 2), (14, 1, 2)]
    link(problem, 5, 7, omega)
    link(problem, 6, 7, omega)
    assert 10 < BEAM < 20
    assert names(search(problem)) == tuple((cluster, 0) for cluster in (3, 4, 5, 6, 7))


def test_a_cluster_for_two_trees_gives_way_to_one_for_each():
    """One half-witness of both trees gains more at once than a full witness of one, and less in the end."""
    problem = empty()
    add(problem, 0, 0, (0, 1), r0a0=0.7, r0a1=0.7, r1a2=0.7, r2a3=0.7)
    add(problem, 1, 1, (0,), r0a0=0.95, r1a2=0.95)
    add(problem, 2, 2, (1,), r0a1=0.95, r1a3=0.95)
    problem.bound[:2] = 1.2
    assert sorted(search(problem).table_cluster[:2].tolist()) == [1, 2]


def test_the_reference_agrees_with_itself_on_single_steps():
    """The brute force's own steps never lose value, so that its maximum means something."""
    problem = mixed(0)
    for after, _ in steps(problem, Partial(), RULES):
        assert log_det(problem, after, RULES.noise) >= -1e-9
