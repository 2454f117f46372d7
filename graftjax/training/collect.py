"""Collecting the replay: sampled subgraphs → reworded intents → episodes, chunk by chunk on disk."""

from __future__ import annotations

import itertools
import os
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from tqdm import tqdm

from graftjax.encode.encoder import Encoder
from graftjax.encode.projection import Projection
from graftjax.files import replacing, writing
from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.support import EncodedTexts, atom_texts, node_support
from graftjax.intent.atoms import IntentAtoms, atoms_of
from graftjax.lake.record import LakeIndex
from graftjax.retrieval.samples import Sample, compressed_samples, reworded
from graftjax.search.actions import Dials, dials_of
from graftjax.search.guide import intent_vectors
from graftjax.search.settings import Settings
from graftjax.search.shards import ShardOrder, order_shards
from graftjax.training.replay import merge, stack
from graftjax.trajectories.chunks import Trajectory
from graftjax.trajectories.episodes import WIDTH, Episode, Need, WalkSettings, explore
from graftjax.trajectories.reword import RewordSettings
from graftjax.trajectories.synonyms import Synonyms

CHUNK = 128
"""Episodes per file."""


@dataclass(frozen=True, eq=False)
class Collector:
    """All that an episode depends on beside its number."""

    index: LakeIndex
    encoder: Encoder
    settings: Settings
    dials: Dials
    shards: ShardOrder
    projection: Projection
    vocabulary: Synonyms | None
    wording: RewordSettings
    walks: WalkSettings
    seed: int

    @classmethod
    def of(
        cls,
        index: LakeIndex,
        encoder: Encoder,
        projection: Projection,
        vocabulary: Synonyms | None,
        *,
        seed: int,
        settings: Settings | None = None,
        wording: RewordSettings | None = None,
        walks: WalkSettings | None = None,
    ) -> Collector:
        settings, wording = settings or Settings(), wording or RewordSettings()
        dials = dials_of(settings)
        shards = order_shards(index)
        return cls(
            index,
            encoder,
            settings,
            dials,
            shards,
            projection,
            vocabulary,
            wording,
            walks or WalkSettings(),
            seed,
        )

    def episodes(self, trajectories: Sequence[Trajectory], first: int) -> list[Episode]:
        """Episodes of some trajectories; `first` is the number of the first one.

        Each has generators of its own, made from (seed, number), so chunks and threads change nothing.
        """
        needs, atoms, kept = [], [], []
        for i, sample in enumerate(self._samples(trajectories, first)):
            if sample is None:
                continue
            found = atoms_of(sample.intent, WIDTH)
            if found.num_atoms:
                needs.append(
                    Need(sample.intent, tuple(sample.clusters[t.tree_id] for t in sample.intent.trees))
                )
                atoms.append(found)
                kept.append(first + i)
        texts = itertools.chain.from_iterable(group for one in atoms for group in atom_texts(one))
        encoded = EncodedTexts.of(texts, self.encoder)
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            return list(pool.map(partial(self._episode, encoded), needs, atoms, kept))

    def _samples(self, trajectories: Sequence[Trajectory], first: int) -> Iterator[Sample | None]:
        for i, trajectory in enumerate(trajectories):
            rng = np.random.default_rng(np.random.SeedSequence([self.seed, first + i, 0]))
            plain = compressed_samples(self.index, [trajectory.compression])
            yield next(reworded(plain, rng, self.vocabulary, self.wording), None)

    def _episode(self, encoded: EncodedTexts, need: Need, atoms: IntentAtoms, number: int) -> Episode:
        score = self.settings.score
        support = node_support(self.index, atoms, encoded, score)
        evidence = QueryEvidence(atoms, support, self.index.graph, score)
        vectors = intent_vectors(evidence, encoded.vectors, self.projection, WIDTH)
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, number, 1]))
        return explore(
            self.index, self.shards, self.settings, self.dials, need, atoms, support, vectors, rng, self.walks
        )


def collect(
    collector: Collector,
    trajectories: Sequence[Trajectory],
    folder: Path,
    *,
    first: int = 0,
    progress: bool = True,
) -> dict[str, np.ndarray]:
    """Stacked episodes of all trajectories; whole chunks that an earlier run left in `folder` are kept.

    `first`: number of the first trajectory, so that a held-out set draws other numbers. The caller sees to
    it that the folder belongs to these settings.
    """
    parts = []
    count = len(trajectories)
    with tqdm(total=count, desc="episodes", unit="intent", disable=not progress) as bar:
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            path = folder / f"episodes_{first + start:07d}_{size}.npz"
            part = _read(path)
            if part is None:
                chosen = [trajectories[i] for i in range(start, start + size)]
                episodes = collector.episodes(chosen, first + start)
                if not episodes:
                    continue
                part = stack(episodes)
                with writing(path), replacing(path) as draft, draft.open("wb") as file:
                    np.savez(file, **part)  # pyright: ignore[reportArgumentType]
            parts.append(part)
            bar.update(size)
    return merge(parts) if parts else {}


def _read(path: Path) -> dict[str, np.ndarray] | None:
    try:
        with np.load(path, allow_pickle=False) as data:
            return dict(data)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError):
        return None  # missing, or cut short by a kill
