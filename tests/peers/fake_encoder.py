"""An encoder without a model: hashed words, so that texts that share words are near each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import xxhash

from graftjax.encode.encoder import Encoder


class WordEncoder(Encoder):
    """Remembers what it was asked for."""

    def __init__(self, name: str = "words-64") -> None:
        for key, value in {"name": name, "dim": 64, "encoded": []}.items():
            object.__setattr__(self, key, value)  # the record it stands in for is frozen

    def encode(self, texts: Sequence[str], *, progress: bool | str = False) -> np.ndarray:
        self.encoded.extend(texts)
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                vectors[row, xxhash.xxh32_intdigest(word.encode()) % self.dim] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)

    def warm_up(self, *, bulk: bool = False) -> int:
        return 0
