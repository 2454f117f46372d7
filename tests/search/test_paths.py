from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lakes import graph_of

from graftjax.search.paths import NO_BRIDGE, join_paths

# One class per cluster, so an edge between classes is one between clusters of the same numbers.


def test_direct_joins_count_in_both_directions():
    paths = join_paths(graph_of([0, 1, 2], [(0, 1, 0.8)]), np.array([0, 1, 2]), 0.6)
    assert paths.direct == pytest.approx(np.array([[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]]))
    assert paths.weight == pytest.approx(paths.direct)
    assert (paths.bridge == NO_BRIDGE).all()


def test_a_bridge_outside_the_candidates_is_found():
    graph = graph_of([0, 1, 2], [(2, 0, 0.9), (2, 1, 0.4)])
    paths = join_paths(graph, np.array([0, 1]), 0.5)
    assert paths.direct[0, 1] == 0
    assert paths.weight[0, 1] == pytest.approx(0.5 * np.sqrt(0.9 * 0.4))
    assert paths.bridge[0, 1] == paths.bridge[1, 0] == 2


def test_a_bridge_is_named_by_its_number_in_the_lake():
    graph = graph_of([0, 1, 2, 3, 4], [(0, 3, 0.9), (3, 4, 0.9)])
    assert join_paths(graph, np.array([4, 0]), 1.0).bridge[0, 1] == 3


def test_the_better_of_bridge_and_direct_join_is_taken():
    edges = [(0, 1, 0.5), (2, 0, 0.9), (2, 1, 0.9)]
    paper = join_paths(graph_of([0, 1, 2], edges), np.array([0, 1]), 1.0)
    assert paper.weight[0, 1] == pytest.approx(0.9)
    assert paper.bridge[0, 1] == 2
    discounted = join_paths(graph_of([0, 1, 2], edges), np.array([0, 1]), 0.5)
    assert discounted.weight[0, 1] == pytest.approx(0.5)
    assert discounted.bridge[0, 1] == NO_BRIDGE


def test_without_joins_or_candidates_there_is_no_path():
    paths = join_paths(graph_of([0, 1]), np.array([1, 0]), 0.6)
    assert np.array_equal(paths.weight, np.eye(2))
    assert join_paths(graph_of([]), np.array([], np.int64), 0.6).weight.shape == (0, 0)


@given(st.integers(0, 2**31), st.integers(2, 7), st.sampled_from([0.3, 0.6, 1.0]))
def test_against_all_paths_of_at_most_two_edges(seed, count, discount):
    rng = np.random.default_rng(seed)
    omega = np.triu(rng.random((count, count)) * rng.integers(0, 2, (count, count)), 1).astype(np.float32)
    edges = [(int(i), int(j), float(omega[i, j])) for i, j in zip(*np.nonzero(omega), strict=True)]
    omega = omega + omega.T
    clusters = rng.permutation(count)[: rng.integers(1, count + 1)]
    paths = join_paths(graph_of(list(range(count)), edges), clusters, discount)
    for i, a in enumerate(clusters):
        for j, b in enumerate(clusters):
            if a == b:
                assert paths.weight[i, j] == 1
                continue
            through = {
                m: np.sqrt(omega[a, m] * omega[m, b]) * discount for m in range(count) if m not in (a, b)
            }
            best = max([omega[a, b], *through.values()])
            assert paths.weight[i, j] == pytest.approx(best, abs=1e-6)
            bridge = int(paths.bridge[i, j])
            said = omega[a, b] if bridge == NO_BRIDGE else through[bridge]
            assert said == pytest.approx(best, abs=1e-6)
