from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from graftjax.iql.losses import awr_loss, expectile_loss, q_loss, td_target, v_loss
from graftjax.iql.optimizer import schedule
from graftjax.iql.presets import TrainSettings

number = jnp.float32


@pytest.mark.parametrize(
    ("difference", "expectile", "wanted"),
    [(2.0, 0.7, 2.8), (-2.0, 0.7, 1.2), (0.0, 0.9, 0.0), (-1.0, 0.5, 0.5), (3.0, 0.95, 8.55)],
)
def test_expectile_loss(difference, expectile, wanted):
    assert float(expectile_loss(number(difference), expectile)) == pytest.approx(wanted)


def test_v_loss_moves_the_value_only():
    grads = jax.grad(lambda q, v: v_loss(q, v, 0.7), (0, 1))(number(1.0), number(0.0))
    assert float(grads[0]) == 0.0
    assert float(grads[1]) == pytest.approx(-1.4)


def test_the_minimum_of_the_expectile_loss_is_the_expectile():
    samples = jnp.array([0.0, 1.0])
    value = np.linspace(0, 1, 1001)
    mean = [
        float(jax.vmap(lambda u: expectile_loss(u, 0.9))(samples - number(v)).mean()) for v in value[::10]
    ]
    assert value[::10][int(np.argmin(mean))] == pytest.approx(0.9)


def test_td_target_and_q_loss():
    target = lambda terminal: td_target(number(0.5), jnp.array(terminal), number(2.0), 0.8)  # noqa: E731
    assert float(target(False)) == pytest.approx(2.1)
    assert float(target(True)) == 0.5
    assert float(q_loss(number(1.0), target(False))) == pytest.approx(1.21)
    next_grad = jax.grad(lambda v: q_loss(number(1.0), td_target(number(0.5), jnp.array(False), v, 0.8)))
    assert float(next_grad(number(2.0))) == 0.0


def test_a_value_after_the_end_may_be_anything():
    assert float(td_target(number(0.5), jnp.array(True), number(np.nan), 0.8)) == 0.5


def test_awr_loss():
    logits = jnp.log(jnp.array([0.25, 0.75]))
    assert float(awr_loss(logits, number(0.0), 3.0)) == pytest.approx(-np.log(0.25), rel=1e-5)
    assert float(awr_loss(logits, number(0.5), 3.0)) == pytest.approx(-np.exp(1.5) * np.log(0.25), rel=1e-5)
    assert float(awr_loss(logits, number(50.0), 3.0)) == pytest.approx(-100 * np.log(0.25), rel=1e-5)


def test_schedule_rises_over_the_warm_up_and_falls_to_zero():
    rate = schedule(TrainSettings(steps=100, learning_rate=1.0, warmup=0.1))
    values = [float(rate(step)) for step in (0, 4, 9, 10, 55, 100)]
    np.testing.assert_allclose(values, [0.1, 0.5, 1.0, 1.0, 0.5, 0.0], atol=1e-6)
