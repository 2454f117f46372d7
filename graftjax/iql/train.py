"""The training loop of implicit Q-learning: dispatches, metrics, checkpoints, and a run that goes wrong."""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from graftjax.errors import GraftError, UsageError
from graftjax.iql import checkpoint
from graftjax.iql.devices import Device, first_copy, join_hosts, replicate
from graftjax.iql.networks import Params
from graftjax.iql.optimizer import schedule
from graftjax.iql.presets import NetworkSettings, TrainSettings
from graftjax.iql.update import BatchOf, Metrics, init_state, make_update

METRICS = "metrics.jsonl"
"""One JSON line per dispatch, in the run's folder."""
CHANGEABLE = ("steps", "microbatch", "updates_per_dispatch", "checkpoint_every", "keep", "loss_limit")
"""Training settings that a resumed run may change; `steps` changes the learning rates to come."""

Observer = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Fitted:
    """The end of a training run."""

    params: dict[str, Params]
    """`q`, `v` and perhaps `policy`, as NumPy arrays."""
    step: int
    path: Path
    """The last checkpoint."""
    seconds: float
    """Of this call, compilation included."""


def fit(
    replay: Any,
    batch_of: BatchOf,
    num_transitions: int,
    network: NetworkSettings,
    settings: TrainSettings,
    folder: Path,
    *,
    resume: bool = False,
    until: int | None = None,
    extra: dict[str, Any] | None = None,
    devices: Sequence[Device] | None = None,
    progress: bool = True,
    observer: Observer | None = None,
) -> Fitted:
    """Train to `until` (default: all of `settings.steps`) and leave checkpoints and metrics in `folder`.

    `replay`: arrays that are copied to each of this host's `devices` (default: all); `batch_of` takes
    transitions out of them by index. `resume` goes on from the newest whole checkpoint (from the start when
    there is none), bit for bit as if the run had not been interrupted. `extra` is stored in the checkpoints.
    `observer` sees each line of the metrics.

    With JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID set, the run is one of several hosts'
    (`devices.join_hosts`); all need the same replay and folder, and the first writes.

    Raises UsageError for settings that do not go together or do not fit the folder, GraftError when a loss
    is not finite or exceeds `settings.loss_limit` (the last whole checkpoint stays as it is) or the folder
    can not be written, and KeyboardInterrupt on Ctrl-C after a checkpoint has been saved.
    """
    start = time.perf_counter()
    join_hosts()
    folder, writes = Path(folder), jax.process_index() == 0
    chosen = list(devices) if devices is not None else jax.local_devices()
    last = min(settings.steps, until if until is not None else settings.steps)
    update = make_update(network, settings, batch_of, num_transitions, chosen)
    begun = _begin(folder, network, settings, resume)
    host_state = checkpoint.restore(begun) if begun else init_state(network, settings)
    step, path = int(host_state.step), begun.path if begun else folder
    state, data = replicate(host_state, chosen), replicate(replay, chosen)
    rate = schedule(settings)
    if writes:
        _open_metrics(folder, step)

    hidden = None if progress and writes else True  # None: tqdm hides itself outside of a terminal
    with (
        tqdm(total=settings.steps, initial=step, disable=hidden, unit="update") as bar,
        _interruption() as interrupted,
    ):
        while step < last:
            due = settings.checkpoint_every - step % settings.checkpoint_every
            count = min(settings.updates_per_dispatch, last - step, due)
            clock = time.perf_counter()
            state, metrics = update(state, data, replicate(np.int32(count), chosen))
            values = first_copy(metrics)
            step += count
            line = _line(step, values, float(rate(step - 1)), count / (time.perf_counter() - clock))
            if writes:
                _append(folder / METRICS, line)
            bar.update(count)
            bar.set_postfix(loss_q=line["loss_q"], loss_v=line["loss_v"], q=line["q_mean"], refresh=False)
            _check(line, settings, path if path != folder else None)
            if observer:
                observer(line)
            if step == last or due == count or interrupted.is_set():
                path = folder / f"{checkpoint.PREFIX}{step:08d}"
                if writes:
                    checkpoint.save(folder, first_copy(state), network, settings, extra)
            if interrupted.is_set():
                bar.write(f"stopped after {step} of {settings.steps} steps; saved {path} (can be resumed)")
                raise KeyboardInterrupt
    return Fitted(first_copy(state).params, step, path, time.perf_counter() - start)


def _begin(
    folder: Path, network: NetworkSettings, settings: TrainSettings, resume: bool
) -> checkpoint.Header | None:
    """The checkpoint to go on from; checks that it is of the same run."""
    found = checkpoint.latest(folder)
    if found is None:
        return None
    if not resume:
        raise UsageError(f"{folder} already holds checkpoints: resume the run or choose another folder")
    for old, new in ((found.network, network), (found.training, settings)):
        for field in fields(old):
            name = field.name
            if name not in CHANGEABLE and getattr(old, name) != getattr(new, name):
                raise UsageError(
                    f"{found.path} was trained with {name} {getattr(old, name)}, not {getattr(new, name)}: "
                    "resume with its settings or choose another folder"
                )
    return found


def _line(step: int, values: Metrics, rate: float, speed: float) -> dict[str, Any]:
    named = {name: float(value) for name, value in values._asdict().items()}
    line = {"step": step, **named, "learning_rate": rate, "updates_per_second": round(speed, 3)}
    return {name: value if math.isfinite(value) else None for name, value in line.items()}


def _check(line: dict[str, Any], settings: TrainSettings, path: Path | None) -> None:
    """Raise GraftError for a value that is not finite or a loss beyond the limit."""
    for name in ("loss_q", "loss_v", "loss_policy", "grad_norm"):
        value = line[name]
        if value is None or (name != "grad_norm" and value > settings.loss_limit):
            said = "not finite" if value is None else f"{value:.3g}, beyond {settings.loss_limit:.3g}"
            kept = f"the last whole checkpoint is {path}" if path else "there is no checkpoint yet"
            raise GraftError(
                f"training diverged: {name} is {said} at step {line['step']}; {kept}; lower the learning "
                f"rate (now {settings.learning_rate:g}) or check the rewards and numbers for large values"
            )


def _open_metrics(folder: Path, step: int) -> None:
    """Make the file, without the lines of steps that will be done again."""
    path = folder / METRICS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        kept = []
        for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                if json.loads(text)["step"] <= step and step:
                    kept.append(text + "\n")
            except (ValueError, KeyError, TypeError):
                continue  # cut off by a kill
        path.write_text("".join(kept), encoding="utf-8")
    except OSError as error:
        raise GraftError(f"{path}: {error.strerror or error}") from error


def _append(path: Path, line: dict[str, Any]) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise GraftError(f"{path}: {error.strerror or error}") from error


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; a second one interrupts at once, as usual.

    An exception inside a dispatch would lose the donated state, so the loop looks at the event instead.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    previous = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        del number, frame
        event.set()
        signal.signal(signal.SIGINT, previous if previous is not None else signal.default_int_handler)

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, previous if previous is not None else signal.default_int_handler)
