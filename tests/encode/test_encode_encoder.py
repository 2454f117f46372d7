import json
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_bert import forward, tensors, write_model

from graftjax.encode import load_encoder
from graftjax.encode import pack as packing
from graftjax.encode.encoder import _forward
from graftjax.encode.tokenize import tokenize
from graftjax.errors import UsageError

REFERENCE = json.loads((Path(__file__).parent / "reference_minilm.json").read_text())
ODD = [
    "",
    " ",
    "🦜",
    "ตาราง",
    "\x00\x07",
    "\ud800 lone",
    "name " * 300,
    "a" * 1_000_000,
    "名前",
    "[SEP]",
    "\n\t\n",
]


@pytest.fixture(scope="module")
def minilm():
    return load_encoder()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return load_encoder(str(write_model(tmp_path_factory.mktemp("tiny"))), batch_tokens=256)


def test_embedded_agrees_with_transformers(minilm):
    ours = minilm.encode([v["text"] for v in REFERENCE["vectors"]])
    for vector, reference in zip(ours, REFERENCE["vectors"], strict=True):
        assert np.abs(vector[:32] - reference["head"]).max() < 1e-5
        assert abs(vector.sum() - reference["sum"]) < 1e-4
        assert abs(np.abs(vector).sum() - reference["abs_sum"]) < 1e-4


def test_embedded_identity(minilm):
    assert minilm.name == load_encoder().name
    assert minilm.name.startswith("bert-6x384-mean-64-float32-")
    assert load_encoder(max_tokens=32).name != minilm.name
    assert minilm.dim == 384


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("prefix", ["", "bert."])
def test_agrees_with_a_float64_forward(tmp_path, pooling, prefix):
    encoder = load_encoder(
        str(write_model(tmp_path / "m", pooling=pooling, prefix=prefix, seed=3)), max_tokens=150
    )
    texts = ["name", "student name age", "", "a b c " * 20, "x y z " * 45, "zebra", *ODD]
    ids = [i.tolist() for i in tokenize(encoder._tokenizer, texts)]
    assert max(map(len, ids)) > 128  # rows of 32 are not enough: several row lengths in one call
    expected = np.stack([forward(tensors(3), i, pooling) for i in ids])
    assert np.abs(encoder.encode(texts) - expected).max() < 1e-5


def test_shapes_norms_and_order(tiny):
    assert tiny.encode([]).shape == (0, tiny.dim)
    assert tiny.encode([]).dtype == np.float32
    vectors = tiny.encode(ODD)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(tiny.encode(ODD[::-1])[::-1], vectors, atol=1e-5)


@given(st.lists(st.text(max_size=60), max_size=40))
@settings(max_examples=15, deadline=None)
def test_companions_do_not_matter(tiny, texts):
    together = tiny.encode(["name", *texts])
    alone = tiny.encode(["name"])
    assert np.abs(together[0] - alone[0]).max() < 1e-5
    assert np.isfinite(together).all()
    filler = [f"filler {'ab' * (i % 9)} {i}" for i in range(200)]
    assert np.abs(tiny.encode([*filler, *texts, "name"])[200:] - np.roll(together, -1, axis=0)).max() < 1e-5


def test_each_distinct_text_is_computed_once(tiny, monkeypatch):
    counted = []
    monkeypatch.setattr(
        "graftjax.encode.encoder.tokenize", lambda t, texts: counted.extend(texts) or tokenize(t, texts)
    )
    vectors = tiny.encode(["name", "age", "name", "name"])
    assert sorted(counted) == ["age", "name"]
    np.testing.assert_array_equal(vectors[0], vectors[2])
    np.testing.assert_array_equal(vectors[0], vectors[3])


def test_batches_can_be_saved_one_by_one(tiny):
    """A caller that is killed after k batches has k batches' worth of finished vectors."""
    texts = [f"student {i % 700}" for i in range(1000)]
    batches = list(tiny.encode_batches(texts))
    assert len(batches) > 3
    assert sorted(np.concatenate([indices for indices, _ in batches]).tolist()) == list(range(1000))
    whole = tiny.encode(texts)
    for indices, vectors in batches:
        np.testing.assert_array_equal(whole[indices], vectors)
    first = next(tiny.encode_batches(texts))
    np.testing.assert_array_equal(first[1], batches[0][1])


def test_progress_bar_counts_every_text(tiny, capsys):
    tiny.encode(["name", "age", "name"], progress="columns")
    shown = capsys.readouterr().err
    assert "columns" in shown
    assert "3/3" in shown
    tiny.encode(["name"])
    assert capsys.readouterr().err == ""


def test_not_strings(tiny, unchecked):
    with pytest.raises(UsageError, match="NoneType"):
        tiny.encode(["name", None])
    with pytest.raises(UsageError, match="one string"):
        tiny.encode("name")


def test_nothing_compiles_after_warm_up(tmp_path):
    encoder = load_encoder(str(write_model(tmp_path / "m")), batch_tokens=192, max_tokens=48)
    assert encoder.warm_up(bulk=True) > 3
    before = _forward()._cache_size()
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 20, 60, 300):
        encoder.encode(
            [" ".join(rng.choice(["name", "age", "zebra"], rng.integers(1, 60))) for _ in range(n)]
        )
        encoder.encode([f"{i}" for i in range(n)])
    assert _forward()._cache_size() == before


def test_strict_promotion_modes(tmp_path):
    folder = str(write_model(tmp_path / "m", seed=9))
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        vectors = load_encoder(folder, max_tokens=40).encode(["name age", "student"])
    assert np.isfinite(vectors).all()


def test_bfloat16_is_close(tmp_path):
    folder = str(write_model(tmp_path / "m"))
    texts = ["name", "student age", "zebra crossing"]
    low, full = load_encoder(folder, dtype=jax.numpy.bfloat16), load_encoder(folder)
    assert low.name != full.name
    with jax.numpy_dtype_promotion("standard"):  # flax widens the sums of a norm by promotion
        vectors = low.encode(texts)
    assert vectors.dtype == np.float32
    assert (vectors * full.encode(texts)).sum(1).min() > 0.99


def test_long_rows_keep_to_known_shapes():
    lengths = np.array([3, 70, 130, 64])
    assert [(row, chosen.tolist()) for row, chosen in packing.plan(lengths)] == [
        (256, [2]),
        (128, [1]),
        (64, [0, 3]),
    ]
