"""The linear map into the retrieval space."""

from __future__ import annotations

import numpy as np
import pytest

from graftjax.encode.lexical import TrigramIndex
from graftjax.encode.projection import Projection, principal
from graftjax.encode.space import TextSpace
from graftjax.errors import GraftError


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_principal_directions_keep_cosines() -> None:
    rng = np.random.default_rng(0)
    low = unit(rng.normal(size=(300, 8)) @ rng.normal(size=(8, 40)))
    image = principal(low, 8)(low)
    np.testing.assert_allclose(image @ image.T, low @ low.T, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(image, axis=1), 1, atol=1e-5)
    assert principal(low, 99).matrix.shape == (40, 40)


def test_principal_directions_hold_the_most_length() -> None:
    rng = np.random.default_rng(1)
    vectors = unit(rng.normal(size=(200, 12)) * np.linspace(3, 0.1, 12))
    held = np.linalg.norm(vectors @ principal(vectors, 4).matrix) ** 2
    other = np.linalg.qr(rng.normal(size=(12, 4)))[0].astype(np.float32)
    assert held > np.linalg.norm(vectors @ other) ** 2
    np.testing.assert_allclose(
        held, (np.linalg.svd(vectors.astype(np.float64), compute_uv=False)[:4] ** 2).sum(), rtol=1e-5
    )


def test_zeros_and_no_vectors() -> None:
    projection = Projection(np.eye(4, 2, dtype=np.float32))
    assert not projection(np.zeros((1, 4), np.float32)).any()
    assert projection(np.zeros((0, 4), np.float32)).shape == (0, 2)


def test_vectors_of_another_encoder_are_refused() -> None:
    with pytest.raises(GraftError, match="for vectors of 4 numbers, the encoder gives 3"):
        Projection(np.eye(4, 2, dtype=np.float32))(np.zeros((1, 3), np.float32))


def test_a_space_projects_both_sides() -> None:
    rng = np.random.default_rng(2)
    texts = ("singer name", "flight number", "age")
    space = TextSpace(texts, unit(rng.normal(size=(3, 6))), TrigramIndex.build(texts))
    projection = Projection(rng.normal(size=(6, 4)).astype(np.float32))
    queries, vectors = ["name of singer", "age"], unit(rng.normal(size=(2, 6)))
    found = space.projected(projection).similarity(queries, vectors, 0.25)
    dense = projection(vectors) @ projection(space.dense).T
    np.testing.assert_allclose(found, 0.75 * dense + 0.25 * space.trigrams.similarity(queries), atol=1e-6)
    np.testing.assert_array_equal(
        space.projected(projection).projected(None).similarity(queries, vectors),
        space.similarity(queries, vectors),
    )
