"""The ablations, the sensitivity and the case study on the demo lake, with a tiny encoder of random weights.

Trainings are replaced by one that learns nothing, but in the test marked slow.
"""

from __future__ import annotations

import sys
from importlib import import_module

import pytest
import yaml
from scripts import EXPERIMENTS  # pyright: ignore[reportMissingImports]
from tiny_bert import write_model  # pyright: ignore[reportMissingImports]

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate import trained_points
from graftjax.evaluate.guidance import Guidance
from graftjax.evaluate.trained_points import TrainedPoint
from graftjax.results.expected import read

ALL = ("ablation_reward", "ablation_intent", "case_study", "sensitivity", "ablation_sampler")
FAST = ("--L", "5", "--methods", "graft", "--limit", "3")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Encoder and index that all tests here share."""
    folder = tmp_path_factory.mktemp("ablations")
    return write_model(folder / "tiny"), folder / "index"


@pytest.fixture
def run(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAFTJAX_DATA", raising=False)
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    encoder, index = place

    def run(name, *argv):
        common = [f"{name}.py", "--lake", "demo", "--encoder", str(encoder), "--index", str(index)]
        monkeypatch.setattr(sys, "argv", [*common, *map(str, argv)])
        return import_module(name).main()

    return run


@pytest.fixture
def no_training(monkeypatch):
    """Folders that were asked for; every training reports the same error and guides nothing."""
    asked = []

    def train_point(bench, folder, settings, sources=(), **_):
        asked.append((folder.name, settings))
        return TrainedPoint(Guidance(), {"held_out": {"mape": 20.0 + settings.seed}}, folder)

    monkeypatch.setattr(trained_points, "train_point", train_point)
    return asked


def test_rewards(run, tmp_path, capsys):
    (tmp_path / "R.md").write_text("<!-- ablation-reward: x -->\nold\n<!-- end of ablation-reward -->\n")
    assert run("ablation_reward", *FAST, "--rewards", "igms", "R4", "--readme", "R.md") == 0
    found = read(tmp_path / "results" / "ablation_reward.yaml")
    assert found.figures["demo/igms/graft/L5/f1"].n == 3
    assert "demo/R4/graft/L5/f1-difference" in found.figures
    assert "demo/igms/graft/L5/f1-difference" not in found.figures
    assert "| R4, additive |" in (tmp_path / "R.md").read_text()
    # A second start takes the points from their files.
    stamp = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*.json")}
    assert len(stamp) == 2
    assert run("ablation_reward", *FAST, "--rewards", "igms", "R4") == 0
    assert stamp == {path: path.stat().st_mtime_ns for path in stamp}
    assert "R4, additive" in capsys.readouterr().out


def test_readers(run, tmp_path):
    readers = ("gold", "recorded", "lexical", "words")
    assert run("ablation_intent", *FAST, "--readers", *readers, "--lost", "0.5", "--guidance", "exact") == 0
    found = read(tmp_path / "results" / "ablation_intent" / "ablation_intent.yaml")
    quality = {name: found.figures[f"demo/{name}/extraction-f1"].value for name in (*readers, "recorded-50%")}
    assert quality["gold"] == 1
    assert quality["gold"] > quality["recorded"] > quality["recorded-50%"]
    assert quality["recorded"] > quality["words"]
    assert found.details["sources"]["lexical"] == {"lexical": 3}
    assert {"demo/words/graft/L5/f1", "demo/lexical/graft/L5/f1-difference"} <= set(found.figures)
    assert {f"demo/recorded{end}-words/graft/L5/f1" for end in ("", "-50%")} <= set(found.figures)


def test_shares_that_round_alike_are_two_readers(run, tmp_path):
    """0.254 and 0.251 were both called recorded-25%, and one had the figures of the other."""
    arguments = ("--readers", "words", "--no-as-words", "--lost", "0.254", "0.251", "--guidance", "exact")
    assert run("ablation_intent", *FAST, *arguments) == 0
    figures = read(tmp_path / "results" / "ablation_intent" / "ablation_intent.yaml").figures
    assert {f"demo/recorded-{share}%/graft/L5/f1" for share in ("25.4", "25.1")} <= set(figures)


def test_an_endpoint_that_is_not_there_is_one_line(run):
    with pytest.raises(UsageError, match="OPENAI"):
        run("ablation_intent", *FAST, "--readers", "endpoint", "--guidance", "exact")


def test_a_case(run, tmp_path, capsys):
    assert run("case_study", "--methods", "dtr", "--picture", "a.svg") == 0
    out = capsys.readouterr().out
    assert "AIB" in out
    assert "| dtr |" in out
    assert "<svg" in (tmp_path / "a.svg").read_text()
    found = yaml.safe_load((tmp_path / "results" / "case_study" / "case_study.yaml").read_text())
    assert found["details"]["question"]["id"] == "demo-fig4"
    assert set(found["details"]["returned"]) == {"graft", "dtr"}
    # A question of one's own: nothing is known to be missed.
    asked = ("--question", "Which clubs are in the north?", "--methods", "dtr", "--picture", "b.svg")
    assert run("case_study", *asked, "--summary", "b.yaml") == 0
    assert "not known" in capsys.readouterr().out
    assert not read(tmp_path / "b.yaml").figures


def test_dials(run, tmp_path, no_training):
    sweeps = (
        "--sweeps",
        "noise",
        "trajectories",
        "text_trajectories",
        "gamma",
        "--noise",
        "0.01",
        "0.5",
        "--gamma",
        "0.5",
        "0.8",
    )
    sizes = (
        "--trajectories",
        "64",
        "128",
        "--text-trajectories",
        "64",
        "--gamma-trajectories",
        "128",
        "--runs",
        "2",
        "--plot",
        "a.svg",
    )
    assert run("sensitivity", *FAST, *sweeps, *sizes, "--work", "work") == 0
    found = read(tmp_path / "results" / "sensitivity" / "sensitivity.yaml")
    assert found.figures["demo/gamma=0.5/mape"].value == 20.5
    assert len(found.figures["demo/gamma=0.5/graft/L5/f1"].by_seed) == 2
    assert "demo/noise=0.5/graft/L5/f1-difference" in found.figures
    assert "demo/exact/graft/L5/f1" in found.figures
    assert (tmp_path / "a.svg").read_text().lstrip().startswith("<?xml")
    # The largest collection comes first, so that the others can take from it.
    sizes = [settings.trajectories for _, settings in no_training[:4]]
    assert sizes == [128, 128, 64, 64]
    assert {settings.gamma for _, settings in no_training} == {0.5, 0.8}
    reading = [(name, settings.reads) for name, settings in no_training if settings.reads]
    assert reading == [(f"trajectories64-gamma0.8-steps500-texts-seed{seed}", "texts") for seed in (0, 1)]


def test_samplers(run, tmp_path, no_training):
    both = ("--protocols", "ours", "paper")
    assert run("ablation_sampler", *FAST, "--samplers", "anchor", "uniform", "--runs", "2", *both) == 0
    found = read(tmp_path / "results" / "ablation_sampler" / "ablation_sampler.yaml")
    assert found.figures["demo/anchor-paper/mape"].by_seed == (20.0, 21.0)
    assert "demo/uniform-ours/graft/L5/f1" in found.figures
    assert {settings.plain_words for _, settings in no_training} == {False, True}
    assert len({name for name, _ in no_training}) == 2 * 2 * 2


@pytest.mark.slow
def test_a_training_is_shared_and_not_repeated(run, tmp_path):
    sizes = ("--trajectories", "128", "--gamma", "0.5", "0.8", "--gamma-trajectories", "128", "--runs", "1")
    small = ("--steps", "4", "--held-out", "8", "--work", "work", "--plot", "a.svg")
    arguments = ("--sweeps", "gamma", "trajectories", *sizes, *small)
    assert run("sensitivity", *FAST, *arguments) == 0
    assert len(list((tmp_path / "work").iterdir())) == 2  # γ = 0.8 is the point of both sweeps
    reports = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("report.json")}
    chunks = [path.stat() for path in (tmp_path / "work").rglob("episodes/*.npz")]
    assert len({one.st_ino for one in chunks}) < len(chunks)
    assert run("sensitivity", *FAST, *arguments) == 0
    assert reports == {path: path.stat().st_mtime_ns for path in reports}
    found = read(tmp_path / "results" / "sensitivity" / "sensitivity.yaml")
    assert {"demo/gamma=0.5/graft/L5/f1", "demo/trajectories=128/mape"} <= set(found.figures)


@pytest.mark.parametrize(
    ("name", "argv", "message"),
    [
        ("ablation_reward", ["--rewards", "R9"], "R9"),
        ("ablation_reward", ["--methods", "dtr"], "dtr"),
        ("ablation_reward", ["--tuned", "a.yaml"], "--tune"),
        ("ablation_reward", ["--tune"], "tuning.jsonl"),
        ("ablation_intent", ["--readers", "oracle"], "oracle"),
        ("ablation_intent", ["--lost", "1.5"], "--lost"),
        ("ablation_intent", ["--checkpoint", "none"], "none"),
        ("case_study", ["--id", "none"], "none"),
        ("case_study", ["--id", "a", "--question", "b"], "give one"),
        ("case_study", ["--picture", "a.html"], ".svg"),
        ("case_study", ["--L", "0"], "--L"),
        ("sensitivity", ["--sweeps", "depth"], "depth"),
        ("sensitivity", ["--gamma", "1.5"], "--gamma"),
        ("sensitivity", ["--noise", "0"], "--noise"),
        ("sensitivity", ["--plot", "a.txt"], "--plot"),
        ("ablation_sampler", ["--samplers", "random"], "random"),
        ("ablation_sampler", ["--steps", "0"], "--steps"),
        *((name, ["--limit", "-1"], "--limit") for name in ALL),
        *((name, ["--readme", "none.md"], "none.md") for name in ALL),
    ],
)
def test_wrong_arguments(run, tmp_path, name, argv, message):
    with pytest.raises(UsageError, match=message):
        run(name, *argv)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_no_scored_query_is_an_error_not_a_score(run, tmp_path):
    (tmp_path / "q.jsonl").write_text('{"id": "q", "question": "Which clubs?"}\n')
    arguments = ("--rewards", "igms", "--queries", "q.jsonl", "--methods", "graft", "--L", "5")
    with pytest.raises(GraftError, match="not one scored query"):
        run("ablation_reward", *arguments)
    assert not read(tmp_path / "results" / "ablation_reward" / "ablation_reward.yaml").figures
