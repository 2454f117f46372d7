"""Times of the Pallas kernels against plain jnp: `python -m graftjax.kernels.benchmark`.

Each kernel has to agree with its reference first; only then are both timed, in turns. On a GPU the kernels
are compiled. Elsewhere they are interpreted, on a small batch: that shows that they are right, not how fast.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from graftjax.kernels.dispatch import (  # pyright: ignore[reportMissingImports]
    agree,
    candidate_gains,
    relation_attention,
    with_gradients,
)
from graftjax.kernels.samples import (  # pyright: ignore[reportMissingImports]
    attention_sample,
    beam_sample,
)

from graftjax.errors import GraftError

ATTENTION_SHAPES = ((2, 64, 16), (8, 64, 76), (8, 128, 76))
"""(heads, nodes, features of a head): the presets `cpu` and `paper`, and a larger state."""
GAIN_SHAPES = ((64, 160, 32), (256, 160, 32), (256, 160, 64))
"""(candidates, units, atoms)."""
NOISE = 0.01
"""σ0² of the beams."""
INTERPRETED_BATCH = 2
"""States or beams at once where kernels are interpreted."""


class Case(NamedTuple):
    """One kernel at one size; both functions take `arguments`."""

    name: str
    kernel: Callable
    reference: Callable
    arguments: tuple


class Timing(NamedTuple):
    """Medians in milliseconds."""

    jnp: float
    pallas: float


def cases(states: int, beams: int, interpret: bool, seed: int = 0) -> list[Case]:
    """All kernels at all sizes, for `states` graphs and `beams` beams at once."""
    rng = np.random.default_rng(seed)

    path = "interpret" if interpret else "pallas"
    attention, attention_jnp = (partial(relation_attention, path=way) for way in (path, "jnp"))
    gains, gains_jnp = (partial(candidate_gains, path=way) for way in (path, "jnp"))
    made = []
    for heads, nodes, features in ATTENTION_SHAPES:
        arguments = _stack([attention_sample(rng, heads, nodes, features) for _ in range(states)])
        size = f"{states} x {heads} heads, {nodes} nodes, {features} features"
        for name, wrap in (("attention", lambda f: f), ("attention + gradients", with_gradients)):
            kernel, reference = jax.vmap(wrap(attention)), jax.vmap(wrap(attention_jnp))
            made.append(Case(f"{name}, {size}", kernel, reference, arguments))
    for count, units, atoms in GAIN_SHAPES:
        several = [beam_sample(rng, count, units, atoms, units // 2, NOISE) for _ in range(beams)]
        arguments = (*_stack(several), np.full(beams, NOISE, np.float32))
        size = f"{beams} beams x {count} candidates, {units} units, {atoms} atoms"
        made.append(Case(f"gains, {size}", jax.vmap(gains), jax.vmap(gains_jnp), arguments))
    return made


def measure(case: Case, repeats: int) -> Timing:
    """Times of a case. Raises GraftError when kernel and reference do not agree."""
    if not agree(case.kernel, case.reference, case.arguments):
        raise GraftError(f"{case.name}: the kernel does not do what plain jnp does (see the line above)")
    arguments = jax.device_put(case.arguments)
    functions = {"jnp": jax.jit(case.reference), "pallas": jax.jit(case.kernel)}
    for function in functions.values():
        _seconds(function, arguments)  # compiles
    taken = {name: [] for name in functions}
    for _ in range(repeats):  # in turns, so that other load meets both
        for name, function in functions.items():
            taken[name].append(_seconds(function, arguments))
    return Timing(**{name: 1e3 * statistics.median(seconds) for name, seconds in taken.items()})


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 when a kernel is wrong or does not compile."""
    parser = argparse.ArgumentParser(prog="python -m graftjax.kernels.benchmark", description=__doc__)
    parser.add_argument("--states", type=_at_least_one, help="graphs at once (256; interpreted: 2)")
    parser.add_argument("--beams", type=_at_least_one, help="beams at once (32; interpreted: 2)")
    parser.add_argument("--repeats", type=_at_least_one, help="runs of each function (50; interpreted: 3)")
    given = parser.parse_args(arguments)
    interpret = jax.default_backend() != "gpu"
    device = jax.local_devices()[0].device_kind
    print(f"{device}: Pallas kernels " + ("interpreted (right, but slow)" if interpret else "compiled"))
    states = given.states or (INTERPRETED_BATCH if interpret else 256)
    beams = given.beams or (INTERPRETED_BATCH if interpret else 32)
    for case in cases(states, beams, interpret):
        try:
            jnp_ms, pallas_ms = measure(case, given.repeats or (3 if interpret else 50))
        except GraftError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{case.name}: jnp {jnp_ms:.3f} ms, Pallas {pallas_ms:.3f} ms, ratio {jnp_ms / pallas_ms:.2f}")
    return 0


def _stack(several: list) -> tuple:
    return tuple(jax.tree.map(lambda *arrays: np.stack(arrays), *several))


def _seconds(function: Callable, arguments: tuple) -> float:
    start = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - start


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


if __name__ == "__main__":
    sys.exit(main())
