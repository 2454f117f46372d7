"""`graftjax train`: an indexed lake → trajectories → retrieval space → replay → trained value function.

Every stage leaves its result in the run folder and is skipped when it is there, so a run that was killed
goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from graftjax.encode.encoder import Encoder
from graftjax.errors import GraftError, UsageError
from graftjax.files import read_json, write_json
from graftjax.iql.networks import Params
from graftjax.iql.presets import NetworkSettings, own_reading, preset, reading
from graftjax.iql.train import Fitted, fit
from graftjax.lake.record import LakeIndex
from graftjax.lake.store import content_digest
from graftjax.retrieval.learn import NUM_SAMPLES, LearnSettings, learn_space
from graftjax.retrieval.samples import compressed_samples
from graftjax.retrieval.space import RetrievalSpace, load_space
from graftjax.search.guide import Scales
from graftjax.search.numbers import ACTION_NUMBERS, STATE_NUMBERS
from graftjax.training.collect import Collector, collect
from graftjax.training.held_out import HeldOutError, value_error
from graftjax.training.replay import Replay, batch_of, make_replay, scales_of
from graftjax.training.run_folder import EPISODES, HELD_OUT, REPORT, RUN, SPACE, TRAJECTORIES
from graftjax.training.settings import JobSettings
from graftjax.trajectories.chunks import Trajectory
from graftjax.trajectories.episodes import WalkSettings
from graftjax.trajectories.reword import UNCHANGED, RewordSettings
from graftjax.trajectories.stream import sample_trajectories
from graftjax.trajectories.synonyms import Synonyms, load_synonyms

_EXTENDED = ("steps",)
"""Settings that a run may be taken up again with."""
_HELD_OUT_SEED = 1_000_003
"""Added to the seed for trajectories that no training sees."""


@dataclass(frozen=True)
class Report:
    """What a run came to."""

    folder: Path
    steps: int
    trajectories: int
    transitions: int
    held_out: HeldOutError
    """On reworded intents, as in training."""
    held_out_plain: HeldOutError
    """On intents in the lake's own words, as in the paper."""
    seconds: dict[str, float]
    """By stage, those of earlier starts that came to a report among them."""


