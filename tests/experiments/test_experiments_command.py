"""The experiments as a user calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import EXPERIMENTS  # pyright: ignore[reportMissingImports]

import graftjax
from graftjax.console import run_console
from graftjax.errors import GraftError, UsageError


def call(script, *arguments, cwd):
    # The same graftjax as this process has, installed or not.
    environment = {**os.environ, "PYTHONPATH": str(Path(graftjax.__file__).resolve().parents[1])}
    command = [sys.executable, str(EXPERIMENTS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=400)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nonsense", "1"], "--nonsense"),
        (["--lake", "spyder"], "spyder"),
        (["--queries", "missing.jsonl"], "missing.jsonl: no such file"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments, message, tmp_path):
    done = call("spider.py", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert not done.stdout
    assert not list(tmp_path.iterdir())


def test_help_lists_the_published_flags(tmp_path):
    done = call("bird.py", "--help", cwd=tmp_path)
    assert done.returncode == 0
    for flag in (
        "--L", "--methods", "--lake", "--data-dir", "--queries", "--checkpoint", "--seed", "--runs", "--out",
        "--intents", "--index", "--guidance",
    ):  # fmt: skip
        assert f"{flag} " in done.stdout


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("a\nb"), 2), (GraftError("a\nb"), 1), (KeyboardInterrupt(), 130)],
)
def test_known_errors_are_one_line(error, code, capsys):
    def main():
        raise error

    with pytest.raises(SystemExit) as stop:
        run_console(main, "spider.py")
    assert stop.value.code == code
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_other_errors_keep_their_traceback():
    with pytest.raises(ZeroDivisionError):
        run_console(lambda: 1 // 0, "spider.py")
    with pytest.raises(SystemExit) as stop:
        run_console(lambda: None, "spider.py")
    assert stop.value.code == 0


@pytest.mark.slow
def test_scaling_measures_each_size_once(tmp_path):
    arguments = ("--lake", "demo", "--runs", "1", "--out", "out", "--work", "work")
    done = call("scaling.py", *arguments, "--sizes", "190", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "out" / "scaling_demo_n190_seed0.json"
    record = json.loads(path.read_text())
    assert record["search"]["latency_ms"]["p95"] > 0
    assert not list((tmp_path / "work").iterdir())  # indexes are removed
    # A size that is on file is taken from there.
    path.write_text(json.dumps({**record, "index_s": 12345.0}))
    second = json.dumps({**record, "size": 380})
    (tmp_path / "out" / "scaling_demo_n380_seed0.json").write_text(second)
    done = call("scaling.py", *arguments, "--sizes", "190", "380", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12345.0" in done.stdout
    assert "search, mean (ms): n^0.00" in done.stdout
    summary = json.loads((tmp_path / "out" / "scaling_demo_seed0.json").read_text())
    assert [one["size"] for one in summary["sizes"]] == [190, 380]
    assert (tmp_path / "out" / "scaling_demo_seed0.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--sizes", "5"], "--sizes 5"), (["--lake", "bird"], "bird"), (["--runs", "0"], "--runs")],
)
def test_mistakes_of_scaling_are_one_line(arguments, message, tmp_path):
    given = arguments if "--lake" in arguments else ["--lake", "demo", *arguments]
    done = call("scaling.py", *given, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
