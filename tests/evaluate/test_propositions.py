"""What counts as a failure of a proposition, on units whose answer is known; the readings of column sets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from small_lakes import encoder, index_of, intent_of

from graftjax.errors import UsageError
from graftjax.evaluate import datasets
from graftjax.evaluate.column_sets import READINGS, SHARED, jaccard, row_overlap
from graftjax.evaluate.evidence_sets import OPERATOR, Collector, EvidenceSet, pack
from graftjax.evaluate.greedy import candidates_of, greedy
from graftjax.evaluate.propositions import PROPERTIES, summary, trials
from graftjax.igms.exact import log_det

NOISE = 0.1
SHARDS = [
    {"student id": [f"s{20 * k + n}" for n in range(20)], "name": [f"{given} {n}" for n in range(20)]}
    for k, given in enumerate(("Ann", "Bob", "Cid", "Dan"))
]
TABLES = {
    **{f"students_{k + 1}": shard for k, shard in enumerate(SHARDS)},
    "students_5": SHARDS[0],
    "courses": {"course id": [f"c{n}" for n in range(9)], "name": [f"Course {n}" for n in range(9)]},
}
RNG = np.random.default_rng


def measured(support, jaccard, table, *, copy_is_new=False, distinct=None, count=60):
    distinct = np.zeros((2, 2), bool) if distinct is None else distinct
    found = trials(support, jaccard, NOISE, table, distinct, copy_is_new, count, RNG(0))
    return summary([found])


def test_independent_units_fail_nowhere():
    support = RNG(1).random((6, 4))
    found = measured(support, np.eye(6), np.repeat([0, 1], 3))
    for name in ("monotone", "diminishing_units", "diminishing_tables"):
        assert found[name].trials >= 60
        assert found[name].failing == 0.0
    assert found["repeats_suppressed"].trials == found["shard_kept"].trials == 0


def test_the_counterexample_is_seen():
    """Two readings of one column for different atoms: 0.647 alone, 2.140 after the other."""
    found = measured(np.eye(2), np.ones((2, 2)), np.array([0, 1]))
    one = found["diminishing_units"]
    assert one.failing == 1.0  # with two units every trial is (nothing, the other)
    assert one.mean == pytest.approx(1 - 0.647 / 2.140, abs=1e-3)
    assert found["repeats_suppressed"].failing == 1.0
    assert found["repeats_suppressed"].mean == 1.0
    assert found["monotone"].failing == 0.0


def test_what_copies_and_shards_keep():
    support = np.array([[1.0, 0.0], [1.0, 0.0]])
    distinct = np.array([[False, True], [True, False]])
    table = np.array([0, 1])
    found = measured(support, np.eye(2), table, copy_is_new=True, distinct=distinct)
    kept = np.log((1 + 2 / 1.1) / (1 + 1 / 1.1)) / np.log(1 + 1 / 1.1)
    assert found["copy_kept"].mean == found["shard_kept"].mean == pytest.approx(kept)
    shared = measured(support, np.eye(2), table)
    assert shared["copy_kept"].mean == pytest.approx(
        np.log((1 + 1 / 1.05) / (1 + 1 / 1.1)) / np.log(1 + 1 / 1.1)
    )


@pytest.fixture(scope="module")
def lake():
    """Students in four shards and an exact copy of the first; courses with a column of the same header."""
    return index_of(TABLES)


def units_of(index) -> EvidenceSet:
    """One table unit per table, and one for the column called name."""
    graph = index.graph
    tables = list(range(len(index.tables)))
    named = [next(int(c) for c in graph.columns[t] if index.column_names[c] == "name") for t in tables]
    images = [(int(graph.unions.column_class[c]),) for c in named]
    blocks = np.zeros((len(tables), OPERATOR + 1, 2))
    blocks[:, 0, 0] = blocks[:, 1, 1] = 1.0
    return pack(index, tables, blocks, images, [()] * len(tables))


def test_readings_of_column_sets(lake):
    units = units_of(lake)
    name = [table.id.name for table in lake.tables]
    at = {(name[t], int(r)): i for i, (t, r) in enumerate(zip(units.table, units.row, strict=True))}
    one, two, copy, other = "students_1", "students_2", "students_5", "courses"
    found = {reading: jaccard(reading, lake, units) for reading in READINGS}
    assert len(set(units.cluster.tolist())) == 2
    assert row_overlap(lake, units)[name.index(one), name.index(copy)] == 1.0
    for matrix in found.values():
        assert np.array_equal(matrix, matrix.T)
        assert np.diagonal(matrix) == pytest.approx(1.0)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9

    def between(reading, a, b):
        return found[reading][at[a], at[b]]

    assert between("physical", (one, 0), (one, 1)) == 0.5  # a table and one of its two columns
    assert between("physical", (one, 1), (copy, 1)) == 0.0
    assert between("header", (one, 1), (two, 1)) == between("header", (one, 1), (other, 1)) == 1.0
    assert between("content", (one, 1), (two, 1)) == 0.0
    assert between("content", (one, 1), (copy, 1)) == between("content", (one, 0), (copy, 0)) == 1.0
    assert between("content", (one, 1), (other, 1)) == 0.0
    assert between("rows", (one, 1), (two, 1)) == between("rows", (one, 0), (one, 1)) == 0.0
    assert between("rows", (one, 1), (copy, 1)) == between("shared", (one, 1), (copy, 1)) == 1.0
    assert between("shared", (one, 1), (two, 1)) == pytest.approx(SHARED)


def test_evidence_of_a_question(lake):
    collector = Collector(lake, encoder())
    known = collector.region(intent_of({"student": {"name": ["Ann 3"]}}), 3)
    assert known is not None
    for units in (collector.synthesis(*known), collector.drawn(*known, 3, RNG(0))):
        assert units is not None
        assert len(units.tables) <= 3
        assert units.support.any(1).all()
        assert all(units.columns[i] for i in np.flatnonzero(units.row < OPERATOR))
    assert collector.region(intent_of({}), 3) is None


@pytest.mark.parametrize("reading", READINGS)
def test_greedy_takes_what_gains_most(lake, reading):
    """Against gains by `log_det` from nothing, one table after the other; no joins in this question."""
    collector = Collector(lake, encoder())
    known = collector.region(intent_of({"student": {"name": ["Ann 3"]}}), 4)
    assert known is not None
    found = candidates_of(collector, *known)
    assert found is not None
    count, rows, width = found.blocks.shape
    m = found.blocks.reshape(-1, width)
    c = found.jaccard[reading].copy()
    np.fill_diagonal(c, 1.0)
    c += collector.settings.score.noise * np.eye(len(c))

    def value(tables):
        at = np.concatenate([np.arange(t * rows, (t + 1) * rows) for t in tables])
        return log_det(m[at], c[np.ix_(at, at)])

    taken: list[int] = []
    for table in greedy(collector, *known, found, reading, count):
        place = next(i for i in range(count) if lake.tables[found.tables[i]].id == table)
        rest = [i for i in range(count) if i not in taken]
        assert value([*taken, place]) == pytest.approx(max(value([*taken, i]) for i in rest), rel=1e-7)
        taken.append(place)
    assert len(taken) == len(set(taken)) == count


@pytest.fixture(scope="module")
def experiment():
    folder = str(Path(__file__).resolve().parents[2] / "experiments")
    sys.path.insert(0, folder)
    try:
        import properties  # pyright: ignore[reportMissingImports]

        yield properties
    finally:
        sys.path.remove(folder)


def test_the_experiment_on_a_demo_lake(experiment, tmp_path, monkeypatch, capsys):
    """A small lake in the demo lake's place keeps the test fast."""
    folder = tmp_path / "lake"
    folder.mkdir()
    for name, columns in TABLES.items():
        lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    tree = {"tree_id": "t", "entity": "student", "attributes": [{"attribute_id": "a", "name": "name"}]}
    record = {"question": "Who?", "gold": [["", "students_1"]], "intent": {"trees": [tree], "joins": []}}
    queries = tmp_path / "queries.jsonl"
    queries.write_text("".join(json.dumps({"id": f"q{n}", **record}) + "\n" for n in range(3)))
    monkeypatch.setattr(datasets, "lake_folder", lambda: folder)
    monkeypatch.setattr(datasets, "queries_file", lambda: queries)
    argv = ["properties.py", "--lake", "demo", "--L", "4", "--trials", "3"]
    argv += ["--index", str(tmp_path / "index"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", argv)
    assert experiment.main() == 0
    record = json.loads((tmp_path / "out" / "properties_demo_seed0.json").read_text())
    assert record["n_queries"] == 3
    assert set(record["greedy"]) == set(READINGS)
    for readings in record["properties"].values():
        for measures in readings.values():
            assert set(measures) == set(PROPERTIES)
            assert measures["monotone"]["trials"] > 0
            assert measures["monotone"]["failing"] == 0.0
    printed = capsys.readouterr()
    assert "greedy F1" in printed.out
    assert (tmp_path / "out" / "properties_demo_seed0.png").exists() == ("no plot" not in printed.err)


@pytest.mark.parametrize("flags", [("--trials", "0"), ("--L", "0"), ("--seed", "-1"), ("--lake", "spyder")])
def test_mistakes_of_the_caller(experiment, tmp_path, monkeypatch, flags):
    monkeypatch.setattr(sys, "argv", ["properties.py", "--out", str(tmp_path / "out"), *flags])
    with pytest.raises(UsageError):
        experiment.main()
    assert not (tmp_path / "out").exists()
