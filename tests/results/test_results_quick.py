"""The quick run over a tiny benchmark: put on record, repeated, and compared."""

from __future__ import annotations

import json

import pytest
from tiny_benchmark import SHARDS, write_benchmark  # pyright: ignore[reportMissingImports]
from tiny_bert import write_model  # pyright: ignore[reportMissingImports]

from graftjax.errors import GraftError
from graftjax.results import quick
from graftjax.results.__main__ import run
from graftjax.results.expected import Expected, read, write
from graftjax.results.verdicts import counts

QUERIES = [
    {"id": "a", "db_id": "school", "question": "Which students have a pet?", "gold_tables": ["Student"]},
    {"id": "b", "db_id": "school", "question": "How many pets are there?", "gold_tables": ["Has_Pet"]},
]


@pytest.fixture
def arguments(tmp_path, monkeypatch):
    write_benchmark(tmp_path / "data", "spider", {"seed": 5, "shards": SHARDS})
    lines = "\n".join(json.dumps(query) for query in QUERIES)
    (tmp_path / "data" / "spider" / "queries.jsonl").write_text(lines)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "results").mkdir()
    encoder = write_model(tmp_path / "tiny")
    data = str(tmp_path / "data")
    return ["--data-dir", data, "--encoder", str(encoder), "--results", str(tmp_path / "results")]


@pytest.mark.slow
def test_record_check_and_a_changed_record(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(quick, "PEER_METHODS", ("dtr",))
    assert run(["record", "--lakes", "spider", "bird", *arguments]) == 0
    path = tmp_path / "results" / "quick.yaml"
    recorded = read(path)
    assert {name.split("/")[1] for name in recorded.figures} == {
        "graft by exact gains",
        "graft-fill by exact gains",
    }
    assert all(one.n == 2 and one.skipped == 0 for one in recorded.figures.values())
    peers = {**recorded.model_dump(), "experiment": "peers", "figures": {}}
    write(tmp_path / "results" / "peers.yaml", Expected(**peers))

    assert run(["check", "--lakes", "spider", *arguments]) == 0
    assert "8 OK, 0 NEAR, 0 OFF, 0 not run" in capsys.readouterr().out
    with pytest.raises(GraftError, match="not one figure"):
        run(["check", "--lakes", "bird", *arguments])

    name = "spider/graft-fill by exact gains/L10/f1"
    moved = recorded.figures[name].model_copy(update={"value": recorded.figures[name].value + 0.1})
    write(path, recorded.model_copy(update={"figures": {**recorded.figures, name: moved}}))
    capsys.readouterr()
    assert run(["check", "--lakes", "spider", *arguments]) == 1
    assert "7 OK, 0 NEAR, 1 OFF, 0 not run" in capsys.readouterr().out


@pytest.mark.slow
def test_a_method_that_can_not_start_is_off_and_the_others_run(arguments, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr("graftjax.peers.dtr.Dtr.warm_up", broken)
    found = quick.repeat("spider", data_dir=tmp_path / "data", encoder=arguments[3], peers=("dtr",))
    assert found.crashed == {"dtr": "RuntimeError: boom"}
    assert "spider/graft by exact gains/L10/f1" in found.figures
    expected = quick.on_record([found])
    also = {"spider/dtr/L10/f1": next(iter(expected.figures.values()))}
    verdicts = quick.verdicts_of(found, [expected.model_copy(update={"figures": also})])
    assert counts(verdicts)["OFF"] == 1
