"""Which value function guides a search: the one asked for, the lake's own, or none (exact gains)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.datasets import beside
from graftjax.files import read_json

if TYPE_CHECKING:
    from graftjax.search.guide import Guide

# What reads a checkpoint is imported inside the functions: arguments are checked before JAX starts.

GuidanceMode = Literal["auto", "learned", "exact"]


@dataclass(frozen=True, eq=False)
class Guidance:
    """A value function with where it comes from; without one the search goes by exact gains."""

    guide: Guide | None = None
    checkpoint: Path | None = None
    step: int = 0
    """Updates that it was trained with."""
    training_seed: int = 0

    def record(self) -> dict[str, Any]:
        """What result files say of it."""
        if self.checkpoint is None:
            return {"guidance": "exact"}
        return {
            "guidance": "learned",
            "checkpoint": str(self.checkpoint),
            "step": self.step,
            "training_seed": self.training_seed,
        }


def value_folder(index_folder: Path, seed: int = 0) -> Path:
    """Default folder of the training run with that seed, beside the lake's index."""
    return beside(index_folder, f"value-seed{seed}" if seed else "value")


def check_guidance(checkpoints: Sequence[Path], mode: GuidanceMode) -> None:
    """UsageError for a checkpoint that isn't there, or together with `exact`; nothing is loaded yet."""
    for checkpoint in checkpoints:
        if not checkpoint.exists():
            raise UsageError(f"--checkpoint {checkpoint}: no such checkpoint")
    if checkpoints and mode == "exact":
        raise UsageError("--guidance exact uses no value function: leave --checkpoint out")


def find_guidances(
    index_folder: Path,
    encoder_name: str,
    checkpoints: Sequence[Path],
    mode: GuidanceMode,
    *,
    seed: int,
    runs: int,
) -> list[Guidance]:
    """The value functions of several runs: those of `checkpoints`; without any, those that were trained for
    this lake with the runs' seeds, as far as they are there; without those what `find_guidance` finds.
    """
    if checkpoints or mode == "exact":
        return [find_guidance(index_folder, encoder_name, path, mode) for path in checkpoints or (None,)]
    folders = (value_folder(index_folder, seed + number) for number in range(runs))
    trained = [folder for folder in folders if any(folder.glob("step_*"))]
    if 0 < len(trained) < runs:
        print(
            f"{runs} runs, but value functions of {len(trained)} seeds: some runs are alike", file=sys.stderr
        )
    if len(trained) < 2:
        return [find_guidance(index_folder, encoder_name, None, mode)]
    return [_said(_load(folder, encoder_name), _since(index_folder, folder)) for folder in trained]


def find_guidance(
    index_folder: Path, encoder_name: str, checkpoint: Path | None = None, mode: GuidanceMode = "auto"
) -> Guidance:
    """The value function to search with, said in one line on stderr unless `mode` is exact.

    `auto`: the given checkpoint, else the one in the lake's own `value_folder`, else exact gains; `learned`:
    one of the first two; `exact`: none.
    Raises UsageError as `check_guidance`, GraftError when the given checkpoint can't be used, or when
    `learned` finds none.
    """
    check_guidance([] if checkpoint is None else [checkpoint], mode)
    if mode == "exact":
        return Guidance()
    if checkpoint is not None:
        return _said(_load(checkpoint, encoder_name))
    folder = value_folder(index_folder)
    try:
        if folder.is_dir():
            return _said(_load(folder, encoder_name), _since(index_folder, folder))
        reason = "no value function was trained for this lake, see `graftjax train`"
    except GraftError as error:
        reason = str(error)
    if mode == "learned":
        raise GraftError(reason)
    print(f"guided by exact gains ({reason})", file=sys.stderr)
    return Guidance()


def _load(folder: Path, encoder_name: str) -> Guidance:
    from graftjax.search.numbers import ACTION_NUMBERS, STATE_NUMBERS
    from graftjax.training.run_folder import load_trained

    trained = load_trained(folder, encoder_name)
    network, made = trained.guide.network, trained.guide.projection.matrix
    shape = (network.num_scalars, network.num_numbers, network.text_dim)
    if shape != (len(STATE_NUMBERS), len(ACTION_NUMBERS), made.shape[1]):
        raise GraftError(f"checkpoint {trained.path}: of another version of graftjax; train anew")
    return Guidance(trained.guide, trained.path, trained.step, trained.seed)


def _since(index_folder: Path, run: Path) -> str:
    """What is to be said of a value function whose lake has changed after its training."""
    from graftjax.training.run_folder import RUN

    trained, now = read_json(run / RUN) or {}, read_json(index_folder / "current.json") or {}
    if trained.get("lake") in (None, now.get("digest")):
        return ""
    return "; the lake has changed since its training, `graftjax train LAKE --fresh` makes a new one"


def _said(found: Guidance, more: str = "") -> Guidance:
    print(f"guided by {found.checkpoint} (training seed {found.training_seed}){more}", file=sys.stderr)
    return found
