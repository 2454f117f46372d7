from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_lakes import encoder, index_of, intent_of

from graftjax.igms.settings import PAPER, ScoreSettings
from graftjax.igms.support import atom_texts, node_support
from graftjax.intent import atoms_of

DEFAULT = ScoreSettings()


@pytest.fixture(scope="module")
def index():
    return index_of(
        {
            "clubs": {
                "club_id": [1, 2, 3],
                "name": ["AIB", "Rovers", "United"],
                "city": ["Cork", "Bray", "Cork"],
            },
            "weather": {"station": ["north", "south"], "rainfall": [3.5, 4.5]},
            "nothing": {"a": pa_nulls(2), "b": pa_nulls(2)},
        }
    )


def pa_nulls(count):
    return [None] * count


class Fixed:
    """An encoder whose vectors are given by a function of the number of texts."""

    def __init__(self, vectors):
        self.vectors = vectors

    def encode(self, texts):
        return np.asarray(self.vectors(len(texts)), np.float32)


CLUBS = intent_of({"Club": {"name": ["AIB"], "city": []}})


def cluster(index, name):
    table = next(i for i, t in enumerate(index.tables) if t.id.name == name)
    return int(index.graph.unions.table_cluster[table])


def column_class(index, table, column):
    names = [(t.id.name, c.name) for t in index.tables for c in t.columns]
    return int(index.graph.unions.column_class[names.index((table, column))])


def test_each_atom_is_best_supported_by_its_node(index):
    atoms = atoms_of(CLUBS)
    support = node_support(index, atoms, encoder(), DEFAULT)
    assert support.entity.shape == (1, index.graph.unions.num_clusters)
    assert support.column.shape == (atoms.num_nodes, index.graph.unions.num_classes)
    assert support.entity[0].argmax() == cluster(index, "clubs")
    name, city = (atoms.node_text.index(text) for text in ("name", "city"))
    assert support.column[name].argmax() == column_class(index, "clubs", "name")
    assert support.column[city].argmax() == column_class(index, "clubs", "city")
    assert support.column[city].max() > 0.9 > 0.2 > support.entity[0, cluster(index, "weather")]


def test_nodes_of_another_type_get_nothing(index):
    atoms = atoms_of(CLUBS)
    support = node_support(index, atoms, encoder(), DEFAULT)
    entity = int(atoms.tree_entity[0])
    assert not support.column[entity].any()
    assert (support.column[[i for i in range(atoms.num_nodes) if i != entity]] > 0).all()


def test_a_known_value_is_a_hit_in_any_spelling(index):
    atoms = atoms_of(intent_of({"Club": {"name": ["  aib "]}}))
    support = node_support(index, atoms, encoder(), DEFAULT)
    value = atoms.num_nodes - 1
    held = column_class(index, "clubs", "name")
    assert support.column[value, held] >= DEFAULT.value_hit
    others = np.delete(support.column[value], held)
    assert others.max() < support.column[value, held]


def test_paper_form_gives_one_half_at_cosine_zero(index):
    """With c0 = 0 every unrelated node is half a match; the default keeps it near nothing."""
    dense = np.asarray(index.space.dense, np.float64)
    away = np.linalg.svd(dense, full_matrices=True)[2][-1]  # orthogonal to all texts of the lake
    assert np.abs(dense @ away).max() < 1e-6
    orthogonal = Fixed(lambda count: np.tile(away, (count, 1)))
    atoms = atoms_of(intent_of({"Zzyzx": {"qwfp": []}}))
    paper = node_support(index, atoms, orthogonal, dataclasses.replace(PAPER, lexical_share=0.0))
    assert paper.entity == pytest.approx(0.5, abs=1e-5)
    assert paper.column[1] == pytest.approx(0.5, abs=1e-5)
    default = node_support(index, atoms, orthogonal, dataclasses.replace(DEFAULT, lexical_share=0.0))
    assert default.entity.max() < 0.05
    assert default.column[1].max() < 0.05


@pytest.mark.parametrize(
    "settings", [DEFAULT, PAPER, ScoreSettings(beta=1e4)], ids=["default", "paper", "steep"]
)
@pytest.mark.parametrize("scale", [1.0, -1.0, 0.0])
def test_support_lies_between_zero_and_one(index, settings, scale):
    rng = np.random.default_rng(0)

    def vectors(count):
        drawn = rng.normal(size=(count, index.space.dense.shape[1]))
        return scale * drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    support = node_support(index, atoms_of(CLUBS), Fixed(vectors), settings)
    for part in (support.entity, support.column):
        assert np.isfinite(part).all()
        assert part.min() >= 0.0
        assert part.max() <= 1.0


@pytest.mark.parametrize("text", ["สโมสรฟุตบอล", "?!…", "_", "\u200b", "🙂", "x" * 5000])
def test_any_text_has_a_support(index, text):
    atoms = atoms_of(intent_of({text: {text: [text]}}))
    assert all(all(isinstance(t, str) for t in texts) for texts in atom_texts(atoms))
    support = node_support(index, atoms, encoder(), DEFAULT)
    for part in (support.entity, support.column):
        assert np.isfinite(part).all()
        assert ((part >= 0) & (part <= 1)).all()


def test_a_lake_without_tables_supports_nothing():
    support = node_support(index_of({}), atoms_of(CLUBS), encoder(), DEFAULT)
    assert support.entity.shape == (1, 0)
    assert support.column.shape == (4, 0)


def test_an_intent_without_atoms_needs_no_encoder(index):
    atoms = atoms_of(intent_of({}))

    def never(count):
        raise AssertionError("nothing to encode")

    support = node_support(index, atoms, Fixed(never), DEFAULT)
    assert support.entity.shape[0] == support.column.shape[0] == 0


def test_texts_carry_their_context():
    atoms = atoms_of(CLUBS)
    entity, name, value, city = atom_texts(atoms)
    assert entity == ("club", "club: name, city")
    assert name == ("club name", "name")
    assert value == ("name: AIB",)
    assert city == ("club city", "city")
