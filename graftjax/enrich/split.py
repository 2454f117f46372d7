"""The rule by which a source is split into a base table and pieces (docs/enrichment.md says it in words).

Letters: N rows of the source.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from graftjax.encode.text import words
from graftjax.enrich.headers import alter_headers
from graftjax.enrich.source import Source, rng_of

RULE = 1
"""Number of the rule: another one makes other pieces of the same seed."""
TARGET_SHARDS = 4
"""Row shards with the target; the first is the base table."""
COLUMNS_A_GROUP, MOST_GROUPS = 3, 5
"""Feature columns that make a vertical group, as long as there are no more groups than that."""
LEAST_SHARDS, MOST_SHARDS = 2, 4
"""Row shards of a vertical group."""
ALTERED_PIECES = 0.5
"""Share of the pieces with altered headers."""

Role = Literal["base", "union", "join"]


@dataclass(frozen=True, eq=False)
class Piece:
    """One table of the lake that comes from a source."""

    name: str
    role: Role
    """`union`: has the target and other rows than the base; `join`: has the key and other columns."""
    group: str
    """Pieces of one group have the same columns and different rows; empty for the group with the target."""
    columns: tuple[str, ...]
    """The source's names, the key first."""
    headers: tuple[str, ...]
    """How the piece spells them."""
    rows: Int[np.ndarray, " _"]
    """Ascending rows of the source."""

    def table(self, source: Source) -> pa.Table:
        """The rows under the piece's own headers."""
        return source.data.select(list(self.columns)).take(self.rows).rename_columns(list(self.headers))


def split(source: Source, seed: int, taken: set[str] | None = None) -> tuple[Piece, ...]:
    """The pieces, the base table first. `taken`: names that others have; those given here are added."""
    taken = set() if taken is None else taken
    rng = rng_of(seed, source.name, "split")
    target_columns = (source.key, *source.base_columns, source.target)
    taken.add(source.name)
    pieces: list[Piece] = []
    for number, rows in enumerate(deal(source.data.num_rows, TARGET_SHARDS, rng)):
        role: Role = "union" if number else "base"
        name = f"{source.name}_{number}" if number else source.name
        pieces.append(Piece(name, role, "", target_columns, target_columns, rows))
    rest = [name for name in source.features if name not in source.base_columns]
    for columns in runs(rest, num_groups(len(rest))):
        group = _group_name(columns, source.name, taken)
        shards = int(rng.integers(LEAST_SHARDS, MOST_SHARDS + 1))
        own = (source.key, *columns)
        for number, rows in enumerate(deal(source.data.num_rows, shards, rng), 1):
            pieces.append(Piece(f"{group}_{number}", "join", group, own, own, rows))
    order = rng.permutation(len(pieces) - 1) + 1
    altered = set(order[: round(ALTERED_PIECES * len(order))].tolist())
    return tuple(
        _altered(piece, rng_of(seed, piece.name, source.name)) if number in altered else piece
        for number, piece in enumerate(pieces)
    )


def num_groups(columns: int) -> int:
    """Vertical groups of so many feature columns."""
    return min(MOST_GROUPS, math.ceil(columns / COLUMNS_A_GROUP))


def runs(columns: Sequence[str], count: int) -> list[tuple[str, ...]]:
    """`count` runs of neighbouring columns, of about equal length; none without columns."""
    if not columns:
        return []
    ends = np.linspace(0, len(columns), count + 1).round().astype(int)
    return [tuple(columns[a:b]) for a, b in pairwise(ends.tolist())]


def deal(rows: int, shards: int, rng: np.random.Generator) -> list[Int[np.ndarray, " _"]]:
    """Every row to exactly one shard, at random; sizes differ by one at most."""
    return [np.sort(part) for part in np.array_split(rng.permutation(rows), shards)]


def _altered(piece: Piece, rng: np.random.Generator) -> Piece:
    headers = alter_headers(piece.headers, rng)
    return Piece(piece.name, piece.role, piece.group, piece.columns, headers, piece.rows)


def _group_name(columns: Sequence[str], source: str, taken: set[str]) -> str:
    """The words of the first two columns, of more while the name is taken; never the name of a source.

    Numbers at the end would be read as a shard's.
    """
    for count in range(min(2, len(columns)), len(columns) + 1):
        name = re.sub(r"[\d_]+$", "", "_".join(" ".join(map(words, columns[:count])).split()))
        name = name or "details"
        if name not in taken and name != source:
            taken.add(name)
            return name
    # All words of the group are another group's too: a word of its own keeps them apart.
    number = 1
    while (name := f"{'details_' * number}{words(columns[0]).replace(' ', '_')}") in taken:
        number += 1
    taken.add(name)
    return name
