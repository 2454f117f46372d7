"""Pairs agree with ψ, and wrong ones are wrong."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_lakes import encoder
from small_samples import lake, random_samples

from graftjax.encode.projection import principal
from graftjax.igms.settings import ScoreSettings
from graftjax.igms.support import node_support, sigmoid
from graftjax.intent.atoms import ATTRIBUTE, ENTITY, VALUE, atoms_of
from graftjax.retrieval.pairs import PairSettings, make_pairs
from graftjax.retrieval.samples import compressed_samples, reworded
from graftjax.trajectories.settings import SampleSettings
from graftjax.trajectories.stream import sample_trajectories

ALL_NODES = PairSettings(hard=1000, siblings=0, random=0)


def samples(count: int, seed: int = 0) -> list:
    return list(random_samples(lake(), count, np.random.default_rng(seed)))


def test_samples_lie_in_the_lake() -> None:
    graph, joined, valued = lake().graph, 0, 0
    for sample in samples(200):
        for tree in sample.intent.trees:
            cluster = sample.clusters[tree.tree_id]
            assert tree.entity in {lake().tables[t].id.name for t in graph.members[cluster]}
            assert tree.attributes
            for attribute in tree.attributes:
                place = (tree.tree_id, attribute.attribute_id)
                assert sample.classes[place] in graph.classes[cluster]
                assert set(attribute.values) <= set(sample.values.get(place, ()))
                valued += bool(attribute.values)
        for join in sample.intent.joins:
            ends = (sample.classes["t1", join.from_attribute], sample.classes["t2", join.to_attribute])
            assert ends in set(zip(graph.joins.refers.tolist(), graph.joins.referred.tolist(), strict=True))
            assert ("t2", join.to_attribute) in sample.keys
            joined += 1
    assert joined > 20
    assert valued > 20


def test_compressed_subgraphs_are_samples() -> None:
    trajectories = sample_trajectories(
        lake(), SampleSettings(num_parts=1), 60, 0, processes=1, progress=False
    )
    found = list(compressed_samples(lake(), [one.compression for one in trajectories]))
    graph = lake().graph
    edges = set(zip(graph.joins.refers.tolist(), graph.joins.referred.tolist(), strict=True))
    direct = 0
    for sample in found:
        assert set(sample.clusters) == {tree.tree_id for tree in sample.intent.trees}
        for (tree, attribute), k in sample.classes.items():
            assert graph.unions.class_cluster[k] == sample.clusters[tree]
            given = sample.intent.attribute(tree, attribute).values
            assert set(given) <= set(sample.values.get((tree, attribute), ()))
        for join in sample.intent.joins:
            ends = (join.from_tree, join.from_attribute), (join.to_tree, join.to_attribute)
            for refers, referred in (ends, ends[::-1]):
                if (sample.classes[refers], sample.classes[referred]) in edges:
                    assert referred in sample.keys
                    direct += 1
                    break
    assert len(found) == len(trajectories)
    assert direct > 5
    again = list(reworded(found, np.random.default_rng(0)))
    assert [one.classes for one in again] == [one.classes for one in found]
    assert [one.intent for one in again] != [one.intent for one in found]
    assert len(make_pairs(lake(), again, encoder(), np.random.default_rng(0)))


@pytest.mark.parametrize("projected", [False, True])
def test_the_mix_of_a_pair_is_that_of_psi(projected: bool) -> None:
    index, score = lake(), ScoreSettings(value_hit=0.0)
    if projected:
        index = dataclasses.replace(index, space=index.space.projected(principal(index.space.dense, 16)))
    checked = np.zeros(3, int)
    for sample in samples(25):
        atoms = atoms_of(sample.intent)
        pairs = make_pairs(index, [sample], encoder(), np.random.default_rng(0), score, ALL_NODES)
        support = node_support(index, atoms, encoder(), score)
        space = index.space
        vectors = encoder().encode(pairs.texts)
        dense = space.similarity(pairs.texts, vectors, 0.0)
        mixed = (1 - score.lexical_share) * (dense[pairs.query, pairs.node] * pairs.weight).sum(1)
        mixed += score.lexical_share * pairs.lexical
        own = {ENTITY: score.c0, ATTRIBUTE: score.c0, VALUE: score.value_c0}
        psi = sigmoid(score.beta * (mixed - np.array([own[k] for k in range(3)])[pairs.kind]))
        # Equal atoms are taken once: the first of each text and kind.
        for number in np.unique(pairs.atom):
            rows = np.flatnonzero(pairs.atom == number)
            kind = int(pairs.kind[rows[0]])
            found = [
                (support.entity[tree] if kind == ENTITY else support.column[node])
                for node, tree in enumerate(atoms.node_tree.tolist())
                if atoms.node_kind[node] == kind
            ]
            distance = [np.abs(psi[rows, None] - line[None]).min(1).max() for line in found]
            assert min(distance) < 1e-4
            assert any(np.isclose(line.max(), psi[rows].max(), atol=1e-4) for line in found)
            checked[kind] += 1
    assert (checked > 5).all()


def test_one_right_pair_first_and_no_wrong_one_that_reads_alike() -> None:
    pairs = make_pairs(lake(), samples(60), encoder(), np.random.default_rng(0))
    texts = lake().space.texts
    for number in np.unique(pairs.atom):
        rows = np.flatnonzero(pairs.atom == number)
        assert pairs.right[rows].tolist() == [True] + [False] * (len(rows) - 1)
        if pairs.kind[rows[0]] == ENTITY:
            right = [texts[i] for i in pairs.node[rows[0]]]
            assert all([texts[i] for i in pairs.node[row]] != right for row in rows[1:])
    assert (~pairs.right).sum() > 3 * pairs.right.sum()


def test_deterministic_and_free_of_repeats() -> None:
    first, second = (make_pairs(lake(), samples(40), encoder(), np.random.default_rng(3)) for _ in range(2))
    for name in ("query", "node", "weight", "lexical", "kind", "right", "atom", "group"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    twice = make_pairs(lake(), samples(40) + samples(40), encoder(), np.random.default_rng(3))
    assert len(twice) == len(first)


def test_no_samples_give_no_pairs() -> None:
    assert len(make_pairs(lake(), [], encoder(), np.random.default_rng(0))) == 0
