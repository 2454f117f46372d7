"""Stage 1: anchors per atom, the region around them, and every action that may be taken there.

The region of a query is the anchors' clusters, the bridges on join paths between them, and the
clusters that complete an attribute one join away; when the budget is to be spent, also the clusters
nearest to the question as a whole. It is capped by rank (best witnesses per tree), so that a hub never
makes it the whole lake. Where the user starts with a base table, its cluster is the one witness of a
tree, and every cluster that joins it may complete that tree. All arrays are padded to fixed shapes.
Letters: M clusters of the lake, T trees, J joins, C clusters of the region, A actions, R rows per
table, S tables per cluster (the bucket of the budget L), a atoms.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from graftjax.igms.evidence import QueryEvidence
from graftjax.intent.atoms import JOIN
from graftjax.search.paths import NO_BRIDGE, JoinPaths, join_paths
from graftjax.search.settings import MAX_JOINS, MAX_TREES, ROWS, Settings
from graftjax.search.shards import ShardOrder

NUM_CLUSTERS, NUM_WITNESSES, NUM_PAIRS, NUM_FRAGMENTS = 128, 64, 16, 16
NUM_ACTIONS = NUM_WITNESSES + NUM_PAIRS + NUM_FRAGMENTS
ATOM_BUCKETS = (24, 64)
BUDGET_BUCKETS = (5, 10, 15, 20, 30, 50)


class AtomKind(IntEnum):
    """Kinds of atoms in one numbering: nodes as in `intent.atoms`, then edges; 0 is padding."""

    PADDING = 0
    ENTITY = 1
    ATTRIBUTE = 2
    VALUE = 3
    HAS_ATTRIBUTE = 4
    HAS_VALUE = 5
    JOIN = 6


Leaf = Any
"""An array: numpy where the problem is made, JAX inside the compiled search."""


class Problem(NamedTuple):
    """One query as fixed-shape arrays; unused entries are zero, invalid or False."""

    rows: Leaf
    """float32 [A, R, a]: the units of each action, operator row (the last) empty."""
    cluster: Leaf
    """int32 [A]."""
    witnesses: Leaf
    """bool [A, T]: trees that the action's cluster becomes the witness of."""
    fragment: Leaf
    """int32 [A]: tree whose unsupported attributes the action completes; −1 for none."""
    action_valid: Leaf
    """bool [A]: open to the beam."""
    spare: Leaf
    """bool [A]: open only when what is left of the budget is spent."""
    shards: Leaf
    """int32 [C]: tables of each cluster, at most S."""
    correlation: Leaf
    """float32 [C, S, S]: Jaccard of the same column in two tables of a cluster."""
    added: Leaf
    """float32 [C, S]: weight in J that each further table of a cluster adds to its rows, see `state`."""
    overlap: Leaf
    """float32 [C, S]: sum of each table's Jaccards with the tables of its cluster before it."""
    fresh: Leaf
    """int32 [C]: tables of each cluster that are not near copies of earlier ones."""
    entity: Leaf
    """float32 [T, C]: ψ(entity, cluster)."""
    bound: Leaf
    """float32 [T]: largest gain that any witness of the region brings to a tree."""
    direct: Leaf
    """float32 [C, C]: ω of the direct join."""
    path: Leaf
    """float32 [C, C]: ψ_path's geometric mean along the best join path."""
    bridge: Leaf
    """int32 [C, C]: cluster in between (position in C); −1 for none."""
    affinity: Leaf
    """float32 [C, C]: join partners in common, see `JoinPaths`."""
    joins: Leaf
    """int32 [J, 3]: atom and the two trees; atom −1 for none."""
    tree_valid: Leaf
    """bool [T]."""
    atom_kind: Leaf
    """int32 [a]: `AtomKind`; 0 for padding."""
    atom_tree: Leaf
    """int32 [a]: tree of a node or a containment edge; −1 for joins and padding."""
    edge_mask: Leaf
    """bool [a]: atoms that are entity→attribute edges."""
    atom_mask: Leaf
    """bool [a]."""
    nearness: Leaf
    """float32 [C]: cosine of the question with each cluster, less the best one's; 0 when not asked for."""
    budget: Leaf
    """int32: L, at most S."""


