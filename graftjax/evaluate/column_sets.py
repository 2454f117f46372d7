"""Readings of "column set": what it means for two evidence units to look at the same columns.

* `physical`: a table is the set of its own columns, a column is itself. Nothing is shared between tables.
* `header`: the same sets, with columns of equal header being equal, whatever table they are in.
* `content`: pairs of column class and value. Two shards share the values that are in both; a copy shares all.
* `rows`: only the same unit of two tables of one cluster correlates, by the Jaccard of the tables' rows. The
  search reads it so (`ScoreSettings.shard_correlation` = 0).
* `shared`: as `rows`, but with s + (1 − s)·Jaccard: shards have most of their noise in common.

The first three are Jaccard coefficients of sets, so C = Jaccard + σ0² I is positive definite.
Letters: q units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_matrix

from graftjax.encode.text import words
from graftjax.evaluate.evidence_sets import EvidenceSet
from graftjax.lake import sketch
from graftjax.lake.record import LakeIndex

Reading = Literal["physical", "header", "content", "rows", "shared"]
READINGS: tuple[Reading, ...] = get_args(Reading)
SHARED = 0.999
"""s of the reading `shared`."""
SAMPLE = 256
"""Distinct values per column class that stand for all of them in `content`."""


def jaccard(reading: Reading, index: LakeIndex, units: EvidenceSet) -> Float[np.ndarray, "q q"]:
    """Jaccard of the column sets of all pairs of units; 1 on the diagonal."""
    if reading in ("rows", "shared"):
        return _same_unit(index, units, SHARED if reading == "shared" else 0.0)
    elements = {"physical": _physical, "header": _header, "content": _content}[reading](index)
    return _jaccard([_set_of(unit, elements, i) for i, unit in enumerate(units.columns)])


def _set_of(columns: tuple[int, ...], elements: Callable[[int], set], position: int) -> set:
    """Union over the columns; a unit of no column is equal to itself only."""
    found = set().union(*map(elements, columns))
    return found or {("alone", position)}


def _jaccard(sets: list[set]) -> Float[np.ndarray, "q q"]:
    """All pairs by one sparse product."""
    number: dict = {}
    columns = [number.setdefault(element, len(number)) for one in sets for element in one]
    size = np.array([len(one) for one in sets], np.float64)
    ends = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    member = csr_matrix((np.ones(len(columns)), columns, ends), (len(sets), max(1, len(number))))
    shared = (member @ member.T).toarray()
    return shared / (size[:, None] + size[None, :] - shared)


def _physical(index: LakeIndex) -> Callable[[int], set]:
    return lambda column: {column}


def _header(index: LakeIndex) -> Callable[[int], set]:
    names = index.column_names
    return lambda column: {words(names[column]) or names[column]}


def _content(index: LakeIndex) -> Callable[[int], set]:
    """Values below one hash limit per class: there every table of the cluster is known completely."""
    graph = index.graph
    known: dict[int, set] = {}

    def values(column: int) -> set:
        if column not in known:
            table = int(graph.column_table[column])
            profile = index.tables[table].columns[column - int(graph.columns[table][0])]
            k = int(graph.unions.column_class[column])
            pooled = index.values.of(k)
            limit = min(index.values.limit[k], pooled[SAMPLE - 1]) if len(pooled) >= SAMPLE else None
            held = profile.sketch if limit is None else profile.sketch[profile.sketch <= limit]
            known[column] = {(k, int(value)) for value in held}
        return known[column]

    return values


def _same_unit(index: LakeIndex, units: EvidenceSet, level: float) -> Float[np.ndarray, "q q"]:
    cluster = units.cluster[units.table]
    same = np.equal.outer(cluster, cluster) & np.equal.outer(units.row, units.row)
    rows = row_overlap(index, units)
    result = np.where(same, level + (1 - level) * rows[np.ix_(units.table, units.table)], 0.0)
    np.fill_diagonal(result, 1.0)
    return result


def row_overlap(index: LakeIndex, units: EvidenceSet) -> Float[np.ndarray, "n n"]:
    """Jaccard of the row sets of tables of one cluster; 1 on the diagonal, 0 between clusters."""
    count = len(units.tables)
    overlap = np.eye(count)
    for i in range(count):
        for j in range(i):
            if units.cluster[i] == units.cluster[j]:
                a, b = (index.row_sketches[units.tables[k]] for k in (i, j))
                overlap[i, j] = overlap[j, i] = sketch.jaccard(a, b)
    return overlap
