"""The generator: the same bytes in every run, and what `--check` and `--out` do."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from graftjax.demo import generate
from graftjax.demo.generate import main


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """One fresh generation, by the command line, under another hash seed than the tests' own."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    _run("--out", str(folder), seed="1")
    return folder


@pytest.fixture
def copy(fresh, tmp_path):
    return shutil.copytree(fresh, tmp_path / "copy")


def _run(*arguments, seed):
    command = [sys.executable, "-m", "graftjax.demo.generate", *arguments]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed})


def _one(folder, suffix):
    return sorted((folder / "lake").rglob(f"*{suffix}"))[0]


def test_two_runs_write_the_same_bytes(fresh, tmp_path):
    _run("--out", str(tmp_path), seed="2")
    texts = [p.relative_to(fresh) for p in fresh.rglob("*") if p.suffix in (".csv", ".jsonl")]
    assert len(texts) > 100
    assert [p for p in texts if (fresh / p).read_bytes() != (tmp_path / p).read_bytes()] == []


def test_check_says_that_nothing_differs(fresh, capsys):
    assert main(["--check", "--out", str(fresh)]) == 0
    assert "up to date" in capsys.readouterr().out


def _cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def _change_row(path):
    with closing(sqlite3.connect(path)) as connection:
        (name,) = connection.execute("SELECT name FROM sqlite_master ORDER BY name").fetchone()
        connection.execute(f'DELETE FROM "{name}" WHERE rowid = 1')
        connection.commit()


@pytest.mark.parametrize(
    ("suffix", "harm", "said"),
    [
        (".csv", _cut, "differs"),
        (".parquet", _cut, "differs"),
        (".sqlite", _change_row, "differs"),
        (".sqlite", lambda path: path.write_text("no database"), "differs"),
        (".parquet", lambda path: path.unlink(), "missing"),
        (".csv", lambda path: path.with_name("zz_extra.csv").write_text("a\n1\n"), "missing"),
    ],
)
def test_check_names_what_differs(copy, capsys, suffix, harm, said):
    harm(_one(copy, suffix))
    assert main(["--check", "--out", str(copy)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert said in lines[0]


def test_check_of_a_folder_without_a_demo_reports_every_file(tmp_path, capsys):
    assert main(["--check", "--out", str(tmp_path)]) == 1
    assert len(capsys.readouterr().out.splitlines()) > 100


def test_a_folder_in_use_is_left_alone(copy, capsys):
    kept = _one(copy, ".csv")
    kept.write_text("mine")
    assert main(["--out", str(copy)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert kept.read_text() == "mine"


def test_an_output_folder_that_is_a_file_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["--out", str(tmp_path / "file")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_packages_own_folder_is_brought_up_to_date(copy, monkeypatch):
    monkeypatch.setattr(generate, "BUNDLED", copy)
    _cut(_one(copy, ".csv"))
    _one(copy, ".parquet").unlink()
    (copy / "lake" / "old.csv").write_text("a\n1\n")
    untouched = _one(copy, ".sqlite")
    before = untouched.stat().st_mtime_ns
    assert main(["--out", str(copy)]) == 0
    assert main(["--check", "--out", str(copy)]) == 0
    assert untouched.stat().st_mtime_ns == before