class Region(NamedTuple):
    """A problem with the way back to the lake."""

    problem: Problem
    clusters: np.ndarray
    """int64 [C]: lake number of each cluster, −1 beyond the region."""
    images: tuple[tuple[int, ...], ...]
    """Per action the column class of each column row."""


def bucket(size: int, buckets: tuple[int, ...]) -> int:
    """Smallest bucket that holds `size` (the largest one if none does)."""
    return next((b for b in buckets if b >= size), buckets[-1])


def build_region(
    evidence: QueryEvidence,
    shards: ShardOrder,
    settings: Settings,
    budget: int,
    nearness: Float[np.ndarray, " M"] | None = None,
    base: int | None = None,
) -> Region:
    """Arrays of a query for a budget of L tables.

    `nearness`: of the question as a whole to each cluster of the lake; the nearest clusters then belong to
    the region, whatever the intent says of them. `base`: cluster of the table that the user starts with;
    action 0 takes it.
    """
    width = bucket(evidence.atoms.num_atoms, ATOM_BUCKETS)
    num_trees = min(len(evidence.atoms.tree_entity), MAX_TREES)
    gain = np.where(_anchored(evidence, settings.anchors_per_atom)[None, :], evidence.tree_gain, -1.0)
    per_tree = min(settings.witnesses_per_tree, NUM_WITNESSES // max(num_trees, 1))
    actions: list[tuple[int, tuple[int, ...], int]] = []  # cluster, trees, fragment's tree
    based = -1
    if base is not None and num_trees:
        based = int(evidence.tree_gain[:num_trees, base].argmax())
        actions.append((base, (based,), -1))
        gain[based], gain[:, base] = -1.0, -1.0
    for tree in range(num_trees):
        actions += [(int(c), (tree,), -1) for c in _top(gain[tree], per_tree)]
    pairs = []
    for left, right in combinations(range(num_trees), 2):
        both = gain[left] + gain[right]
        both[(gain[left] <= 0) | (gain[right] <= 0)] = -1.0
        pairs += [(float(both[c]), int(c), (left, right)) for c in _top(both, 8)]
    pairs.sort(key=lambda item: (-item[0], item[1]))
    actions += [(cluster, trees, -1) for _, cluster, trees in pairs[:NUM_PAIRS]]
    witnesses = list(dict.fromkeys(cluster for cluster, _, _ in actions))
    actions += _fragments(evidence, [w for w in witnesses if w != base], num_trees)
    if base is not None and num_trees:
        actions += _neighbours(evidence, base, based)[: max(0, NUM_ACTIONS - len(actions))]

    actions = actions[:NUM_ACTIONS]
    clusters = list(dict.fromkeys(cluster for cluster, _, _ in actions))[: NUM_CLUSTERS // 2]
    known = set(clusters)
    actions = [action for action in actions if action[0] in known]
    regular = len(actions)
    if nearness is not None and num_trees:
        room = min(settings.near_clusters, NUM_ACTIONS - len(actions))
        nearest = np.argsort(-nearness, kind="stable")[: room + len(clusters)].tolist()
        near = [cluster for cluster in nearest if cluster not in known][:room]
        trees = evidence.tree_gain[:num_trees, near].argmax(0)
        actions += [(cluster, (int(tree),), -1) for cluster, tree in zip(near, trees, strict=True)]
        clusters += near
        known |= set(near)
    paths = join_paths(evidence.graph, np.asarray(clusters, np.int64), settings.score.hop_discount)
    bridges = np.unique(paths.bridge[paths.bridge >= 0])
    lightest = [int(b) for b in bridges if int(b) not in known]
    strength = {b: float(paths.weight[paths.bridge == b].max()) for b in lightest}
    lightest.sort(key=lambda b: (-strength[b], b))
    clusters += lightest[: NUM_CLUSTERS - len(clusters)]
    region = _pad(evidence, shards, settings, budget, width, num_trees, gain, actions, clusters, paths, based)
    region.problem.action_valid[regular:] = False
    region.problem.spare[regular : len(actions)] = True
    if nearness is not None and clusters:
        region.problem.nearness[: len(clusters)] = nearness[clusters] - nearness.max()
    return region


def _anchored(evidence: QueryEvidence, count: int) -> np.ndarray:
    """bool [M]: clusters of the `count` nearest nodes of some atom."""
    cluster_of = evidence.graph.unions.class_cluster
    found = np.zeros(evidence.graph.unions.num_clusters, bool)
    for row in evidence.support.entity:
        found[_top(row, count)] = True
    for node, row in enumerate(evidence.support.column):
        if evidence.atoms.node_kind[node] != 0:
            found[cluster_of[_top(row, count)]] = True
    return found


def _top(scores: np.ndarray, count: int) -> np.ndarray:
    """Positions of the best positive scores, best first, ties by position."""
    few = count < len(scores)
    kept = np.sort(np.argpartition(-scores, count)[:count]) if few else np.arange(len(scores))
    kept = kept[np.argsort(-scores[kept], kind="stable")]
    return kept[scores[kept] > 0]


def _fragments(
    evidence: QueryEvidence, witnesses: list[int], num_trees: int
) -> list[tuple[int, tuple[int, ...], int]]:
    """Clusters one join away from a witness that hold an attribute or a value of a tree well."""
    graph = evidence.graph
    near = np.array(sorted({b for cluster in witnesses for b in graph.cluster_joins[cluster]}), np.int64)
    if not len(near):
        return []
    strength = evidence.fragment_strength[:num_trees, near]
    found = [
        (float(strength[tree, i]), int(near[i]), tree)
        for tree in range(num_trees)
        for i in _top(strength[tree], NUM_FRAGMENTS)
    ]
    found.sort(key=lambda item: (-item[0], item[1], item[2]))
    return [(cluster, (), tree) for _, cluster, tree in found[:NUM_FRAGMENTS]]


def _neighbours(evidence: QueryEvidence, base: int, tree: int) -> list[tuple[int, tuple[int, ...], int]]:
    """Clusters that join the base, the strongest join first."""
    graph = evidence.graph
    edges = graph.cluster_joins[base]
    ranked = sorted(edges, key=lambda cluster: (-float(graph.joins.weight[edges[cluster]]), cluster))
    return [(cluster, (), tree) for cluster in ranked]


def _pad(
    evidence: QueryEvidence,
    shards: ShardOrder,
    settings: Settings,
    budget: int,
    width: int,
    num_trees: int,
    gain: np.ndarray,
    actions: list[tuple[int, tuple[int, ...], int]],
    clusters: list[int],
    paths: JoinPaths,
    based: int,
) -> Region:
    score = settings.score
    position = {cluster: i for i, cluster in enumerate(clusters)}
    problem = empty_problem(width, budget)
    images: list[tuple[int, ...]] = []
    for i, (cluster, trees, tree) in enumerate(actions):
        fragment = tree >= 0
        block, image = evidence.block(
            (tree,) if fragment else trees, cluster, ROWS - 1, width, fragment=fragment, held=tree != based
        )
        problem.rows[i, : ROWS - 1] = block
        problem.cluster[i], problem.fragment[i], problem.action_valid[i] = position[cluster], tree, True
        problem.witnesses[i, list(trees)] = True
        images.append(tuple(image))
    for i, cluster in enumerate(clusters):
        overlap = shards.overlap[cluster][:budget, :budget]
        size = len(overlap)
        problem.shards[i] = min(len(shards.tables[cluster]), budget)
        block = score.shard_correlation + (1 - score.shard_correlation) * overlap
        problem.correlation[i, :size, :size] = block
        problem.overlap[i, :size] = np.tril(block, -1).sum(1)
        problem.added[i, :size] = shards.added(cluster, score)[:size]
        problem.fresh[i] = shards.fresh(cluster, int(problem.shards[i]), settings.least_novelty)
        problem.entity[:num_trees, i] = evidence.support.entity[:num_trees, cluster]
    problem.tree_valid[:num_trees] = True
    nodes, end = evidence.atoms.num_nodes, evidence.atoms.num_atoms
    problem.atom_kind[:nodes] = evidence.atoms.node_kind + AtomKind.ENTITY
    problem.atom_kind[nodes:end] = evidence.atoms.edge_kind + AtomKind.HAS_ATTRIBUTE
    problem.atom_tree[:nodes] = evidence.atoms.node_tree
    is_join = evidence.atoms.edge_kind == JOIN
    problem.atom_tree[nodes:end] = np.where(is_join, -1, evidence.atoms.edge_trees[:, 0])
    problem.bound[:num_trees] = np.maximum(gain.max(1, initial=0.0), 0.0)[:num_trees]
    count = len(paths.direct)
    problem.direct[:count, :count] = paths.direct
    problem.path[:count, :count] = paths.weight
    problem.affinity[:count, :count] = paths.affinity
    for i, j in zip(*np.nonzero(paths.bridge != NO_BRIDGE), strict=True):
        middle = position.get(int(paths.bridge[i, j]), -1)
        problem.bridge[i, j] = middle
        if middle < 0:  # the cap left the bridge out: only the direct join remains
            problem.path[i, j] = problem.direct[i, j]
    for i, (atom, left, right) in enumerate(evidence.joins[:MAX_JOINS]):
        if left < num_trees and right < num_trees:
            problem.joins[i] = atom, left, right
    problem.atom_mask[: evidence.atoms.num_atoms] = True
    for node, atom in evidence.edge_to.items():
        problem.edge_mask[atom] = evidence.atoms.node_kind[node] == 1
    padded = np.full(NUM_CLUSTERS, -1, np.int64)
    padded[: len(clusters)] = clusters
    return Region(problem, padded, tuple(images))


def empty_problem(width: int, budget: int) -> Problem:
    """A problem without clusters or actions, of the right shapes."""
    capacity = bucket(budget, BUDGET_BUCKETS)
    square = (NUM_CLUSTERS, NUM_CLUSTERS)
    return Problem(
        rows=np.zeros((NUM_ACTIONS, ROWS, width), np.float32),
        cluster=np.zeros(NUM_ACTIONS, np.int32),
        witnesses=np.zeros((NUM_ACTIONS, MAX_TREES), bool),
        fragment=np.full(NUM_ACTIONS, -1, np.int32),
        action_valid=np.zeros(NUM_ACTIONS, bool),
        spare=np.zeros(NUM_ACTIONS, bool),
        shards=np.zeros(NUM_CLUSTERS, np.int32),
        correlation=np.tile(np.eye(capacity, dtype=np.float32), (NUM_CLUSTERS, 1, 1)),
        added=np.zeros((NUM_CLUSTERS, capacity), np.float32),
        overlap=np.zeros((NUM_CLUSTERS, capacity), np.float32),
        fresh=np.zeros(NUM_CLUSTERS, np.int32),
        entity=np.zeros((MAX_TREES, NUM_CLUSTERS), np.float32),
        bound=np.zeros(MAX_TREES, np.float32),
        direct=np.zeros(square, np.float32),
        path=np.zeros(square, np.float32),
        bridge=np.full(square, -1, np.int32),
        affinity=np.zeros(square, np.float32),
        joins=np.full((MAX_JOINS, 3), -1, np.int32),
        tree_valid=np.zeros(MAX_TREES, bool),
        atom_kind=np.zeros(width, np.int32),
        atom_tree=np.full(width, -1, np.int32),
        edge_mask=np.zeros(width, bool),
        atom_mask=np.zeros(width, bool),
        nearness=np.zeros(NUM_CLUSTERS, np.float32),
        budget=np.asarray(budget, np.int32),
    )
