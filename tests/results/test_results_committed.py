"""The figures in the repository: of the schema, and what the README shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from graftjax.results.__main__ import run
from graftjax.results.expected import read, read_all

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_is_of_the_schema(path):
    expected = read(path)
    assert expected.experiment == path.stem
    assert expected.figures


def test_each_figure_that_is_compared_holds_its_own_interval():
    for name, expected in read_all(RESULTS).items():
        for figure_name, one in expected.figures.items():
            if one.low is not None and one.high is not None:
                assert one.low <= one.value <= one.high, (name, figure_name)


def test_the_readme_shows_what_is_on_record():
    assert run(["readme", "--check", "--document", str(ROOT / "README.md"), "--results", str(RESULTS)]) == 0
