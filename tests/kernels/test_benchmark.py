"""The benchmark command: it checks before it measures, and says what it measured."""

from __future__ import annotations

import re

import numpy as np
import pytest
from graftjax.kernels import benchmark

from graftjax.errors import GraftError


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(benchmark, "ATTENTION_SHAPES", ((1, 5, 3),))
    monkeypatch.setattr(benchmark, "GAIN_SHAPES", ((4, 6, 3),))
    monkeypatch.setattr(benchmark, "with_gradients", lambda function: function)  # slow to compile


def test_it_prints_times_and_ratios_of_every_kernel(small, capsys):
    assert benchmark.main(["--states", "1", "--beams", "2", "--repeats", "1"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert "interpreted" in head
    assert [line.split(",")[0] for line in lines] == ["attention", "attention + gradients", "gains"]
    for line in lines:
        jnp_ms, pallas_ms, ratio = map(float, re.findall(r"(\d+\.\d+)(?: ms|$)", line))
        assert jnp_ms > 0
        assert ratio == pytest.approx(jnp_ms / pallas_ms, rel=0.5, abs=0.01)


def test_a_kernel_that_is_wrong_is_not_measured(capsys):
    case = benchmark.Case("sum", lambda x: x.sum() + 0.1, lambda x: x.sum(), (np.ones(3, np.float32),))
    with pytest.raises(GraftError, match="sum: the kernel does not do what plain jnp does"):
        benchmark.measure(case, 1)


@pytest.mark.parametrize("arguments", [["--repeats", "0"], ["--states", "x"], ["--nonsense"]])
def test_wrong_arguments_exit_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as raised:
        benchmark.main(arguments)
    assert raised.value.code == 2
    assert "error:" in capsys.readouterr().err
