"""The shared retrieval space: dense sentence vectors beside character trigrams.

The cosine of ψ (Sec. 3.2) is taken between vectors [√(1−λ)·dense, √λ·trigrams], that is
(1−λ)·cos(dense) + λ·cos(trigrams). λ = 0 is the dense space of the paper. A trained space has a projection
of the dense vectors.
Letters: n texts, m of them, D dimension of the encoder, P of the projection, q queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from graftjax.encode.lexical import TrigramIndex
from graftjax.encode.projection import Projection
from graftjax.encode.rows import StackedRows

LEXICAL_SHARE = 0.3
"""λ, chosen on tuning questions."""


@dataclass(frozen=True, eq=False)
class TextSpace:
    """The distinct texts of a lake's nodes, embedded."""

    texts: tuple[str, ...]
    dense: Float[np.ndarray, "n D"] | StackedRows
    trigrams: TrigramIndex
    projection: Projection | None = None
    """Of the dense vectors; None takes them as the encoder gives them."""

    def projected(self, projection: Projection | None) -> TextSpace:
        """The same texts under another projection."""
        return replace(self, projection=projection)

    @cached_property
    def _image(self) -> Float[np.ndarray, "n P"]:
        return np.asarray(self.dense) if self.projection is None else self.projection(np.asarray(self.dense))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Position of each text."""
        return {text: number for number, text in enumerate(self.texts)}

    def known(self, texts: Iterable[str]) -> dict[str, np.ndarray]:
        """Dense vectors of those texts that the lake has too: they need no encoder."""
        found = ((text, self.numbers.get(text)) for text in texts)
        return {text: np.asarray(self.dense[number]) for text, number in found if number is not None}

    def part(self, numbers: Int[np.ndarray, " m"]) -> TextSpace:
        """The texts with these numbers, in that order; similarities stay as they are."""
        return replace(
            self,
            texts=tuple(self.texts[number] for number in numbers),
            dense=np.ascontiguousarray(self.dense[numbers]),
            trigrams=self.trigrams.part(numbers),
        )

    def similarity(
        self, queries: Sequence[str], vectors: Float[np.ndarray, "q D"], share: float = LEXICAL_SHARE
    ) -> Float[np.ndarray, "q n"]:
        """Cosine of each query (with its dense vector) with each text, in [−1, 1]."""
        vectors = np.asarray(vectors, np.float32)
        cosine = (vectors if self.projection is None else self.projection(vectors)) @ self._image.T
        if share:
            cosine *= 1.0 - share
            cosine += share * self.trigrams.similarity(queries)
        return cosine
