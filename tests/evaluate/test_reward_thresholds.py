from __future__ import annotations

import pytest
from small_lakes import encoder, index_of, intent_of  # pyright: ignore[reportMissingImports]

from graftjax.evaluate import reward_thresholds as module
from graftjax.evaluate.cases import Case
from graftjax.evaluate.reward_thresholds import (
    known_thresholds,
    settings_of,
    tune_thresholds,
    write_thresholds,
)
from graftjax.evaluate.tuning import Tuned
from graftjax.igms.surrogates import REWARDS
from graftjax.intent.query import Query
from graftjax.search.engine import Engine
from graftjax.search.settings import Settings
from graftjax.types import TableId


def test_each_reward_has_its_own_thresholds():
    assert set(known_thresholds()) == set(REWARDS)
    for reward in REWARDS:
        settings = settings_of(reward, Settings(beam=3))
        assert (settings.reward, settings.beam) == (reward, 3)
        assert settings.least_gain == known_thresholds()[reward]["least_gain"]


def test_what_is_chosen_is_written_and_read(tmp_path):
    path = tmp_path / "a.yaml"
    write_thresholds({"R1": Tuned({"least_gain": 3.0}, 0.51, 0.5, ())}, {"L": [5]}, path)
    text = path.read_text()
    assert "least_gain: 3.0" in text
    assert f"least_fragment_gain: {Settings().least_fragment_gain}" in text


def test_the_search_prefers_what_answers_better(monkeypatch):
    index = index_of(
        {
            "clubs": {"club_id": [1, 2], "club_name": ["AIB", "BNP"]},
            "players": {"player_id": [7, 8], "club_id": [1, 2], "player_name": ["Ada", "Bo"]},
            "harbours": {"harbour": ["Kiel", "Cork"], "depth": [3.5, 9.1]},
        }
    )
    intent = intent_of(
        {"Club": {"name": ["AIB"]}, "Player": {"name": [], "club id": []}},
        ("Club", "name", "Player", "club id"),
    )
    cases = [
        Case(Query("q", "Players of AIB?", intent=intent), (TableId("db", "clubs"), TableId("db", "players")))
    ]
    monkeypatch.setattr(module, "SCALE", (0.2, 50.0))
    heard = []
    found = tune_thresholds(
        Engine(index, encoder()), cases, [5], ["igms"], told=lambda *what: heard.append(what)
    )
    best = max(trial.value for trial in found["igms"].trials)
    assert found["igms"].value == best
    assert len(heard) == len(found["igms"].trials)
    high = [trial.value for trial in found["igms"].trials if trial.settings.get("least_gain") == 50.0]
    assert high == [pytest.approx(2 / 3)] * len(high)  # one table at most is left
