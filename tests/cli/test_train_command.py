"""`graftjax train` on a small folder, and searches by what it leaves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tiny_bert import write_model  # pyright: ignore[reportMissingImports]
from tiny_lake import small_preset, write_csv  # pyright: ignore[reportMissingImports]

from graftjax import cli
from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.datasets import index_folder, resolve_dataset
from graftjax.evaluate.guidance import value_folder
from graftjax.lakes import folder_dataset
from graftjax.retrieval import learn
from graftjax.retrieval.train import FitSettings, fit_space
from graftjax.training import job

QUESTION = "Which students have a birth year?"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a lake, an encoder, and a value function trained by the command."""
    place = tmp_path_factory.mktemp("train")
    write_csv(place / "lake")
    encoder = write_model(place / "encoder")
    assert (
        cli.run(["index", str(place / "lake"), "--out", str(place / "index"), "--encoder", str(encoder)]) == 0
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "preset", small_preset)
        little = FitSettings(dimension=8, steps=20, batch=64)
        patch.setattr(learn, "fit_space", lambda *arguments: fit_space(*arguments[:-1], little))
        train(place)
        yield place


def train(place, *more):
    few = ["--steps", "5", "--trajectories", "32", "--held-out", "4", "--batch", "16"]
    return cli.run(["train", str(place / "index"), "--encoder", str(place / "encoder"), *few, *more])


def search(place, *more):
    common = ["--lake", str(place / "index"), "--encoder", str(place / "encoder"), "--L", "4", "--json"]
    return cli.run(["search", QUESTION, *common, *more])


@pytest.mark.slow
def test_a_trained_value_function_is_used(place, capsys):
    folder = value_folder(place / "index")
    capsys.readouterr()
    assert search(place, "--guidance", "learned") == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["guidance"], found["step"], found["training_seed"]) == ("learned", 5, 0)
    assert str(folder) in found["checkpoint"]
    assert len(found["tables"]) <= 4
    assert err.count("guided by") == 1
    assert search(place, "--guidance", "exact") == 0
    assert json.loads(capsys.readouterr().out)["guidance"] == "exact"


@pytest.mark.slow
def test_a_finished_run_prints_its_report_again(place, capsys):
    capsys.readouterr()
    assert train(place) == 0
    out, err = capsys.readouterr()
    assert "finished" in err
    assert "updates             5" in out
    assert str(value_folder(place / "index")) in out
    with pytest.raises(UsageError, match="another gamma"):
        train(place, "--gamma", "0.5")


@pytest.mark.slow
def test_a_damaged_checkpoint_is_one_line(place, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(value_folder(place / "index"), copy)
    for path in (copy / "step_00000005" / "state").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    with pytest.raises(GraftError, match="whole") as raised:
        search(place, "--checkpoint", str(copy))
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_fresh_removes_the_run_only(place, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(value_folder(place / "index"), copy)
    (copy / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="another seed"):
        train(place, "--out", str(copy), "--seed", "1")
    assert train(place, "--out", str(copy), "--seed", "1", "--fresh") == 0
    assert (copy / "step_00000005").is_dir()
    assert json.loads((copy / "run.json").read_text())["seed"] == 1
    assert (copy / "notes.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "neither demo, spider, bird nor a folder"),
        (["demo", "--preset", "huge"], "huge"),
        (["demo", "--steps", "0"], "steps must be at least 1"),
        (["demo", "--trajectories", "0"], "trajectories must be at least 1"),
        (["demo", "--gamma", "1.5"], "gamma must lie in"),
        (["demo", "--expectile", "1"], "expectile must lie between"),
        (["demo", "--learning-rate", "-1"], "learning_rate must be positive"),
        (["demo", "--seed", "-1"], "can't be negative"),
        (["demo", "--sampler", "pagerank"], "pagerank"),
        (["demo", "--out", __file__], "not a folder"),
        (["spider", "--data-dir", "nowhere"], "no such folder"),
    ],
)
def test_wrong_arguments_are_one_line(arguments, said):
    with pytest.raises(UsageError, match=said) as raised:
        cli.run(["train", *arguments])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["lake", "my tables", "spider"])
def test_every_command_keeps_the_index_of_a_folder_in_one_place(name, tmp_path, monkeypatch):
    """Experiments look for a lake's value function beside its index: there `train` and `search` work too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / name)
    (tmp_path / "q.jsonl").touch()
    dataset = resolve_dataset(str(tmp_path / name), queries=tmp_path / "q.jsonl")
    folder = Path(name)
    assert index_folder(folder_dataset(folder)) == index_folder(dataset)
    assert folder_dataset(folder).title == name
    assert cli.run(["index", f"./{name}", "--encoder", str(write_model(tmp_path / "encoder"))]) == 0
    assert (index_folder(dataset) / "current.json").is_file()


def test_a_lake_of_one_table_is_one_line(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "cats.csv").write_text("name,age\nTom,3\nKit,4\n")
    encoder = write_model(tmp_path / "encoder")
    with pytest.raises(GraftError, match="at least two tables"):
        cli.run(["train", str(tmp_path / "lake"), "--encoder", str(encoder)])


def test_a_folder_of_other_files_is_never_a_run_folder(tmp_path):
    write_csv(tmp_path / "lake")
    encoder = write_model(tmp_path / "encoder")
    for more in ([], ["--fresh"]):
        with pytest.raises(UsageError, match="no training run"):
            cli.run(
                [
                    "train",
                    str(tmp_path / "lake"),
                    "--encoder",
                    str(encoder),
                    "--out",
                    str(tmp_path / "lake"),
                    *more,
                ]
            )
    assert (tmp_path / "lake" / "students.csv").exists()


def test_a_missing_checkpoint_is_one_line(tmp_path):
    for command in (["search", "who?", "--lake", str(tmp_path)], ["demo"]):
        with pytest.raises(UsageError, match="no such checkpoint"):
            cli.run([*command, "--checkpoint", str(tmp_path / "none")])
        with pytest.raises(UsageError, match="leave --checkpoint out"):
            cli.run([*command, "--checkpoint", str(tmp_path), "--guidance", "exact"])
