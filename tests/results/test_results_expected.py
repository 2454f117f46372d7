"""The schema of the figures on record: what is written comes back, and nothing else is read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graftjax.errors import GraftError
from graftjax.results.cells import figures_of, lakes_of
from graftjax.results.expected import (
    Cell,
    Expected,
    Figure,
    cell_of,
    figure_name,
    header,
    read,
    read_all,
    write,
)

NUMBERS = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.6g}"))
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1).filter(
    lambda name: "/" not in name
)


def _expected(**fields) -> Expected:
    return Expected(**{**header("test", {"python": "3.11"}), "figures": {}, **fields})


@given(
    st.dictionaries(NAMES, NUMBERS),
    st.recursive(
        NUMBERS | st.text("ab:#-") | st.booleans(), lambda one: st.dictionaries(NAMES, st.lists(one))
    ),
)
def test_a_file_gives_back_what_was_written(tmp_path_factory, values, detail):
    figures = {
        f"lake/{name}": Figure(value=value, low=value, high=value + 1, by_seed=(value,), n=3)
        for name, value in values.items()
    }
    expected = _expected(figures=figures, details={"x": detail}, seeds=(0, 1), guidance={"a": "b"})
    path = tmp_path_factory.mktemp("expected") / "x.yaml"
    write(path, expected)
    found = read(path)
    assert found.details == expected.details
    assert {name: one.value for name, one in found.figures.items()} == {
        f"lake/{name}": value for name, value in values.items()
    }
    assert found.model_dump(exclude={"figures"}) == expected.model_dump(exclude={"figures"})


def test_one_figure_is_one_line_and_numpy_is_taken(tmp_path):
    figures = {figure_name("spider", "r1", 10, "f1"): Figure(value=np.float64(1 / 3), n=100, tolerance=0.02)}
    write(tmp_path / "x.yaml", _expected(figures=figures, details={"a": np.arange(2), "b": (1, tmp_path)}))
    text = (tmp_path / "x.yaml").read_text()
    assert "  spider/r1/L10/f1: {value: 0.333333, n: 100, tolerance: 0.02}\n" in text
    assert read(tmp_path / "x.yaml").details == {"a": [0, 1], "b": [1, str(tmp_path)]}


@pytest.mark.parametrize(
    "figure",
    [
        {"value": float("nan")},
        {"value": float("inf")},
        {"value": None},
        {"value": 1, "low": 0},
        {"value": 1, "low": 2, "high": 1},
        {"value": 1, "sd": -1},
        {"value": 1, "tolerance": -0.1},
        {"value": 1, "skipped": -1},
        {"value": 1, "valeu": 2},
    ],
)
def test_a_wrong_figure_is_refused(figure):
    with pytest.raises(ValidationError):
        Figure(**figure)


def test_nan_in_the_details_is_refused():
    with pytest.raises(ValidationError, match="finite"):
        _expected(details={"trials": [{"f1": float("nan")}]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not YAML"),
        ("[1]", "not a file of figures"),
        ("experiment: x", "command"),
        (
            "experiment: x\ncommand: y\ndate: 2026-01-01\nenvironment: {}\nfigures: {a: {value: .nan}}",
            "figures.a",
        ),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path, text, message):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(GraftError, match=message) as error:
        read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(GraftError):
        read_all(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(GraftError, match=r"none\.yaml"):
        read(tmp_path / "none.yaml")


def test_names_of_cells():
    assert cell_of(figure_name("spider", "graft/x y", 10, "f1")) == Cell("spider", "graft/x y", 10, "f1")
    assert cell_of("spider/graft/f1") is None


def test_a_summary_comes_back_from_its_figures():
    row = {"runs": 2, "queries": 3, "skipped": 1, "seeds_f1": [0.4, 0.6], "tables": 5.0}
    row |= {name: [0.5, 0.4, 0.6] for name in ("recall", "precision", "f1", "sufficiency")}
    row |= {f"ms_{name}": 1.0 for name in ("mean", "p50", "p95")}
    lakes = {"spider": {"title": "Spider", "budgets": {10: {"graft-fill": row}}}}
    figures = figures_of(lakes)
    assert figures["spider/graft-fill/L10/f1"].paper == 0.668
    assert figures["spider/graft-fill/L10/ms_mean"].tolerance is None
    assert lakes_of(_expected(figures=figures, details={"titles": {"spider": "Spider"}})) == lakes
