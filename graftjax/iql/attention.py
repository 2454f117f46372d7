"""Heterogeneous graph attention on dense graphs (Sec. 4.1's state encoder), without gather or scatter.

Letters: N nodes, H hidden features, h heads, d = H / h, R relations, C terms of a relation, T node types,
D text features.
"""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from graftjax.kernels.dispatch import relation_attention  # pyright: ignore[reportMissingImports]


def relation_terms(relation: Int[Array, "N N"], table: Float[Array, "C R"]) -> Float[Array, "C N N"]:
    """`table[:, relation]` as a product with one-hot rows: the gradient of an index would be a scatter.

    The one-hot matrix is built again for the gradient, which is cheaper than to keep it.
    """
    terms, relations = table.shape
    n = relation.shape[0]

    @jax.checkpoint
    def product(flat: Array, table: Array) -> Array:
        one_hot = (flat[None, :] == jnp.arange(relations)[:, None]).astype(table.dtype)
        return table @ one_hot

    return product(relation.reshape(-1), table).reshape(terms, n, n)


class TypedProjection(nn.Module):
    """A projection of the texts with weights of each node type's own; zeros for padding.

    All types' products are taken and the node's own is picked by a one-hot mask. With `rank`, a projection
    that the types share comes first, so that theirs are small.
    """

    hidden: int
    num_types: int
    rank: int = 0

    @nn.compact
    def __call__(self, x: Float[Array, "N D"], one_hot: Float[Array, "N T"]) -> Float[Array, "N H"]:
        if self.rank:
            x = nn.Dense(self.rank, name="shared")(x)
        own = nn.Dense(self.num_types * self.hidden, name="own")(x)
        return jnp.einsum("nth,nt->nh", own.reshape(-1, self.num_types, self.hidden), one_hot)


class GatLayer(nn.Module):
    """One layer: attention over the edges into each node, residual, norm; then an optional MLP likewise.

    The logit of an edge is a scaled product of its ends plus a term of its relation and one of its weight.
    Its message is the sender's value times the edge weight and a scale of the relation, per head: with heads
    as the basis, each relation has its own combination of value matrices.
    """

    heads: int
    ffn: int = 0

    @nn.compact
    def __call__(
        self,
        x: Float[Array, "N H"],
        bias: Float[Array, "h N N"],
        scale: Float[Array, "h N N"],
        weight: Float[Array, "N N"],
    ) -> Float[Array, "N H"]:
        n, hidden = x.shape
        d = hidden // self.heads
        qkv = nn.Dense(3 * hidden, name="qkv")(x).reshape(n, 3, self.heads, d).transpose(1, 2, 0, 3)
        q, k, v = qkv[0], qkv[1], qkv[2]  # [h, N, d]
        slope = self.param("weight_slope", nn.initializers.ones, (self.heads,))
        # Parameters that were read from a file are NumPy arrays.
        mixed = relation_attention(q, k, v, bias, scale, weight, jnp.asarray(slope))
        mixed = mixed.swapaxes(0, 1).reshape(n, hidden)
        x = nn.LayerNorm(name="attention_norm")(x + nn.Dense(hidden, name="out")(mixed))
        if self.ffn:
            inner = jax.nn.gelu(nn.Dense(self.ffn, name="intermediate")(x))
            x = nn.LayerNorm(name="output_norm")(x + nn.Dense(hidden, name="output")(inner))
        return x
