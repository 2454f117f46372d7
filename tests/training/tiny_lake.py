"""A lake of three subjects, each two tables with a bridge and a stranger; settings of short runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from graftjax.iql.presets import NetworkSettings, TrainSettings
from graftjax.search.guide import Guide
from graftjax.training.settings import JobSettings
from graftjax.trajectories.synonyms import KEPT, Synonyms

ROWS = 24
_SUBJECTS = {
    "school": ("student", "course", "enrolment", ("birth year", "home town"), ("title", "credits")),
    "harbour": ("ship", "port", "call", ("tonnage", "flag"), ("country", "depth")),
    "clinic": ("patient", "doctor", "visit", ("blood group", "weight"), ("specialty", "office")),
}


def tables() -> dict[str, Mapping[str, Sequence[object]]]:
    """Table name → header → values; each bridge comes in two shards, and each subject has a stranger."""
    lake: dict[str, Mapping[str, Sequence[object]]] = {}
    for place, (subject, (left, right, bridge, left_more, right_more)) in enumerate(_SUBJECTS.items()):
        for name, more in ((left, left_more), (right, right_more)):
            ids = [f"{name[:2]}{place}-{i}" for i in range(ROWS)]
            lake[f"{name}s"] = {
                f"{name} id": ids,
                "name": [f"{name} {chr(97 + i)} {subject}" for i in range(ROWS)],
                more[0]: [f"{more[0]} {i % 7}" for i in range(ROWS)],
                more[1]: [100 * (place + 1) + (i * 13) % 31 for i in range(ROWS)],
            }
        for part in range(2):
            own = range(part * ROWS // 2, (part + 1) * ROWS // 2)
            lake[f"{bridge}s {part + 1}"] = {
                f"{left} id": [f"{left[:2]}{place}-{i}" for i in own],
                f"{right} id": [f"{right[:2]}{place}-{(i * 5) % ROWS}" for i in own],
                "day": [f"20{10 + place}-03-{i + 1:02}" for i in own],
            }
        lake[f"{left} archive"] = {
            "name": [f"old {left} {i}" for i in range(ROWS)],
            left_more[0]: [f"former {i % 5}" for i in range(ROWS)],
            "remark": [f"remark {place} {i}" for i in range(ROWS)],
        }
    return lake


def write_csv(folder: Path) -> Path:
    """The lake as CSV files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in tables().items():
        rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        (folder / f"{name.replace(' ', '_')}.csv").write_text("\n".join(rows) + "\n")
    return folder


SHORT = JobSettings(trajectories=256, held_out=16, steps=200, batch=64)


def no_synonyms(encoder: Any, folder: Path) -> Synonyms:
    """In place of `load_synonyms`, which takes ten seconds."""
    return Synonyms((), np.zeros((0, KEPT), np.int32))


def small_preset(name: str, **sizes: int) -> tuple[NetworkSettings, TrainSettings]:
    """In place of `preset`: less to compile."""
    network = NetworkSettings(hidden=16, heads=2, layers=1, input_rank=16, mlp=32, **sizes)
    return network, TrainSettings(
        learning_rate=3e-3, microbatch=16, updates_per_dispatch=20, checkpoint_every=100
    )


def random_guide(guide: Guide, seed: int) -> Guide:
    """The same with other parameters of Q, each drawn from a normal distribution of its own spread."""
    rng = np.random.default_rng(seed)

    def draw(leaf: Any) -> np.ndarray:
        fan_in = leaf.shape[0] if np.ndim(leaf) > 1 else 16
        return rng.normal(0.0, fan_in**-0.5, np.shape(leaf)).astype(np.float32)

    return replace(guide, params=jax.tree.map(draw, guide.params))
