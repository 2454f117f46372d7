"""Votes of the beam, completion by unions, and the dense view of a state."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_problems import BUDGET, RULES, add, dials, empty, link, shards, weighed
from small_lakes import intent_of

from graftjax.intent.atoms import atoms_of
from graftjax.iql.graph import ALIGN_TABLE, NUM_EDGE_TYPES
from graftjax.search.actions import NEVER, choices
from graftjax.search.beam import extend, start_states
from graftjax.search.finish import certainty, complete
from graftjax.search.numbers import ACTION_NUMBERS, STATE_NUMBERS, action_numbers, state_numbers
from graftjax.search.region import ATOM_BUCKETS, bucket
from graftjax.search.view import (
    IMAGES,
    IntentView,
    ProblemTexts,
    evidence_view,
    intent_slots,
    state_graph,
)
from graftjax.typed_graph import EdgeType


def two_clusters(budget: int = BUDGET):
    """Two witnesses that join, with four and three tables; the last table of the first is a near copy."""
    problem = empty(budget)
    add(problem, 0, 0, (0,), r0a0=0.9, r1a1=0.8)
    add(problem, 1, 1, (1,), r0a2=0.9, r1a3=0.7)
    problem.tree_valid[:2] = True
    shards(problem, 0, 4, 3, 0.9)
    shards(problem, 1, 3, 3, 0.9)
    link(problem, 0, 1, 0.8)
    return jax.tree.map(jnp.asarray, weighed(problem))


options_of = jax.jit(choices)
completed = jax.jit(complete)


@jax.jit
def grown(problem, state, action):
    options = choices(problem, state, dials(RULES))
    return extend(problem, state, action, options.operator_row, options.scale, options.bridge, dials(RULES))


def taking(problem, *actions):
    state = jax.tree.map(lambda leaf: leaf[0], start_states(problem, 1))
    for action in actions:
        state = grown(problem, state, jnp.asarray(action))
    return state


def taken_after(problem, state, sure):
    done = completed(problem, state, jnp.asarray(sure, jnp.float32), dials(RULES))
    return done, np.asarray(done.taken[:2]).tolist()


def test_the_surest_cluster_is_completed_first():
    sure = np.zeros(len(two_clusters().shards))
    for first, expected in ((0, [3, 2]), (1, [2, 3])):
        problem = two_clusters(budget=5)
        sure[:2] = (1.0, 0.4) if first == 0 else (0.4, 1.0)
        done, taken = taken_after(problem, taking(problem, 0, 1), sure)
        assert taken == expected
        assert int(done.num_tables) == 5
        assert np.isfinite(float(done.logdet))


def test_near_copies_are_left_out_and_nothing_new_is_taken():
    problem = two_clusters()
    done, taken = taken_after(problem, taking(problem, 0), np.ones(len(problem.shards)))
    assert taken == [3, 0]
    assert np.asarray(done.table_shard[:3]).tolist() == [0, 1, 2]


def test_votes_count_what_good_answers_agree_on():
    problem = two_clusters()
    states = start_states(problem, 3)
    taken = np.zeros(states.taken.shape, np.int32)
    taken[0, [0, 1]], taken[1, [0, 2]], taken[2, [0, 3]] = 1, 1, 1
    states = states._replace(taken=jnp.asarray(taken))
    sure = np.asarray(certainty(states, jnp.asarray([0.5, 0.5, NEVER])))
    np.testing.assert_allclose(sure[:4], [1.0, 0.5, 0.5, 0.0], atol=1e-6)
    far = np.asarray(certainty(states, jnp.asarray([0.5, 0.1, NEVER])))
    assert far[1] > 0.99


def test_numbers_are_finite_and_named_one_by_one():
    problem = two_clusters()
    for state in (taking(problem), taking(problem, 0), taking(problem, 0, 1)):
        options = options_of(problem, state, dials(RULES))
        scalars = np.asarray(state_numbers(problem, state))
        numbers = np.asarray(action_numbers(problem, state, options, dials(RULES)))
        assert scalars.shape == (len(STATE_NUMBERS),)
        assert numbers.shape == (len(problem.cluster), len(ACTION_NUMBERS))
        assert np.isfinite(scalars).all()
        assert np.isfinite(numbers).all()
    state = taking(problem, 0)
    options = options_of(problem, state, dials(RULES))
    numbers = np.asarray(action_numbers(problem, state, options, dials(RULES)))
    assert np.isclose(numbers[1, ACTION_NUMBERS.index("join")], 0.8)


def test_the_view_has_each_edge_both_ways_and_nothing_for_padding():
    problem = two_clusters()
    n = intent_slots(len(problem.atom_mask))
    vectors = lambda *shape: jnp.ones((*shape, 3))  # noqa: E731
    texts = ProblemTexts(
        np.ones(len(problem.shards), np.int32), np.ones(len(problem.shards), np.int32),
        np.ones((len(problem.cluster), IMAGES), np.int32), np.ones((len(problem.cluster), IMAGES), np.int32),
    )  # fmt: skip
    evidence = evidence_view(problem, taking(problem, 0, 1), jax.tree.map(jnp.asarray, texts))
    node_type, parent = np.zeros(n, np.int32), np.full(n, -1, np.int32)
    node_type[:4], parent[[1, 3]] = (4, 5, 4, 5), (0, 2)
    joins = np.full((8, 2), -1, np.int32)
    joins[0] = 1, 3
    evidence = evidence.with_vectors(vectors(2))
    graph = state_graph(vectors(n), IntentView(node_type, parent, joins), evidence, jnp.zeros(2))
    relation, weight = np.asarray(graph.relation), np.asarray(graph.weight)
    forward = (relation > 0) & (relation <= NUM_EDGE_TYPES)
    np.testing.assert_array_equal(relation.T[forward], relation[forward] + NUM_EDGE_TYPES)
    np.testing.assert_allclose(weight, weight.T)
    padding = np.asarray(graph.node_type) == 0
    assert not relation[padding].any()
    assert not relation[:, padding].any()
    assert relation[3, 1] == EdgeType.INTENT_JOIN
    assert relation[1, 0] == EdgeType.ENTITY_HAS_ATTRIBUTE
    assert relation[n + 1, n] == EdgeType.TABLE_JOIN
    assert np.isclose(weight[n + 1, n], 0.8)
    assert relation[n, 0] == ALIGN_TABLE
    assert np.isclose(weight[n, 0], 0.9)


@pytest.mark.parametrize("trees", [8, 9, 20])
def test_an_intent_of_many_trees_fits_into_the_view(trees):
    """Trees beyond the eighth used to overflow the slots of the value function's graph."""
    intent = intent_of({f"thing {i}": {"name": ["x"]} if i % 2 else {} for i in range(trees)})
    atoms = atoms_of(intent)
    assert len(atoms.tree_entity) == 8
    assert bool(atoms.notes) == (trees > 8)
    assert atoms.num_nodes <= intent_slots(bucket(atoms.num_atoms, ATOM_BUCKETS))
