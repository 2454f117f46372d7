"""How a synthesis is fused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graftjax.errors import UsageError

JoinKind = Literal["inner", "left", "full"]


@dataclass(frozen=True, slots=True)
class FuseSettings:
    """Dials of `fuse`; the defaults give every column and every row."""

    kind: Literal["auto", "inner", "left", "full"] = "auto"
    """Kind of every join; `left` keeps the rows of what is already fused. `auto` is inner where that keeps
    at least `keep` of those rows, else left."""
    keep: float = 0.5
    """Share of the rows fused so far, in [0, 1]."""
    most_rows: int = 5_000_000
    """No join may have more rows; one that would is refused before it runs."""
    columns: Literal["all", "asked"] = "all"
    """`asked`: only those that support an attribute of the intent."""
    join_keys: bool = False
    """With `asked`: the columns that the joins compare as well."""
    filters: bool = False
    """Keep the rows that have the values of the intent."""
    least_support: float = 0.5
    """Support in [0, 1] below which a value is not found well enough to filter by it."""
    long_text: float = 60.0
    """Mean length in characters from which a text column is searched for a value instead of compared."""
    fold_case: bool = True
    """Texts that differ only in case are equal as keys; the index takes them so."""
    source_column: str = "_source"
    """Column that names the table of each row of a union; empty leaves it out."""
    preview: int = 20
    """Rows of the preview."""
    threads: int = 1
    """Of DuckDB; with one, rows come in the same order every time."""
    memory: str = "2GB"
    """Limit of DuckDB's memory, in its own spelling; fusions with the same limit share it."""

    def __post_init__(self) -> None:
        for name, least in (("most_rows", 1), ("preview", 0), ("threads", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name in ("keep", "least_support"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} must lie in [0, 1], not {getattr(self, name)}")
        for name, known in (("kind", ("auto", "inner", "left", "full")), ("columns", ("all", "asked"))):
            if getattr(self, name) not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}")
