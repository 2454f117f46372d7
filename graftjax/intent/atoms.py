"""The atoms of an intent graph as arrays: what IGMS scores evidence against (Sec. 3.1, A = nodes and edges).

Letters: n nodes, m edges, a = n + m atoms, t trees. Atom i is node i for i < n and edge i - n after that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

from graftjax.intent.schema import IntentGraph

ENTITY, ATTRIBUTE, VALUE = 0, 1, 2
"""Kinds of node atoms; they match tables, columns and value summaries."""
HAS_ATTRIBUTE, HAS_VALUE, JOIN = 0, 1, 2
"""Kinds of edge atoms: entity to attribute, attribute to value, attribute to attribute of another tree."""
NO_PARENT = -1
MAX_ATOMS = 64
MAX_TREES = 8
"""Largest a; what lies beyond is dropped by the rule in `atoms_of` and said in a note."""


@dataclass(frozen=True, eq=False)
class IntentAtoms:
    """Node and edge atoms in document order: tree by tree, an attribute before its values, joins last."""

    node_kind: Int[np.ndarray, " n"]
    """ENTITY, ATTRIBUTE or VALUE."""
    node_tree: Int[np.ndarray, " n"]
    """Index of the tree that the node is part of."""
    node_parent: Int[np.ndarray, " n"]
    """Node index of the entity of an attribute, of the attribute of a value; NO_PARENT for an entity."""
    node_text: tuple[str, ...]
    """The node's own words, without its context."""
    edge_kind: Int[np.ndarray, " m"]
    """HAS_ATTRIBUTE, HAS_VALUE or JOIN."""
    edge_ends: Int[np.ndarray, "m 2"]
    """Node indices: parent and child, or for a join the two attributes."""
    edge_trees: Int[np.ndarray, "m 2"]
    """Tree indices of the two ends; equal unless the edge is a join."""
    labels: tuple[str, ...]
    """One for each atom, nodes first, for people: `attribute: Player.points`."""
    tree_entity: Int[np.ndarray, " t"]
    """Node index of each tree's entity."""
    notes: tuple[str, ...] = field(default=())
    """What was left out and why."""

    @property
    def num_nodes(self) -> int:
        return len(self.node_text)

    @property
    def num_edges(self) -> int:
        return len(self.edge_kind)

    @property
    def num_atoms(self) -> int:
        """a = |A|."""
        return self.num_nodes + self.num_edges

    def entity_of(self, node: int) -> str:
        """Words of the entity of the tree that `node` is part of."""
        return self.node_text[int(self.tree_entity[self.node_tree[node]])]


_Keep = tuple[set[int], set[tuple[int, int]], set[tuple[int, int, int]], set[int]]


def _select(intent: IntentGraph, limit: int) -> _Keep:
    """Trees, (tree, attribute), (tree, attribute, value) and joins to keep within `limit` atoms."""
    room = limit
    position = {
        (tree.tree_id, attribute.attribute_id): (t, k)
        for t, tree in enumerate(intent.trees)
        for k, attribute in enumerate(tree.attributes)
    }
    trees = set(range(min(len(intent.trees), limit)))
    room -= len(trees)
    attributes: set[tuple[int, int]] = set()
    values: set[tuple[int, int, int]] = set()
    joins: set[int] = set()
    for number, join in enumerate(intent.joins):
        ends = {
            position[join.from_tree, join.from_attribute],
            position[join.to_tree, join.to_attribute],
        }
        price = 1 + 2 * len(ends - attributes)
        if price <= room and all(t in trees for t, _ in ends):
            joins.add(number)
            attributes |= ends
            room -= price
    # Round robin over the trees, so that a long tree does not push a later one out.
    by_rank = sorted(position.values(), key=lambda place: (place[1], place[0]))
    for place in by_rank:
        if place[0] in trees and place not in attributes and room >= 2:
            attributes.add(place)
            room -= 2
        if place in attributes and intent.trees[place[0]].attributes[place[1]].values and room >= 2:
            values.add((*place, 0))
            room -= 2
    for t, k in by_rank:
        for v in range(len(intent.trees[t].attributes[k].values)):
            if (t, k) in attributes and (t, k, v) not in values and room >= 2:
                values.add((t, k, v))
                room -= 2
    return trees, attributes, values, joins


