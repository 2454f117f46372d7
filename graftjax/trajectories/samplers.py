"""Stage 2a of Algorithm 1: which tables a sample takes, by three rules behind one interface.

`centrality` is the paper's; `anchor` has its seeds but no centrality; `uniform` is a random walk without
either. All keep to the size that was drawn for the sample.
Letters: F tables of the frontier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from graftjax.trajectories import partition
from graftjax.trajectories.settings import SampleSettings
from graftjax.trajectories.structure import Structure
from graftjax.trajectories.subgraph import Action

SamplerName = Literal["centrality", "uniform", "anchor"]

_STEPS_PER_TABLE = 20
"""A random walk gives up after this many steps for each table that it should find."""


class Size(NamedTuple):
    """What a sample should have, where the lake allows it."""

    clusters: int
    tables: int
    """At least `clusters`, at most L."""


class Growth(NamedTuple):
    """Tables in the order of sampling and the action that brought each after the first."""

    tables: tuple[int, ...]
    actions: tuple[Action, ...]


@runtime_checkable
class Sampler(Protocol):
    """A rule for seeds and for expansion."""

    def strata(self, lake: Structure, settings: SampleSettings) -> tuple[np.ndarray, ...]:
        """Groups of tables, none empty; samples take their seeds from them in turn."""
        ...

    def expand(
        self, lake: Structure, settings: SampleSettings, seed: int, size: Size, rng: np.random.Generator
    ) -> Growth:
        """Grow a sample from a seed table."""
        ...


def draw_size(settings: SampleSettings, rng: np.random.Generator) -> Size:
    """Number of clusters by the settings' odds, number of tables uniform from there up to L."""
    most = min(settings.max_clusters, settings.max_tables)
    odds = np.array([settings.cluster_odds[min(i, len(settings.cluster_odds) - 1)] for i in range(most)])
    clusters = 1 + int(rng.choice(most, p=odds / odds.sum()))
    return Size(clusters, int(rng.integers(clusters, settings.max_tables + 1)))


class Frontier(NamedTuple):
    """Tables that could come next."""

    tables: Int[np.ndarray, " F"]
    join: Float[np.ndarray, " F"]
    """ω⋈(u, V⁺) as a share of the frontier: the strongest edge from each sampled cluster, summed, for
    tables of clusters that are not sampled yet."""
    union: Float[np.ndarray, " F"]
    """ω∪(u, V⁺) as a share of the frontier: the best union edge, for tables of sampled clusters."""


def frontier(lake: Structure, tables: list[int], size: Size, sharpness: float = 1.0) -> Frontier:
    """Neighbours of the sampled tables that the size still has room for, weighed by ω^sharpness.

    Joins and unions are normalised apart, so that α mixes shares: by plain weights, the dozens of shards
    of one cluster would drown its few joins. For the same reason the tables of one cluster share its mass.
    Unions have to wait while the tables still to come are all needed to open clusters.
    """
    sampled: dict[int, list[int]] = {}
    for table in tables:
        sampled.setdefault(lake.cluster_of[table], []).append(table)
    join: dict[int, float] = {}
    if len(sampled) < size.clusters:
        for cluster, own in sampled.items():
            found = lake.reach(cluster, frozenset[int]().union(*(lake.table_classes[t] for t in own)))
            for table, weight in zip(found.tables.tolist(), found.weight.tolist(), strict=True):
                if lake.cluster_of[table] not in sampled:
                    join[table] = join.get(table, 0.0) + weight**sharpness
    union: dict[int, float] = {}
    if not join or size.tables - len(tables) > size.clusters - len(sampled):
        score = lake.graph.unions.table_score
        for cluster, own in sampled.items():
            best = float(score[own].max())
            for table in lake.graph.members[cluster].tolist():
                if table not in own:
                    union[table] = min(best, float(score[table])) ** sharpness
    found = sorted({*join, *union})
    return Frontier(np.array(found, np.int64), _shares(lake, found, join), _shares(lake, found, union))


