"""From sampled trajectories to a retrieval space: reword, pair, fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from graftjax.encode.encoder import Encoder
from graftjax.igms.settings import ScoreSettings
from graftjax.lake.record import LakeIndex
from graftjax.retrieval.pairs import Pairs, PairSettings, make_pairs
from graftjax.retrieval.samples import Sample, reworded
from graftjax.retrieval.space import RetrievalSpace
from graftjax.retrieval.train import Fit, FitSettings, fit_space
from graftjax.trajectories.reword import RewordSettings
from graftjax.trajectories.synonyms import Synonyms

NUM_SAMPLES = 3_000
"""Samples that are enough to learn from; more take longer."""


@dataclass(frozen=True)
class LearnSettings:
    """Settings of the three steps, and of the score whose ψ is fitted."""

    reword: RewordSettings = field(default_factory=RewordSettings)
    pairs: PairSettings = field(default_factory=PairSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    score: ScoreSettings = field(default_factory=ScoreSettings)


def learn_space(
    index: LakeIndex,
    encoder: Encoder,
    samples: Iterable[Sample],
    seed: int,
    vocabulary: Synonyms | None = None,
    settings: LearnSettings | None = None,
) -> tuple[RetrievalSpace, Fit, Pairs]:
    """The space fitted to reworded `samples` (see `retrieval.samples`), with the fit and its pairs.

    The lake is taken as the encoder gives it, whatever projection `index` has. Deterministic in `seed`.
    UsageError when the lake is too small for wrong pairs.
    """
    settings = settings or LearnSettings()
    words, wrong, batches = (np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(3))
    plain = replace(index, space=index.space.projected(None))
    pairs = make_pairs(
        plain,
        reworded(samples, words, vocabulary, settings.reword),
        encoder,
        wrong,
        settings.score,
        settings.pairs,
    )
    share = settings.score.lexical_share
    fit = fit_space(
        pairs, encoder.encode(pairs.texts), np.asarray(plain.space.dense), batches, share, settings.fit
    )
    return RetrievalSpace.of_fit(fit, encoder.name, share), fit, pairs