def _first_trees(intent: IntentGraph) -> IntentGraph:
    kept = {tree.tree_id for tree in intent.trees[:MAX_TREES]}
    joins = tuple(join for join in intent.joins if {join.from_tree, join.to_tree} <= kept)
    return intent.model_copy(update={"trees": intent.trees[:MAX_TREES], "joins": joins})


def atoms_of(intent: IntentGraph, max_atoms: int = MAX_ATOMS) -> IntentAtoms:
    """Atoms of `intent` in a fixed order.

    An intent with more than `max_atoms` atoms is cut. Room is given to entities first, then to joins with the
    attributes they need, then to the first, second, ... attribute of every tree in turn, each with its first
    value, then to further values; the note says how many atoms were dropped. Order never depends on the cut.
    Of more than `MAX_TREES` trees the first ones are kept, with the joins among them.
    """
    notes: tuple[str, ...] = ()
    if len(intent.trees) > MAX_TREES:
        notes = (f"the intent has {len(intent.trees)} trees; those beyond {MAX_TREES} were left out",)
        intent = _first_trees(intent)
    n_values = sum(len(a.values) for tree in intent.trees for a in tree.attributes)
    n_attributes = sum(len(tree.attributes) for tree in intent.trees)
    total = len(intent.trees) + 2 * n_attributes + 2 * n_values + len(intent.joins)
    trees, attributes, values, joins = _select(intent, min(total, max_atoms))

    kinds: list[int] = []
    owners: list[int] = []
    parents: list[int] = []
    texts: list[str] = []
    node_labels: list[str] = []
    tree_entity: list[int] = []
    edges: list[tuple[int, int, int, int, int]] = []
    edge_labels: list[str] = []
    place_of: dict[tuple[str, str], tuple[int, int, str]] = {}

    def add_node(kind: int, tree: int, parent: int, text: str, label: str) -> int:
        kinds.append(kind)
        owners.append(tree)
        parents.append(parent)
        texts.append(text)
        node_labels.append(label)
        return len(texts) - 1

    for t, tree in enumerate(intent.trees):
        if t not in trees:
            continue
        entity = add_node(ENTITY, t, NO_PARENT, tree.entity, f"entity: {tree.entity}")
        tree_entity.append(entity)
        for k, attribute in enumerate(tree.attributes):
            if (t, k) not in attributes:
                continue
            words = f"{tree.entity}.{attribute.name}"
            node = add_node(ATTRIBUTE, t, entity, attribute.name, f"attribute: {words}")
            place_of[tree.tree_id, attribute.attribute_id] = (node, t, words)
            edges.append((HAS_ATTRIBUTE, entity, node, t, t))
            edge_labels.append(f"has attribute: {tree.entity} -> {attribute.name}")
            for v, value in enumerate(attribute.values):
                if (t, k, v) not in values:
                    continue
                leaf = add_node(VALUE, t, node, value, f"value: {words} = {value}")
                edges.append((HAS_VALUE, node, leaf, t, t))
                edge_labels.append(f"has value: {words} -> {value}")
    for number, join in enumerate(intent.joins):
        if number not in joins:
            continue
        start = place_of[join.from_tree, join.from_attribute]
        end = place_of[join.to_tree, join.to_attribute]
        edges.append((JOIN, start[0], end[0], start[1], end[1]))
        edge_labels.append(f"join: {start[2]} = {end[2]}")

    table = np.asarray(edges, np.int32).reshape(-1, 5)
    dropped = total - len(texts) - len(edges)
    note = f"the intent graph has {total} atoms; {dropped} beyond the limit of {max_atoms} were left out"
    return IntentAtoms(
        node_kind=np.asarray(kinds, np.int32),
        node_tree=np.asarray(owners, np.int32),
        node_parent=np.asarray(parents, np.int32),
        node_text=tuple(texts),
        edge_kind=table[:, 0],
        edge_ends=table[:, 1:3],
        edge_trees=table[:, 3:5],
        labels=(*node_labels, *edge_labels),
        tree_entity=np.asarray(tree_entity, np.int32),
        notes=(*notes, *([note] if dropped else [])),
    )
