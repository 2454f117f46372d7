"""A tiny random BERT written to a folder, and its forward pass in plain numpy float64 for comparison."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    *"abcdefghijklmnopqrstuvwxyz",
    *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    "name",
    "age",
    "student",
]
CONFIG = {
    "model_type": "bert",
    "vocab_size": len(MARKS) + len(WORDS),
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 160,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


def tensors(seed: int) -> dict[str, np.ndarray]:
    """Random weights under the Hugging Face names."""
    rng = np.random.default_rng(seed)
    h, f = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (CONFIG["vocab_size"], h),
        "embeddings.position_embeddings.weight": (CONFIG["max_position_embeddings"], h),
        "embeddings.token_type_embeddings.weight": (2, h),
        "embeddings.LayerNorm.weight": (h,),
        "embeddings.LayerNorm.bias": (h,),
        "pooler.dense.weight": (h, h),  # not used by the encoder
    }
    for i in range(CONFIG["num_hidden_layers"]):
        base = f"encoder.layer.{i}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{base}.attention.{part}.weight"] = (h, h)
            shapes[f"{base}.attention.{part}.bias"] = (h,)
        shapes |= {
            f"{base}.intermediate.dense.weight": (f, h),
            f"{base}.intermediate.dense.bias": (f,),
            f"{base}.output.dense.weight": (h, f),
            f"{base}.output.dense.bias": (h,),
        }
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{base}.{norm}.weight"] = (h,)
            shapes[f"{base}.{norm}.bias"] = (h,)
    return {name: rng.normal(0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}


def write_model(
    folder: Path,
    *,
    pooling: str | None = "mean",
    prefix: str = "",
    seed: int = 0,
    weights: dict[str, np.ndarray] | None = None,
) -> Path:
    """A model folder as sentence-transformers writes it; `pooling` None leaves modules.json out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    weights = tensors(seed) if weights is None else weights
    save_file({prefix + name: array for name, array in weights.items()}, folder / "model.safetensors")
    tokenizer = Tokenizer(
        models.WordPiece({word: i for i, word in enumerate([*MARKS, *WORDS])}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=128)  # as the embedded model's file does
    tokenizer.save(str(folder / "tokenizer.json"))
    if pooling is not None:
        kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
        modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds]
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "1_Pooling").mkdir(exist_ok=True)
        modes = {
            "pooling_mode_cls_token": pooling == "cls",
            "pooling_mode_mean_tokens": pooling == "mean",
            "pooling_mode_max_tokens": pooling == "max",
        }
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    return folder


def forward(weights: dict[str, np.ndarray], ids: list[int], pooling: str) -> np.ndarray:
    """The vector of one text alone, unpacked and unpadded, in float64."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    heads = CONFIG["num_attention_heads"]
    erf = np.vectorize(math.erf)

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(-1, keepdims=True) + CONFIG["layer_norm_eps"])
        return centred / scale * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = CONFIG["hidden_size"] // heads
    for i in range(CONFIG["num_hidden_layers"]):
        base = f"encoder.layer.{i}"
        q, k, v = (linear(x, f"{base}.attention.self.{part}") for part in ("query", "key", "value"))
        mixed = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            mixed.append(scores / scores.sum(-1, keepdims=True) @ v[:, part])
        x = norm(
            x + linear(np.concatenate(mixed, 1), f"{base}.attention.output.dense"),
            f"{base}.attention.output.LayerNorm",
        )
        inner = linear(x, f"{base}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + linear(inner, f"{base}.output.dense"), f"{base}.output.LayerNorm")
    vector = x[0] if pooling == "cls" else x.mean(0)
    return vector / np.linalg.norm(vector)