def _shares(lake: Structure, tables: list[int], weight: Mapping[int, float]) -> np.ndarray:
    """Weights over their cluster's number of tables here, summing to 1 unless all are 0."""
    count: dict[int, int] = {}
    for table in weight:
        count[lake.cluster_of[table]] = count.get(lake.cluster_of[table], 0) + 1
    share = np.array([weight.get(table, 0.0) / count.get(lake.cluster_of[table], 1) for table in tables])
    if weight and share.sum() <= 0.0:  # weights too small for a power of them
        share = np.array([float(table in weight) for table in tables])
    return share / share.sum() if weight else share


def centrality_of(around: Frontier, alpha: float) -> Float[np.ndarray, " F"]:
    """C(u) = α·join + (1 − α)·union as probabilities; where one kind is missing the other has all."""
    mixed = alpha * around.join + (1.0 - alpha) * around.union
    if mixed.sum() <= 0.0:  # the only kind at hand has no share in the mix
        mixed = around.join + around.union
    return mixed / mixed.sum()


def _grow(
    lake: Structure, settings: SampleSettings, seed: int, size: Size, rng: np.random.Generator, *, even: bool
) -> Growth:
    """Add tables from the frontier: by centrality, or each with equal odds if `even`."""
    tables, actions = [seed], []
    while len(tables) < size.tables:
        around = frontier(lake, tables, size, settings.sharpness)
        if not len(around.tables):
            break
        odds = None if even else centrality_of(around, settings.alpha)
        new = int(rng.choice(around.tables, p=odds))
        actions.append(lake.best_link(tables, new))
        tables.append(new)
    return Growth(tuple(tables), tuple(actions))


@dataclass(frozen=True)
class Centrality:
    """Stratified seeds, expansion in proportion to centrality (Algorithm 1)."""

    def strata(self, lake: Structure, settings: SampleSettings) -> tuple[np.ndarray, ...]:
        return partition.strata(lake, settings.num_parts, settings.num_quantiles)

    def expand(
        self, lake: Structure, settings: SampleSettings, seed: int, size: Size, rng: np.random.Generator
    ) -> Growth:
        return _grow(lake, settings, seed, size, rng, even=False)


@dataclass(frozen=True)
class AnchorOnly:
    """Stratified seeds, expansion uniform over the frontier."""

    def strata(self, lake: Structure, settings: SampleSettings) -> tuple[np.ndarray, ...]:
        return partition.strata(lake, settings.num_parts, settings.num_quantiles)

    def expand(
        self, lake: Structure, settings: SampleSettings, seed: int, size: Size, rng: np.random.Generator
    ) -> Growth:
        return _grow(lake, settings, seed, size, rng, even=True)


@dataclass(frozen=True)
class UniformWalk:
    """Any table as seed, then a random walk over the structural graph that keeps what it meets."""

    def strata(self, lake: Structure, settings: SampleSettings) -> tuple[np.ndarray, ...]:
        return (np.arange(len(lake.tables)),) if lake.tables else ()

    def expand(
        self, lake: Structure, settings: SampleSettings, seed: int, size: Size, rng: np.random.Generator
    ) -> Growth:
        tables, actions, at = [seed], [], seed
        clusters = {lake.cluster_of[seed]}
        for _ in range(_STEPS_PER_TABLE * size.tables):
            own = lake.cluster_of[at]
            shards = lake.graph.members[own]
            joined = lake.reach(own, lake.table_classes[at]).tables
            near = np.concatenate([shards[shards != at], joined]).tolist()
            if len(clusters) == size.clusters:
                near = [table for table in near if lake.cluster_of[table] in clusters]
            if len(tables) == size.tables or not near:
                break
            new = int(near[rng.integers(len(near))])
            if new not in tables:
                actions.append(lake.best_link([at], new))
                tables.append(new)
                clusters.add(lake.cluster_of[new])
            at = new
        return Growth(tuple(tables), tuple(actions))


SAMPLERS: Mapping[SamplerName, Sampler] = {
    "centrality": Centrality(),
    "uniform": UniformWalk(),
    "anchor": AnchorOnly(),
}
