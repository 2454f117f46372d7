"""Training the encoder's own weights on pairs, and a model folder that `load_encoder` reads.

Costly next to a projection: every update encodes its texts again. The loss is that of `retrieval.train`.
Letters: S texts of a batch, R tokens of the longest, H hidden size.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Int

from graftjax.encode.encoder import Encoder
from graftjax.encode.source import locate
from graftjax.encode.tokenize import tokenize
from graftjax.errors import UsageError
from graftjax.files import writing
from graftjax.retrieval.pairs import Pairs
from graftjax.retrieval.train import KINDS, Terms, logits, pair_loss, terms_of

_SHORTEST_ROW = 16
"""Rows are padded to this many tokens, or twice, four times, ... as many, so that few shapes are compiled."""


@dataclass(frozen=True)
class FinetuneSettings:
    """How the weights are trained."""

    steps: int = 200
    batch: int = 64
    """Pairs of an update."""
    learning_rate: float = 2e-5
    scale_rate: float = 1e-2
    """Learning rate of β and c0."""
    right_weight: float = 4.0
    beta: float = 10.0
    """First β."""
    c0: float = 0.5
    """First c0."""


@dataclass(frozen=True, eq=False)
class Finetuned:
    """The trained weights with the course of the training."""

    params: Any
    beta: tuple[float, ...]
    c0: tuple[float, ...]
    losses: tuple[float, ...]
    """Of each update, before it."""


def finetune(
    encoder: Encoder,
    pairs: Pairs,
    lake_texts: Sequence[str],
    rng: np.random.Generator,
    share: float,
    settings: FinetuneSettings = FinetuneSettings(),
    progress: Callable[[int, float], None] | None = None,
) -> Finetuned:
    """Train weights, β and c0. Deterministic in the generator's state.

    UsageError without right or without wrong pairs.
    """
    pairs.check("an encoder")
    s, model = settings, encoder._model
    tokens = tokenize(encoder._tokenizer, [*pairs.texts, *lake_texts])
    first_node = len(pairs.texts)
    state = {
        "params": encoder._params,
        "log_beta": jnp.full(KINDS, np.log(s.beta), jnp.float32),
        "c0": jnp.full(KINDS, s.c0, jnp.float32),
    }
    labels = {"params": "params", "log_beta": "scale", "c0": "scale"}
    optimiser = optax.multi_transform(
        {"params": optax.adam(s.learning_rate), "scale": optax.adam(s.scale_rate)}, labels
    )

    def loss(state: Any, packed: Any, ends: Array, terms: Terms) -> Array:
        vectors = model.apply({"params": state["params"]}, *packed, 1)[:, 0]  # pyright: ignore
        cosines = (vectors[ends[:, :2]] * vectors[ends[:, 2:]]).sum(-1)
        logit = logits(cosines, terms, state["log_beta"], state["c0"], share)
        return pair_loss(logit, terms.right, s.right_weight)

    @jax.jit
    def update(state: Any, memory: Any, *batch: Any) -> tuple[Any, Any, Array]:
        value, gradient = jax.value_and_grad(loss)(state, *batch)
        with jax.numpy_dtype_promotion("standard"):  # as in retrieval.train
            change, memory = optimiser.update(gradient, memory, state)
        return optax.apply_updates(state, change), memory, value

    memory = optimiser.init(state)
    losses = []
    order = np.zeros(0, np.int64)
    for step in range(s.steps):
        while len(order) < s.batch:
            order = np.concatenate([order, rng.permutation(len(pairs))])
        rows, order = order[: s.batch], order[s.batch :]
        numbers = np.concatenate([pairs.query[rows], pairs.node[rows] + first_node], 1)
        used, ends = np.unique(numbers, return_inverse=True)
        packed = pad_rows([tokens[i] for i in used.tolist()], 4 * s.batch)
        ends = ends.reshape(-1, 4).astype(np.int32)
        state, memory, value = update(state, memory, packed, ends, terms_of(pairs, rows))
        losses.append(float(value))
        if progress is not None:
            progress(step, losses[-1])
    return Finetuned(
        jax.device_get(state["params"]),
        tuple(np.exp(np.asarray(state["log_beta"])).tolist()),
        tuple(np.asarray(state["c0"]).tolist()),
        tuple(losses),
    )


def pad_rows(
    sequences: Sequence[Int[np.ndarray, " _"]], rows: int
) -> tuple[Int[np.ndarray, "S R"], Int[np.ndarray, "S R"], Int[np.ndarray, "S R"]]:
    """Tokens, segments and positions with one text a row; further rows hold token 0 as their text.

    A row without any text would pool to zeros, where the gradient of the length is not a number.
    """
    width = _SHORTEST_ROW
    while width < max(len(one) for one in sequences):
        width *= 2
    tokens, segment, positions = (np.zeros((rows, width), np.int32) for _ in range(3))
    segment[len(sequences) :, 0] = 1
    for row, one in enumerate(sequences):
        tokens[row, : len(one)] = one
        segment[row, : len(one)] = 1
        positions[row, : len(one)] = np.arange(len(one))
    return tokens, segment, positions


def to_tensors(params: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The parameters of `Bert` under the Hugging Face names: the inverse of `encode.weights.to_params`."""
    tensors: dict[str, np.ndarray] = {}

    def put(prefix: str, kernel: Any, bias: Any) -> None:
        tensors[f"{prefix}.weight"] = np.ascontiguousarray(np.asarray(kernel, np.float32).T)
        tensors[f"{prefix}.bias"] = np.ascontiguousarray(np.asarray(bias, np.float32))

    def norm(prefix: str, part: Mapping[str, Any]) -> None:
        tensors[f"{prefix}.weight"] = np.asarray(part["scale"], np.float32)
        tensors[f"{prefix}.bias"] = np.asarray(part["bias"], np.float32)

    embeddings = params["embeddings"]
    for name in ("word", "position", "token_type"):
        tensors[f"embeddings.{name}_embeddings.weight"] = np.asarray(
            embeddings[name]["embedding"], np.float32
        )
    norm("embeddings.LayerNorm", embeddings["norm"])
    for i in range(sum(name.startswith("layer_") for name in params)):
        layer, base = params[f"layer_{i}"], f"encoder.layer.{i}"
        kernels = np.split(np.asarray(layer["qkv"]["kernel"]), 3, axis=1)
        biases = np.split(np.asarray(layer["qkv"]["bias"]), 3)
        for part, kernel, bias in zip(("query", "key", "value"), kernels, biases, strict=True):
            put(f"{base}.attention.self.{part}", kernel, bias)
        for name, own in (
            ("attention.output.dense", "attention_out"),
            ("intermediate.dense", "intermediate"),
            ("output.dense", "output"),
        ):
            put(f"{base}.{name}", layer[own]["kernel"], layer[own]["bias"])
        norm(f"{base}.attention.output.LayerNorm", layer["attention_norm"])
        norm(f"{base}.output.LayerNorm", layer["output_norm"])
    return tensors


def write_model(source: str, params: Mapping[str, Any], folder: Path) -> Path:
    """A model folder for `load_encoder`: the files of encoder `source` with other weights.

    `source`: as for `load_encoder`. `folder` must be empty or missing. GraftError when it can't be written.
    """
    from safetensors.numpy import save_file

    files = locate(source)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: not an empty folder; a trained model is never written over another")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(files.config, indent=1), encoding="utf-8")
        for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json", "modules.json"):
            if (files.folder / name).is_file():
                shutil.copyfile(files.folder / name, folder / name)
        if (files.folder / "1_Pooling" / "config.json").is_file():
            (folder / "1_Pooling").mkdir()
            shutil.copyfile(files.folder / "1_Pooling" / "config.json", folder / "1_Pooling" / "config.json")
        # The last file: a folder without it is no model.
        save_file(to_tensors(params), folder / "model.safetensors")
    return folder
