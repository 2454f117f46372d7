"""Checkpoints of a training run: an Orbax folder per step, with the settings beside it.

A run's folder holds `step_<number>/`, each with `state/` (Orbax) and `checkpoint.json`: the settings and a
digest of every file. A checkpoint is written under another name and renamed when it is whole; one that is
half-written or damaged is passed over. Arrays are saved as they are on one device, so that a checkpoint can
be restored on any number of them.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import flax.serialization
import jax
import numpy as np

from graftjax.errors import GraftError
from graftjax.files import DRAFT, digest_of, replacing, write_json
from graftjax.iql.networks import Params
from graftjax.iql.presets import NetworkSettings, TrainSettings
from graftjax.iql.update import TrainState, init_state

PREFIX = "step_"
CONFIG = "checkpoint.json"
STATE = "state"
FORMAT = 1
"""Version of the layout."""


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint says of itself, and the networks for use."""

    path: Path
    step: int
    network: NetworkSettings
    training: TrainSettings
    extra: dict[str, Any]
    """The caller's own JSON."""
    params: dict[str, Params]
    """`q`, `v` and perhaps `policy`, as NumPy arrays."""


@dataclass(frozen=True)
class Header:
    """A checkpoint without its arrays."""

    path: Path
    step: int
    network: NetworkSettings
    training: TrainSettings
    extra: dict[str, Any]


def save(
    folder: Path,
    state: TrainState,
    network: NetworkSettings,
    training: TrainSettings,
    extra: dict[str, Any] | None = None,
) -> Path:
    """Write the state (NumPy arrays of one device) and keep only the newest `training.keep` checkpoints.

    Raises GraftError when the folder can not be written.
    """
    folder = folder.absolute()  # Orbax takes no relative paths
    step = int(state.step)
    final = folder / f"{PREFIX}{step:08d}"
    for old in folder.glob(f"{DRAFT}*"):  # of a run that was killed
        shutil.rmtree(old, ignore_errors=True)
    try:
        with replacing(final) as draft:
            draft.mkdir()
            _checkpointer().save(draft / STATE, _without_empty(flax.serialization.to_state_dict(state)))
            config = {
                "format": FORMAT,
                "step": step,
                "network": asdict(network),
                "training": asdict(training),
                "extra": extra or {},
                "files": _digests(draft),
            }
            write_json(draft / CONFIG, config)
    except OSError as error:
        raise GraftError(f"checkpoint {final}: {error.strerror or error}") from error
    for old in _steps(folder)[: -training.keep]:
        shutil.rmtree(old, ignore_errors=True)
    return final


def latest(folder: Path) -> Header | None:
    """The newest whole checkpoint of a run's folder; None when there is none."""
    for path in reversed(_steps(folder)):
        try:
            return read_header(path)
        except GraftError:
            continue
    return None


def restore(header: Header) -> TrainState:
    """The whole state of a checkpoint as NumPy arrays. Raises GraftError when it can not be read."""
    template = _template(header)
    found = _arrays(header, flax.serialization.to_state_dict(template))
    state: Any = flax.serialization.from_state_dict(template, found)
    return state


def load(folder: Path) -> Checkpoint:
    """The newest whole checkpoint of a run's folder, or the one that `folder` itself is.

    Raises GraftError, one line, when there is none or it is damaged.
    """
    folder = Path(folder)
    if (folder / CONFIG).exists():
        header = read_header(folder)
    else:
        found = latest(folder)
        if found is None:
            raise GraftError(f"{folder}: {_nothing(folder)}")
        header = found
    return Checkpoint(
        header.path, header.step, header.network, header.training, header.extra, _params(header)
    )


