"""DTR: dense table retrieval. Each table is one text, the answer the L texts nearest to the question.

Baseline of the paper's Tables 2 and 3, with the encoder that the lake was indexed with instead of a
retriever trained on table questions.

Letters: N nodes, D the encoder's dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float

from graftjax.encode.text import table_text, value_text
from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.peer import Peer, Ranking
from graftjax.peers.start import asked_text
from graftjax.types import Table


@dataclass(frozen=True)
class DtrSettings:
    """Dials of DTR."""

    text: Literal["schema", "rows"] = "schema"
    """What stands for a table: its name and headers, or sample values of each column too."""

    GRID: ClassVar[dict[str, tuple[object, ...]]] = {"text": ("schema", "rows")}
    """What the tuning tries."""


class Dtr(Peer):
    """Dense table retrieval."""

    method = "dtr"

    def __init__(self, catalog: Catalog, settings: DtrSettings = DtrSettings()) -> None:
        super().__init__(catalog)
        self.settings = settings

    @cached_property
    def _vectors(self) -> Float[np.ndarray, "N D"]:
        catalog = self.catalog
        if self.settings.text == "schema":
            return catalog.schema_vectors
        texts = [_rows_text(lead, catalog.headers(lead)) for lead in catalog.leads]
        return catalog.vectors(texts, "rows")

    def prepare(self) -> None:
        _ = self._vectors

    def rank(self, query: Query, budget: int, seed: int) -> Ranking:
        """Nodes by cosine with the question (and the base table's schema)."""
        scores = self._vectors @ self.catalog.encoder.encode([asked_text(self.catalog, query)])[0]
        return Ranking(np.argsort(-scores, kind="stable")[:budget].tolist())


def _rows_text(table: Table, headers: list[str]) -> str:
    columns = (
        value_text(header, column.sample[:3]) for header, column in zip(headers, table.columns, strict=True)
    )
    return f"{table_text(table.id.name)}: {'; '.join(columns)}"
