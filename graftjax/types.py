"""Records that travel between the parts of graftjax. Imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

ColumnKind = Literal["integer", "real", "text", "date", "boolean", "empty"]
"""What the non-null values of a column are; `empty` means that there are none."""

OperatorKind = Literal["join", "union"]


@dataclass(frozen=True, order=True, slots=True)
class TableId:
    """Identity of a table: where it lives and what it is called there.

    The pair is the identity; the printed form is for people only and is never parsed back.
    """

    source: str
    """Database or folder, relative to the lake's root (`""` for the root itself)."""
    name: str

    def __str__(self) -> str:
        return f"{self.source}/{self.name}" if self.source else self.name


@dataclass(frozen=True, slots=True)
class Column:
    """Profile of one column."""

    name: str
    """Unique inside the table and stable across reads."""
    header: str
    """As the file spells it (may be blank or repeat)."""
    kind: ColumnKind
    null_share: float
    """In [0, 1]; 0 for a table without rows."""
    n_distinct: int
    """Distinct non-null values; estimated from the sketch beyond its size."""
    sample: tuple[str, ...]
    """Up to ten distinct non-null values as text, drawn from the rows by a seeded rule."""
    sketch: np.ndarray = field(repr=False, compare=False)
    """uint64 [S], sorted: the S smallest hashes of the distinct normalised non-null values.

    It holds every distinct value as long as S is below the sketch's limit.
    """


@dataclass(frozen=True, slots=True)
class Table:
    """Profile of one table."""

    id: TableId
    columns: tuple[Column, ...]
    n_rows: int
    origin: str = ""
    """File (relative to the lake's root) that the table was read from."""
    content_hash: str = ""
    """Hex digest of headers, kinds and rows: equal digests mean an unchanged table."""


@dataclass(frozen=True, slots=True)
class Skip:
    """A file, or a part of one, that could not be read, and why."""

    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of a synthesis: `new` is attached to `anchor` by a join or a union."""

    kind: OperatorKind
    anchor: TableId
    new: TableId
    columns: tuple[tuple[str, str], ...]
    """Aligned column names, (anchor's, new's); one pair for a join, several for a union."""
    weight: float
    """Confidence of the edge, in (0, 1]."""


@dataclass(frozen=True, slots=True)
class AtomSupport:
    """Why a table is there: the evidence that best supports one intent atom."""

    atom: str
    """The atom in words, for example `attribute: Player.points`."""
    support: float
    """Largest entry of the atom's column of M, in [0, 1]."""
    table: TableId | None
    column: str | None


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A set of tables with the operators that integrate them (Φ in the paper)."""

    tables: tuple[TableId, ...]
    """In the order of their retrieval; at most L, no duplicates."""
    operators: tuple[Operator, ...]
    utility: float
    """U of Eq. (6); 0 for an empty synthesis."""
    support: tuple[AtomSupport, ...] = ()
    notes: tuple[str, ...] = ()
    """Reasons for a shorter or empty answer, fallbacks taken, in plain words."""
