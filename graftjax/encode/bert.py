"""BERT (Devlin et al. 2019, arXiv:1810.04805, Sec. 3) in Flax linen, on rows that hold several texts.

Padding every text to a common length wastes a third of the arithmetic on short texts, and a shape per length
costs a compilation each. Here a row of R tokens holds several texts one after the other: `segment` says
which text a token belongs to (0 = padding), positions restart at 0 in every text, and attention is confined
to the own segment. Letters: B rows, R tokens a row, S texts a row at most, H hidden size, A heads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from graftjax.errors import GraftError

Pooling = Literal["mean", "cls"]

MASKED = -1e9
"""Added to the score of a forbidden pair: its weight becomes exactly 0 in float32 and bfloat16."""

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu_new": lambda x: jax.nn.gelu(x, approximate=True),
    "gelu_pytorch_tanh": lambda x: jax.nn.gelu(x, approximate=True),
    "relu": jax.nn.relu,
}


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The part of a model's config.json that the forward pass needs."""

    vocab_size: int
    hidden_size: int
    n_layers: int
    n_heads: int
    intermediate_size: int
    max_positions: int
    type_vocab_size: int
    layer_norm_eps: float
    activation: str

    @staticmethod
    def from_json(raw: dict[str, Any], where: str) -> BertConfig:
        """Read the fields of a parsed config.json; `where` is named in errors.

        Raises GraftError for anything but a BERT with absolute positions and a known activation.
        """
        if raw.get("model_type") != "bert":
            raise GraftError(f"{where}: model_type is {raw.get('model_type')!r}; only 'bert' can be read")
        if raw.get("position_embedding_type") not in (None, "absolute"):
            raise GraftError(f"{where}: only absolute position embeddings can be read")
        try:
            config = BertConfig(
                vocab_size=int(raw["vocab_size"]),
                hidden_size=int(raw["hidden_size"]),
                n_layers=int(raw["num_hidden_layers"]),
                n_heads=int(raw["num_attention_heads"]),
                intermediate_size=int(raw["intermediate_size"]),
                max_positions=int(raw["max_position_embeddings"]),
                type_vocab_size=int(raw.get("type_vocab_size", 2)),
                layer_norm_eps=float(raw.get("layer_norm_eps", 1e-12)),
                activation=str(raw.get("hidden_act", "gelu")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise GraftError(f"{where}: a field is missing or not a number ({error})") from error
        if config.activation not in ACTIVATIONS:
            raise GraftError(f"{where}: hidden_act {config.activation!r} is none of {', '.join(ACTIVATIONS)}")
        if config.n_heads < 1 or config.hidden_size % config.n_heads:
            raise GraftError(f"{where}: hidden_size is not a multiple of num_attention_heads")
        return config


def _dense(features: int, name: str, dtype: Any) -> nn.Dense:
    # HIGHEST keeps float32 on GPUs, where the default (TF32) would break the 1e-4 parity; a CPU ignores it.
    precision = jax.lax.Precision.HIGHEST if dtype == jnp.float32 else None
    return nn.Dense(features, name=name, dtype=dtype, precision=precision)


def _layer_norm(config: BertConfig, name: str, dtype: Any) -> nn.LayerNorm:
    return nn.LayerNorm(epsilon=config.layer_norm_eps, use_fast_variance=False, name=name, dtype=dtype)


class Embeddings(nn.Module):
    """Sum of word, position and token-type (always 0) embeddings, then layer norm."""

    config: BertConfig
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, tokens: Int[Array, "B R"], positions: Int[Array, "B R"]) -> Float[Array, "B R H"]:
        c = self.config
        x = nn.Embed(c.vocab_size, c.hidden_size, name="word", dtype=self.dtype)(tokens)
        x += nn.Embed(c.max_positions, c.hidden_size, name="position", dtype=self.dtype)(positions)
        x += nn.Embed(c.type_vocab_size, c.hidden_size, name="token_type", dtype=self.dtype)(
            jnp.zeros_like(tokens)
        )
        return _layer_norm(c, "norm", self.dtype)(x)


class Layer(nn.Module):
    """One post-norm transformer layer; queries, keys and values come from one fused product."""

    config: BertConfig
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Float[Array, "B R H"], allowed: Bool[Array, "B R R"]) -> Float[Array, "B R H"]:
        c = self.config
        b, r, h = x.shape
        d = h // c.n_heads
        precision = jax.lax.Precision.HIGHEST if self.dtype == jnp.float32 else None
        qkv = _dense(3 * h, "qkv", self.dtype)(x).reshape(b, r, 3, c.n_heads, d).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]  # [B, A, R, H/A]
        scores = jnp.matmul(q, k.swapaxes(-1, -2), precision=precision) * d**-0.5
        scores = jnp.where(allowed[:, None], scores, MASKED)
        weights = jax.nn.softmax(scores, axis=-1)
        mixed = jnp.matmul(weights, v, precision=precision).transpose(0, 2, 1, 3).reshape(b, r, h)
        x = _layer_norm(c, "attention_norm", self.dtype)(x + _dense(h, "attention_out", self.dtype)(mixed))
        inner = ACTIVATIONS[c.activation](_dense(c.intermediate_size, "intermediate", self.dtype)(x))
        return _layer_norm(c, "output_norm", self.dtype)(x + _dense(h, "output", self.dtype)(inner))


def same_segment(segment: Int[Array, "B R"]) -> Bool[Array, "B R R"]:
    """Pairs of tokens that may see each other. Padding sees padding, so no softmax row is fully masked."""
    return segment[:, :, None] == segment[:, None, :]


def pool(
    x: Float[Array, "B R H"],
    segment: Int[Array, "B R"],
    positions: Int[Array, "B R"],
    n_segments: int,
    pooling: Pooling,
) -> Float[Array, "B S H"]:
    """One unit vector per segment 1..S in float32; an unused segment gives zeros."""
    x = x.astype(jnp.float32)
    member = segment[:, None, :] == jnp.arange(1, n_segments + 1)[None, :, None]
    if pooling == "cls":
        member &= (positions == 0)[:, None, :]
    # The mean's divisor cancels in the normalisation, so a plain sum pools just as well.
    summed = jnp.matmul(member.astype(jnp.float32), x, precision=jax.lax.Precision.HIGHEST)
    norm = jnp.sqrt(jnp.sum(summed * summed, axis=-1, keepdims=True))
    return summed / jnp.maximum(norm, 1e-12)


class Bert(nn.Module):
    """The whole encoder: packed rows of tokens to unit vectors of their texts."""

    config: BertConfig
    pooling: Pooling = "mean"
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(
        self,
        tokens: Int[Array, "B R"],
        segment: Int[Array, "B R"],
        positions: Int[Array, "B R"],
        n_segments: int,
    ) -> Float[Array, "B S H"]:
        x = Embeddings(self.config, self.dtype, name="embeddings")(tokens, positions)
        allowed = same_segment(segment)
        for i in range(self.config.n_layers):
            x = Layer(self.config, self.dtype, name=f"layer_{i}")(x, allowed)
        return pool(x, segment, positions, n_segments, self.pooling)
