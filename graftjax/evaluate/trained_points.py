"""Value functions of a sweep: what runs have in common is collected once.

A run's trajectories, retrieval space and episodes depend on the lake, the encoder, the seed, the sampler
and the wording; not on γ, the number of updates, or how many trajectories there are (record i is the same
in every run). So a further point takes them from an earlier run by hard links and repeats implicit
Q-learning alone. The retrieval space is then that of the run it comes from, whose trajectories may be more:
networks that read numbers alone never see it, those that read texts get the better one.
"""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftjax.errors import GraftError
from graftjax.evaluate.datasets import cache_directory
from graftjax.evaluate.guidance import Guidance, find_guidance
from graftjax.evaluate.variants import Bench
from graftjax.files import read_json, write_json, writing
from graftjax.search.engine import Engine
from graftjax.training.fresh import check_run_folder, is_run_folder, remove_run
from graftjax.training.job import run_identity, train
from graftjax.training.run_folder import EPISODES, HELD_OUT, REPORT, RUN, SPACE, TRAJECTORIES, has_checkpoint
from graftjax.training.settings import JobSettings

FREE = frozenset(
    [
        "preset",
        "trajectories",
        "held_out",
        "steps",
        "batch",
        "learning_rate",
        "gamma",
        "expectile",
        "polyak",
        "policy",
        "reads",
    ]
)
"""Settings that trajectories and episodes don't depend on."""
_KEPT = (
    (TRAJECTORIES, "chunk-*.parquet"),
    (SPACE, "space.*"),
    *((name, "episodes_*.npz") for name in (EPISODES, *HELD_OUT)),
)


@dataclass(frozen=True, eq=False)
class TrainedPoint:
    """A value function and what its run reports."""

    guidance: Guidance
    report: dict[str, Any]
    folder: Path

    def error(self, plain: bool = False) -> float | None:
        """Mean of |Q − G| / G on unseen trajectories, in percent; None when there was none."""
        found = (self.report.get(HELD_OUT[plain]) or {}).get("mape")
        return found if found is not None and found == found else None


def train_point(
    bench: Bench,
    folder: Path,
    settings: JobSettings,
    sources: Sequence[Path] = (),
    *,
    fresh: bool = False,
    progress: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> TrainedPoint:
    """Train (or finish, or just load) the value function in `folder`.

    `sources`: folders of runs that may lend what fits; the first that does is taken. `fresh`: remove what the
    folder has. Raises UsageError when the folder belongs to something else, GraftError when training fails.
    """
    if fresh:
        remove_run(folder)
    else:
        check_run_folder(folder)
    identity = run_identity(bench.index, bench.encoder.name, settings)
    report = read_json(folder / REPORT)
    if report is None or read_json(folder / RUN) != identity or not has_checkpoint(folder):
        for source in () if is_run_folder(folder) else sources:
            if lend(source, folder, identity):
                say(f"trajectories and episodes from {source}")
                break
        train(
            bench.index, bench.encoder, folder, settings,
            cache_folder=cache_directory(), progress=progress, say=say,
        )  # fmt: skip
        report = read_json(folder / REPORT)
    if report is None:
        raise GraftError(f"{folder}: the training left no report")
    return TrainedPoint(find_guidance(folder, bench.encoder.name, folder, "learned"), report, folder)


def lend(source: Path, target: Path, identity: dict[str, Any]) -> bool:
    """Link what a run with this identity can use of another run's files; whether it can use any.

    The source is only read: links are to files that no run ever changes in place.
    """
    before = read_json(source / RUN)
    if before is None or source.resolve() == target.resolve():
        return False
    names = (set(identity) | set(before)) - FREE
    if any(before.get(name) != identity.get(name) for name in names):
        return False
    write_json(target / RUN, identity)  # first: a folder with files and no such mark would be refused
    with writing(target):
        for place, pattern in _KEPT:
            for path in sorted((source / place).glob(pattern)):
                (target / place).mkdir(parents=True, exist_ok=True)
                _link(path, target / place / path.name)
    return True


def _link(path: Path, new: Path) -> None:
    if new.exists():
        return
    try:
        os.link(path, new)
    except OSError:  # another file system
        shutil.copyfile(path, new)


def guided(engine: Engine, guidance: Guidance) -> Engine:
    """The same engine, guided by a value function; nothing is computed again."""
    other = copy.copy(engine)
    other.guide = guidance.guide
    return other
