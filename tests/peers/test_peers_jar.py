from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from contract_checks import catalog_of, check_peer, make_lake
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.intent import Query, extract
from graftjax.peers import concepts, jar, jar_model
from graftjax.peers.jar import Jar, JarLp, JarSettings
from graftjax.peers.jar_model import Solution, Weights, needed_edges, node_gain, node_tables, reduced, solve
from graftjax.peers.jar_published import published
from graftjax.peers.pool import Pool, draw_pool, twins

WEIGHTS = Weights(fine=2.0, covered=1.5, joins=1.0, coarse=3.0, claims=1.0)
QUESTION = Query("q", "Which singers performed at the stadium in 2014?")
READ = cache(extract)


@pytest.fixture(autouse=True)
def _each_question_is_read_once(monkeypatch):
    """The contract asks the same questions over and over; reading the long one takes half a second."""
    monkeypatch.setattr(concepts, "extract", READ)


def random_pool(seed, *, size=5, edges=0.6, several=False, copies=False):
    """Scores at random; `copies`: some candidates are shards of the one before; also the pairs of columns."""
    rng = np.random.default_rng(seed)
    num_concepts = int(rng.integers(1, 4))
    origin = np.arange(size)
    if copies:
        for place in range(1, size):
            if rng.random() < 0.6:
                origin[place] = origin[place - 1]
    width = rng.integers(1, 4, size)[origin]
    column_place = np.repeat(np.arange(size), width)
    by_origin = rng.uniform(-0.2, 1.0, (num_concepts, size, 3))
    number = np.concatenate([np.arange(w) for w in width])
    column_fine = by_origin[:, origin[column_place], number].astype(np.float32)
    pairs = {}
    joins = np.zeros((size, size), np.float32)
    union = rng.uniform(0.3, 1.0, size).astype(np.float32)
    drawn = {}
    for i, j in itertools.combinations(range(size), 2):
        key = (origin[i], origin[j])
        if key not in drawn:
            scores = rng.uniform(0, 1, (width[i], width[j])) * (rng.random((width[i], width[j])) < edges)
            drawn[key] = scores.astype(np.float32)
        pairs[i, j] = np.full((1, 1), union[origin[i]]) if origin[i] == origin[j] else drawn[key]
        pairs[j, i] = pairs[i, j].T
        joins[i, j] = joins[j, i] = pairs[i, j].max()
    sizes = rng.integers(1, 4, size)[origin] if several else np.ones(size, np.int64)
    coarse = np.sort(rng.uniform(0, 1, size))[::-1][origin].astype(np.float32)
    fine = np.stack([column_fine[:, column_place == place].max(1) for place in range(size)], axis=1)
    inner = np.where(sizes > 1, union[origin], 0.0).astype(np.float32)
    nodes = np.arange(size)
    pool = Pool(nodes, (), coarse, fine, column_fine, column_place, joins, inner, sizes)
    return pool, lambda a, b: pairs[a, b]


def tree_value(joins, chosen):
    """Weight of a heaviest spanning forest of the chosen nodes, and its number of trees."""
    part = {node: node for node in chosen}
    total, trees = 0.0, len(chosen)
    edges = sorted(itertools.combinations(chosen, 2), key=lambda pair: -joins[pair])
    for a, b in edges:
        if joins[a, b] > 0 and part[a] != part[b]:
            old = part[b]
            part = {node: part[a] if own == old else own for node, own in part.items()}
            total += float(joins[a, b])
            trees -= 1
    return total, trees


def claim_value(fine, weights):
    """Best claims of the chosen nodes: each concept's best one covers it, others add relevance."""
    gains = []
    for row in np.sort(fine, axis=1)[:, ::-1]:
        gains.append(weights.fine * row[0] + weights.covered)
        gains.extend(weights.fine * row[1:])
    most = int(weights.claims * len(fine) + 1e-9)
    return sum(gain for gain in sorted(gains, reverse=True)[:most] if gain > 0)


