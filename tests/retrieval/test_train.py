"""The fit lowers the held-out loss, can be repeated, and recovers a known steepness."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from small_lakes import encoder
from small_samples import lake, only_right, random_samples

from graftjax.encode.projection import Projection, principal
from graftjax.errors import GraftError, UsageError
from graftjax.igms.settings import ScoreSettings
from graftjax.igms.support import node_support
from graftjax.intent.atoms import atoms_of
from graftjax.retrieval.pairs import Pairs, make_pairs
from graftjax.retrieval.space import RetrievalSpace, load_space
from graftjax.retrieval.train import FitSettings, fit_space, hold_out, pair_loss

QUICK = FitSettings(dimension=32, steps=40, batch=128, check_every=20, scale_rate=3e-2)


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    samples = random_samples(lake(), 150, np.random.default_rng(0))
    return make_pairs(lake(), samples, encoder(), np.random.default_rng(1))


def fit(pairs: Pairs, settings: FitSettings = QUICK, seed: int = 0):
    query = encoder().encode(pairs.texts)
    return fit_space(pairs, query, lake().space.dense, np.random.default_rng(seed), 0.3, settings)


def test_the_loss_is_the_negative_log_likelihood() -> None:
    logit, right = np.array([-2.0, 0.5, 3.0], np.float32), np.array([True, False, True])
    psi = 1 / (1 + np.exp(-logit))
    cost = np.where(right, -np.log(psi), -np.log(1 - psi)) * np.array([4, 1, 4])
    assert float(pair_loss(jnp.asarray(logit), jnp.asarray(right), 4.0)) == pytest.approx(cost.sum() / 9)


def test_held_out_loss_falls_and_the_best_state_is_kept(pairs: Pairs) -> None:
    found = fit(pairs)
    losses = [loss for _, loss in found.history]
    assert min(losses) < 0.9 * losses[0]
    assert found.projection.matrix.shape == (384, 32)
    assert min(found.beta) > 0


def test_equal_seeds_give_equal_fits(pairs: Pairs) -> None:
    first, second, other = fit(pairs), fit(pairs), fit(pairs, seed=1)
    np.testing.assert_array_equal(first.projection.matrix, second.projection.matrix)
    assert first.beta == second.beta
    assert first.history == second.history
    assert other.history != first.history


def test_a_strong_anchor_keeps_the_cosines(pairs: Pairs) -> None:
    dense = lake().space.dense
    moved = []
    for anchor in (0.0, 1000.0):
        settings = FitSettings(dimension=32, steps=30, batch=128, anchor=anchor, learning_rate=3e-3)
        image = fit(pairs, settings).projection(dense)
        before = principal(dense, 32)(dense)
        moved.append(np.abs(image @ image.T - before @ before.T).mean())
    assert moved[1] < 0.2 * moved[0]


def test_pairs_are_held_out_by_name(pairs: Pairs) -> None:
    out = hold_out(pairs, 0.3, np.random.default_rng(0))
    assert 0 < out.mean() < 1
    assert not set(pairs.group[out]) & set(pairs.group[~out])
    assert not hold_out(pairs, 0.0, np.random.default_rng(0)).any()


def test_pairs_without_a_wrong_one_are_refused(pairs: Pairs) -> None:
    with pytest.raises(UsageError, match="right and wrong"):
        fit(only_right(pairs))


def test_steepness_and_threshold_of_known_labels_are_found() -> None:
    rng = np.random.default_rng(0)
    count, angles = 20000, np.linspace(0, np.pi / 2, 200)
    lake_vectors = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    node = rng.integers(0, 200, count)
    right = rng.random(count) < 1 / (1 + np.exp(-8 * (np.cos(angles)[node] - 0.6)))
    zeros = np.zeros(count, np.int32)
    made = Pairs(
        ("x",), np.zeros((count, 2), np.int32), np.stack([node, node], 1).astype(np.int32),
        np.tile(np.array([[1, 0]], np.float32), (count, 1)), np.zeros(count, np.float32), zeros, right,
        np.arange(count, dtype=np.int32), (np.arange(count) % 10).astype(np.int32),
    )  # fmt: skip
    settings = FitSettings(
        dimension=2, steps=600, batch=2048, learning_rate=0.0, right_weight=1.0, patience=99
    )
    query = np.array([[1, 0]], np.float32)
    found = fit_space(made, query, lake_vectors, np.random.default_rng(1), 0.0, settings)
    assert found.beta[0] == pytest.approx(8, rel=0.1)
    assert found.c0[0] == pytest.approx(0.6, abs=0.03)


def test_a_space_is_saved_whole_and_changes_psi(pairs: Pairs, tmp_path: Path) -> None:
    space = RetrievalSpace.of_fit(fit(pairs), encoder().name, 0.3)
    space.save(tmp_path / "a" / "space")
    again = load_space(tmp_path / "a" / "space")
    np.testing.assert_array_equal(again.projection.matrix, space.projection.matrix)
    assert (again.encoder_name, again.lexical_share) == (space.encoder_name, space.lexical_share)
    assert again.beta == space.beta
    assert again.c0 == space.c0
    atoms = atoms_of(next(random_samples(lake(), 1, np.random.default_rng(5))).intent)
    score = again.score(ScoreSettings())
    assert score.value_c0 == space.c0[2]
    before = node_support(lake(), atoms, encoder(), ScoreSettings())
    after = node_support(again.index(lake()), atoms, encoder(), score)
    assert np.abs(before.column - after.column).max() > 0.01


def test_a_space_of_another_encoder_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    projection = Projection(np.eye(384, 4, dtype=np.float32))
    space = RetrievalSpace(projection, "other", 0.3, (1.0, 1.0, 1.0), (0.5, 0.5, 0.5))
    with pytest.raises(GraftError, match="encoder other"):
        space.index(lake())
    with pytest.raises(GraftError, match="no retrieval space"):
        load_space(tmp_path)
    for name, text in (("space.npz", "x"), ("space.json", "{"), ("space.json", "[]"), ("space.json", "{}")):
        space.save(tmp_path)
        (tmp_path / name).write_text(text)
        with pytest.raises(GraftError, match="not a readable"):
            load_space(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(GraftError, match="can't be written"):
        space.save(tmp_path / "file")
