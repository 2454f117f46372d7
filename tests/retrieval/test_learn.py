"""The three steps together."""

from __future__ import annotations

import dataclasses

import numpy as np
from small_lakes import encoder
from small_samples import lake, random_samples

from graftjax.encode.projection import principal
from graftjax.retrieval.learn import LearnSettings, learn_space
from graftjax.retrieval.train import FitSettings

SETTINGS = LearnSettings(fit=FitSettings(dimension=16, steps=10, batch=64, check_every=5))


def learn(index, seed: int):
    samples = random_samples(lake(), 30, np.random.default_rng(0))
    return learn_space(index, encoder(), samples, seed, None, SETTINGS)


def test_a_seed_decides_everything() -> None:
    (first, fit, pairs), (second, *_), (other, *_) = learn(lake(), 0), learn(lake(), 0), learn(lake(), 1)
    np.testing.assert_array_equal(first.projection.matrix, second.projection.matrix)
    assert first.c0 == second.c0
    assert np.abs(first.projection.matrix - other.projection.matrix).max() > 0
    assert first.encoder_name == encoder().name
    assert first.projection is fit.projection
    assert pairs.right.any()


def test_a_projection_in_force_plays_no_part() -> None:
    bent = dataclasses.replace(lake(), space=lake().space.projected(principal(lake().space.dense, 2)))
    np.testing.assert_array_equal(learn(bent, 0)[0].projection.matrix, learn(lake(), 0)[0].projection.matrix)
