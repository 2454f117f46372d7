from __future__ import annotations

import sys

from graftjax.evaluate.sweep_plot import Curve, SweepPanel, sweep_plot

PANELS = [
    SweepPanel(
        "B", "beam", (Curve("graft", (1.0, 2.0), (0.5, 0.6), (0.4, 0.5), (0.6, 0.7)),), 2.0, 0.55, True
    ),
    SweepPanel("nothing", "x", ()),
]


def test_the_same_figures_give_the_same_file(tmp_path):
    assert sweep_plot(PANELS[:1], tmp_path / "a.svg")
    assert sweep_plot(PANELS[:1], tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_without_matplotlib_there_is_no_plot(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert not sweep_plot(PANELS[:1], tmp_path / "a.svg")
    assert not list(tmp_path.iterdir())
