from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from test_significance import record

from graftjax.errors import GraftError
from graftjax.evaluate import markdown
from graftjax.evaluate.comparison import BEST, summary
from graftjax.evaluate.markdown import gain_lines, replace_block, retrieval_lines


def run(method, f1, *, lake="spider", budget=5, seed=0, queries=4, ms=2.0):
    rows = [(f1, f1, f1, f1 > 0.5)] * queries
    made = record(method, rows, lake=lake, budget=budget, seed=seed)
    means = dict.fromkeys(("recall", "precision", "f1"), f1) | {"sufficiency": float(f1 > 0.5)}
    times = {"mean": ms, "p50": ms, "p95": ms}
    return {**made, "metrics": means, "latency_ms": times, "n_skipped": 0, "mean_retrieved": 5.0}


RECORDS = [
    run("graft-fill", 0.6),
    run("graft-fill", 0.8, seed=1),
    run("dtr", 0.35),
    run("jar", 0.56),
    run("graft-fill", 0.6, lake="bird"),
    run("dtr", 0.6, lake="bird"),
    run("jar", 0.3, lake="bird"),
]


def test_runs_that_differ_by_seed_are_averaged():
    figures = summary(RECORDS)["lakes"]["spider"]["budgets"][5]["graft-fill"]
    assert figures["f1"] == [0.7, 0.7, 0.7]
    assert (figures["runs"], figures["queries"], figures["seeds_f1"]) == (2, 4, [0.6, 0.8])


def test_gains_are_means_over_the_cells_and_the_best_peer_may_change_from_cell_to_cell():
    gains = summary(RECORDS)["gains"]
    assert gains["dtr"]["f1"][0] == pytest.approx((1.0 + 0.0) / 2)
    assert gains["jar"]["f1"][0] == pytest.approx((0.25 + 1.0) / 2)
    assert gains[BEST]["f1"][0] == pytest.approx((0.25 + 0.0) / 2)
    assert gains["dtr"]["sufficiency"][0] is None, "a peer without one sufficient answer has no ratio"


def test_each_difference_names_its_cell():
    rows = summary(RECORDS)["differences"]
    assert {(row["lake"], row["L"], row["peer"]) for row in rows} == {
        ("spider", 5, "dtr"), ("spider", 5, "jar"), ("bird", 5, "dtr"), ("bird", 5, "jar")
    }  # fmt: skip
    equal = next(row for row in rows if (row["lake"], row["peer"], row["metric"]) == ("bird", "dtr", "f1"))
    assert equal["difference"] == [0.0, 0.0, 0.0]
    assert equal["p"] == 1.0


def test_without_graft_there_are_figures_and_no_gains():
    found = summary([run("dtr", 0.5)])
    assert found["gains"] == {}
    assert found["differences"] == []
    assert found["lakes"]["spider"]["budgets"][5]["dtr"]["f1"][0] == 0.5


def test_tables_show_ours_beside_the_papers():
    found = summary(RECORDS)
    lines = retrieval_lines("spider", found["lakes"]["spider"])
    assert lines[2].startswith("| **graft-fill** | 0.700 [0.70, 0.70] | 1.000 |")
    assert any(line.startswith("| *paper: JAR* | 0.639 | 0.520 |") for line in lines)
    assert len({line.count("|") for line in lines}) == 1
    gained = gain_lines(found["gains"])
    assert "| jar | +62.5 % [+62, +62] |" in gained[-2]
    assert "–" in gained[2], "what can't be told is a dash"


def test_a_block_of_a_document_is_renewed_and_the_rest_stays():
    text = "before\n<!-- t: made by x; do not edit -->\nold\n<!-- end of t -->\nafter"
    once = replace_block(text, "t", "make t", ["| a\\1 |"])
    assert once.startswith("before\n<!-- t: made by make t")
    assert "| a\\1 |" in once
    assert "old" not in once
    assert once.endswith("\nafter")
    assert replace_block(once, "t", "make t", ["| a\\1 |"]) == once
    with pytest.raises(GraftError, match="no block"):
        replace_block(text, "u", "make t", [])


def test_two_writers_of_a_document_lose_none_of_their_blocks(tmp_path, monkeypatch):
    """Experiments that ran side by side could each write the README as it was before the other's block."""
    document = tmp_path / "d.md"
    document.write_text("".join(f"<!-- {name}: -->\n<!-- end of {name} -->\n" for name in "abcd"))
    read = markdown.renewed

    def slow(*arguments):
        found = read(*arguments)
        time.sleep(0.1)
        return found

    monkeypatch.setattr(markdown, "renewed", slow)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: markdown.renew(document, {name: [f"of {name}"]}, "make"), "abcd"))
    assert [name for name in "abcd" if f"of {name}" in document.read_text()] == [*"abcd"]
