"""A linear map of the encoder's vectors into the retrieval space (the shared space of Sec. 3.2).

Letters: N vectors, D dimension of the encoder, P of the space (at most D).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graftjax.errors import GraftError

DIMENSION = 256
"""P of the paper."""
_SHORTEST = 1e-12


@dataclass(frozen=True, eq=False)
class Projection:
    """x → Wᵀx, scaled to length 1."""

    matrix: Float[np.ndarray, "D P"]

    def __call__(self, vectors: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N P"]:
        """Unit vectors of the space; GraftError when the vectors come from an encoder of another size."""
        if vectors.shape[1] != self.matrix.shape[0]:
            raise GraftError(
                f"the retrieval space is for vectors of {self.matrix.shape[0]} numbers, "
                f"the encoder gives {vectors.shape[1]}"
            )
        image = np.asarray(vectors, np.float32) @ self.matrix
        return image / np.maximum(np.linalg.norm(image, axis=1, keepdims=True), _SHORTEST)


def principal(vectors: Float[np.ndarray, "N D"], size: int = DIMENSION) -> Projection:
    """The map onto the `size` directions that hold most of the vectors' length: cosines hardly change.

    Vectors are not centred, because their inner products are to be kept. A `size` above D counts as D.
    """
    vectors = np.asarray(vectors, np.float64)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    chosen = directions[:, ::-1][:, : min(size, vectors.shape[1])]
    # The sign of an eigenvector is arbitrary; fixed, so that equal lakes give equal maps.
    largest = np.abs(chosen).argmax(0)
    chosen = chosen * np.where(chosen[largest, np.arange(chosen.shape[1])] < 0, -1.0, 1.0)
    return Projection(np.ascontiguousarray(chosen, np.float32))
