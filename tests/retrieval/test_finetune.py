"""The encoder's weights learn, and the written folder reads back as the same encoder."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import jax
import numpy as np
import pytest
from small_lakes import encoder
from small_samples import lake, only_right, random_samples
from tiny_bert import write_model as tiny_model

from graftjax.encode import load_encoder
from graftjax.encode.bert import BertConfig
from graftjax.encode.weights import to_params
from graftjax.errors import UsageError
from graftjax.retrieval.finetune import FinetuneSettings, finetune, to_tensors, write_model
from graftjax.retrieval.pairs import make_pairs

SETTINGS = FinetuneSettings(steps=24, batch=16, learning_rate=3e-3, scale_rate=5e-2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny") / "model", pooling="cls")


@pytest.fixture(scope="module")
def trained(model: Path):
    tiny = load_encoder(str(model))
    pairs = _pairs()
    return [
        finetune(tiny, pairs, lake().space.texts, np.random.default_rng(0), 0.3, SETTINGS) for _ in range(2)
    ]


def _pairs():
    samples = random_samples(lake(), 40, np.random.default_rng(0))
    return make_pairs(lake(), samples, encoder(), np.random.default_rng(1))


def test_the_loss_falls_and_runs_repeat(trained) -> None:
    first, second = trained
    assert np.mean(first.losses[-8:]) < 0.8 * np.mean(first.losses[:4])
    assert first.losses == second.losses


def test_the_written_folder_is_the_trained_encoder(trained, model: Path, tmp_path: Path) -> None:
    tiny = load_encoder(str(model))
    folder = write_model(str(model), trained[0].params, tmp_path / "out")
    read = load_encoder(str(folder))
    texts = ["student name", "age", "abc def"]
    np.testing.assert_array_equal(
        read.encode(texts), dataclasses.replace(tiny, _params=trained[0].params).encode(texts)
    )
    assert np.abs(read.encode(texts) - tiny.encode(texts)).max() > 1e-3
    assert read.name != tiny.name
    assert "cls" in read.name
    with pytest.raises(UsageError, match="not an empty folder"):
        write_model(str(model), trained[0].params, folder)


def test_names_of_tensors_turn_back_into_parameters(trained, model: Path) -> None:
    import json

    config = BertConfig.from_json(json.loads((model / "config.json").read_text()), "config.json")
    again = to_params(to_tensors(trained[0].params), config, "here")
    assert jax.tree.structure(again) == jax.tree.structure(trained[0].params)
    jax.tree.map(np.testing.assert_array_equal, again, trained[0].params)


def test_pairs_to_learn_from_are_needed(model: Path) -> None:
    pairs = _pairs()
    with pytest.raises(UsageError, match="right and wrong"):
        finetune(
            load_encoder(str(model)),
            only_right(pairs),
            lake().space.texts,
            np.random.default_rng(0),
            0.3,
        )
