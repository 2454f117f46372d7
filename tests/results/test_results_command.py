"""The command line of graftjax.results."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from made_runs import ALL, HALF, made_run, put  # pyright: ignore[reportMissingImports]

from graftjax.errors import GraftError, UsageError
from graftjax.results.__main__ import run
from graftjax.results.expected import Expected, Figure, write


@pytest.fixture
def sweep(tmp_path):
    for beams, found in ((2, HALF), (16, ALL)):
        for budget in (5, 10):
            put(
                tmp_path / f"b{beams}" / f"L{budget}.json", made_run(found, L=budget, config={"beams": beams})
            )
    return tmp_path


def test_table_csv_json_and_plot(sweep, capsys):
    paths = {kind: sweep / f"out.{kind}" for kind in ("csv", "json", "svg")}
    files = [
        part for kind, path in paths.items() for part in (f"--{'plot' if kind == 'svg' else kind}", str(path))
    ]
    assert run(["summarise", str(sweep / "b*"), *files]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split()[:4] == ["lake", "L", "beams", "method"]
    assert shown[1].split()[:4] == ["spider", "5", "2", "graft"]
    with paths["csv"].open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["L"], row["beams"], float(row["f1"])) for row in rows] == [
        ("5", "2", 0.5), ("5", "16", 1.0), ("10", "2", 0.5), ("10", "16", 1.0),
    ]  # fmt: skip
    found = json.loads(paths["json"].read_text())
    assert found["by"] == ["beams"]
    assert found["rows"][1]["metrics"]["f1"]["mean"] == 1.0
    root = ET.fromstring(paths["svg"].read_text())
    assert len(root.findall("{*}circle")) == 4
    words = {text.text for text in root.findall("{*}text")}
    assert {"spider: f1", "beams", "2", "16", "graft L=5", "graft L=10"} <= words


def test_a_refused_file_costs_the_exit_code_and_nothing_else(sweep, capsys):
    (sweep / "b2" / "cut.json").write_text("{")
    assert run(["summarise", str(sweep)]) == 1
    shown = capsys.readouterr().out
    assert "! refused: " in shown
    assert "cut.json" in shown
    assert shown.count("graft") == 4


def test_a_crashed_run_shows_dashes(tmp_path, capsys):
    put(tmp_path / "x.json", made_run({}, skipped=("q0", "q1")))
    assert run(["summarise", str(tmp_path), "--plot", str(tmp_path / "x.svg")]) == 1
    line = capsys.readouterr().out.splitlines()[1]
    assert line.split()[3:7] == ["–"] * 4
    assert ET.fromstring((tmp_path / "x.svg").read_text()).findall("{*}circle") == []


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["summarise", "none"], "none: no such file"),
        (["summarise"], "PATH|path|required"),
        (["summarise", "{}", "--by", "nothing"], "--by nothing"),
        (["summarise", "{}", "--metric", "f2"], "--metric f2"),
        (["summarise", "{}", "--x", "beam", "--plot", "x.svg"], "--x beam"),
        (["check", "--lakes", "moon"], "--lakes moon"),
        (["check", "--results", "none"], "--results none"),
        (["readme", "--results", "{}"], "no \\*.yaml there"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_mistakes_are_told(sweep, argv, message):
    with pytest.raises(UsageError, match=message) as error:
        run([part.format(sweep) for part in argv])
    assert "\n" not in str(error.value)


def test_a_mistake_exits_with_2_in_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "graftjax.results", "summarise", "none"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "python -m graftjax.results: none: no such file or folder\n"


@pytest.fixture
def recorded(tmp_path):
    figures = {
        f"spider/gamma={gamma}/graft/L10/f1": Figure(
            value=value, low=value - 0.1, high=value + 0.1, paper=0.6
        )
        for gamma, value in ((0.2, 0.4), (0.8, 0.66))
    }
    found = Expected(experiment="x", command="x", date="2026-01-01", environment={}, figures=figures)
    write(tmp_path / "results" / "sensitivity.yaml", found)
    (tmp_path / "README.md").write_text("top\n<!-- beside-paper: x -->\n<!-- end of beside-paper -->\nend\n")
    return tmp_path


def test_the_document_is_written_from_the_record_and_compared_with_it(recorded):
    where = ["--document", str(recorded / "README.md"), "--results", str(recorded / "results")]
    with pytest.raises(GraftError, match="is not what results/ says"):
        run(["readme", *where, "--check"])
    assert run(["readme", *where]) == 0
    assert run(["readme", *where, "--check"]) == 0
    text = (recorded / "README.md").read_text()
    assert "| Fig. 3 | spider, gamma=0.8/graft | 10 | f1 | 0.660 [0.56, 0.76] | 0.600 |" in text
    assert "ablation_reward (7)" in text
    assert text.startswith("top\n")
    assert text.endswith("end\n")
    (recorded / "README.md").write_text(text.replace("0.660", "0.760"))
    with pytest.raises(GraftError, match="is not what results/ says"):
        run(["readme", *where, "--check"])


def test_a_sweep_on_record_is_drawn_over_its_field(recorded, capsys):
    assert run(["plots", "--results", str(recorded / "results"), "--out", str(recorded)]) == 0
    root = ET.fromstring((recorded / "sensitivity.svg").read_text())
    assert {"gamma", "0.2", "0.8", "paper", "graft L=10"} <= {text.text for text in root.findall("{*}text")}
    assert len(root.findall("{*}circle")) == 4
