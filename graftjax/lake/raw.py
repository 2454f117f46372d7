"""A table as it was read: data, original headers, where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from graftjax.types import TableId


@dataclass(frozen=True, slots=True)
class RawTable:
    """What a reader hands to the profile and to the fusion."""

    id: TableId
    data: pa.Table
    """Columns uniquely named (also when case is ignored, as SQL does) and stable across reads."""
    headers: tuple[str, ...]
    """The names as the file spells them, one per column; may be blank or repeat."""
    origin: str
    """File, relative to the lake's root; for SQLite the database file."""
    notes: tuple[str, ...] = ()
    """What was not read literally (title lines, ragged rows, bad bytes), in plain words."""


def column_names(headers: Sequence[str]) -> list[str]:
    """Unique names for headers, depending on nothing but the headers themselves.

    White space is collapsed; a blank header becomes `c` and its position; a name that an earlier
    column has, in any case, gets the first free suffix `_2`, `_3`, ...

    >>> column_names(["a", "a", "A", ""])
    ['a', 'a_2', 'A_3', 'c3']
    """
    plain = [" ".join(header.split()) for header in headers]
    # A header spelled `a_2` keeps its name; the suffixes of a repeated `a` go round it.
    reserved = {name.casefold() for name in plain if name}
    used: set[str] = set()
    tried: dict[str, int] = {}  # ten thousand equal headers must not each count from one
    names = []
    for position, name in enumerate(plain):
        base = name or f"c{position}"
        candidate, count = base, tried.get(name.casefold(), 1) if name else 1
        if count > 1:
            candidate = f"{base}_{count}"
        while candidate.casefold() in used or ((count > 1 or not name) and candidate.casefold() in reserved):
            count += 1
            candidate = f"{base}_{count}"
        tried[name.casefold()] = count
        used.add(candidate.casefold())
        names.append(candidate)
    return names
