"""enrichment.py from made sources to the blocks of a document."""

from __future__ import annotations

import json
import sys

import pytest
from scripts import EXPERIMENTS  # pyright: ignore[reportMissingImports]
from tiny_bert import write_model  # pyright: ignore[reportMissingImports]

from graftjax.errors import UsageError
from graftjax.results.expected import read

pytest.importorskip("sklearn")
DOCUMENT = """# Title
<!-- enrichment-regression: x -->
<!-- end of enrichment-regression -->
<!-- enrichment-classification: x -->
<!-- end of enrichment-classification -->
rest
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    encoder = write_model(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    import enrichment  # pyright: ignore[reportMissingImports]

    def run(*argv):
        arguments = ["--lake", "demo", "--rows", "120", "--workers", "1", "--encoder", str(encoder)]
        monkeypatch.setattr(sys, "argv", ["enrichment.py", *arguments, *argv])
        return enrichment.main()

    return run


def test_summary_document_plot_and_runs(run, tmp_path, capsys):
    (tmp_path / "README.md").write_text(DOCUMENT)
    few = (
        "--sources",
        "crop_harvests",
        "clinic_visits",
        "--L",
        "3",
        "--methods",
        "dtr",
        "rear+unions",
        "--runs",
        "2",
    )
    assert run(*few, "--readme", "README.md", "--plot", "docs/e.svg") == 0
    found = read(tmp_path / "results" / "enrichment.yaml")
    lake = "demo-enrichment_regression"
    for method in ("dtr", "rear+unions", "base", "oracle", "random"):
        figure = found.figures[f"{lake}/{method}/L3/nrmse"]
        assert figure.value > 0
        assert figure.runs == (3 if method == "random" else 2)
    assert found.figures[f"{lake}/oracle/L3/recall"].value == 1
    assert set(found.details["gap_closed"]) <= {lake, "demo-enrichment_classification"}
    text = (tmp_path / "README.md").read_text()
    assert "| dtr | " in text
    assert "*all gold pieces*" in text
    assert "*paper: GRAFT*" not in text  # these are no sources of the paper's kind
    assert text.endswith("rest\n")
    assert (tmp_path / "docs" / "e.svg").read_text().startswith("<svg")
    file = tmp_path / "results" / "enrichment" / "demo-enrichment-regression_dtr_L3_seed0.json"
    record = json.loads(file.read_text())
    assert record["n_skipped"] == 0
    assert record["per_query"][0]["downstream"]["nrmse"] == pytest.approx(record["metrics"]["nrmse"])


def test_the_leak_test_writes_no_summary(run, tmp_path, capsys):
    assert run("--sources", "clinic_visits", "--L", "3", "--methods", "dtr", "--shuffle-target") == 0
    assert "over the trivial guess" in capsys.readouterr().out
    assert not list(tmp_path.rglob("*.yaml"))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--workers", "-1"], "--workers"),
        (["--readme", "none.md"], "no such file"),
        (["--methods", "dtr+union"], "unknown method"),
        (["--sources", "nothing"], "none of the sources"),
        (["--rows", "3"], "at least 40 rows"),
    ],
)
def test_wrong_arguments(run, argv, message):
    with pytest.raises(UsageError, match=message.replace("+", r"\+")):
        run(*argv)


def test_open_data_that_are_not_there(run, tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(UsageError, match="open_data"):
        run("--lake", "open-data", "--data-dir", "data")


def test_without_scikit_learn_one_line_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(UsageError, match="pip install"):
        run()
