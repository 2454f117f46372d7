from __future__ import annotations

import json

import numpy as np
import pytest

from graftjax.errors import GraftError
from graftjax.evaluate.cases import Case
from graftjax.evaluate.environment import environment
from graftjax.evaluate.paper import paper_budgets, paper_latency_s, paper_scores, paper_statistics
from graftjax.evaluate.report import retrieval_table, statistics_table
from graftjax.evaluate.runs import run_method, run_record, synthesis_record, write_record
from graftjax.intent import Query
from graftjax.peers import Retrieval
from graftjax.types import AtomSupport, Operator, Skip, Synthesis, TableId

T = [TableId("db", f"t{number}") for number in range(6)]


class Scripted:
    """Answers by the question: `crash`, `twice`, `many`, or the first tables."""

    name = "scripted"

    def __init__(self):
        self.asked = []

    def warm_up(self, budgets): ...

    def retrieve(self, query, budget, seed):
        self.asked.append(query.id)
        match query.question:
            case "crash":
                raise ZeroDivisionError("division by zero")
            case "twice":
                return Retrieval((T[0], T[0]))
            case "many":
                return Retrieval(tuple(T))
            case "nothing":
                return Retrieval((), notes=("no words",))
        return Retrieval(tuple(T[:budget]), Synthesis(tuple(T[:budget]), (), 1.5))


def case(id, question="plain", gold=(T[0], T[1]), reason=""):
    return Case(Query(id, question), tuple(gold), reason)


def record_of(cases, **kwargs):
    run = run_method(Scripted(), cases, budget=2, progress=False, **kwargs)
    return run_record(run, lake="demo", config={"L": (2,)}, environment={"cpu": "x"})


def test_crashes_and_broken_answers_are_skipped_and_never_scored():
    record = record_of(
        [
            case("a"),
            case("b", "crash"),
            case("c", "twice"),
            case("d", "many"),
            case("e", gold=(), reason="no gold"),
        ]
    )
    assert (record["n_queries"], record["n_skipped"]) == (5, 4)
    assert record["metrics"] == {"recall": 1.0, "precision": 1.0, "f1": 1.0, "sufficiency": 1.0}
    assert [one["id"] for one in record["per_query"]] == ["a"]
    reasons = {one["id"]: one["reason"] for one in record["skipped"]}
    assert reasons["b"] == "ZeroDivisionError: division by zero"
    assert "twice" in reasons["c"]
    assert "budget of 2" in reasons["d"]
    assert reasons["e"] == "no gold"


def test_an_empty_answer_is_a_score_of_zero():
    record = record_of([case("a"), case("b", "nothing")])
    assert record["n_skipped"] == 0
    assert record["metrics"]["recall"] == 0.5
    assert record["per_query"][1]["notes"] == ["no words"]


def test_when_all_is_skipped_there_is_no_score():
    for cases in ([], [case("a", "crash")]):
        record = record_of(cases)
        assert record["metrics"] is None
        assert record["latency_ms"] is None
        assert record["n_skipped"] == len(cases)
        table = retrieval_table([record], title="demo", encoder="e", paper="spider")
        assert "0.000" not in table.split("paper")[0]


def test_record_has_the_published_fields_and_survives_the_file(tmp_path):
    record = record_of([case("a"), case("b", gold=(T[1], T[4]))], seed=3)
    path = write_record(tmp_path / "new", record)
    assert path.name == "demo_scripted_L2_seed3.json"
    read = json.loads(path.read_text(encoding="utf-8"))
    assert {
        "lake", "method", "L", "seed", "n_queries", "n_skipped", "metrics", "latency_ms", "per_query",
        "config", "environment", "recompiles_after_warmup",
    } <= set(read)  # fmt: skip
    assert set(read["latency_ms"]) == {"mean", "p50", "p95"}
    one = read["per_query"][1]
    assert set(one) >= {
        "id", "retrieved", "gold", "recall", "precision", "f1", "sufficient", "latency_ms", "synthesis",
    }  # fmt: skip
    assert one["retrieved"] == [["db", "t0"], ["db", "t1"]]
    assert (one["recall"], one["precision"], one["sufficient"]) == (0.5, 0.5, False)
    assert read["metrics"]["f1"] == pytest.approx(np.mean([query["f1"] for query in read["per_query"]]))
    assert one["synthesis"]["U"] == 1.5
    low, high = read["intervals_95"]["recall"]
    assert low <= read["metrics"]["recall"] <= high


