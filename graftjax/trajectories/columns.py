"""Stage 2b of Algorithm 1: which join edges, columns and values a sample keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from graftjax.trajectories.paths import bridges_among, hops_of
from graftjax.trajectories.samplers import Growth, Sampler, draw_size
from graftjax.trajectories.settings import SampleSettings
from graftjax.trajectories.structure import Structure
from graftjax.trajectories.subgraph import NO_EDGE, Subgraph

_LONGEST_VALUE = 60
"""Characters; nobody puts a longer value into a question."""
_MOST_VALUES = 2
"""Values that an intent fixes for one column."""


def sample_subgraph(
    lake: Structure, sampler: Sampler, settings: SampleSettings, seed: int, rng: np.random.Generator
) -> Subgraph:
    """One sample H⁺ around a seed table."""
    growth = sampler.expand(lake, settings, seed, draw_size(settings, rng), rng)
    return keep_columns(lake, settings, growth, rng)


def keep_columns(
    lake: Structure, settings: SampleSettings, growth: Growth, rng: np.random.Generator
) -> Subgraph:
    """Keep all keys, and some payload of every cluster that does not become a bridge.

    Payload is drawn by column class, once for a cluster: its tables are one tree of the intent, and a
    draw for each table would soon name every column.
    """
    clusters: dict[int, list[int]] = {}
    for table in growth.tables:
        clusters.setdefault(lake.cluster_of[table], []).append(table)
    classes = {
        c: frozenset[int]().union(*(lake.table_classes[t] for t in own)) for c, own in clusters.items()
    }
    joins = _kept_joins(lake, settings, growth, classes, rng)
    hops = hops_of(lake.graph, joins, classes)
    keys = {c: {hop.own for edges in hops[c].values() for hop in edges} for c in classes}
    rest = {c: sorted(classes[c] - keys[c]) for c in classes}

    order, bare = list(classes), {c for c in classes if not rest[c]}
    for cluster in rng.permutation([c for c in order if rest[c] and len(hops[c]) > 1]).tolist():
        if rng.random() < settings.bridge_share:
            wanted = {*bare, cluster}
            if bridges_among(hops, order, wanted) >= {*bridges_among(hops, order, bare), cluster}:
                bare = wanted
    payload: set[int] = set()
    for cluster in classes:
        if cluster not in bare:
            share = math.ceil(settings.payload_share * len(rest[cluster]))
            size = min(max(1, share), settings.max_payload)
            payload.update(rng.choice(rest[cluster], size, replace=False).tolist())

    own_keys = frozenset[int]().union(*keys.values())
    kept = lambda table, wanted: tuple(  # noqa: E731
        sorted(column for k, column in lake.table_columns[table].items() if k in wanted)
    )
    return Subgraph(
        tables=growth.tables,
        actions=growth.actions,
        joins=joins,
        keys=tuple(kept(table, own_keys) for table in growth.tables),
        payload=tuple(kept(table, payload) for table in growth.tables),
        values=_fixed_values(lake, settings, growth.tables, sorted(payload), rng),
    )


def _kept_joins(
    lake: Structure,
    settings: SampleSettings,
    growth: Growth,
    classes: Mapping[int, frozenset[int]],
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Edges of the actions, and a share of the strongest edges between clusters that no action joined."""
    kept = {action.edge for action in growth.actions if action.edge != NO_EDGE}
    owner, joins = lake.graph.unions.class_cluster, lake.graph.joins
    joined = {frozenset((int(owner[joins.refers[e]]), int(owner[joins.referred[e]]))) for e in kept}
    order = list(classes)
    for i, a in enumerate(order):
        for b in order[:i]:
            edge = lake.edge_between(classes[a], classes[b], a)
            if edge is not None and frozenset((a, b)) not in joined and rng.random() < settings.chord_share:
                kept.add(edge)
    return tuple(sorted(kept))


def _fixed_values(
    lake: Structure,
    settings: SampleSettings,
    tables: tuple[int, ...],
    payload: list[int],
    rng: np.random.Generator,
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Values of a share of the payload classes, from the profile of one of the tables."""
    found = []
    for column_class in payload:
        if rng.random() >= settings.value_share:
            continue
        columns = [c for t in tables if (c := lake.table_columns[t].get(column_class)) is not None]
        column = int(rng.choice(columns))
        sample = [v for v in lake.column(column).sample if v.strip() and len(v) <= _LONGEST_VALUE]
        if sample:
            size = min(len(sample), int(rng.integers(1, _MOST_VALUES + 1)))
            picked = rng.choice(len(sample), size, replace=False)
            found.append((column, tuple(sample[i] for i in picked.tolist())))
    return tuple(found)
