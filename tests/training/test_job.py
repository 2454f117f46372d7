"""A short run from end to end: it learns something, and it can be interrupted."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace

import jax
import numpy as np
import pytest
from small_lakes import encoder, index_of
from tiny_lake import SHORT, random_guide

from graftjax.errors import GraftError, UsageError
from graftjax.iql import checkpoint
from graftjax.retrieval.samples import compressed_samples, reworded
from graftjax.search.engine import Engine
from graftjax.training import job
from graftjax.training.run_folder import EPISODES, HELD_OUT, REPORT, SPACE, has_checkpoint, load_trained
from graftjax.trajectories.stream import sample_trajectories

UNSEEN_SEED = 77
QUICK = replace(SHORT, trajectories=24, held_out=4, steps=20)


@pytest.fixture(scope="module")
def unseen(lake):
    """Reworded intents that no training saw, with the clusters that they were made from."""
    drawn = sample_trajectories(lake, SHORT.sample, 30, UNSEEN_SEED, progress=False)
    plain = compressed_samples(lake, (one.compression for one in drawn))
    return list(reworded(plain, np.random.default_rng(UNSEEN_SEED), None, SHORT.wording))


def mean_f1(engine: Engine, samples) -> float:
    """Of the clusters found; unions follow by themselves."""
    cluster = engine.index.graph.unions.table_cluster
    scores = []
    for sample in samples:
        found = engine.search("q", sample.intent, budget=8).tables
        clusters = {int(cluster[engine.index.numbers[table]]) for table in found}
        gold = set(sample.clusters.values())
        scores.append(2 * len(clusters & gold) / max(len(clusters) + len(gold), 1))
    return float(np.mean(scores))


@pytest.mark.slow
def test_a_short_run_beats_random_parameters(lake, run, unseen):
    _, trained = run
    learned = mean_f1(Engine(lake, encoder(), guide=trained.guide), unseen)
    random = [
        mean_f1(Engine(lake, encoder(), guide=random_guide(trained.guide, seed)), unseen) for seed in range(3)
    ]
    assert learned > max(random)
    assert learned > np.mean(random) + 0.1


@pytest.mark.slow
def test_the_report_is_finite_and_kept(run):
    report, trained = run
    assert report.steps == trained.step == SHORT.steps
    assert report.trajectories == SHORT.trajectories
    assert report.transitions > 2 * SHORT.trajectories
    for error in (report.held_out, report.held_out_plain):
        assert error.count > 0
        assert math.isfinite(error.mape)
        assert math.isfinite(error.mape_stop)
        assert 0 <= error.rank_accuracy <= 1
    stored = json.loads((report.folder / REPORT).read_text())
    assert stored["held_out"]["mape"] == report.held_out.mape
    assert set(stored["seconds"]) == {"sample", "retrieval space", "episodes", "iql", "report"}


def train(lake, folder, settings=QUICK):
    return job.train(lake, encoder(), folder, settings, cache_folder=folder, progress=False)


def arrays(folder):
    return checkpoint.load(folder).params


class Killed(BaseException):
    """What no handler catches."""


@pytest.mark.slow
def test_a_run_killed_between_stages_goes_on_to_the_same_arrays(lake, run, tmp_path, monkeypatch):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):  # fitting a retrieval space takes most of the time
        shutil.copytree(run[0].folder / SPACE, folder / SPACE)
    train(lake, whole)
    fit = job.fit

    def kill(*arguments, **named):
        raise Killed

    def fit_a_little(*arguments, **named):
        fit(*arguments, **{**named, "until": 10})
        raise Killed

    for stage, stop in (("collect", kill), ("fit", kill), ("fit", fit_a_little)):
        with monkeypatch.context() as patch:
            patch.setattr(job, stage, stop)
            with pytest.raises(Killed):
                train(lake, broken)
        if stage == "collect":
            assert not has_checkpoint(broken)
            assert not (broken / EPISODES).exists()
    made = {path.name: path.stat().st_mtime_ns for path in (broken / EPISODES).iterdir()}
    assert made
    assert load_trained(broken).step == 10
    assert train(lake, broken).steps == QUICK.steps
    assert made == {path.name: path.stat().st_mtime_ns for path in (broken / EPISODES).iterdir()}
    jax.tree.map(np.testing.assert_array_equal, arrays(broken), arrays(whole))


@pytest.mark.slow
def test_a_run_in_the_lakes_words_is_measured_once_and_keeps_its_seconds(lake, run, tmp_path):
    shutil.copytree(run[0].folder / SPACE, tmp_path / SPACE)
    plain = replace(QUICK, plain_words=True)
    first = train(lake, tmp_path, plain)
    assert first.held_out == first.held_out_plain
    assert first.held_out.count
    assert (tmp_path / HELD_OUT[0]).is_dir()
    assert not (tmp_path / HELD_OUT[1]).exists()
    again = train(lake, tmp_path, plain)
    assert again.held_out == first.held_out
    assert all(again.seconds[stage] >= spent for stage, spent in first.seconds.items())
    assert json.loads((tmp_path / REPORT).read_text())["seconds"] == again.seconds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "named"),
    [({"seed": 1}, "seed"), ({"gamma": 0.5}, "gamma"), ({"sampler": "uniform"}, "sampler")],
)
def test_other_settings_need_another_folder(lake, run, change, named):
    report, _ = run
    with pytest.raises(UsageError, match=f"another {named}"):
        train(lake, report.folder, replace(SHORT, **change))


def test_what_networks_read_is_part_of_a_run_only_when_it_was_asked_for(lake):
    """Runs from before that setting name it nowhere, and were trained anew by a second `graftjax train`."""
    plain = job.run_identity(lake, "e", QUICK)
    assert "reads" not in plain
    assert job.run_identity(lake, "e", replace(QUICK, reads="texts")) == {**plain, "reads": "texts"}
    assert job.run_identity(lake, "e", replace(QUICK, reads="numbers")) == plain  # what cpu reads anyway


def test_a_begun_run_that_reads_texts_is_not_taken_over(lake, tmp_path):
    """A default training went on in the folder of one that read texts, which then named it as its own."""
    texts = job.run_identity(lake, "e", replace(QUICK, reads="texts"))
    job._claim(tmp_path, texts)
    with pytest.raises(UsageError, match="another reads"):
        job._claim(tmp_path, job.run_identity(lake, "e", QUICK))
    job._claim(tmp_path, texts)


@pytest.mark.slow
def test_another_lake_needs_another_folder(run):
    report, _ = run
    other = index_of({"cats": {"name": ["Tom", "Kit"]}, "dogs": {"breed": ["pug", "corgi"]}})
    with pytest.raises(UsageError, match="another lake"):
        train(other, report.folder, SHORT)


@pytest.mark.parametrize("tables", [{}, {"cats": {"name": ["Tom", "Kit"]}}])
def test_a_lake_without_choice_is_an_error(tmp_path, tables):
    with pytest.raises(GraftError, match="at least two tables"):
        train(index_of(tables), tmp_path / "run")
    assert not (tmp_path / "run").exists()
