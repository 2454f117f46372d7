from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from graftjax.evaluate.growth import fit_growth
from graftjax.evaluate.growth_plot import Panel, svg


def test_a_power_law_is_found_exactly():
    growth = fit_growth((1_000, 5_000, 20_000), [3 * n**0.4 for n in (1_000, 5_000, 20_000)])
    assert growth is not None
    assert growth.exponent == pytest.approx(0.4)
    assert growth.interval == pytest.approx((0.4, 0.4))
    assert growth.at(10_000) == pytest.approx(3 * 10_000**0.4)


def test_the_interval_holds_the_true_exponent_about_as_often_as_it_says():
    rng, sizes = np.random.default_rng(0), np.array([1e3, 5e3, 2e4, 5e4])
    held = 0
    for _ in range(400):
        growth = fit_growth(sizes.tolist(), (sizes**0.3 * np.exp(0.1 * rng.normal(size=4))).tolist())
        assert growth is not None
        assert growth.interval is not None
        held += growth.interval[0] <= 0.3 <= growth.interval[1]
    assert 0.91 < held / 400 < 0.99


def test_too_little_to_fit():
    assert fit_growth((10,), (1.0,)) is None
    assert fit_growth((10, 20), (0.0, 1.0)) is None
    two = fit_growth((10, 20), (1.0, 2.0))
    assert two is not None
    assert two.interval is None


def test_the_plot_is_xml_with_a_point_for_every_value():
    sizes, values = (200.0, 300.0, 900.0), (1.0, 2.0, 0.0)
    text = svg(
        [Panel("a < b", sizes, values, fit_growth(sizes[:2], values[:2])), Panel("c", (5.0,), (3.0,), None)]
    )
    root = ElementTree.fromstring(text)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 3  # zero has no place on a log axis
