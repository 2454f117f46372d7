from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_lakes import lake_of, plans

from graftjax.errors import UsageError
from graftjax.trajectories.columns import sample_subgraph
from graftjax.trajectories.compress import compress
from graftjax.trajectories.homomorphism import violations
from graftjax.trajectories.samplers import (
    SAMPLERS,
    Size,
    centrality_of,
    draw_size,
    frontier,
)
from graftjax.trajectories.settings import SampleSettings
from graftjax.trajectories.structure import Structure

SHARES = st.sampled_from([0.0, 0.3, 0.7, 1.0])


OPTIONS = st.fixed_dictionaries(
    {
        "alpha": SHARES,
        "payload_share": SHARES,
        "max_tables": st.integers(1, 8),
        "num_parts": st.integers(1, 5),
        "num_quantiles": st.integers(1, 3),
        "max_clusters": st.integers(1, 6),
        "bridge_share": SHARES,
        "chord_share": SHARES,
        "value_share": SHARES,
    }
)


def samples(index, options, sampler, count=6):
    lake = Structure.of(index)
    strata = SAMPLERS[sampler].strata(lake, options)
    for i in range(count):
        rng = np.random.default_rng(i)
        seed = int(rng.choice(strata[i % len(strata)]))
        yield seed, sample_subgraph(lake, SAMPLERS[sampler], options, seed, rng)


@given(plan=plans(), options=OPTIONS, sampler=st.sampled_from(sorted(SAMPLERS)))
@settings(max_examples=80)
def test_a_sample_is_connected_small_and_realises_its_intent(plan, options, sampler):
    index, options = lake_of(*plan), SampleSettings(**options)
    graph, joins = index.graph, index.graph.joins
    cluster, classes = graph.unions.table_cluster, graph.unions.column_class
    for seed, subgraph in samples(index, options, sampler):
        assert subgraph.tables[0] == seed
        assert len(set(subgraph.tables)) == len(subgraph.tables) <= options.max_tables
        assert len(subgraph.clusters(graph)) <= options.max_clusters

        # Connected: every action attaches the next table to an earlier one by an edge of the lake.
        assert [action.new for action in subgraph.actions] == list(subgraph.tables[1:])
        for i, action in enumerate(subgraph.actions):
            assert action.anchor in subgraph.tables[: i + 1]
            if action.operator == "union":
                assert cluster[action.anchor] == cluster[action.new]
            else:
                assert action.edge in subgraph.joins
                ends = {int(joins.refers[action.edge]), int(joins.referred[action.edge])}
                held = [set(classes[graph.columns[t]].tolist()) for t in (action.anchor, action.new)]
                assert any(ends == {a, b} for a in ends & held[0] for b in ends & held[1])

        # All keys are kept, and nothing that the tables do not have.
        ends = {int(k) for edge in subgraph.joins for k in (joins.refers[edge], joins.referred[edge])}
        for table, keys, payload in zip(subgraph.tables, subgraph.keys, subgraph.payload, strict=True):
            own = graph.columns[table].tolist()
            assert list(keys) == [column for column in own if classes[column] in ends]
            assert set(payload) <= set(own) - set(keys)

        compression = compress(index, subgraph)
        assert violations(index, subgraph, compression.intent, compression) == ()
        assert compress(Structure.of(index), subgraph) == compression


@given(plan=plans(), options=OPTIONS)
@settings(max_examples=40)
def test_no_bridge_dangles_and_clusters_with_payload_show_it(plan, options):
    index, options = lake_of(*plan), SampleSettings(**options)
    graph = index.graph
    owner, classes = graph.unions.class_cluster, graph.unions.column_class
    for _, subgraph in samples(index, options, "centrality"):
        clusters = subgraph.clusters(graph)
        joined = {c: set() for c in clusters}
        for edge in subgraph.joins:
            a, b = (int(owner[k[edge]]) for k in (graph.joins.refers, graph.joins.referred))
            joined[a].add(b)
            joined[b].add(a)
        bridges = compress(index, subgraph).bridge_clusters
        assert all(len(joined[c]) >= 2 for c in bridges)
        payload = {int(owner[classes[column]]): True for columns in subgraph.payload for column in columns}
        keys = {column for columns in subgraph.keys for column in columns}
        for cluster, tables in clusters.items():
            has_more = any(column not in keys for t in tables for column in graph.columns[t].tolist())
            assert (cluster in payload) == (has_more and cluster not in bridges)


