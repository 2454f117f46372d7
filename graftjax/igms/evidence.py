"""Evidence units of a query: the rows that each possible action would append to M (Sec. 3.2).

Reading of the paper's evidence units (see docs/evidence.md): a synthesis carries a homomorphism, so
each intent tree is witnessed by one union cluster, and each attribute by one column of it, its image.
A table that joins the synthesis appends one unit for itself (the entities it witnesses), one per
image column (attribute, value, and the containment edges that lead there), and one operator unit (the
join atoms that its path realises). Units of the same column set are one row. Rows are the same for
all tables of a cluster; what tells shards apart is C.

Letters: t trees, a atoms (padded), K column classes, M clusters, R rows per table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from graftjax.igms.settings import ScoreSettings
from graftjax.igms.support import NodeSupport
from graftjax.intent.atoms import ATTRIBUTE, HAS_ATTRIBUTE, HAS_VALUE, JOIN, VALUE, IntentAtoms
from graftjax.lake.graph import LakeGraph

RIVAL = 0.5
"""ψ(entity, cluster) from which a cluster is another witness of the tree rather than a part of one."""
RARE_VALUE = 8
"""Column classes that may hold a value for it to lead to a table of its own."""


@dataclass(frozen=True, eq=False)
class QueryEvidence:
    """Support of one intent, organised by tree and cluster."""

    atoms: IntentAtoms
    support: NodeSupport
    graph: LakeGraph
    settings: ScoreSettings

    @cached_property
    def attributes(self) -> tuple[np.ndarray, ...]:
        """Attribute nodes of each tree."""
        atoms = self.atoms
        return tuple(
            np.flatnonzero((atoms.node_kind == ATTRIBUTE) & (atoms.node_tree == t))
            for t in range(len(atoms.tree_entity))
        )

    @cached_property
    def values(self) -> dict[int, np.ndarray]:
        """Value nodes of each attribute node."""
        atoms = self.atoms
        is_value = atoms.node_kind == VALUE
        return {
            int(i): np.flatnonzero(is_value & (atoms.node_parent == i))
            for tree in self.attributes
            for i in tree
        }

    @cached_property
    def edge_to(self) -> dict[int, int]:
        """Atom number of the containment edge that leads to a node."""
        atoms, n = self.atoms, self.atoms.num_nodes
        return {
            int(atoms.edge_ends[e, 1]): n + e
            for e in range(atoms.num_edges)
            if atoms.edge_kind[e] in (HAS_ATTRIBUTE, HAS_VALUE)
        }

    @cached_property
    def joins(self) -> tuple[tuple[int, int, int], ...]:
        """(atom number, tree, tree) of each join atom."""
        atoms, n = self.atoms, self.atoms.num_nodes
        return tuple(
            (n + e, int(atoms.edge_trees[e, 0]), int(atoms.edge_trees[e, 1]))
            for e in range(atoms.num_edges)
            if atoms.edge_kind[e] == JOIN
        )

    @cached_property
    def _spans(self) -> tuple[Int[np.ndarray, " m"], Int[np.ndarray, " m"]]:
        """(clusters with classes, each one's first class): classes are numbered cluster by cluster."""
        owner = self.graph.unions.class_cluster
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]) if len(owner) else np.zeros(0, np.int64)
        return owner[starts], starts

    def _per_cluster(self, per_class: Float[np.ndarray, " K"]) -> Float[np.ndarray, " M"]:
        """Maximum over the classes of each cluster; 0 for a cluster without columns."""
        best = np.zeros(self.graph.unions.num_clusters, per_class.dtype)
        clusters, starts = self._spans
        if len(starts):
            best[clusters] = np.maximum.reduceat(per_class, starts)
        return best

    def _strength(self, attribute: int, entity: Float[np.ndarray, " K"] | float) -> Float[np.ndarray, " K"]:
        """‖m‖² of the unit that each class would be as image of the attribute, under an entity support."""
        column = self.support.column
        s = column[attribute]
        total = s**2 + (entity * s) ** 2
        for value in self.values[attribute]:
            total += column[value] ** 2 + (s * column[value]) ** 2
        return total

    @cached_property
    def witness_strength(self) -> dict[int, Float[np.ndarray, " K"]]:
        """Strength of each class as image of each attribute, its cluster being the tree's witness."""
        cluster_of = self.graph.unions.class_cluster
        return {
            int(attribute): self._strength(int(attribute), self.support.entity[t, cluster_of])
            for t, attributes in enumerate(self.attributes)
            for attribute in attributes
        }

    @cached_property
    def tree_gain(self) -> Float[np.ndarray, "t M"]:
        """log det gain of each cluster as the first witness of each tree, rows taken as independent."""
        own = 1.0 + self.settings.noise
        gain = np.log1p(self.support.entity**2 / own)
        for t, attributes in enumerate(self.attributes):
            for attribute in attributes:
                gain[t] += np.log1p(self._per_cluster(self.witness_strength[int(attribute)]) / own)
        return gain

    @cached_property
    def fragment_strength(self) -> Float[np.ndarray, "t M"]:
        """What each cluster could add to each tree without being its witness.

        Only attributes whose value the cluster holds count: a value that lies one join away has to be
        fetched, while likeness of names alone is found next to everything. Nor may the cluster be a
        likely witness of the tree itself: that is a rival, not a part.
        """
        total = np.zeros_like(self.support.entity)
        for t, attributes in enumerate(self.attributes):
            for attribute in attributes:
                if len(self.values[int(attribute)]):
                    held = np.where(self._held(int(attribute)), self._strength(int(attribute), 1.0), 0.0)
                    total[t] += self._per_cluster(held)
        return np.where(self.support.entity < RIVAL, total, 0.0)

    def _held(self, attribute: int) -> Bool[np.ndarray, " K"]:
        """Classes that hold some value of the attribute which few others hold (a year is everywhere)."""
        hits = self.support.column[self.values[attribute]] >= self.settings.value_hit - 1e-6
        return (hits & (hits.sum(1, keepdims=True) <= RARE_VALUE)).any(0)

    def images(self, tree: int, cluster: int) -> dict[int, int]:
        """Image class of each attribute of the tree in a cluster."""
        classes = self.graph.classes[cluster]
        if not len(classes):
            return {}
        first, last = classes[0], classes[-1] + 1
        return {
            int(attribute): int(first + self.witness_strength[int(attribute)][first:last].argmax())
            for attribute in self.attributes[tree]
        }

    def block(
        self,
        trees: tuple[int, ...],
        cluster: int,
        rows: int,
        width: int,
        *,
        fragment: bool = False,
        held: bool = True,
    ) -> tuple[Float[np.ndarray, "R a"], list[int]]:
        """Rows of a table of the cluster that witnesses the trees, without the operator row.

        Row 0 is the table, the others are image columns, strongest first. Returns the rows and the
        class of each column row. A `fragment` witnesses attributes only: no entity, and its edges to
        the entity are left at ψ(attribute), to be multiplied along the join that leads there; only attributes
        count whose value the cluster holds, unless `held` is false.
        """
        column, atoms = self.support.column, self.atoms
        table = np.zeros(width, np.float32)
        units: dict[int, np.ndarray] = {}
        for tree in trees:
            entity = 1.0 if fragment else float(self.support.entity[tree, cluster])
            if not fragment:
                table[int(atoms.tree_entity[tree])] = entity
            for attribute, image in self.images(tree, cluster).items():
                if fragment and held and not (len(self.values[attribute]) and self._held(attribute)[image]):
                    continue
                unit = units.setdefault(image, np.zeros(width, np.float32))
                s = float(column[attribute, image])
                np.maximum.at(unit, [attribute, self.edge_to[attribute]], [s, entity * s])
                for value in self.values[attribute]:
                    v = float(column[value, image])
                    np.maximum.at(unit, [int(value), self.edge_to[int(value)]], [v, s * v])
        chosen = sorted(units, key=lambda k: (-float(units[k] @ units[k]), k))[: rows - 1]
        block = np.zeros((rows, width), np.float32)
        block[0] = table
        for i, image in enumerate(chosen):
            block[i + 1] = units[image]
        return block, chosen