def read_header(path: Path) -> Header:
    """Settings of one checkpoint, its files verified. Raises GraftError when anything is wrong with it."""
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
        if config["format"] != FORMAT:
            raise GraftError(f"checkpoint {path}: its format {config['format']} is not {FORMAT}")
        header = Header(
            path,
            int(config["step"]),
            _settings(NetworkSettings, config["network"]),
            _settings(TrainSettings, config["training"]),
            dict(config["extra"]),
        )
        files = config["files"].items()
        damaged = sorted(name for name, digest in files if not _is_whole(path / name, digest))
    except OSError as error:
        raise GraftError(f"checkpoint {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GraftError(f"checkpoint {path}: {CONFIG} is damaged ({_short(error)})") from error
    if damaged:
        raise GraftError(f"checkpoint {path}: {damaged[0]} is missing or damaged")
    return header


def _params(header: Header) -> dict[str, Params]:
    """The networks without the optimiser's state, which is twice their size."""
    import orbax.checkpoint as ocp

    wanted = {"params": flax.serialization.to_state_dict(_template(header).params)}
    numpy = jax.tree.map(lambda _: ocp.RestoreArgs(restore_type=np.ndarray), wanted)
    part = ocp.args.PyTreeRestore(wanted, numpy, partial_restore=True)
    return _arrays(header, wanted, args=part)["params"]


def _template(header: Header) -> TrainState:
    """The state's structure, with shapes in place of arrays."""
    return jax.eval_shape(lambda: init_state(header.network, header.training))


def _arrays(header: Header, wanted: Any, **arguments: Any) -> Any:
    """The stored arrays of a structure."""
    try:
        found = _checkpointer().restore((header.path / STATE).absolute(), **arguments)
    except Exception as error:  # Orbax and its storage raise many kinds
        raise GraftError(f"checkpoint {header.path}: its arrays can not be read ({_short(error)})") from error
    return _matched(wanted, found, header.path, "")


def _checkpointer() -> Any:
    import orbax.checkpoint as ocp  # a second, needed by training and loading only

    if jax.process_count() == 1:
        return ocp.PyTreeCheckpointer()
    # Only the first host writes and each reads on its own: none waits for another.
    here = jax.process_index()
    alone = ocp.options.MultiprocessingOptions(
        primary_host=here, active_processes={here}, barrier_sync_key_prefix=f"host{here}"
    )
    handler = ocp.PyTreeCheckpointHandler(multiprocessing_options=alone)
    return ocp.Checkpointer(handler, multiprocessing_options=alone)


_LATER = frozenset({"numbers"})
"""Settings that older checkpoints lack; what those did is the default."""


def _settings(kind: type[Any], raw: dict[str, Any]) -> Any:
    names = {field.name for field in fields(kind)}
    if wrong := (set(raw) ^ names) - (_LATER - set(raw)):
        raise ValueError(f"settings {sorted(wrong)} are unknown or missing")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()})


def _without_empty(tree: Any) -> Any:
    """Drop what holds no array (an optimiser's empty states): Orbax has no place for it."""
    if not isinstance(tree, dict):
        return np.asarray(tree)
    kept = {name: _without_empty(value) for name, value in tree.items()}
    return {name: value for name, value in kept.items() if not isinstance(value, dict) or value}


def _matched(wanted: Any, found: Any, path: Path, where: str) -> Any:
    """The found arrays in the wanted structure, empty parts put back."""
    if isinstance(wanted, dict):
        found = found if isinstance(found, dict) else {}
        return {
            name: _matched(value, found.get(name), path, f"{where}/{name}") for name, value in wanted.items()
        }
    missing = found is None or isinstance(found, dict | jax.ShapeDtypeStruct)
    array = None if missing else np.asarray(found)
    if array is None or array.shape != wanted.shape:
        raise GraftError(f"checkpoint {path}: {where[1:]} is missing or has another shape")
    return array


def _steps(folder: Path) -> list[Path]:
    """Finished checkpoints, oldest first."""
    paths = [path for path in Path(folder).glob(f"{PREFIX}*") if path.name[len(PREFIX) :].isdecimal()]
    return sorted(paths, key=lambda path: int(path.name[len(PREFIX) :]))


def _digests(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): digest_of(path) for path in sorted(files)}


def _is_whole(path: Path, digest: object) -> bool:
    return path.is_file() and digest_of(path) == digest


def _nothing(folder: Path) -> str:
    if not folder.is_dir():
        return "there is no such checkpoint folder"
    steps = _steps(folder)
    if not steps:
        return "the folder holds no checkpoint"
    try:
        read_header(steps[-1])
    except GraftError as error:
        return f"none of its checkpoints is whole ({error})"
    return "none of its checkpoints is whole"


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
