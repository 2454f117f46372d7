"""GRAFT-Exact against brute force over sequences of actions, and the beam against GRAFT-Exact."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest
from brute_force import Partial, all_outcomes, log_det, steps
from hypothesis import given, settings
from hypothesis import strategies as st
from made_problems import BUDGET, RULES, WIDTH, add, bridge, dials, drawn, empty, weighed, wide_beam

from graftjax.igms.exact import covariance
from graftjax.igms.exact import log_det as exact_log_det
from graftjax.search.completion import log_dets, num_spreads, shard_weights, spreads
from graftjax.search.exact import CHUNKS, LIMIT, TooManySyntheses, enumerate_exact, look, warm_up
from graftjax.search.finish import Outcome
from graftjax.search.joint import enumerate_joint
from graftjax.search.region import empty_problem
from graftjax.search.settings import ROWS


def names(outcome: Outcome) -> tuple[tuple[int, int], ...]:
    count = int(outcome.num_tables)
    pairs = zip(outcome.table_cluster[:count].tolist(), outcome.table_shard[:count].tolist(), strict=True)
    return tuple(sorted(pairs))


def value(problem, outcome: Outcome) -> float:
    """log det of the units that an outcome reports, from the covariance of its tables."""
    count = int(outcome.num_tables)
    cluster, shard = outcome.table_cluster[:count], outcome.table_shard[:count]
    jaccard = problem.correlation[cluster[:, None], shard[:, None], shard[None, :]]
    m = outcome.blocks[:count].reshape(count * ROWS, WIDTH)
    return exact_log_det(m, covariance(cluster, jaccard, ROWS, RULES.noise))


def decided(problem) -> list[tuple[tuple[tuple[int, int], ...], float]]:
    """(tables, log det) of all sets of first tables that no action of `graft` extends."""
    ends, seen, waiting = [], set(), [Partial()]
    while waiting:
        partial = waiting.pop()
        key = (tuple(sorted((c, s, rows.tobytes()) for c, s, rows in partial.tables)), partial.trees)
        if key in seen:
            continue
        seen.add(key)
        following = [
            after
            for after, regular in steps(problem, partial, RULES)
            if regular and len({c for c, _, _ in after.tables}) == len(after.tables)
        ]
        waiting += following
        if not following:
            ends.append((partial.names, log_det(problem, partial, RULES.noise)))
    return ends


def tables_near(outcomes, best: float) -> set[tuple[tuple[int, int], ...]]:
    return {tables for tables, found in outcomes if found > best - 1e-4}


# Drawn inside the tests: type checks that draw at random are not allowed in a strategy.
recipes = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "trees": st.integers(1, 3),
        "each": st.integers(1, 2),
        "budget": st.integers(1, BUDGET),
    }
)


@settings(max_examples=25)
@given(recipes)
def test_the_best_of_all_decided_sets_is_found(recipe):
    problem = drawn(**recipe)
    outcomes = decided(problem)
    best = max(found for _, found in outcomes)
    exact = enumerate_exact(problem, dials())
    assert exact.decided == pytest.approx(best, abs=1e-4)
    first = tuple(pair for pair in names(exact.outcome) if pair[1] == 0)
    assert first in tables_near(outcomes, best)
    assert exact.num_syntheses >= exact.num_evaluated >= 1


@settings(max_examples=25)
@given(recipes)
def test_the_best_of_all_interleavings_is_found(recipe):
    problem = drawn(**recipe)
    outcomes = all_outcomes(problem, RULES)
    best = max(found for _, found in outcomes)
    joint = enumerate_joint(problem, dials())
    assert joint.decided == pytest.approx(best, abs=1e-4)
    assert names(joint.outcome) in tables_near(outcomes, best)


@settings(max_examples=25)
@given(recipes, st.sampled_from([enumerate_exact, enumerate_joint]))
def test_the_reported_value_is_that_of_the_reported_units(recipe, enumerate_):
    problem = drawn(**recipe)
    outcome = enumerate_(problem, dials()).outcome
    assert value(problem, outcome) == pytest.approx(float(outcome.logdet), abs=1e-5)
    count = int(outcome.num_tables)
    assert len(set(names(outcome))) == count <= int(problem.budget)
    for cluster, shard in names(outcome):
        assert shard < max(1, min(problem.fresh[cluster], problem.shards[cluster]))
    for tree, cluster in enumerate(outcome.tree_cluster):
        claims = [int(a) for a in outcome.table_action[:count] if a >= 0 and problem.witnesses[a, tree]]
        assert [int(problem.cluster[a]) for a in claims] == ([int(cluster)] if cluster >= 0 else [])


@settings(max_examples=25)
@given(recipes, st.booleans())
def test_a_wide_beam_finds_the_optimum_and_completes_it_alike(recipe, joins):
    problem = drawn(**recipe)
    if not joins:
        problem.joins[:] = -1
    _, score, found = jax.device_get(wide_beam(problem))
    exact = enumerate_exact(problem, dials())
    reached = float(score.max()) * int(problem.atom_mask.sum())
    assert reached <= exact.decided + 1e-3
    # The beam has one slot for a set of tables. Of two orders with different join units it keeps the one that
    # is better at the time, which need not be the one that can be continued best.
    assert reached >= (0.95 if joins else 1.0) * exact.decided - 1e-3
    first = {pair for pair in names(exact.outcome) if not pair[1]}
    if {pair for pair in names(found) if not pair[1]} == first:
        assert len(names(found)) == len(names(exact.outcome))
        if int(found.num_tables) < int(
            problem.budget
        ):  # else the votes, which are those of more sets, decide
            assert names(found) == names(exact.outcome)


def test_the_last_place_is_taken_without_the_bridge():
    problem = empty(4)
    add(problem, 0, 0, (0,), r0a0=1.0, r1a1=1.0)
    problem.shards[0] = problem.fresh[0] = 3
    add(problem, 1, 1, (1,), r0a2=0.9)
    problem.entity[0, 0], problem.entity[1, 1] = 1.0, 1.0
    problem.joins[0] = 13, 0, 1
    bridge(problem, 0, 1, 2, 0.2)
    joint = enumerate_joint(weighed(problem), dials())
    assert names(joint.outcome) == ((0, 0), (0, 1), (0, 2), (1, 0))
    assert joint.decided == pytest.approx(max(v for _, v in all_outcomes(problem, RULES)), abs=1e-5)
    # What it gains there, after the completions, has to be enough.
    problem.rows[1, 1, 1] = 0.9
    for least in np.linspace(0.2, 1.4, 13):
        strict = replace(RULES, least_gain=float(least))
        best = max(v for _, v in all_outcomes(problem, strict))
        assert enumerate_joint(problem, dials(strict)).decided == pytest.approx(best, abs=1e-5), least


@pytest.mark.parametrize("enumerate_", [enumerate_exact, enumerate_joint])
def test_without_candidates_nothing_is_found(enumerate_):
    found = enumerate_(empty_problem(WIDTH, BUDGET), dials())
    assert int(found.outcome.num_tables) == 0
    assert found.decided == 0
    assert (found.outcome.tree_cluster == -1).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("enumerate_", [enumerate_exact, enumerate_joint])
def test_broken_numbers_never_win(bad, enumerate_):
    sound, broken = drawn(3), drawn(3)
    sound.action_valid[1] = False
    broken.rows[1] = bad
    expected, found = enumerate_(sound, dials()), enumerate_(broken, dials())
    assert names(found.outcome) == names(expected.outcome)
    assert found.decided == pytest.approx(expected.decided)


@pytest.mark.parametrize("enumerate_", [enumerate_exact, enumerate_joint])
def test_too_many_syntheses_are_refused_with_what_to_lower(enumerate_):
    problem = drawn(1)
    needed = enumerate_exact(problem, dials()).num_syntheses
    enumerate_exact(problem, dials(), needed)
    with pytest.raises(TooManySyntheses, match=rf"more than {needed - 1} syntheses .* L = 8; lower L or"):
        enumerate_(problem, dials(), needed - 1)
    assert LIMIT > 10_000


def test_nothing_compiles_for_another_problem_or_budget():
    warm_up(WIDTH, BUDGET, dials())
    before = look._cache_size()
    for seed in range(3):
        problem = drawn(seed, each=3 + seed, budget=6 + seed % 3)
        assert enumerate_joint(problem, dials()).num_syntheses > 2 * CHUNKS[0]
    assert look._cache_size() == before


@given(st.lists(st.integers(0, 4), max_size=4).map(tuple), st.integers(0, 9))
def test_all_ways_to_spread_further_tables(extras, room):
    ways = spreads(extras, room)
    every = {way for way in np.ndindex(*(extra + 1 for extra in extras)) if sum(way) == room}
    assert {tuple(way) for way in ways.tolist()} == every
    assert len(ways) == len(every) == num_spreads(extras, room)


@given(st.integers(0, 10**6), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_the_closed_form_is_the_log_det_of_the_tables(seed, counts):
    rng = np.random.default_rng(seed)
    raw = rng.random((len(counts), 4, 6))
    overlap = raw @ raw.transpose(0, 2, 1)
    scale = np.sqrt(np.diagonal(overlap, axis1=1, axis2=2))
    jaccard = overlap / scale[:, :, None] / scale[:, None, :]
    blocks = rng.random((len(counts), 3, 5))
    cluster = np.repeat(np.arange(len(counts)), counts)
    shard = np.concatenate([np.arange(k) for k in counts])
    c = covariance(cluster, jaccard[cluster[:, None], shard[:, None], shard[None, :]], 3, 0.1)
    m = blocks[cluster].reshape(-1, 5)
    weights = shard_weights(jaccard, 0.1)[np.arange(len(counts)), counts]
    grams = blocks.transpose(0, 2, 1) @ blocks
    assert log_dets(grams, weights[None])[0] == pytest.approx(exact_log_det(m, c), rel=1e-9)
