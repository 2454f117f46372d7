"""Scores of retrieved sets: kept, compared with reference rows, and blind to shuffled targets."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from fake_encoder import WordEncoder  # pyright: ignore[reportMissingImports]

from graftjax.enrich import score as score_module
from graftjax.enrich.build import EnrichmentLake, build_lake
from graftjax.enrich.integrate import Enriched, integrate
from graftjax.enrich.links import Links, link
from graftjax.enrich.predict import evaluate
from graftjax.enrich.questions import FORMS, cases_of
from graftjax.enrich.runs import TaskRun, reference_runs, scored_records
from graftjax.enrich.score import Scorer, outcome_of, shuffled_target
from graftjax.enrich.summary import details_of, difference, figures_of, leak_skill
from graftjax.errors import GraftError
from graftjax.evaluate.runs import run_method
from graftjax.fuse import MemorySource
from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index
from graftjax.lake.raw import RawTable
from graftjax.lake.record import LakeIndex
from graftjax.peers.catalog import Catalog
from graftjax.peers.dtr import Dtr

pytest.importorskip("sklearn")
NAMES = ("flat_rents", "loan_outcomes")
ROWS = 800


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[EnrichmentLake, LakeIndex, MemorySource]:
    """The pieces of two sources, without the demo lake beside them."""
    folder = tmp_path_factory.mktemp("lake")
    lake = build_lake("demo", folder, rows=ROWS, names=NAMES)
    (lake.lake / "others").unlink()
    tables = [table for table in find_tables(lake.lake) if isinstance(table, RawTable)]
    index = build_index(tables, folder / "index", WordEncoder(), progress=False)
    return lake, index, MemorySource({table.id: table.data for table in tables})


def scorer_of(made, folder: Path, *, shuffled: bool = False) -> Scorer:
    lake, index, rows = made
    return Scorer(index, rows, lake.manifest, folder, shuffled=shuffled)


def records_of(made, folder: Path, *, shuffled: bool = False) -> list[dict]:
    lake, index, _ = made
    cases = cases_of(lake.manifest, "reworded")
    runs = reference_runs(index, cases, (8,), (0,))
    dtr = Dtr(Catalog(index, WordEncoder()))
    for task in ("regression", "classification"):
        own = [case for case in cases if case.query.db_id == task]
        runs.append(TaskRun(task, run_method(dtr, own, budget=8, progress=False), (0,)))
    return scored_records(
        runs,
        scorer_of(made, folder, shuffled=shuffled),
        workers=1,
        label=lambda task: task,
        config={},
        environment={},
        more={},
        progress=False,
    )


def by_method(records: list[dict], lake: str) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for record in records:
        if record["lake"] == lake:
            found.setdefault(record["method"], []).append(record)
    return found


@pytest.mark.slow
def test_all_gold_pieces_help_and_scores_are_kept(made, tmp_path, monkeypatch):
    records = records_of(made, tmp_path)
    regression, classes = by_method(records, "regression"), by_method(records, "classification")
    nrmse = {method: runs[0]["metrics"]["nrmse"] for method, runs in regression.items()}
    assert nrmse["oracle"] < 0.9 * nrmse["base"] < 1.0
    assert nrmse["oracle"] <= nrmse["dtr"]
    accuracy = {method: runs[0]["metrics"]["accuracy"] for method, runs in classes.items()}
    assert accuracy["oracle"] > accuracy["base"]
    figures, details = figures_of(records), details_of(records)
    assert figures["regression/dtr/L8/nrmse"].value == pytest.approx(nrmse["dtr"], abs=1e-6)
    closed = details["gap_closed"]["regression"][8]["dtr"][0]
    assert closed == pytest.approx(
        (nrmse["base"] - nrmse["dtr"]) / (nrmse["base"] - nrmse["oracle"]), abs=1e-3
    )
    assert difference(regression["dtr"], regression["dtr"], "f1") == [0.0, 0.0, 0.0]
    # The second time nothing is computed.
    monkeypatch.setattr(score_module, "outcome_of", None)
    again = records_of(made, tmp_path)
    assert [one["metrics"] for one in again] == [one["metrics"] for one in records]


def test_with_shuffled_targets_nothing_is_learnt(made, tmp_path):
    """More rows make a predictor that learns from noise less wrong, so methods are compared with the trivial
    guess: none may be beyond it by more than chance."""
    records = records_of(made, tmp_path, shuffled=True)
    for task in ("regression", "classification"):
        for method, runs in by_method(records, task).items():
            assert leak_skill(runs) < 0.06, (task, method)  # two standard errors of 100 rows' accuracy


def test_the_leak_test_sees_a_leak(made):
    """A piece that has the base's target under another name, shuffled along with it."""
    lake, _, rows = made
    entry = lake.manifest.sources[0]
    dealt = shuffled_target(entry, rows)
    base = dealt[entry.base]
    rng = np.random.default_rng(0)
    values = np.array(base[entry.target].to_pylist()) + 0.01 * rng.normal(size=base.num_rows)
    leaky = replace(entry.base, name="leak")
    data = {entry.base: base, leaky: pa.table({entry.key: base[entry.key], "other": values})}
    links = link_by_key(entry.base, leaky, entry.key, "other")
    outcome = outcome_of(links, data, entry, 0)
    assert outcome["nrmse"] < 0.5
    honest = outcome_of(Links(entry.base, (), (), ()), data, entry, 0)
    assert honest["nrmse"] > 0.95


