"""An intent graph as a padded `jraph.GraphsTuple` with typed node and edge sets.

Letters: n node atoms, D features; see `graftjax.typed_graph` for the shapes of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from graftjax.errors import UsageError
from graftjax.intent.atoms import ATTRIBUTE, ENTITY, HAS_ATTRIBUTE, HAS_VALUE, JOIN, VALUE, IntentAtoms
from graftjax.typed_graph import BUCKETS, EdgeType, NodeType, TypedGraph, build

_NODES = {ENTITY: NodeType.ENTITY, ATTRIBUTE: NodeType.ATTRIBUTE, VALUE: NodeType.VALUE}
_EDGES = {
    HAS_ATTRIBUTE: EdgeType.ENTITY_HAS_ATTRIBUTE,
    HAS_VALUE: EdgeType.ATTRIBUTE_HAS_VALUE,
    JOIN: EdgeType.INTENT_JOIN,
}


def to_graphs_tuple(
    atoms: IntentAtoms,
    vectors: Float[np.ndarray, "n D"],
    *,
    node_buckets: Sequence[int] = BUCKETS,
    edge_buckets: Sequence[int] = BUCKETS,
) -> TypedGraph:
    """The graph of the atoms, in their order (`node_number`: index of the node atom); edge weights are 1.

    `vectors`: embedded texts of the node atoms, as the caller words them. Raises `UsageError` when their
    number is another, or one is not finite, and for a graph beyond the largest bucket.
    """
    if len(vectors) != atoms.num_nodes:
        raise UsageError(f"{len(vectors)} vectors for {atoms.num_nodes} node atoms")
    return build(
        vectors,
        np.array([_NODES[int(kind)] for kind in atoms.node_kind], np.int32),
        np.arange(atoms.num_nodes),
        atoms.edge_ends[:, 0],
        atoms.edge_ends[:, 1],
        np.array([_EDGES[int(kind)] for kind in atoms.edge_kind], np.int32),
        np.ones(atoms.num_edges, np.float32),
        node_buckets=node_buckets,
        edge_buckets=edge_buckets,
    )
