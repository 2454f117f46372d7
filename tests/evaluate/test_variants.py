from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from small_lakes import encoder, index_of, intent_of  # pyright: ignore[reportMissingImports]

from graftjax.errors import UsageError
from graftjax.evaluate.cases import Case
from graftjax.evaluate.datasets import Dataset
from graftjax.evaluate.variants import Bench, check_points, run_point
from graftjax.intent.query import Query
from graftjax.search.settings import Settings
from graftjax.types import Synthesis, TableId

TABLE = TableId("db", "clubs")


@dataclass
class Engine:
    """Always finds the same table."""

    settings: Settings = field(default_factory=Settings)
    asked: list = field(default_factory=list)

    def warm_up(self, budgets, intents=None):
        pass

    def search(self, question, intent, *, budget, fill=False):
        self.asked.append((question, budget, fill))
        return Synthesis((TABLE,), (), 1.0)


@pytest.fixture(scope="module")
def bench():
    index = index_of({"clubs": {"id": [1, 2], "name": ["AIB", "BNP"]}})
    query = Query("q", "Which clubs?", intent=intent_of({"Club": {}}))
    dataset = Dataset("tiny", "tiny", Path("."), Path("none"))
    return Bench(dataset, index, encoder(), (Case(query, (TABLE,)), Case(query, reason="no gold")), ())


def test_a_point_is_run_once(bench, tmp_path):
    engine = Engine()
    arguments = {"variant": "x=1", "method": "graft-fill", "budget": 3, "out": tmp_path, "config": {"x": 1}}
    first = run_point(bench, engine, **arguments)
    count = len(engine.asked)
    assert engine.asked[-1] == ("Which clubs?", 3, True)
    assert (first["metrics"]["f1"], first["n_skipped"]) == (1.0, 1)
    path = tmp_path / "x=1" / "tiny_graft-fill_L3_seed0.json"
    assert json.loads(path.read_text())["config"]["x"] == 1
    assert run_point(bench, engine, **arguments)["per_query"] == json.loads(path.read_text())["per_query"]
    assert len(engine.asked) == count
    run_point(bench, engine, **arguments, fresh=True)
    assert len(engine.asked) == 2 * count


@pytest.mark.parametrize("what", ["settings", "config", "question", "guide", "broken"])
def test_a_point_of_something_else_is_run_again(bench, tmp_path, what):
    engine = Engine()
    arguments = {"variant": "x", "method": "graft", "budget": 3, "out": tmp_path}
    run_point(bench, engine, **arguments)
    engine.asked.clear()
    if what == "settings":
        engine.settings = Settings(beam=2)
    elif what == "config":
        arguments["config"] = {"y": 2}
    elif what == "question":
        case = bench.cases[0]
        bench = bench.asking([replace(case, query=replace(case.query, question="And now?"))])
    elif what == "guide":
        arguments["guided_by"] = {"guidance": "learned", "checkpoint": "a"}
    else:
        (tmp_path / "x" / "tiny_graft_L3_seed0.json").write_text("{")
    run_point(bench, engine, **arguments)
    assert engine.asked


@pytest.mark.parametrize(
    ("methods", "budgets", "message"),
    [((), (5,), "--methods"), (("dtr",), (5,), "dtr"), (("graft",), (), "--L"), (("graft",), (0,), "--L")],
)
def test_wrong_points(methods, budgets, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        check_points(methods, budgets, tmp_path)


def test_an_output_that_is_a_file(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(UsageError, match="not a folder"):
        check_points(("graft",), (5,), tmp_path / "a")