def by_hand(pool, budget, weights, *, connected):
    """The optimum over all subsets; None when none is feasible."""
    tables, gain = node_tables(pool, budget), node_gain(pool, budget, weights)
    exact = (pool.sizes == 1).all() and len(pool.nodes) >= budget
    best = None
    for count in range(1, len(pool.nodes) + 1):
        for chosen in itertools.combinations(range(len(pool.nodes)), count):
            spent = tables[list(chosen)].sum()
            if spent > budget or (exact and spent < budget):
                continue
            total, trees = tree_value(pool.joins, chosen)
            if connected and trees > 1:
                continue
            value = gain[list(chosen)].sum() + weights.joins * total
            value += claim_value(pool.fine[:, list(chosen)], weights)
            best = value if best is None else max(best, value)
    return best


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.sampled_from([0.15, 0.6, 1.0]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1.0, 1.7]),
)
def test_both_programs_have_the_optimum_over_all_subsets(
    seed, budget, edges, several, copies, connected, claims
):
    pool, columns = random_pool(seed, edges=edges, several=several, copies=copies)
    weights = Weights(2.0, 1.5, 1.0, 3.0, claims)
    expected = by_hand(pool, budget, weights, connected=connected)
    small = reduced(pool, budget, weights, connected=connected)
    large = published(pool, budget, weights, columns, connected=connected)
    for program in (small, large):
        found = solve(program, relaxed=False, seconds=20.0, gap=0.0)
        assert (found.x is None) == (expected is None)
        if expected is not None:
            assert found.objective == pytest.approx(expected, abs=1e-4)
            chosen = found.x[: len(pool.nodes)].round()
            assert node_tables(pool, budget) @ chosen <= budget + 1e-6
            assert solve(program, relaxed=True, seconds=20.0, gap=0.0).objective >= expected - 1e-4
    assert len(small.value) <= len(large.value)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_leaving_out_edges_of_twins_keeps_the_optimum(seed, budget):
    pool, _ = random_pool(seed, size=8, copies=True, edges=0.8)
    first = twins(pool)
    every = np.triu(pool.joins, 1) > 0
    needed = needed_edges(pool, first)
    assert not (needed & ~every).any()
    program = reduced(pool, budget, WEIGHTS, connected=False)
    alone = np.arange(8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jar_model, "twins", lambda pool: alone)
        whole = reduced(pool, budget, WEIGHTS, connected=False)
    a, b = (solve(p, relaxed=False, seconds=20.0, gap=0.0).objective for p in (program, whole))
    assert a == pytest.approx(b, abs=1e-4)


def test_shards_with_heavy_union_edges_need_few_edges():
    pool, _ = random_pool(0, size=6, edges=1.0)
    joins = np.full((6, 6), 0.5, np.float32)
    joins[:3, :3] = joins[3:, 3:] = 1.0
    np.fill_diagonal(joins, 0.0)
    same = np.repeat([0.9, 0.8], 3).astype(np.float32)
    pool = Pool(pool.nodes, (), same, same[None], same[None], np.arange(6), joins, 0 * same, pool.sizes)
    pairs = {(int(a), int(b)) for a, b in zip(*np.nonzero(needed_edges(pool, twins(pool))), strict=True)}
    assert pairs == {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3)}


@pytest.mark.parametrize("peer", [Jar, JarLp])
def test_contract(peer):
    check_peer(peer)


def test_contract_of_other_settings():
    check_peer(lambda catalog: Jar(catalog, JarSettings(pool=4, formulation="published")))
    check_peer(lambda catalog: JarLp(catalog, JarSettings(pool=4, compatibility="lake", connected=False)))


@pytest.mark.parametrize("peer", [Jar, JarLp])
def test_without_time_the_order_of_relevance_is_answered(peer):
    method = peer(catalog_of(make_lake()), JarSettings(pool=6, seconds=0.0))
    answer = method.retrieve(QUESTION, 3, 0)
    vectors = method.catalog.schema_vectors @ method.catalog.encoder.encode([QUESTION.question])[0]
    nearest = np.argsort(-vectors.round(6), kind="stable")[:3]
    assert answer.tables == tuple(method.catalog.leads[node].id for node in nearest)
    assert "the solver stopped after 0 s" in answer.notes


