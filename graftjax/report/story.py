"""What a report tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graftjax.fuse import Fused
from graftjax.intent.schema import IntentGraph
from graftjax.types import Skip, Synthesis, Table, TableId


@dataclass(frozen=True, eq=False)
class Story:
    """A question, its answer, and the table made of it."""

    question: str
    intent: IntentGraph
    synthesis: Synthesis
    tables: Mapping[TableId, Table]
    """Profiles, at least of the tables of the answer."""
    fused: Fused | None = None
    refusal: str = ""
    """Why there is no fused table."""
    lake: str = ""
    """For people."""
    guided: str = ""
    """What the search went by, in words."""
    skips: tuple[Skip, ...] = ()
    """What is not in the lake."""
