"""CPU time of an update of the `cpu` preset: `make bench`."""

from __future__ import annotations

import time
from dataclasses import replace

import jax
import numpy as np
import pytest
from small_replay import NUMBERS, SCALARS, batch_of, random_actions, random_states

from graftjax.iql.devices import replicate
from graftjax.iql.graph import Transition
from graftjax.iql.presets import preset
from graftjax.iql.update import init_state, make_update

NODES, TEXT, TRANSITIONS = 64, 256, 256


@pytest.mark.benchmark
def test_an_update_of_twice_the_batch_takes_at_most_2_2_times_as_long():
    rng = np.random.default_rng(0)
    states = random_states(TRANSITIONS, NODES, rng, TEXT)
    reward = rng.random(TRANSITIONS).astype(np.float32)
    replay = Transition(states, random_actions(TRANSITIONS, rng, TEXT), reward, states, reward < 0.3)
    network, settings = preset("cpu", num_scalars=SCALARS, num_numbers=NUMBERS)
    chosen = jax.local_devices()[:1]
    data, updates = replicate(replay, chosen), replicate(np.int32(2), chosen)
    seconds = {}
    for batch in (128, 256):
        sized = replace(settings, batch=batch)
        update = make_update(network, sized, batch_of, TRANSITIONS, chosen)
        state = replicate(init_state(network, sized), chosen)
        taken = []
        for _ in range(5):
            start = time.process_time()
            state, metrics = update(state, data, updates)
            jax.block_until_ready(metrics)
            taken.append((time.process_time() - start) / 2)
        seconds[batch] = min(taken)  # without the first, which compiles
        print(f"batch {batch}: {seconds[batch]:.3f} s of CPU an update, compilation {taken[0] * 2:.1f} s")
    assert seconds[128] < 0.5
    assert seconds[256] < 2.2 * seconds[128]