def link_by_key(base, table, key: str, column: str) -> Links:
    from graftjax.enrich.links import JoinedCluster

    own = ((key, key), (column, column))
    return Links(base, (), (JoinedCluster((table,), ((key, key),), (own,), 1.0),), ())


def test_shuffling_deals_the_same_values_anew(made):
    lake, _, rows = made
    for entry in lake.manifest.sources:
        dealt = shuffled_target(entry, rows)
        assert set(dealt) == {piece.table for piece in entry.pieces if not piece.group}
        before, after = targets(entry, rows.data), targets(entry, dealt)
        assert sorted(before) == sorted(after)
        assert before != after


def targets(entry, data) -> list:
    found = []
    for piece in entry.pieces:
        if not piece.group:
            (header,) = (here for here, there in piece.columns if there == entry.target)
            found += data[piece.table][header].to_pylist()
    return found


def test_an_outcome_that_fails_is_skipped_and_no_score(made, tmp_path, monkeypatch):
    def refuse(*_):
        raise GraftError("no such luck")

    monkeypatch.setattr(score_module, "integrate", lambda *a, **k: refuse())
    records = records_of(made, tmp_path)
    assert all(record["metrics"] is None for record in records)
    assert all("no such luck" in record["skipped"][0]["reason"] for record in records)
    assert not list(tmp_path.rglob("*.json"))
    assert figures_of(records) == {}


def test_rows_of_the_base_come_in_their_order(made):
    lake, index, rows = made
    entry = lake.manifest.sources[0]
    links = link(index, entry.base, entry.gold, entry.target)
    found = integrate(links, rows, target=entry.target, key=entry.key, key_is_feature=False)
    assert found.keys[: found.num_base] == rows.data[entry.base][entry.key].to_pylist()
    assert found.target[: found.num_base] == rows.data[entry.base][entry.target].to_pylist()
    assert len(set(found.keys)) == found.num_rows


@cache
def noise() -> Enriched:
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    return Enriched({"x": x.tolist()}, (x + rng.normal(size=200)).tolist(), list(range(200)), 200)


def test_the_same_seed_gives_the_same_outcome():
    from graftjax.enrich.frame import frame_of

    frame = frame_of(noise(), "regression")
    assert evaluate(frame, 0) == evaluate(frame, 0)
    assert evaluate(frame, 0) != evaluate(frame, 1)


@pytest.mark.parametrize("form", FORMS)
def test_questions_name_the_target_and_start_from_the_base(made, form):
    manifest = made[0].manifest
    for case, entry in zip(cases_of(manifest, form), manifest.sources, strict=True):
        query = case.query
        assert query.base == entry.base
        assert query.base not in case.gold
        assert query.intent is not None
        (tree,) = query.intent.trees
        assert len(tree.attributes) >= 1
        assert query.subquestions
        named = len(tree.attributes) - 1
        assert (named == 0) == (form == "template" or (form == "reworded" and entry.name == "crop_harvests"))
    assert cases_of(manifest, form) == cases_of(manifest, form)