def train(
    index: LakeIndex,
    encoder: Encoder,
    folder: Path,
    settings: JobSettings,
    *,
    cache_folder: Path,
    progress: bool = True,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Train (or finish) the run in `folder`. `cache_folder` keeps the encoder's thesaurus.

    Raises UsageError when the folder belongs to other settings or another lake, GraftError when the lake has
    nothing to learn from or training diverges.
    """
    if len(index.tables) < 2 or not len(index.graph.unions.class_cluster):
        raise GraftError("a value function needs a lake of at least two tables with columns to be trained on")
    count = settings.num_trajectories(len(index.tables))
    identity = run_identity(index, encoder.name, settings)
    lake = identity["lake"]
    _claim(folder, identity)
    before = (read_json(folder / REPORT) or {}).get("seconds", {})
    clock, seconds = time.perf_counter(), {}

    def done(stage: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        seconds[stage] = round(before.get(stage, 0.0) + now - clock, 2)
        clock = now

    say(f"{count} trajectories ({settings.sampler} sampler), seed {settings.seed}")
    samples = sample_trajectories(
        index,
        settings.sample,
        count,
        settings.seed,
        settings.sampler,
        folder / TRAJECTORIES,
        progress=progress,
    )
    # The same held-out samples for every sampler, so that errors can be compared.
    unseen = sample_trajectories(
        index, settings.sample, settings.held_out, settings.seed + _HELD_OUT_SEED, progress=False
    )
    done("sample")
    vocabulary = load_synonyms(encoder, cache_folder)
    space = _space(index, encoder, samples, vocabulary, settings, folder)
    done("retrieval space")
    collector = Collector.of(
        index,
        encoder,
        space.projection,
        vocabulary,
        seed=settings.seed,
        wording=settings.words,
        walks=WalkSettings(exploring=settings.exploring),
    )
    arrays = collect(collector, samples, folder / EPISODES, progress=progress)
    if not arrays:
        raise GraftError("not one sampled intent names anything; the lake has no words to learn from")
    done("episodes")
    vectors = space.projection(np.asarray(index.space.dense))
    scales = scales_of(arrays)
    data = make_replay(arrays, vectors, scales)
    fitted, network, gamma = _fit(
        data, scales, lake, replace(settings, steps=settings.num_steps(count)), folder, progress
    )
    done("iql")
    errors: dict[RewordSettings, HeldOutError] = {}  # one for both when the run keeps the lake's words
    for name, wording in zip(HELD_OUT, (settings.words, UNCHANGED), strict=True):
        if wording not in errors:
            other = replace(collector, wording=wording)
            found = collect(other, unseen, folder / name, first=count, progress=False)
            errors[wording] = _error(found, vectors, scales, network, fitted.params["q"], gamma)
    done("report")
    reworded, plain = errors[settings.words], errors[UNCHANGED]
    report = Report(folder, fitted.step, count, data.num_transitions, reworded, plain, seconds)
    write_json(folder / REPORT, {**asdict(report), "folder": str(folder)})
    return report


def run_identity(index: LakeIndex, encoder_name: str, settings: JobSettings) -> dict[str, Any]:
    """All that decides a run's result, as its `run.json` has it."""
    identity = {
        "lake": content_digest(index.tables, index.encoder_name, index.headers),
        "encoder": encoder_name,
        **asdict(settings),
        "trajectories": settings.num_trajectories(len(index.tables)),
    }
    if identity["reads"] in (None, own_reading(settings.preset)):
        del identity["reads"]  # runs from before that setting don't name it, and they stay valid
    return as_json(identity)


def _claim(folder: Path, identity: dict[str, Any]) -> None:
    """Write the run's settings, or check that the folder was begun with the same ones."""
    before = read_json(folder / RUN)
    if before is None:
        write_json(folder / RUN, identity)
        return
    names = {*identity, *before} - set(_EXTENDED)
    other = sorted(name for name in names if before.get(name) != identity.get(name))
    if other:
        raise UsageError(
            f"{folder}: holds a run with another {' and '.join(other)}; choose another folder, or start anew "
            "with --fresh"
        )


def as_json(value: Any) -> Any:
    """The value as JSON gives it back: tuples become lists."""
    if isinstance(value, dict):
        return {name: as_json(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(entry) for entry in value]
    return value


def _space(
    index: LakeIndex,
    encoder: Encoder,
    samples: Sequence[Trajectory],
    vocabulary: Synonyms,
    settings: JobSettings,
    folder: Path,
) -> RetrievalSpace:
    try:
        return load_space(folder / SPACE)
    except GraftError:
        pass
    plain = compressed_samples(index, (one.compression for one in islice(samples, NUM_SAMPLES)))
    learning = LearnSettings(reword=settings.words)
    space, _, _ = learn_space(index, encoder, plain, settings.seed, vocabulary, learning)
    space.save(folder / SPACE)
    return space


def _fit(
    data: Replay, scales: Scales, lake: str, settings: JobSettings, folder: Path, progress: bool
) -> tuple[Fitted, NetworkSettings, float]:
    network, training = preset(
        settings.preset,
        num_scalars=len(STATE_NUMBERS),
        num_numbers=len(ACTION_NUMBERS),
        text_dim=data.vectors.shape[1],
    )
    network = network if settings.reads is None else reading(network, settings.reads)
    training = settings.training(training)
    extra = {
        "lake": lake,
        "scales": {name: np.asarray(leaf).tolist() for name, leaf in scales._asdict().items()},
    }
    fitted = fit(
        data, batch_of, data.num_transitions, network, training, folder,
        resume=True, extra=extra, progress=progress,
    )  # fmt: skip
    return fitted, network, training.gamma


def _error(
    arrays: dict[str, np.ndarray],
    vectors: np.ndarray,
    scales: Scales,
    network: NetworkSettings,
    params: Params,
    gamma: float,
) -> HeldOutError:
    if not arrays:
        return HeldOutError(float("nan"), float("nan"), float("nan"), 0)
    data = make_replay(arrays, vectors, scales)
    stops = np.zeros(len(arrays["problem"]), bool)
    recorded = np.concatenate([arrays["recorded"].astype(bool), stops])
    return value_error(network, params, data, recorded, gamma)
