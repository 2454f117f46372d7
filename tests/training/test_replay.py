"""What training reads against what the search sees, and returns that are known."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_lakes import encoder
from tiny_lake import SHORT, random_guide

from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.support import EncodedTexts, atom_texts, node_support
from graftjax.intent.atoms import atoms_of
from graftjax.iql.graph import JOIN, STOP
from graftjax.retrieval.samples import compressed_samples
from graftjax.search.actions import NEVER, choices
from graftjax.search.beam import extend
from graftjax.search.guide import action_values
from graftjax.search.region import NUM_CLUSTERS, build_region
from graftjax.search.settings import MAX_TREES, ROWS
from graftjax.search.state import EMPTY, empty_state
from graftjax.training.collect import Collector
from graftjax.training.held_out import best_returns, predicted
from graftjax.training.replay import Replay, batch_of, graph_of, make_replay, stack
from graftjax.trajectories.episodes import BUDGET, TEXT_SHIFT, WIDTH, WalkSettings
from graftjax.trajectories.reword import UNCHANGED
from graftjax.trajectories.rollout import DECISIONS
from graftjax.trajectories.stream import sample_trajectories

COUNT = 4
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def trajectories(lake):
    return sample_trajectories(lake, SHORT.sample, COUNT, 5, progress=False)


@pytest.fixture(scope="module")
def collector(lake, run):
    """Of one walk per intent: the greedy one, so that its states come in order."""
    projection = run[1].guide.projection
    walks = WalkSettings(recorded=0, exploring=1)
    return Collector.of(lake, encoder(), projection, None, seed=3, wording=UNCHANGED, walks=walks)


@pytest.fixture(scope="module")
def guide(run):
    return random_guide(run[1].guide, 9)


def searched(collector, guide, trajectory, texts):
    """Q of (the action taken, stopping) in each state of the greedy walk, as the search computes it.

    `texts`: of the tables that were taken; the best actions of two trees are tied, so greed is no order.
    """
    (sample,) = compressed_samples(collector.index, [trajectory.compression])
    atoms = atoms_of(sample.intent, WIDTH)
    encoded = EncodedTexts.of((text for group in atom_texts(atoms) for text in group), collector.encoder)
    score = collector.settings.score
    support = node_support(collector.index, atoms, encoded, score)
    evidence = QueryEvidence(atoms, support, collector.index.graph, score)
    region = build_region(evidence, collector.shards, collector.settings, BUDGET)
    outlook = guide.outlook(collector.index, evidence, region, encoded.vectors)
    problem, outlook = jax.tree.map(jnp.asarray, (region.problem, outlook))
    dials = collector.dials
    num_actions = len(problem.cluster)
    capacity, width = problem.added.shape[1], problem.atom_mask.shape[0]
    state = empty_state(capacity, ROWS, width, MAX_TREES, NUM_CLUSTERS)
    params, scales = guide.device_params
    taken, stops = [], []
    look = jax.jit(lambda state: _look(guide, params, scales, problem, outlook, state, dials))
    while True:
        choice, values, stop = look(state)
        stops.append(float(stop))
        witnesses, is_open = np.asarray(problem.witnesses), np.asarray(state.tree_cluster == EMPTY)[None, :]
        ahead = (~witnesses & is_open).astype(np.float32) @ np.asarray(problem.bound)
        gain = np.asarray(choice.gain)[:num_actions]
        assigned = (witnesses & ~is_open).any(1)
        possible = (gain > 0.5 * NEVER) & ~assigned
        if not possible.any() or len(taken) == DECISIONS:
            return taken, stops
        total = np.where(possible, gain + ahead, NEVER)
        schema = collector.index.nodes.schema[region.clusters[np.asarray(problem.cluster)], 0] + TEXT_SHIFT
        meant = (schema == texts[len(taken)]) & (total > total.max() - 1e-3)
        action = int(np.argmax(np.where(meant, total, NEVER)))
        taken.append(float(values[action]))
        how = (choice.operator_row, choice.scale, choice.bridge)
        state = extend(problem, state, jnp.asarray(action, jnp.int32), *how, dials)


def _look(guide, params, scales, problem, outlook, state, dials):
    choice = choices(problem, state, dials)
    beam = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], (state, choice))
    values, stop = action_values(guide.network, params, scales, problem, outlook, *beam, dials)
    return choice, values[0], stop[0]


@slow
def test_training_and_search_see_the_same(lake, collector, guide, trajectories):
    """Q with arbitrary parameters is the same for stored transitions as in the search, up to float16."""
    vectors = guide.projection(np.asarray(lake.space.dense))
    compared = joined = 0
    for number in range(COUNT):
        (episode,) = collector.episodes([trajectories[number]], number)
        replay = make_replay(stack([episode]), vectors, guide.scales)
        stored = predicted(guide.network, guide.params, replay)
        taken, stops = searched(collector, guide, trajectories[number], replay.new)
        assert len(stored) == len(taken) + len(stops)
        np.testing.assert_allclose(stored, [*taken, *stops], atol=5e-3 * (1 + np.abs(stored).max()))
        compared += len(taken)
        joined += int((np.asarray(replay.operator) == JOIN).sum())
    assert compared >= COUNT
    assert joined
    assert np.ptp(stored) > 0.05  # parameters that see no difference would prove nothing


@pytest.fixture(scope="module")
def replay(lake, collector, guide, trajectories):
    both = dataclasses.replace(collector, walks=WalkSettings(recorded=1, exploring=2))
    episodes = both.episodes(list(trajectories), 0)
    made = make_replay(stack(episodes), guide.projection(np.asarray(lake.space.dense)), guide.scales)
    return jax.tree.map(jnp.asarray, made)


@slow
def test_every_state_can_stop_for_its_utility(replay):
    stops = np.flatnonzero(np.asarray(replay.operator) == STOP)
    assert sorted(np.asarray(replay.state)[stops]) == list(range(len(replay.utility)))
    batch = batch_of(replay, jnp.arange(replay.num_transitions))
    terminal, reward = np.asarray(batch.terminal), np.asarray(batch.reward)
    np.testing.assert_array_equal(terminal, np.asarray(replay.operator) == STOP)
    np.testing.assert_allclose(reward[stops], np.asarray(replay.utility)[np.asarray(replay.state)[stops]])
    assert (reward[~terminal] == 0).all()
    assert replay.utility.max() > 0


@slow
def test_transitions_lead_to_the_state_that_was_stored(replay):
    batch = batch_of(replay, jnp.arange(replay.num_transitions))
    for i in range(0, replay.num_transitions, 5):
        after = graph_of(replay, jnp.asarray(replay.next_state)[i])
        for got, stored in zip(batch.next_state, after, strict=True):
            np.testing.assert_array_equal(np.asarray(got)[i], np.asarray(stored))


def chain(utility, steps) -> Replay:
    """States with these utilities and transitions (from, to), then the stop of each state."""
    count = len(utility)
    start, end = (np.array([*(step[i] for step in steps), *range(count)], np.int32) for i in (0, 1))
    operator = np.array([JOIN] * len(steps) + [STOP] * count, np.int32)
    empty = dict.fromkeys(Replay._fields)
    fields = {
        "utility": np.asarray(utility, np.float32),
        "state": start,
        "next_state": end,
        "operator": operator,
    }
    return Replay(**{**empty, **fields})


def test_best_returns_of_a_chain():
    """Going on is worth it twice, then not; a side branch that no walk took does not count for states."""
    replay = chain([0.0, 0.1, 1.0, 0.5, 9.0], [(0, 1), (1, 2), (2, 3), (0, 4)])
    recorded = np.array([True, True, True, False] + [False] * 5)
    values, returns = best_returns(replay, recorded, 0.5)
    np.testing.assert_allclose(values, [0.25, 0.5, 1.0, 0.5, 9.0])
    np.testing.assert_allclose(returns, [0.25, 0.5, 0.25, 4.5, 0.0, 0.1, 1.0, 0.5, 9.0])
