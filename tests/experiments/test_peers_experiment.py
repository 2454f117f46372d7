"""peers.py from a tiny benchmark to the blocks of a document."""

from __future__ import annotations

import json
import sys

import pytest
from scripts import EXPERIMENTS  # pyright: ignore[reportMissingImports]
from tiny_benchmark import SHARDS, write_benchmark  # pyright: ignore[reportMissingImports]
from tiny_bert import write_model  # pyright: ignore[reportMissingImports]

from graftjax.errors import UsageError
from graftjax.results.expected import read

QUERIES = [
    {
        "id": "a",
        "db_id": "school",
        "question": "Which students have a pet?",
        "gold_tables": ["Student", "Has_Pet"],
    },
    {"id": "b", "db_id": "school", "question": "How many students are there?", "gold_tables": ["Student"]},
]
DOCUMENT = """# Title
<!-- peers-spider: x -->
<!-- end of peers-spider -->
<!-- peers-gains: x -->
<!-- end of peers-gains -->
rest
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    write_benchmark(tmp_path / "data", "spider", {"seed": 5, "shards": SHARDS})
    lines = "\n".join(json.dumps(query) for query in QUERIES)
    (tmp_path / "data" / "spider" / "queries.jsonl").write_text(lines)
    encoder = write_model(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    import peers  # pyright: ignore[reportMissingImports]

    def run(*argv):
        monkeypatch.setattr(
            sys,
            "argv",
            ["peers.py", "--data-dir", "data", "--encoder", str(encoder), "--lakes", "spider", *argv],
        )
        return peers.main()

    return run


def test_summary_document_and_runs(run, tmp_path):
    (tmp_path / "README.md").write_text(DOCUMENT)
    methods = ("graft-fill", "dtr", "jar-lp+unions")
    assert run("--L", "3", "--methods", *methods, "--guidance", "exact", "--readme", "README.md") == 0
    found = read(tmp_path / "results" / "peers.yaml")
    figures = {name: one for name, one in found.figures.items() if name.endswith("/L3/f1")}
    assert set(figures) == {f"spider/{method}/L3/f1" for method in methods}
    assert all(one.n == 2 and one.skipped == 0 for one in figures.values())
    assert set(found.details["gains"]) == {"dtr", "jar-lp+unions", "best of each cell"}
    text = (tmp_path / "README.md").read_text()
    assert "| **graft-fill** | " in text
    assert "| jar-lp+unions | " in text
    assert text.startswith("# Title\n")
    assert text.endswith("rest\n")
    names = {path.name for path in (tmp_path / "results" / "peers").iterdir()}
    assert {"spider_graft-fill_L3_seed2.json", "spider_dtr_L3_seed0.json"} <= names


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--lakes", "spidre"], "--lakes spidre"),
        (["--readme", "none.md"], "no such file"),
        (["--methods", "dtr+union"], "unknown method"),
    ],
)
def test_wrong_arguments(run, argv, message):
    with pytest.raises(UsageError, match=message.replace("+", r"\+")):
        run(*argv)
