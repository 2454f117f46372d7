"""The lazy queue: exact with bounds, possibly wrong with estimates, and honest about what it evaluated."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_problems import BUDGET, RULES, add, dials, drawn, empty, link, wide_beam

from graftjax.igms.exact import covariance
from graftjax.igms.exact import log_det as exact_log_det
from graftjax.search.actions import choices
from graftjax.search.beam import extend, grow, start_states
from graftjax.search.lazy import candidates, first_bounds, lazy_gains
from graftjax.search.rerank import (
    NEVER,
    Shortlist,
    additive_bounds,
    exact_log_dets,
    lazy_top,
    prefix_bounds,
    rerank,
    table_bounds,
)
from graftjax.search.settings import ROWS

NOISE = jnp.asarray(RULES.noise, jnp.float32)


@partial(jax.jit, static_argnames=("block",))
def queue(estimate, valid, values, first, *, block=1):
    return rerank(estimate, valid, lambda entries: values[entries], first=first, block=block)


def answer(estimate, values, valid=None, first=None, block=1):
    """(best, value, evaluated, saved)"""
    estimate, values = jnp.asarray(estimate, jnp.float32), jnp.asarray(values, jnp.float32)
    valid = jnp.ones(len(values), bool) if valid is None else jnp.asarray(valid)
    first = jnp.zeros(len(values), bool) if first is None else jnp.asarray(first)
    found = queue(estimate, valid, values, first, block=block)
    return int(found.best), float(found.value), int(found.evaluated), int(found.saved)


# One size, so that the queue is compiled once; few distinct values, so that there are ties.
entries = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans(), st.booleans()), min_size=12, max_size=12
)


@given(entries, st.sampled_from([1, 5]))
def test_with_bounds_the_queue_returns_the_arg_max(drawn_entries, block):
    """Values that are no number never win; bounds that are none cost an evaluation and lose nothing."""
    value, slack, valid, odd = (np.array(column) for column in zip(*drawn_entries, strict=True))
    values = np.where(odd & (slack == 0), np.nan, value.astype(np.float32))
    bounds = np.where(odd & (slack == 1), np.nan, value + slack).astype(np.float32)
    best, found, evaluated, saved = answer(bounds, values, valid, block=block)
    usable = np.where(valid & np.isfinite(values), values, -np.inf)
    if np.isfinite(usable).any():
        assert best == int(usable.argmax())
        assert found == usable.max()
    else:
        assert (best, found) == (-1, pytest.approx(NEVER))
    assert evaluated + saved == valid.sum()
    must = valid & (np.isnan(bounds) | (bounds > usable.max()))
    assert (
        must.sum() <= evaluated <= (valid & (np.isnan(bounds) | (bounds >= usable.max()))).sum() + block - 1
    )


@pytest.mark.parametrize("block", [1, 5])
def test_the_learned_order_may_miss_the_best(block):
    """An estimate below the best utility confirmed so far: the entry that is really best is not looked at."""
    values = [0.9, 0.5, 0.4, 0.3, 0.2, 0.1]
    estimate = [0.45, 0.6, 0.5, 0.5, 0.5, 0.47]
    bounds = [1.0, 0.6, 0.5, 0.4, 0.3, 0.2]
    assert answer(bounds, values, block=block)[0] == 0
    assert answer(estimate, values, block=block)[0] == 1
    # The last beam is evaluated first (line 19), which saves this one.
    assert answer(estimate, values, first=[True] + [False] * 5, block=block)[:3] == (
        0,
        pytest.approx(0.9),
        block,
    )


def test_evaluations_are_counted():
    values, bounds = [5.0, 4.0, 3.0, 2.0], [5.5, 4.5, 3.5, 2.5]
    assert answer(bounds, values) == (0, 5.0, 1, 3)
    assert answer([9.0] * 4, values) == (0, 5.0, 4, 0)
    assert answer(bounds, values, valid=[False, True, True, True]) == (1, 4.0, 1, 2)
    assert answer(bounds, values, first=[False, False, True, True]) == (0, 5.0, 3, 1)


def test_shortlists_without_and_with_one_entry():
    assert answer([], []) == (-1, pytest.approx(NEVER), 0, 0)
    assert answer([2.0], [1.0]) == (0, 1.0, 1, 0)
    assert answer([-np.inf], [1.0]) == (0, 1.0, 1, 0)
    assert answer([2.0], [1.0], valid=[False]) == (-1, pytest.approx(NEVER), 0, 0)


@partial(jax.jit, static_argnames=("count",))
def few(estimate, valid, values, offset, least, *, count):
    return lazy_top(estimate, valid, lambda at: values[at], count=count, block=3, offset=offset, least=least)


@given(entries, st.sampled_from([1, 4]))
def test_the_best_few_are_all_evaluated(drawn_entries, count):
    value, slack, valid, _ = (np.array(column) for column in zip(*drawn_entries, strict=True))
    values, bounds = value.astype(np.float32), (value + slack).astype(np.float32)
    offset, least = (slack % 2).astype(np.float32), np.full(12, 2.0, np.float32)
    given_ = (bounds + offset, valid, values, offset, least)
    found, evaluated = few(*(jnp.asarray(leaf) for leaf in given_), count=count)
    rank = np.where(valid & (values >= least), values + offset, -np.inf)
    bar = max(np.sort(rank)[-count], 0.0)
    assert (np.asarray(found)[rank >= bar] == values[rank >= bar]).all()
    known = np.asarray(found) > NEVER
    assert (np.asarray(found)[known] == values[known]).all()
    assert known.sum() == evaluated <= valid.sum()


def shortlist(problem) -> tuple[Shortlist, np.ndarray, np.ndarray]:
    """(six prefixes of a random synthesis, their lengths, exact log det in float64)."""
    rng = np.random.default_rng(0)
    state = jax.tree.map(lambda leaf: leaf[0], start_states(problem, 1))
    lists, sizes, values = [], [], []
    for _ in range(6):
        choice = look(problem, state)
        open_ = np.flatnonzero(np.asarray(choice.gain) > 0.5 * NEVER)
        if len(open_) and int(state.num_tables) < BUDGET - 1:  # else the last one once more
            state = take(problem, state, jnp.asarray(rng.choice(open_), jnp.int32), choice)
        count = int(state.num_tables)
        cluster, shard = np.asarray(state.table_cluster)[:count], np.asarray(state.table_shard)[:count]
        jaccard = problem.correlation[cluster[:, None], shard[:, None], shard[None, :]]
        m = np.asarray(state.blocks)[:count].reshape(count * ROWS, -1)
        lists.append((state.table_cluster, state.table_shard, state.blocks))
        sizes.append(count)
        values.append(exact_log_det(m, covariance(cluster, jaccard, ROWS, RULES.noise)))
    columns = (jnp.stack(leaves) for leaves in zip(*lists, strict=True))
    return Shortlist(*columns), np.array(sizes), np.array(values)


@jax.jit
def look(problem, state):
    return choices(problem, state, dials())


@jax.jit
def take(problem, state, candidate, choice):
    return extend(problem, state, candidate, choice.operator_row, choice.scale, choice.bridge, dials())


@jax.jit
def rated(found, correlation):
    bounds = table_bounds(found, correlation, NOISE)
    evaluate = exact_log_dets(found, correlation, NOISE)
    return evaluate(jnp.arange(len(found.cluster))), bounds, additive_bounds(bounds)


@jax.jit
def chosen(found, correlation, estimate):
    return rerank(estimate, jnp.ones(len(estimate), bool), exact_log_dets(found, correlation, NOISE))


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_and_evaluations_are_exact(seed):
    problem = drawn(seed)
    found, sizes, values = shortlist(problem)
    correlation = jnp.asarray(problem.correlation)
    exact, bounds, additive = (np.asarray(leaf) for leaf in rated(found, correlation))
    np.testing.assert_allclose(exact, values, rtol=1e-4, atol=1e-4)
    assert (additive >= values).all()
    before, known = np.r_[0.0, values[:-1]].astype(np.float32), np.r_[0, sizes[:-1]]
    tighter = prefix_bounds(jnp.asarray(bounds), jnp.asarray(before), jnp.asarray(known))
    assert (np.asarray(tighter) >= values).all()
    assert (np.asarray(tighter) <= additive + 1e-3).all()
    best = chosen(found, correlation, tighter)
    assert values[int(best.best)] == pytest.approx(values.max(), abs=1e-4)


@partial(jax.jit, static_argnames=("count",))
def both(problem, states, bound, outlook, *, count):
    options = jax.vmap(lambda state: choices(problem, state, dials()))(states)
    found = candidates(problem, states, dials())
    return options, lazy_gains(problem, states, found, bound, outlook, dials(), count=count, block=16)


@jax.jit
def taken(problem, states, options, parent, candidate, live):
    return grow(problem, states, options, parent, candidate, live, dials())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [4, 16])
def test_a_lazy_step_finds_the_best_candidates_of_a_full_one(seed, count):
    """Along a chain of steps, with the bounds that each synthesis inherits."""
    problem, rng = drawn(seed), np.random.default_rng(seed)
    actions = len(problem.cluster)
    states, evaluated = start_states(problem, 4), 0
    bound = first_bounds(problem, 4, dials())
    for _ in range(3):
        outlook = rng.random((4, actions)).astype(np.float32)
        options, lazy = both(problem, states, bound, jnp.asarray(outlook), count=count)
        live = np.asarray(states.live)[:, None]
        gain = np.asarray(options.gain)[:, :actions]
        regular = np.asarray(options.regular)[:, :actions] & live
        score = np.where(regular, np.asarray(states.logdet)[:, None] + gain + outlook, -np.inf)
        bar = np.sort(score.ravel())[-count]
        among = regular & (score >= bar)
        np.testing.assert_allclose(np.asarray(lazy.gain)[among], gain[among], atol=1e-4)
        assert not (np.asarray(lazy.gain)[~regular] > 0.5 * NEVER).any()
        own = np.log1p((np.asarray(options.operator_row) ** 2).sum(-1) / (1 + RULES.noise))
        whole = regular & (problem.fragment < 0)[None, :]
        assert (np.asarray(bound) + own + 1e-3 >= gain)[whole].all()
        evaluated += int(lazy.evaluated)
        assert int(lazy.evaluated) <= int(lazy.considered)
        best = np.argsort(-score.ravel(), kind="stable")[:4]
        if not np.isfinite(score.ravel()[best]).any():
            break
        parent, candidate = best // actions, jnp.asarray(best % actions, jnp.int32)
        live = jnp.asarray(np.isfinite(score.ravel()[best]))
        states = taken(problem, states, options, parent, candidate, live)._replace(live=live)
        bound = lazy.bound[parent]
    assert evaluated > 0


def test_a_cluster_that_only_joins_is_found():
    """Its own units are worth nothing, so the bound has to count the operator's."""
    problem = empty()
    add(problem, 0, 0, (0,), r0a0=1.0)
    add(problem, 1, 1, (1,))
    problem.entity[0, 0] = problem.entity[1, 1] = 1.0
    problem.joins[0] = 13, 0, 1
    link(problem, 0, 1, 1.0)
    states, bound = start_states(problem, 4), first_bounds(problem, 4, dials())
    outlook = jnp.zeros((4, len(problem.cluster)))
    options, lazy = both(problem, states, bound, outlook, count=4)
    zeros = jnp.zeros(4, jnp.int32)
    states = taken(problem, states, options, zeros, zeros, states.live)
    _, lazy = both(problem, states, lazy.bound, outlook, count=4)
    assert float(lazy.gain[0, 1]) == pytest.approx(np.log1p(1 / (1 + RULES.noise)), abs=1e-4)


def test_the_beam_carries_the_utility_that_stage_3_would_compute():
    """Why the search itself needs no queue: every synthesis of a beam comes with its exact log det."""
    problem = drawn(5)
    states, *_ = wide_beam(problem)
    found = Shortlist(states.table_cluster[:6], states.table_shard[:6], states.blocks[:6])
    states = jax.tree.map(lambda leaf: leaf[:6], states)
    values, *_ = rated(found, jnp.asarray(problem.correlation))
    live = np.asarray(states.live)
    np.testing.assert_allclose(np.asarray(values)[live], np.asarray(states.logdet)[live], rtol=1e-4)
