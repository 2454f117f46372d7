from __future__ import annotations

import itertools
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.evaluate.tuning import coordinate_search
from graftjax.peers.methods import PEERS, peer_class, view_of
from graftjax.peers.peer import WITH_UNIONS
from graftjax.peers.settings import tuned_settings

GRID = {"a": (0, 1, 2), "b": ("x", "y"), "c": (0.0, 0.5)}
DEFAULTS = {"a": 1, "b": "x", "c": 0.0}
POINTS = list(itertools.product(*GRID.values()))


@given(st.lists(st.integers(0, 5), min_size=len(POINTS), max_size=len(POINTS)))
def test_the_outcome_is_a_point_that_no_single_dial_improves(values):
    landscape = dict(zip(POINTS, map(float, values), strict=True))
    asked = []

    def measure(changed):
        asked.append(tuple({**DEFAULTS, **changed}.values()))
        return landscape[asked[-1]]

    found = coordinate_search(GRID, DEFAULTS, measure, sweeps=20)
    best = {**DEFAULTS, **found.settings}
    assert found.value == landscape[tuple(best.values())] >= found.default == landscape[1, "x", 0.0]
    for name, choices in GRID.items():
        for choice in choices:
            assert landscape[tuple({**best, name: choice}.values())] <= found.value
    assert len(set(asked)) == len(asked) == len(found.trials), "a setting is measured once"
    assert not any(found.settings[name] == DEFAULTS[name] for name in found.settings)


def test_one_sweep_ends_after_each_dial_was_tried_once():
    told = []
    found = coordinate_search(
        GRID, DEFAULTS, lambda changed: len(changed), sweeps=1, told=lambda trial, best: told.append(best)
    )
    assert found.settings == {"a": 0, "b": "y", "c": 0.5}
    assert told == [True, True, False, True, True]


@pytest.mark.parametrize("name", [peer + end for peer in PEERS for end in ("", WITH_UNIONS)])
def test_what_was_chosen_lies_on_the_grid_of_its_method(name):
    _, settings = peer_class(name)
    chosen, published = asdict(tuned_settings(settings, name)), asdict(settings())
    for dial, value in chosen.items():
        assert value == published[dial] or value in settings.GRID[dial]
    assert set(settings.GRID) <= set(published)
    assert view_of(name) == ("clusters" if name.endswith("+unions") else "tables")
