"""Which value function is taken, and what is said of it; real ones are in tests/training and tests/cli."""

from __future__ import annotations

from pathlib import Path

import pytest

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate import guidance
from graftjax.evaluate.guidance import Guidance, check_guidance, find_guidance, find_guidances, value_folder


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "lake-1"
    folder.mkdir()
    return folder


@pytest.fixture
def loaded(monkeypatch):
    """Loads anything but folders called `damaged`."""

    def load(folder: Path, encoder_name: str) -> Guidance:
        if (folder / "damaged").exists():
            raise GraftError(f"checkpoint {folder}: damaged")
        return Guidance(None, folder, 7, 2)

    monkeypatch.setattr(guidance, "_load", load)


def test_value_folders_are_beside_the_index(index):
    assert value_folder(index) == index.with_name("lake-1.value")
    assert value_folder(index, 3) == index.with_name("lake-1.value-seed3")


def test_auto_takes_the_given_one_then_the_lakes_own_then_none(index, loaded, tmp_path, capsys):
    assert find_guidance(index, "e").record() == {"guidance": "exact"}
    said = capsys.readouterr().err
    assert said.startswith("guided by exact gains")
    assert "graftjax train" in said
    value_folder(index).mkdir()
    assert find_guidance(index, "e").checkpoint == value_folder(index)
    other = tmp_path / "other"
    other.mkdir()
    found = find_guidance(index, "e", other)
    assert found.record() == {
        "guidance": "learned", "checkpoint": str(other), "step": 7, "training_seed": 2,
    }  # fmt: skip
    said = capsys.readouterr().err
    assert said.count("\n") == 2
    assert f"guided by {other}" in said


def test_a_lake_that_has_changed_since_the_training_is_told_of(index, loaded, capsys):
    """A value function went on being used without a word beside a lake that tables were added to."""
    own = value_folder(index)
    own.mkdir()
    (index / "current.json").write_text('{"digest": "now"}')
    for trained, told in (("then", True), ("now", False)):
        (own / "run.json").write_text(f'{{"lake": "{trained}"}}')
        assert find_guidance(index, "e").checkpoint == own
        assert ("has changed since its training" in capsys.readouterr().err) == told


def test_exact_takes_none_and_says_nothing(index, loaded, capsys):
    value_folder(index).mkdir()
    assert find_guidance(index, "e", mode="exact").checkpoint is None
    assert capsys.readouterr().err == ""


def test_learned_needs_one(index, loaded):
    with pytest.raises(GraftError, match="graftjax train") as raised:
        find_guidance(index, "e", mode="learned")
    assert not isinstance(raised.value, UsageError)


def test_a_damaged_one_of_the_lake_is_passed_over_by_auto_alone(index, loaded, capsys):
    (value_folder(index) / "damaged").mkdir(parents=True)
    assert find_guidance(index, "e").checkpoint is None
    assert "damaged" in capsys.readouterr().err
    for arguments in ((None, "learned"), (value_folder(index), "auto")):
        with pytest.raises(GraftError, match="damaged"):
            find_guidance(index, "e", *arguments)


def test_wrong_arguments(tmp_path):
    with pytest.raises(UsageError, match="no such checkpoint"):
        check_guidance([tmp_path / "none"], "auto")
    with pytest.raises(UsageError, match="leave --checkpoint out"):
        check_guidance([tmp_path], "exact")


def test_runs_with_several_seeds_take_the_value_functions_trained_with_those_seeds(index, loaded):
    def found(runs, mode="auto", checkpoints=(), seed=0):
        many = find_guidances(index, "e", checkpoints, mode, seed=seed, runs=runs)
        return [one.checkpoint for one in many]

    for seed in (0, 1, 2):
        (value_folder(index, seed) / f"step_{seed}").mkdir(parents=True)
    (value_folder(index, 3)).mkdir()
    own = [value_folder(index, seed) for seed in range(3)]
    assert found(3) == own
    assert found(5) == own, "a training that has saved nothing yet does not count"
    assert found(2, seed=1) == own[1:]
    assert found(1) == own[:1]
    assert found(3, checkpoints=own[1:2]) == own[1:2]
    assert found(3, mode="exact") == [None]
