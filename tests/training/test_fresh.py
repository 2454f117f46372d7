from __future__ import annotations

import pytest

from graftjax.errors import UsageError
from graftjax.training.fresh import check_run_folder, remove_run

OWN = (
    "run.json",
    "report.json",
    "metrics.jsonl",
    "space/space.npz",
    "space/space.json",
    "trajectories/samples.json",
    "trajectories/chunk-000000-abc.parquet",
    "episodes/episodes_0000000_128.npz",
    "held_out/episodes_0000000_128.npz",
    "step_00000500/checkpoint.json",
    "step_00000500/state/array/0",
    ".draft-0123456789ab/state/0",
    "episodes/.draft-0123456789ab",
    ".draft-ba9876543210",
)


def write(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def test_only_what_a_run_made_is_removed(tmp_path):
    write(tmp_path, *OWN, "notes.txt", "trajectories/mine.csv")
    remove_run(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert left == {"notes.txt", "trajectories", "trajectories/mine.csv"}


def test_a_whole_run_leaves_an_empty_folder(tmp_path):
    write(tmp_path, *OWN)
    remove_run(tmp_path)
    assert not list(tmp_path.iterdir())
    remove_run(tmp_path)
    remove_run(tmp_path / "missing")


def test_a_folder_of_other_files_is_refused(tmp_path):
    write(tmp_path, "step_by_step.txt", "report.json")
    for function in (remove_run, check_run_folder):
        with pytest.raises(UsageError, match="no training run"):
            function(tmp_path)
    with pytest.raises(UsageError, match="not a folder"):
        remove_run(tmp_path / "report.json")
    assert len(list(tmp_path.iterdir())) == 2


def test_links_are_removed_not_followed(tmp_path):
    other, run = tmp_path / "other", tmp_path / "run"
    write(other, "kept.txt")
    write(run, "run.json")
    (run / "step_00000001").symlink_to(other)
    remove_run(run)
    assert (other / "kept.txt").exists()
    assert not (run / "step_00000001").is_symlink()
