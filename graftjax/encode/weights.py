"""safetensors files of a BERT → the parameters of `graftjax.encode.bert.Bert`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from graftjax.encode.bert import BertConfig
from graftjax.errors import GraftError


def read_safetensors(files: Sequence[Path]) -> dict[str, np.ndarray]:
    """All tensors of the files as numpy float32 arrays, names without a leading `bert.`.

    Raises GraftError when a file is missing or damaged.
    """
    tensors: dict[str, np.ndarray] = {}
    for file in files:
        try:
            # The flax reader, unlike the numpy one, knows bfloat16 files.
            with safe_open(file, framework="flax") as opened:
                for name in opened.keys():  # noqa: SIM118 (not a mapping)
                    if not name.endswith("position_ids"):
                        tensors[name.removeprefix("bert.")] = np.asarray(opened.get_tensor(name), np.float32)
        except (OSError, SafetensorError) as error:
            raise GraftError(f"{file}: not a readable safetensors file ({error})") from error
    return tensors


def to_params(tensors: Mapping[str, np.ndarray], config: BertConfig, where: str) -> dict[str, Any]:
    """Nested parameters for `Bert`, from Hugging Face names (`encoder.layer.0.attention.self.query.weight`).

    A linear weight is stored [out, in] there and [in, out] here; query, key and value are fused along `out`.
    Tensors that the encoder does not use (pooler, language-model head) are ignored.
    Raises GraftError, naming the tensor and `where`, when one is missing or has another shape than `config`
    says.
    """
    h, f = config.hidden_size, config.intermediate_size

    def take(name: str, *shape: int) -> np.ndarray:
        found = tensors.get(name)
        if found is None:  # checkpoints converted from TensorFlow say gamma and beta
            found = tensors.get(name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"))
        if found is None:
            raise GraftError(f"{where}: tensor {name!r} is missing; not a BERT encoder?")
        if found.shape != shape:
            raise GraftError(f"{where}: tensor {name!r} has shape {found.shape}, config.json says {shape}")
        return found

    def dense(prefix: str, n_in: int, n_out: int) -> dict[str, np.ndarray]:
        return {"kernel": take(f"{prefix}.weight", n_out, n_in).T, "bias": take(f"{prefix}.bias", n_out)}

    def norm(prefix: str) -> dict[str, np.ndarray]:
        return {"scale": take(f"{prefix}.weight", h), "bias": take(f"{prefix}.bias", h)}

    def embed(name: str, rows: int) -> dict[str, np.ndarray]:
        return {"embedding": take(f"embeddings.{name}_embeddings.weight", rows, h)}

    params: dict[str, Any] = {
        "embeddings": {
            "word": embed("word", config.vocab_size),
            "position": embed("position", config.max_positions),
            "token_type": embed("token_type", config.type_vocab_size),
            "norm": norm("embeddings.LayerNorm"),
        }
    }
    for i in range(config.n_layers):
        base = f"encoder.layer.{i}"
        parts = [dense(f"{base}.attention.self.{part}", h, h) for part in ("query", "key", "value")]
        params[f"layer_{i}"] = {
            "qkv": {
                "kernel": np.concatenate([p["kernel"] for p in parts], axis=1),
                "bias": np.concatenate([p["bias"] for p in parts]),
            },
            "attention_out": dense(f"{base}.attention.output.dense", h, h),
            "attention_norm": norm(f"{base}.attention.output.LayerNorm"),
            "intermediate": dense(f"{base}.intermediate.dense", h, f),
            "output": dense(f"{base}.output.dense", f, h),
            "output_norm": norm(f"{base}.output.LayerNorm"),
        }
    return params