def test_synthesis_is_written_whole_and_without_nan():
    synthesis = Synthesis(
        (T[0], T[1]),
        (Operator("join", T[0], T[1], (("id", "t_id"),), 0.8),),
        float("nan"),
        (AtomSupport("entity: Player", 0.9, T[0], None), AtomSupport("value: x", 0.0, None, None)),
    )
    record = synthesis_record(synthesis)
    assert record is not None
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["U"] is None
    assert record["operators"] == [
        {
            "kind": "join",
            "anchor": ["db", "t0"],
            "new": ["db", "t1"],
            "columns": [["id", "t_id"]],
            "weight": 0.8,
        }
    ]
    assert [atom["table"] for atom in record["support"]] == [["db", "t0"], None]


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path):
    record = record_of([case("a")])
    path = write_record(tmp_path, record)
    before = path.read_text()
    with pytest.raises(ValueError, match="JSON"):
        write_record(tmp_path, {**record, "bad": float("nan")})
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(GraftError, match="can't be written"):
        write_record(path, record)


def test_first_query_is_warmed_up_and_only_the_others_compile_in_the_count():
    import jax
    import jax.numpy as jnp

    class Compiling(Scripted):
        def retrieve(self, query, budget, seed):
            jax.jit(lambda x: x + 1)(jnp.ones(len(self.asked) + 1))  # a new shape each time
            return super().retrieve(query, budget, seed)

    retriever = Compiling()
    run = run_method(retriever, [case("a"), case("b")], budget=2, progress=False)
    assert retriever.asked == ["a", "a", "b"]
    assert run.recompiles >= 3
    assert run_method(Scripted(), [case("a")], budget=2, progress=False).recompiles == 0


def test_environment_is_json_with_versions_and_devices():
    place = environment()
    assert json.loads(json.dumps(place)) == place
    assert place["versions"]["jax"]
    assert place["devices"]
    assert place["cpu"]


def test_paper_figures():
    for table in ("spider", "bird"):
        assert paper_budgets(table) == (5, 10, 15)
        for budget in paper_budgets(table):
            scores = paper_scores(table, budget)
            assert set(scores) == {"dtr", "pneuma", "mtr", "jar", "graft"}
            for row in scores.values():
                mean = 2 * row["recall"] * row["precision"] / (row["recall"] + row["precision"])
                assert row["f1"] == pytest.approx(mean, abs=0.006)  # what the printed note says of the paper
    assert paper_scores("spider", 10)["graft"] == {
        "recall": 0.795,
        "precision": 0.578,
        "f1": 0.668,
        "sufficiency": 0.7,
    }
    assert paper_scores("spider", 7) == paper_scores("demo", 5) == {}
    assert paper_statistics("spider")["tables"] == 5673
    assert (paper_latency_s("graft"), paper_latency_s("nobody")) == (3.5, None)


def test_table_shows_ours_beside_the_papers_and_says_when_they_do_not_compare():
    records = [record_of([case("a"), case("b", "crash")], seed=seed) for seed in (0, 1)]
    for record in records:
        record["L"] = 10
    text = retrieval_table(records, title="demo lake", encoder="enc", paper="spider")
    assert "L=10   lake: demo lake   encoder: enc" in text
    assert text.count("ours   scripted") == 1  # two seeds, one row
    assert "1.000 [1.000, 1.000]" in text
    assert "0.795" in text
    assert "3500" in text
    assert "for orientation only" in text
    assert "1 of 2 queries skipped" in text
    same = retrieval_table([{**records[0], "lake": "spider"}], title="Spider", encoder="e", paper="spider")
    assert "for orientation only" not in same


def test_statistics_table():
    counts = {"queries": 3, "tables": 2, "columns": 5, "rows": 1200, "clusters": 1}
    text = statistics_table("Spider", "spider", counts, [Skip(f"f{n}", "why") for n in range(5)])
    assert "1,200" in text
    assert "5,673" in text
    assert "f0: why" in text
    assert "2 more" in text
    assert "paper" not in statistics_table("x", "demo", counts)
