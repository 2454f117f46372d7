"""spider.py and bird.py with the real index.

A tiny encoder of random weights and a small lake in the demo lake's place keep the tests fast.
"""

from __future__ import annotations

import json

import pytest
from scripts import imported  # pyright: ignore[reportMissingImports]
from tiny_bert import write_model  # pyright: ignore[reportMissingImports]

from graftjax.console import parse_arguments
from graftjax.errors import GraftError, UsageError
from graftjax.evaluate import datasets, guidance
from graftjax.evaluate.guidance import Guidance


@pytest.fixture(scope="module")
def tables():
    with imported("_tables") as module:
        yield module


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Eight tables of two topics, two of them shards, and a file of three questions."""
    folder = tmp_path_factory.mktemp("lake")
    rows = {
        "students": ["student_id,name,age", *(f"s{n},Name {n},{n + 18}" for n in range(9))],
        "enrolments": ["student_id,course_id", *(f"s{n},c{n % 4}" for n in range(9))],
        "courses_1": ["course_id,title,credits", "c0,Algebra,5", "c1,Botany,3"],
        "courses_2": ["course_id,title,credits", "c2,Chemistry,4", "c3,Drama,2"],
        "ships": ["ship_id,ship,tonnage", *(f"h{n},Ship {n},{n * 900}" for n in range(1, 7))],
        "harbours": ["harbour_id,harbour,country", *(f"p{n},Port {n},Land {n}" for n in range(6))],
        "calls": ["ship_id,harbour_id,day", *(f"h{n},p{n % 6},2020-01-0{n}" for n in range(1, 7))],
        "empty": ["only,headers"],
    }
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    questions = [
        ("Which students take Drama?", "student", ["students", "enrolments", "courses_1", "courses_2"]),
        ("How old is each student?", "student", ["students"]),
        ("Which ships called at Port 3?", "ship", ["ships", "calls", "harbours"]),
    ]
    records = [
        {
            "id": f"q{number}",
            "question": question,
            "gold": [["", name] for name in gold],
            "intent": {"trees": [{"tree_id": "t1", "entity": entity, "attributes": []}], "joins": []},
        }
        for number, (question, entity, gold) in enumerate(questions)
    ]
    queries = tmp_path_factory.mktemp("queries") / "queries.jsonl"
    queries.write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder, queries


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return tmp_path_factory.mktemp("index") / "demo"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture
def run(tables, lake, index, encoder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAFTJAX_DATA", raising=False)
    monkeypatch.setattr(datasets, "lake_folder", lambda: lake[0])
    monkeypatch.setattr(datasets, "queries_file", lambda: lake[1])

    def run(*argv, benchmark="spider"):
        common = ["--index", str(index), "--encoder", str(encoder)]
        return tables.run_tables(parse_arguments(tables.Args, [*common, *argv]), benchmark)

    return run


def test_demo_instead_of_missing_spider(run, tmp_path, capsys):
    assert run("--L", "10", "5", "--methods", "dtr", "--runs", "2", "--seed", "4") == 0
    captured = capsys.readouterr()
    assert "DEMO LAKE" in captured.err
    assert "paper" in captured.out
    assert "for orientation only" in captured.out
    names = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert names == sorted(f"demo_dtr_L{budget}_seed{seed}.json" for budget in (5, 10) for seed in (4, 5))
    record = json.loads((tmp_path / "results" / "demo_dtr_L10_seed4.json").read_text())
    assert record["lake"] == "demo"
    assert (record["n_queries"], record["n_skipped"]) == (3, 0)
    assert record["recompiles_after_warmup"] == 0
    assert record["metrics"]["recall"] == 1  # the lake has eight tables
    assert record["per_query"][0]["notes"] == ["the lake has only 8 tables (8 of 10)"]
    five = json.loads((tmp_path / "results" / "demo_dtr_L5_seed5.json").read_text())
    assert five["mean_retrieved"] == 5
    assert five["metrics"]["precision"] < 1
    assert record["config"]["L"] == [10, 5]
    assert record["environment"]["devices"]


def test_graft_methods_on_the_demo_lake(run, tmp_path):
    pytest.importorskip("graftjax.search.engine")
    assert run("--lake", "demo", "--L", "5", "--methods", "graft", "graft-fill", "--out", "out") == 0
    stop, fill = (
        json.loads((tmp_path / "out" / f"demo_{name}_L5_seed0.json").read_text())
        for name in ("graft", "graft-fill")
    )
    for record in (stop, fill):
        assert record["n_skipped"] == 0
        assert record["recompiles_after_warmup"] == 0
        assert all(one["synthesis"]["tables"] == one["retrieved"] for one in record["per_query"])
    assert fill["mean_retrieved"] >= stop["mean_retrieved"]


def test_each_run_has_the_value_function_of_its_place(run, tmp_path, monkeypatch):
    """Or all the same one; what is written says which."""
    asked = []

    def found(folder, encoder_name, checkpoint, mode):
        asked.append(checkpoint)
        return Guidance(None, checkpoint, 5, len(asked))

    monkeypatch.setattr(guidance, "find_guidance", found)
    names = [tmp_path / name for name in "ab"]
    for name in names:
        name.mkdir()
    common = ["--lake", "demo", "--L", "2", "--methods", "graft", "dtr", "--runs", "2", "--seed", "3"]
    for out, given in (("each", names), ("one", names[1:])):
        assert run(*common, "--out", out, "--checkpoint", *map(str, given)) == 0
    assert asked == [*names, names[1]]

    def guided_by(out, method, seed):
        path = tmp_path / out / f"demo_{method}_L2_seed{seed}.json"
        return json.loads(path.read_text())["config"]["guided_by"]

    assert [guided_by("each", "graft", seed)["checkpoint"] for seed in (3, 4)] == [*map(str, names)]
    assert [guided_by("one", "graft", seed)["checkpoint"] for seed in (3, 4)] == [str(names[1])] * 2
    assert guided_by("each", "graft", 3) == {
        "guidance": "learned", "checkpoint": str(names[0]), "step": 5, "training_seed": 1,
    }  # fmt: skip
    assert guided_by("each", "dtr", 3) is None


def test_a_run_without_any_score_is_an_error(run, tmp_path, capsys):
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "Who?"}\n')
    with pytest.raises(GraftError, match="not one scored"):
        run("--lake", "demo", "--queries", "q.jsonl", "--methods", "dtr", "--L", "3")
    record = json.loads((tmp_path / "results" / "demo_dtr_L3_seed0.json").read_text())
    assert record["metrics"] is None
    assert "1 of 1 queries skipped" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--L", "0"], "--L"),
        (["--L"], "--L"),
        (["--L", "ten"], "--L"),
        (["--runs", "0"], "--runs"),
        (["--seed", "-1"], "--seed"),
        (["--methods", "grafft"], "grafft"),
        (["--methods", "graft+unions"], "unknown method"),
        (["--checkpoint", "none"], "no such checkpoint"),
        (["--checkpoint", "file", "file"], "2 value functions for 1 runs"),
        (["--checkpoint", "file", "--guidance", "exact"], "leave --checkpoint out"),
        (["--guidance", "guessed"], "guessed"),
        (["--out", "file"], "not a folder"),
        (["--intents", "guessed"], "guessed"),
        (["--data-dir", "none"], "no such folder"),
    ],
)
def test_wrong_arguments(run, tmp_path, argv, message):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=message):
        run(*argv)
    assert not (tmp_path / "results").exists()
