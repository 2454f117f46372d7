"""`graftjax train --finetune-backbone`: the text encoder trained on a lake, as a model folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from graftjax.commands.lakes import show
from graftjax.errors import UsageError

if TYPE_CHECKING:
    from graftjax.lake.record import LakeIndex
    from graftjax.training.settings import JobSettings

_PURPOSE = 4
"""Tells the generator of pairs and batches from the others of a seed."""


def finetune_backbone(
    index: LakeIndex,
    encoder: Any,
    settings: JobSettings,
    *,
    model: str,
    out: Path | None,
    lake: str,
    place: Path | None,
) -> None:
    """Train the weights, write the model into `out`, and print how to use it.

    `model`: the encoder as the user named it; `lake`, `place`: lake and index in the printed commands.
    """
    from graftjax.evaluate.datasets import beside, cache_directory
    from graftjax.igms.settings import ScoreSettings
    from graftjax.retrieval.finetune import FinetuneSettings, finetune, write_model
    from graftjax.retrieval.learn import NUM_SAMPLES
    from graftjax.retrieval.pairs import make_pairs
    from graftjax.retrieval.samples import compressed_samples, reworded
    from graftjax.trajectories.stream import sample_trajectories
    from graftjax.trajectories.synonyms import load_synonyms

    seed = settings.seed
    folder = out or beside(index.folder, f"encoder-seed{seed}" if seed else "encoder")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: not an empty folder; choose another one with --out")
    if len(index.tables) < 2:
        raise UsageError("an encoder needs a lake of at least two tables to be trained on")
    given = {name: getattr(settings, name) for name in ("steps", "batch", "learning_rate")}
    plan = FinetuneSettings(**{name: value for name, value in given.items() if value is not None})
    count = min(NUM_SAMPLES, settings.num_trajectories(len(index.tables)))
    progress = sys.stderr.isatty()
    samples = sample_trajectories(index, settings.sample, count, seed, settings.sampler, progress=progress)
    rng = np.random.default_rng(np.random.SeedSequence([seed, _PURPOSE]))
    vocabulary = load_synonyms(encoder, cache_directory())
    plain = compressed_samples(index, (sample.compression for sample in samples))
    score = ScoreSettings()
    pairs = make_pairs(index, reworded(plain, rng, vocabulary, settings.wording), encoder, rng, score)
    with tqdm(total=plan.steps, desc="encoder", unit="update", disable=not progress) as bar:

        def count_up(step: int, loss: float) -> None:
            bar.update(step + 1 - bar.n)
            bar.set_postfix(loss=loss, refresh=False)

        trained = finetune(encoder, pairs, index.space.texts, rng, score.lexical_share, plan, count_up)
    write_model(model, trained.params, folder)
    tenth = max(1, len(trained.losses) // 10)
    first, last = np.mean(trained.losses[:tenth]), np.mean(trained.losses[-tenth:])
    place = place or folder.with_name(f"{folder.name}-index")
    show(
        f"pairs               {len(pairs.right):,}",
        f"updates             {len(trained.losses):,}",
        f"loss                {first:.4f} in the first tenth, {last:.4f} in the last",
        f"encoder             {folder}",
        "index the lake with it and train a value function:",
        f"  graftjax train {lake} --encoder {folder} --index {place}",
        "then search by both:",
        f'  graftjax search "QUESTION" --lake {place} --encoder {folder}',
    )