def stub_solver(monkeypatch, whole, fractions):
    """Solutions by hand instead of the solver's."""
    monkeypatch.setattr(
        jar, "solve", lambda program, *, relaxed, seconds, gap: fractions if relaxed else whole
    )


def positions(method, answer):
    pool = draw_pool(method.catalog, method.compatibility, QUESTION, size=method.settings.pool, budget=3)
    numbers = method.catalog.index.numbers
    return [pool.nodes.tolist().index(numbers[table]) for table in answer.tables]


def test_incumbent_at_the_limit(monkeypatch):
    found = Solution(np.array([0, 0, 1, 0, 1.0]), 1.0, in_time=False)
    stub_solver(monkeypatch, found, None)
    method = Jar(catalog_of(make_lake()), JarSettings(pool=5, seconds=7))
    answer = method.retrieve(QUESTION, 3, 0)
    assert positions(method, answer) == [2, 4, 0]  # the chosen by relevance, then the rest
    assert answer.notes == ("the solver stopped after 7 s",)


def test_relaxation_is_rounded_where_no_solution_was_found(monkeypatch):
    nothing = Solution(None, -np.inf, in_time=True)
    fractions = Solution(np.array([0.2, 0.7, 0.7 - 1e-9, 0.2, 0.9]), 1.0, in_time=True)
    stub_solver(monkeypatch, nothing, fractions)
    catalog = catalog_of(make_lake())
    for peer in (Jar, JarLp):
        method = peer(catalog, JarSettings(pool=5))
        answer = method.retrieve(QUESTION, 3, 0)
        assert positions(method, answer) == [4, 1, 2]  # by fraction, equal ones by relevance
        assert any("rounded relaxation" in note for note in answer.notes) == (peer is Jar)


def test_a_pool_that_does_not_hang_together_is_answered_in_parts():
    catalog = catalog_of(make_lake())  # two of its eight tables join with nothing
    answer = Jar(catalog, JarSettings(compatibility="lake")).retrieve(QUESTION, 7, 0)
    assert len(answer.tables) == 7
    assert answer.notes == ("no such number of candidates hangs together: connected parts instead",)
    assert not Jar(catalog, JarSettings(compatibility="lake")).retrieve(QUESTION, 2, 0).notes


@pytest.mark.parametrize("view", ["tables", "clusters"])
@pytest.mark.parametrize("joins", ["columns", "lake"])
def test_both_formulations_agree_on_a_lake(view, joins):
    catalog = catalog_of(make_lake(), view)
    for budget in (2, 3):
        found = []
        for formulation in ("reduced", "published"):
            method = Jar(catalog, JarSettings(6, compatibility=joins, formulation=formulation, gap=0.0))
            method.prepare()
            pool = draw_pool(catalog, method.compatibility, QUESTION, size=6, budget=budget)
            found.append(method._solve(pool, budget, relaxed=False, connected=False).objective)
        assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_budget_beyond_the_pool_is_spent():
    for view in ("tables", "clusters"):
        answer = JarLp(catalog_of(make_lake(), view), JarSettings(pool=2)).retrieve(QUESTION, 7, 0)
        assert len(answer.tables) == 7


def test_a_number_of_nodes_instead_of_tables(monkeypatch):
    seen = []
    monkeypatch.setattr(
        jar, "solve", lambda program, **_: seen.append(program) or Solution(np.array([0, 1, 0, 1.0]), 1, True)
    )
    method = Jar(catalog_of(make_lake(), "clusters"), JarSettings(pool=4, nodes=2))
    ranking = method.rank(QUESTION, 7, 0)
    (program,) = seen
    row = program.matrix[[0]].toarray()[0]
    assert (program.low[0], program.high[0]) == (2, 2)
    assert row[:4].tolist() == [1, 1, 1, 1]
    assert not row[4:].any()
    pool = draw_pool(method.catalog, method.compatibility, QUESTION, size=4, budget=7)
    assert list(ranking.nodes[:4]) == pool.nodes[[1, 3, 0, 2]].tolist()
