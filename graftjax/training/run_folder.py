"""The folder of a training run: what lies where, and the value function that is read back from it.

`run.json` (settings), `space/`, `trajectories/`, `episodes/`, `step_<n>/` with checkpoints, `metrics.jsonl`,
`report.json`. Only the newest checkpoint and `space/` are needed to search.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np

from graftjax.errors import GraftError
from graftjax.iql import checkpoint
from graftjax.retrieval.space import load_space
from graftjax.search.guide import Guide, Scales

RUN, REPORT, SPACE = "run.json", "report.json", "space"
TRAJECTORIES, EPISODES = "trajectories", "episodes"
HELD_OUT = ("held_out", "held_out_plain")
"""Episodes of unseen trajectories in the run's own wording, and in the lake's words."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A value function and where it comes from; it may guide searches of other lakes too."""

    guide: Guide
    step: int
    seed: int
    """Of the training."""
    path: Path


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a whole checkpoint."""
    return checkpoint.latest(folder) is not None


def load_trained(folder: Path, encoder_name: str | None = None) -> Trained:
    """Read a run's newest checkpoint.

    Raises GraftError, one line, when there is none, when something is damaged, or when it was trained with
    another encoder than `encoder_name`.
    """
    folder = Path(folder)
    found = checkpoint.load(folder)
    home = found.path.parent
    space = load_space(home / SPACE)
    if encoder_name is not None and space.encoder_name != encoder_name:
        raise GraftError(
            f"checkpoint {folder}: trained with encoder {space.encoder_name}, not {encoder_name}; train anew "
            "or choose that encoder"
        )
    try:
        scales = Scales(*(np.asarray(found.extra["scales"][name], np.float32) for name in Scales._fields))
    except (KeyError, TypeError, ValueError) as error:
        raise GraftError(f"checkpoint {found.path}: its scales are missing or damaged") from error
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((found.params["q"], scales))):
        raise GraftError(f"checkpoint {found.path}: its value function has numbers that are not finite")
    guide = Guide(found.network, found.params["q"], scales, found.training.gamma, space.projection)
    return Trained(guide, found.step, found.training.seed, found.path)
