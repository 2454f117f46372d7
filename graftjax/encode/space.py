"""The shared retrieval space: dense sentence vectors beside character trigrams.

The cosine of ψ (Sec. 3.2) is taken between vectors [√(1−λ)·dense, √λ·trigrams], that is
(1−λ)·cos(dense) + λ·cos(trigrams). λ = 0 is the dense space of the paper.
Letters: n texts, D dimension of the encoder, q queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graftjax.encode.lexical import TrigramIndex

LEXICAL_SHARE = 0.3
"""λ, chosen on tuning questions."""


@dataclass(frozen=True, eq=False)
class TextSpace:
    """The distinct texts of a lake's nodes, embedded."""

    texts: tuple[str, ...]
    dense: Float[np.ndarray, "n D"]
    trigrams: TrigramIndex

    def similarity(
        self, queries: Sequence[str], vectors: Float[np.ndarray, "q D"], share: float = LEXICAL_SHARE
    ) -> Float[np.ndarray, "q n"]:
        """Cosine of each query (with its dense vector) with each text, in [−1, 1]."""
        dense = np.asarray(vectors, np.float32) @ np.asarray(self.dense).T
        if not share:
            return dense
        return (1.0 - share) * dense + share * self.trigrams.similarity(queries)
