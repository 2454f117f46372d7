from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_lakes import lake_of, plans

from graftjax.trajectories.partition import partition, strata
from graftjax.trajectories.structure import Structure


@given(plan=plans(), num_parts=st.integers(1, 30), num_quantiles=st.integers(1, 5))
def test_strata_are_degree_classes_of_parts(plan, num_parts, num_quantiles):
    index = lake_of(*plan)
    lake = Structure.of(index)
    part = partition(lake, num_parts)
    assert part.shape == (len(index.tables),)
    assert set(part.tolist()) == set(range(int(part.max()) + 1))
    assert part.max() < min(num_parts, len(index.tables))
    groups = strata(lake, num_parts, num_quantiles)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(index.tables)))
    last: dict[int, tuple[int, int]] = {}
    for group in groups:
        (number,) = set(part[group].tolist())
        count, top = last.get(number, (0, 0))
        assert len(group)
        assert lake.degree[group].min() >= top
        last[number] = (count + 1, int(lake.degree[group].max()))
    assert all(count <= num_quantiles for count, _ in last.values())


@given(plan=plans())
def test_the_degree_counts_linked_tables(plan):
    index = lake_of(*plan)
    lake = Structure.of(index)
    tables = range(len(index.tables))
    slow = [sum(lake.link(t, u) is not None for u in tables if u != t) for t in tables]
    assert lake.degree.tolist() == slow


def test_two_groups_that_are_hardly_joined_come_apart():
    clusters = [[(f"t{i}", ["id", "ref", "out"])] for i in range(12)]
    edges = [
        (f"t{i}.ref", f"t{j}.id", 0.9)
        for side in (range(6), range(6, 12))
        for i in side
        for j in side
        if i < j
    ]
    part = partition(Structure.of(lake_of(clusters, [*edges, ("t0.out", "t6.id", 0.9)])), 2)
    assert len(set(part[:6].tolist())) == 1
    assert len(set(part[6:].tolist())) == 1
    assert part[0] != part[6]


@pytest.mark.parametrize("shards", [1, 90])
def test_a_cluster_larger_than_a_part_is_cut(shards):
    clusters = [[(f"big_{i}", ["id"]) for i in range(shards)], *([(f"t{i}", ["id"])] for i in range(10))]
    part = partition(Structure.of(lake_of(clusters)), 4)
    assert np.bincount(part).max() <= 1.4 * len(part) / 4 + 1


def test_lakes_without_tables_or_edges():
    assert partition(Structure.of(lake_of([])), 4).shape == (0,)
    assert strata(Structure.of(lake_of([])), 4, 2) == ()
    assert partition(Structure.of(lake_of([[("only", ["id"])]])), 4).tolist() == [0]
    assert len(strata(Structure.of(lake_of([[(f"t{i}", ["id"])] for i in range(3)])), 9, 2)) == 3
