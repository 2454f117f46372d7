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
from jaxtyping import Float, Int

from graftjax.igms.settings import ScoreSettings
from graftjax.igms.support import NodeSupport
from graftjax.intent.atoms import ATTRIBUTE, HAS_ATTRIBUTE, HAS_VALUE, JOIN, VALUE, IntentAtoms
from graftjax.lake.graph import LakeGraph


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
            np.flatnonzero((atoms.node_kind == ATTRIBUTE) & (atoms.node_tree == t)) for t in range(len(atoms.tree_entity))
        )

    @cached_property
    def values(self) -> dict[int, np.ndarray]:
        """Value nodes of each attribute node."""
        atoms = self.atoms
        is_value = atoms.node_kind == VALUE
        return {int(i): np.flatnonzero(is_value & (atoms.node_parent == i)) for tree in self.attributes for i in tree}

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

    def strength(self, attribute: int, entity: Float[np.ndarray, " k"], classes: Int[np.ndarray, " k"]) -> np.ndarray:
        """‖m‖² of the unit that each class would be as image of the attribute, under an entity support."""
        column = self.support.column
        s = column[attribute, classes]
        total = s**2 + (entity * s) ** 2
        for value in self.values[attribute]:
            v = column[value, classes]
            total = total + v**2 + (s * v) ** 2
        return total

    @cached_property
    def tree_gain(self) -> Float[np.ndarray, "t M"]:
        """log det gain of each cluster as the first witness of each tree, rows taken as independent."""
        own = 1.0 + self.settings.noise
        cluster_of = self.graph.unions.class_cluster
        num_clusters = self.graph.unions.num_clusters
        every = np.arange(len(cluster_of))
        gain = np.log1p(self.support.entity**2 / own)
        for t, attributes in enumerate(self.attributes):
            for attribute in attributes:
                best = np.zeros(num_clusters, np.float32)
                np.maximum.at(best, cluster_of, self.strength(attribute, self.support.entity[t, cluster_of], every))
                gain[t] += np.log1p(best / own)
        return gain

    def images(self, tree: int, cluster: int) -> dict[int, int]:
        """Image class of each attribute of the tree in a cluster."""
        classes = self.graph.classes[cluster]
        if not len(classes):
            return {}
        entity = np.full(len(classes), self.support.entity[tree, cluster])
        return {
            int(attribute): int(classes[self.strength(attribute, entity, classes).argmax()])
            for attribute in self.attributes[tree]
        }

    def block(
        self, trees: tuple[int, ...], cluster: int, rows: int, width: int, *, fragment: bool = False
    ) -> tuple[Float[np.ndarray, "R a"], list[int]]:
        """Rows of a table of the cluster that witnesses the trees, without the operator row.

        Row 0 is the table, the others are image columns, strongest first. Returns the rows and the
        class of each column row. A `fragment` witnesses attributes only: no entity, and its edges to
        the entity are left at ψ(attribute), to be multiplied along the join that leads there.
        """
        column, atoms = self.support.column, self.atoms
        table = np.zeros(width, np.float32)
        units: dict[int, np.ndarray] = {}
        for tree in trees:
            entity = 1.0 if fragment else float(self.support.entity[tree, cluster])
            if not fragment:
                table[int(atoms.tree_entity[tree])] = entity
            for attribute, image in self.images(tree, cluster).items():
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
