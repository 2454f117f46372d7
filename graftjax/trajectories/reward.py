"""Utility of a synthesis that maps into the intent without any doubt: the reward of Algorithm 1."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from graftjax.igms import exact
from graftjax.intent.atoms import ATTRIBUTE, JOIN, VALUE, atoms_of
from graftjax.intent.schema import IntentGraph


def ideal_utility(
    intent: IntentGraph, witnessed: Collection[int], joined: Collection[int], noise: float
) -> float:
    """U of Eq. (6) when ψ is 1 between an atom and its image and 0 elsewhere; 0 for an empty intent.

    Units are those of `igms.evidence`: each witnessed tree has one for its entity and one for each
    attribute (the attribute, its values and the edges that lead to them), each realised join has one.
    Trees and joins are positions in the intent; all atoms count, however many. Never falls when a tree
    or a join is added. Further tables of a witnessed cluster are left out: they say the same.

    Raises `IndexError` for a tree or a join that the intent does not have.
    """
    for kind, numbers, count in (
        ("tree", witnessed, len(intent.trees)),
        ("join", joined, len(intent.joins)),
    ):
        if any(not 0 <= number < count for number in numbers):
            raise IndexError(f"the intent has {count} {kind}s; found number {max(numbers)}")
    if not intent.trees:
        return 0.0
    size = len(intent.trees) + len(intent.joins)
    size += sum(2 + 2 * len(attribute.values) for tree in intent.trees for attribute in tree.attributes)
    atoms = atoms_of(intent, max_atoms=size)
    n, rows = atoms.num_nodes, []
    edge_to = {int(end): n + e for e, end in enumerate(atoms.edge_ends[:, 1]) if atoms.edge_kind[e] != JOIN}

    def unit(*supported: int) -> None:
        row = np.zeros(atoms.num_atoms)
        row[list(supported)] = 1.0
        rows.append(row)

    for tree in sorted(set(witnessed)):
        unit(int(atoms.tree_entity[tree]))
        for attribute in np.flatnonzero((atoms.node_kind == ATTRIBUTE) & (atoms.node_tree == tree)).tolist():
            values = np.flatnonzero((atoms.node_kind == VALUE) & (atoms.node_parent == attribute)).tolist()
            nodes = [attribute, *values]
            unit(*nodes, *(edge_to[node] for node in nodes))
    join_atoms = n + np.flatnonzero(atoms.edge_kind == JOIN)
    for join in sorted(set(joined)):
        unit(int(join_atoms[join]))
    support = np.asarray(rows, np.float64).reshape(-1, atoms.num_atoms)
    covariance = exact.covariance(np.arange(len(rows)), np.eye(len(rows)), 1, noise)
    return exact.utility(support, covariance, atoms.num_atoms)
