"""Atoms: count, order, endpoints, labels and the cut."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.intent import EMPTY_INTENT, MAX_ATOMS, atoms_of, parse_intent
from graftjax.intent.atoms import ATTRIBUTE, ENTITY, HAS_ATTRIBUTE, HAS_VALUE, JOIN, NO_PARENT, VALUE

CLUBS = parse_intent(
    {
        "trees": [
            {
                "tree_id": "t1",
                "entity": "Club",
                "attributes": [
                    {"attribute_id": "a1", "name": "id"},
                    {"attribute_id": "a2", "name": "town", "values": ["Oslo", "Bergen"]},
                ],
            },
            {
                "tree_id": "t2",
                "entity": "Player",
                "attributes": [{"attribute_id": "a3", "name": "club_id"}],
            },
        ],
        "joins": [{"from_tree": "t1", "from_attribute": "a1", "to_tree": "t2", "to_attribute": "a3"}],
    }
)


def build(sizes, links):
    """A graph with sizes[t][k] values in attribute k of tree t."""
    trees = [
        {
            "tree_id": f"t{t}",
            "entity": f"E{t}",
            "attributes": [
                {"attribute_id": f"a{k}", "name": f"n{k}", "values": [f"v{v}" for v in range(count)]}
                for k, count in enumerate(counts)
            ],
        }
        for t, counts in enumerate(sizes)
    ]
    joins = [
        {"from_tree": f"t{a}", "from_attribute": "a0", "to_tree": f"t{b}", "to_attribute": "a0"}
        for a, b in links
    ]
    return parse_intent({"trees": trees, "joins": joins})


def test_a_small_graph_in_full():
    atoms = atoms_of(CLUBS)
    assert atoms.labels == (
        "entity: Club",
        "attribute: Club.id",
        "attribute: Club.town",
        "value: Club.town = Oslo",
        "value: Club.town = Bergen",
        "entity: Player",
        "attribute: Player.club_id",
        "has attribute: Club -> id",
        "has attribute: Club -> town",
        "has value: Club.town -> Oslo",
        "has value: Club.town -> Bergen",
        "has attribute: Player -> club_id",
        "join: Club.id = Player.club_id",
    )
    assert atoms.node_kind.tolist() == [ENTITY, ATTRIBUTE, ATTRIBUTE, VALUE, VALUE, ENTITY, ATTRIBUTE]
    assert atoms.node_tree.tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert atoms.node_parent.tolist() == [NO_PARENT, 0, 0, 2, 2, NO_PARENT, 5]
    assert atoms.edge_kind.tolist() == [HAS_ATTRIBUTE] * 2 + [HAS_VALUE] * 2 + [HAS_ATTRIBUTE, JOIN]
    assert atoms.edge_ends.tolist() == [[0, 1], [0, 2], [2, 3], [2, 4], [5, 6], [1, 6]]
    assert atoms.edge_trees[-1].tolist() == [0, 1]
    assert atoms.tree_entity.tolist() == [0, 5]
    assert (atoms.num_nodes, atoms.num_edges, atoms.num_atoms) == (7, 6, 13)
    assert atoms.entity_of(6) == "Player"
    assert atoms.notes == ()


def test_an_empty_graph_has_empty_arrays_of_the_right_shape():
    atoms = atoms_of(EMPTY_INTENT)
    assert atoms.num_atoms == 0
    assert atoms.edge_ends.shape == (0, 2)
    assert atoms.node_kind.dtype == np.int32


def test_a_large_graph_keeps_entities_and_joins_and_says_what_it_dropped():
    graph = build([[3] * 10, [3] * 10, [3] * 10], [(0, 1), (1, 2)])
    atoms = atoms_of(graph)
    assert MAX_ATOMS - 1 <= atoms.num_atoms <= MAX_ATOMS
    assert (atoms.edge_kind == JOIN).sum() == 2
    assert (atoms.node_kind == ENTITY).sum() == 3
    per_tree = np.bincount(atoms.node_tree)
    assert per_tree.max() - per_tree.min() <= 2
    assert atoms.notes == (
        f"the intent graph has 245 atoms; {245 - atoms.num_atoms} beyond the limit of 64 were left out",
    )


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(1, 80),
    st.data(),
)
def test_any_cut_is_a_well_formed_forest(sizes, limit, data):
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a)]
    links = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    graph = build(sizes, links)
    atoms = atoms_of(graph, limit)
    whole = atoms_of(graph, 10_000)
    assert whole.num_atoms == len(sizes) + sum(2 * len(s) + 2 * sum(s) for s in sizes) + len(links)
    assert atoms.num_atoms <= limit
    assert bool(atoms.notes) == (atoms.num_atoms < whole.num_atoms)
    # The order is that of the whole graph, and every edge joins kept nodes of fitting kinds.
    kept = [label for label in whole.labels if label in set(atoms.labels)]
    assert list(atoms.labels) == kept
    kinds = {HAS_ATTRIBUTE: (ENTITY, ATTRIBUTE), HAS_VALUE: (ATTRIBUTE, VALUE), JOIN: (ATTRIBUTE, ATTRIBUTE)}
    for kind, (start, end), trees in zip(atoms.edge_kind, atoms.edge_ends, atoms.edge_trees, strict=True):
        assert (atoms.node_kind[start], atoms.node_kind[end]) == kinds[int(kind)]
        assert (atoms.node_tree[[start, end]] == trees).all()
        if kind != JOIN:
            assert atoms.node_parent[end] == start
    assert (atoms.node_kind[atoms.tree_entity] == ENTITY).all()


def test_cut_graph_with_fewer_entities_than_trees_still_indexes_by_kept_tree():
    atoms = atoms_of(build([[0], [0], [0]], [(0, 1)]), 2)
    assert [atoms.entity_of(node) for node in range(atoms.num_nodes)] == ["E0", "E1"]