def star(shards: int):
    """A hub of so many shards, joined with two single tables, by a strong and a weak edge."""
    hub = [(f"hub_{i}", ["id", "name"]) for i in range(shards)]
    near, far = [("near", ["hub_id", "size"])], [("far", ["hub_id", "colour"])]
    return lake_of([hub, near, far], [("near.hub_id", "hub_0.id", 0.8), ("far.hub_id", "hub_0.id", 0.4)])


def test_shards_do_not_drown_joins():
    lake = Structure.of(star(40))
    around = frontier(lake, [0], Size(clusters=3, tables=10))
    odds = centrality_of(around, 0.7)
    by_table = dict(zip(around.tables.tolist(), odds, strict=True))
    assert sum(by_table[t] for t in range(1, 40)) == pytest.approx(0.3)
    assert by_table[40] == pytest.approx(0.7 * 0.8 / 1.2)
    assert by_table[41] == pytest.approx(0.7 * 0.4 / 1.2)


def test_the_sharpness_is_a_power_of_the_weight():
    around = frontier(Structure.of(star(1)), [0], Size(clusters=3, tables=10), sharpness=3.0)
    assert around.join.tolist() == pytest.approx([8 / 9, 1 / 9])


def test_draws_follow_the_centrality_and_the_anchor_sampler_ignores_it():
    lake, size = Structure.of(star(1)), Size(clusters=2, tables=2)
    options = SampleSettings(sharpness=1.0)
    share = {}
    for name in ("centrality", "anchor"):
        draws = [
            SAMPLERS[name].expand(lake, options, 0, size, np.random.default_rng(i)).tables[1]
            for i in range(600)
        ]
        share[name] = np.mean(np.array(draws) == 1)
    assert share["centrality"] == pytest.approx(2 / 3, abs=0.06)
    assert share["anchor"] == pytest.approx(1 / 2, abs=0.06)


def test_the_walk_goes_from_table_to_table():
    lake = Structure.of(star(3))
    growth = SAMPLERS["uniform"].expand(
        lake, SampleSettings(), 3, Size(clusters=3, tables=5), np.random.default_rng(0)
    )
    assert sorted(growth.tables) == [0, 1, 2, 3, 4]
    assert growth.actions[0].anchor == 3  # the only neighbour of `near` is the hub
    assert all(lake.link(action.anchor, action.new) is not None for action in growth.actions)


def test_unions_wait_while_all_tables_are_needed_for_clusters():
    lake = Structure.of(star(40))
    assert not frontier(lake, [0], Size(clusters=3, tables=3)).union.any()
    assert not frontier(lake, [0], Size(clusters=1, tables=3)).join.any()


def test_sizes_stay_in_bounds_and_reach_them():
    options = SampleSettings(max_tables=5, max_clusters=3, cluster_odds=(1.0,))
    sizes = {draw_size(options, np.random.default_rng(i)) for i in range(400)}
    assert sizes == {Size(c, t) for c in (1, 2, 3) for t in range(c, 6)}


def test_wide_tables_keep_few_columns_and_a_few_values():
    index = lake_of([[(f"wide_{i}", [f"h{j}" for j in range(40)]) for i in range(6)]])
    options = SampleSettings(value_share=1.0)
    for _, subgraph in samples(index, options, "centrality"):
        (attributes,) = (tree.attributes for tree in compress(index, subgraph).intent.trees)
        assert len(attributes) == options.max_payload
        assert all(1 <= len(attribute.values) <= 2 for attribute in attributes)


def test_a_value_that_nobody_would_type_is_not_fixed():
    index = lake_of([[("notes", ["text"])]], values={"notes.text": ["x" * 200, " "]})
    assert [s.values for _, s in samples(index, SampleSettings(value_share=1.0), "uniform")] == [()] * 6


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 1.5},
        {"payload_share": -0.1},
        {"max_tables": 0},
        {"cluster_odds": ()},
        {"cluster_odds": (0.0, 1.0)},
        {"sharpness": -1.0},
    ],
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        SampleSettings(**wrong)
