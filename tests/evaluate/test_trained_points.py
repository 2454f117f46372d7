from __future__ import annotations

import pytest

from graftjax.evaluate.trained_points import FREE, lend
from graftjax.files import read_json, write_json

IDENTITY = {
    "lake": "a",
    "encoder": "e",
    "seed": 0,
    "sampler": "centrality",
    "gamma": 0.8,
    "trajectories": 256,
}


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    write_json(folder / "run.json", IDENTITY)
    for name in (
        "trajectories/chunk-0.parquet", "trajectories/samples.json", "space/space.npz",
        "episodes/episodes_0000000_128.npz", "held_out/episodes_0000256_8.npz", "step_00000010/x",
        "report.json",
    ):  # fmt: skip
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def files(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_what_a_run_collected_is_lent_and_nothing_it_learned(source, tmp_path):
    before, target = files(source), tmp_path / "target"
    other = {**IDENTITY, "gamma": 0.2, "trajectories": 128, "steps": 5}
    assert lend(source, target, other)
    assert set(files(target)) == {
        "run.json", "trajectories/chunk-0.parquet", "space/space.npz", "episodes/episodes_0000000_128.npz",
        "held_out/episodes_0000256_8.npz",
    }  # fmt: skip
    assert read_json(target / "run.json") == other
    (target / "space" / "space.npz").unlink()
    assert files(source) == before


@pytest.mark.parametrize("name", ["lake", "encoder", "seed", "sampler", "wording"])
def test_a_run_of_something_else_lends_nothing(source, tmp_path, name):
    assert name not in FREE
    assert not lend(source, tmp_path / "target", {**IDENTITY, name: "other"})
    assert not (tmp_path / "target").exists()


def test_no_run_and_the_run_itself_lend_nothing(source, tmp_path):
    assert not lend(tmp_path / "none", tmp_path / "target", IDENTITY)
    assert not lend(source, source, IDENTITY)
