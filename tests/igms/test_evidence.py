"""Evidence units of hand-made supports."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lakes import graph_of, intent_of

from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.exact import log_det
from graftjax.igms.settings import ScoreSettings
from graftjax.igms.support import NodeSupport
from graftjax.intent import atoms_of

ATOMS = atoms_of(
    intent_of({"Club": {"id": [], "name": ["AIB"]}, "Player": {"club": []}}, ("Club", "id", "Player", "club"))
)
CLUB, ID, NAME, AIB, PLAYER, CLUB_OF = range(6)
HAS_ID, HAS_NAME, HAS_AIB, HAS_CLUB, JOIN = range(6, 11)
SETTINGS = ScoreSettings(noise=0.1, supported=0.5)
ROWS, WIDTH = 4, 16


def evidence(**support: dict[int, float]) -> QueryEvidence:
    """Cluster 0 has classes 0, 1, 2, cluster 1 has class 3, cluster 2 has none.

    `support`: further entries of ψ, by name of the node atom and class.
    """
    entity = np.array([[0.9, 0.2, 0.5], [0.3, 0.8, 0.1]], np.float32)
    column = np.zeros((6, 4), np.float32)
    column[ID] = [0.7, 0.1, 0.2, 0.3]
    column[NAME] = [0.2, 0.6, 0.5, 0.1]
    column[AIB] = [0.1, 0.2, 0.9, 0.1]
    column[CLUB_OF] = [0.1, 0.1, 0.1, 0.8]
    for node, entries in support.items():
        for k, value in entries.items():
            column[globals()[node], k] = value
    return QueryEvidence(
        ATOMS, NodeSupport(entity, column), graph_of([0, 0, 0, 1], tables=[1, 1, 1]), SETTINGS
    )


def row(**entries: float) -> np.ndarray:
    expected = np.zeros(WIDTH)
    for atom, value in entries.items():
        expected[globals()[atom]] = value
    return expected


def test_labels_are_what_the_tests_below_take_them_for():
    assert ATOMS.labels[HAS_AIB] == "has value: Club.name -> AIB"
    assert ATOMS.labels[HAS_CLUB] == "has attribute: Player -> club"
    assert evidence().joins == ((JOIN, 0, 1),)


def test_each_attribute_has_one_image_and_its_value_has_a_say():
    """By its header alone `name` would be class 1; only class 2 holds the value as well."""
    assert evidence().images(0, 0) == {ID: 0, NAME: 2}
    assert evidence(AIB={2: 0.0}).images(0, 0) == {ID: 0, NAME: 1}


def test_edge_atoms_are_products_of_what_they_connect():
    block, images = evidence().block((0,), 0, ROWS, WIDTH)
    assert images == [2, 0]
    assert block[0] == pytest.approx(row(CLUB=0.9))
    assert block[1] == pytest.approx(row(NAME=0.5, HAS_NAME=0.9 * 0.5, AIB=0.9, HAS_AIB=0.5 * 0.9))
    assert block[2] == pytest.approx(row(ID=0.7, HAS_ID=0.9 * 0.7))
    assert not block[3].any()


def test_attributes_of_one_image_are_one_unit():
    block, images = evidence(ID={2: 0.95}).block((0,), 0, ROWS, WIDTH)
    assert images == [2]
    expected = row(ID=0.95, HAS_ID=0.9 * 0.95, NAME=0.5, HAS_NAME=0.45, AIB=0.9, HAS_AIB=0.45)
    assert block[1] == pytest.approx(expected)
    assert not block[2:].any()


def test_a_cluster_may_witness_two_trees_with_shared_units():
    block, images = evidence(CLUB_OF={0: 0.6}).block((0, 1), 0, ROWS, WIDTH)
    assert block[0] == pytest.approx(row(CLUB=0.9, PLAYER=0.3))
    shared = block[1 + images.index(0)]
    assert shared == pytest.approx(row(ID=0.7, HAS_ID=0.63, CLUB_OF=0.6, HAS_CLUB=0.18))


def test_beyond_the_room_the_strongest_columns_are_kept():
    block, images = evidence().block((0,), 0, 2, WIDTH)
    assert images == [2]
    assert block.shape == (2, WIDTH)
    assert block[1, AIB] == pytest.approx(0.9)


def test_a_fragment_speaks_for_the_attributes_whose_values_it_holds():
    block, images = evidence(AIB={2: 0.95}).block((0,), 0, ROWS, WIDTH, fragment=True)
    assert not block[0].any()
    assert images == [2]
    assert block[1] == pytest.approx(row(NAME=0.5, HAS_NAME=0.5, AIB=0.95, HAS_AIB=0.5 * 0.95))
    assert not block[2:].any()


def test_only_a_held_value_makes_a_fragment(monkeypatch):
    held = 2 * 0.1**2 + 0.95**2 + (0.1 * 0.95) ** 2
    expected = np.array([[0, held, 0], [0, 0, 0]])
    assert evidence(AIB={3: 0.95}).fragment_strength == pytest.approx(expected, rel=1e-5)
    assert not evidence(AIB={3: 0.9}).fragment_strength.any()  # likeness alone
    assert not evidence(AIB={2: 0.95}).fragment_strength.any()  # cluster 0 is a witness itself
    monkeypatch.setattr("graftjax.igms.evidence.RARE_VALUE", 0)
    assert not evidence(AIB={3: 0.95}).fragment_strength.any()  # a value that is found everywhere


def test_a_cluster_without_columns_is_a_bare_table():
    found = evidence()
    assert found.images(0, 2) == {}
    block, images = found.block((0,), 2, ROWS, WIDTH)
    assert images == []
    assert block[0] == pytest.approx(row(CLUB=0.5))
    assert not block[1:].any()


@pytest.mark.parametrize("tree", [0, 1])
@pytest.mark.parametrize("cluster", [0, 1, 2])
def test_gain_of_a_first_witness_is_its_log_det(tree, cluster):
    found = evidence()
    block, _ = found.block((tree,), cluster, ROWS, WIDTH)
    # Images differ here, so the rows speak for different atoms and their gains add up.
    if len(set(found.images(tree, cluster).values())) == len(found.images(tree, cluster)):
        assert found.tree_gain[tree, cluster] == pytest.approx(log_det(block, 1.1 * np.eye(ROWS)), rel=1e-5)
    else:
        assert found.tree_gain[tree, cluster] >= log_det(block, 1.1 * np.eye(ROWS)) - 1e-5


@given(st.integers(0, 2**31), st.integers(2, 6))
def test_any_support_gives_units_between_zero_and_one(seed, rows):
    rng = np.random.default_rng(seed)
    support = NodeSupport(
        rng.random((2, 3)).astype(np.float32),
        rng.random((6, 4)).astype(np.float32) * rng.integers(0, 2, (6, 4)),
    )
    found = QueryEvidence(ATOMS, support, graph_of([0, 0, 0, 1], tables=[1, 1, 1]), SETTINGS)
    assert np.isfinite(found.tree_gain).all()
    for trees in [(0,), (1,), (0, 1)]:
        for cluster in range(3):
            for fragment in (False, True):
                block, images = found.block(trees, cluster, rows, WIDTH, fragment=fragment)
                assert block.shape == (rows, WIDTH)
                assert ((block >= 0) & (block <= 1)).all()
                assert len(images) == len(set(images)) <= rows - 1
                assert not block[:, JOIN:].any()  # joins are the operator's
                assert set(images) <= set(found.graph.classes[cluster].tolist())
