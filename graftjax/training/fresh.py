"""Starting a run anew: what an earlier one left in its folder is removed, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from graftjax.errors import GraftError, UsageError
from graftjax.files import DRAFT
from graftjax.iql import checkpoint
from graftjax.iql.train import METRICS
from graftjax.training.run_folder import EPISODES, HELD_OUT, REPORT, RUN, SPACE, TRAJECTORIES

_FOLDERS = (TRAJECTORIES, EPISODES, *HELD_OUT, SPACE)
_OWN = (
    f"{checkpoint.PREFIX}*",
    f"{TRAJECTORIES}/samples.json",
    f"{TRAJECTORIES}/chunk-*.parquet",
    *(f"{name}/episodes_*" for name in (EPISODES, *HELD_OUT)),
    f"{SPACE}/space.npz",
    f"{SPACE}/space.json",
    METRICS,
    REPORT,
    f"{DRAFT}*",
    *(f"{name}/{DRAFT}*" for name in _FOLDERS),
    RUN,  # the last: without it the folder would no longer be known as a run's
)
"""What a run makes, as patterns below its folder."""


def is_run_folder(folder: Path) -> bool:
    """Whether a training run has begun there."""
    return (folder / RUN).is_file()


def check_run_folder(folder: Path) -> None:
    """UsageError unless the folder is a run's, empty or missing: a run never mixes with other files."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: not a folder")
    if folder.is_dir() and not is_run_folder(folder) and any(folder.iterdir()):
        raise UsageError(f"{folder}: holds other files and no training run; choose another folder")


def remove_run(folder: Path) -> None:
    """Remove all that a run made in the folder; other files and the folder itself stay.

    Raises UsageError for a folder that holds other files and no run, GraftError when it can't be changed.
    """
    check_run_folder(folder)
    try:
        for pattern in _OWN:
            for path in list(folder.glob(pattern)):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        for name in _FOLDERS:
            place = folder / name
            if place.is_dir() and not place.is_symlink() and not any(place.iterdir()):
                os.rmdir(place)
    except OSError as error:
        raise GraftError(f"{error.filename or folder}: {error.strerror or error}") from error
