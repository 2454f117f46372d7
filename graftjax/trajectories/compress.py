"""From a sampled subgraph to the intent graph that it answers (Algorithm 2, operator C)."""

from __future__ import annotations

from dataclasses import dataclass

from graftjax.encode.text import table_text
from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentJoin, IntentTree
from graftjax.lake.record import LakeIndex
from graftjax.trajectories.paths import bridges_among, hops_of, tree_joins
from graftjax.trajectories.structure import Structure
from graftjax.trajectories.subgraph import Subgraph
from graftjax.types import Column


@dataclass(frozen=True)
class Compression:
    """C(H⁺) with the typed homomorphism H⁺ → C(H⁺), written as what lies over each part of the intent."""

    intent: IntentGraph
    trees: tuple[int, ...]
    """Cluster of each tree."""
    attributes: tuple[tuple[int, ...], ...]
    """Of each tree the column class of each attribute."""
    keys: tuple[tuple[bool, ...], ...]
    """Of each tree which attributes are there because a join needs them."""
    bridges: tuple[tuple[int, ...], ...]
    """Of each join the clusters in between, from its first end to its second; none for a direct join."""

    @property
    def bridge_clusters(self) -> frozenset[int]:
        """All clusters that no tree stands for."""
        return frozenset(cluster for via in self.bridges for cluster in via)


def compress(lake: LakeIndex | Structure, subgraph: Subgraph) -> Compression:
    """C(H⁺): the same subgraph always gives the same intent.

    1. The sampled tables of a union cluster become one node.
    2. A cluster whose kept columns are all ends of join edges to other clusters is a bridge and deleted,
       if a join goes through it (`bridges_among` says what becomes of the others).
    3. Join edges between surviving clusters, and paths through bridges, become joins between trees.
    4. A surviving cluster becomes a tree: the words of its first table's name, its payload columns with
       the values that were sampled for them, and the key columns that its joins need.
    """
    graph = lake.graph
    clusters = subgraph.clusters(graph)
    order = list(clusters)
    classes = graph.unions.column_class
    hops = hops_of(graph, subgraph.joins, order)
    first_column: dict[int, int] = {}  # of each kept column class
    kept: dict[int, set[int]] = {cluster: set() for cluster in order}
    for table, columns in zip(subgraph.tables, subgraph.columns, strict=True):
        for column in columns:
            first_column.setdefault(int(classes[column]), column)
            kept[int(graph.unions.table_cluster[table])].add(int(classes[column]))
    ends = {c: {hop.own for edges in hops[c].values() for hop in edges} for c in order}
    bridges = bridges_among(hops, order, {c for c in order if kept[c] <= ends[c]})
    joins = tree_joins(hops, order, bridges)

    values = {int(classes[column]): texts for column, texts in subgraph.values}
    needed = {k for join in joins for k in join.classes}
    trees, tree_classes, attribute_id = [], [], {}
    survivors = [cluster for cluster in order if cluster not in bridges]
    for number, cluster in enumerate(survivors, 1):
        own = sorted(k for k in kept[cluster] if k in needed or k not in ends[cluster])
        attributes = []
        for k in own:
            attribute_id[k] = f"a{len(attribute_id) + 1}"
            name = _header(_column(lake, first_column[k]))
            attributes.append(
                IntentAttribute(attribute_id=attribute_id[k], name=name, values=values.get(k, ()))
            )
        name = lake.tables[clusters[cluster][0]].id.name
        entity = table_text(name) or name.strip() or f"table {cluster}"
        trees.append(IntentTree(tree_id=f"t{number}", entity=entity, attributes=tuple(attributes)))
        tree_classes.append(tuple(own))
    tree_id = {cluster: f"t{number}" for number, cluster in enumerate(survivors, 1)}
    links = [
        IntentJoin(
            from_tree=tree_id[join.ends[0]],
            from_attribute=attribute_id[join.classes[0]],
            to_tree=tree_id[join.ends[1]],
            to_attribute=attribute_id[join.classes[1]],
        )
        for join in joins
    ]
    return Compression(
        intent=IntentGraph(trees=tuple(trees), joins=tuple(links)),
        trees=tuple(survivors),
        attributes=tuple(tree_classes),
        keys=tuple(tuple(k in ends[c] for k in own) for c, own in zip(survivors, tree_classes, strict=True)),
        bridges=tuple(join.via for join in joins),
    )


def _column(lake: LakeIndex | Structure, number: int) -> Column:
    table = int(lake.graph.column_table[number])
    return lake.tables[table].columns[number - int(lake.graph.columns[table][0])]


def _header(column: Column) -> str:
    return column.header.strip() or column.name.strip() or "column"
