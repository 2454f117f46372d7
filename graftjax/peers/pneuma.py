"""Pneuma: hybrid retrieval over several documents per table, then a language model's yes or no.

After Balaka et al. (SIGMOD 2025) and their code. A table has schema documents (a narration of each column)
and row documents (`header: value | ...` of sampled rows), grouped into blocks that the encoder takes whole.
BM25 and vectors each bring their best documents; both scores are scaled to [0, 1] over all that either
brought and mixed by `alpha`. A table counts by its best document. A judge then moves tables that it calls
relevant to the front.

What differs. The published narrations are a language model's description of each column: here a rule writes
the words of table and header as a phrase. A profile keeps values by column, so the n-th sampled row is put
together from the n-th sample value of each column. Blocks are as short as the encoder here asks. Vectors are
searched exactly, the published ones by HNSW. The code's `query` overwrites the caller's k by 1; here k is the
budget. It has every retrieved document judged; here a table is judged once, by its best document. The judge
runs only where an endpoint is configured (`Pneuma.judged_by` says so).

Letters: N nodes, D the encoder's dimension, P documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import bm25s
import numpy as np
import Stemmer
from jaxtyping import Bool, Float, Int

from graftjax.encode.text import table_text, words
from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.peer import Peer, Ranking
from graftjax.peers.pneuma_judge import Judge
from graftjax.peers.start import asked_text
from graftjax.types import Table

ROWS = 5
"""Sampled rows of a table, as published."""
BLOCK_CHARACTERS = 240
"""Longest block of several parts: about the 64 tokens that the embedded encoder reads (512 as published)."""
MAX_VALUE = 40
"""Characters of a value that a row document keeps."""


@dataclass(frozen=True)
class PneumaSettings:
    """Dials of Pneuma; `alpha` and `n` as in its code, `k1` and `b` the library's that it leaves alone."""

    alpha: float = 0.5
    """Share of BM25 in a document's score; the rest belongs to the vectors."""
    n: int = 5
    """Documents that each side brings, as a multiple of the budget."""
    documents: Literal["both", "schema", "rows"] = "both"
    k1: float = 1.5
    b: float = 0.75
    judge: Literal["auto", "never"] = "auto"
    """`auto`: a language model judges where OPENAI_API_KEY or OPENAI_BASE_URL is set."""

    GRID: ClassVar[dict[str, tuple[object, ...]]] = {
        "alpha": (0.1, 0.3, 0.5, 0.7),
        "n": (2, 5, 10, 20),
        "documents": ("both", "schema", "rows"),
        "k1": (0.3, 0.6, 1.2, 1.5),
        "b": (0.0, 0.3, 0.75),
    }
    """What the tuning tries."""


class Documents(NamedTuple):
    """What speaks for the nodes."""

    texts: tuple[str, ...]
    node: Int[np.ndarray, " P"]
    vectors: Float[np.ndarray, "P D"]
    keywords: bm25s.BM25 | None
    """None when no document has a word."""


class Pneuma(Peer):
    """Hybrid retrieval with a judge."""

    method = "pneuma"

    def __init__(self, catalog: Catalog, settings: PneumaSettings = PneumaSettings()) -> None:
        super().__init__(catalog)
        self.settings = settings
        self._judge = Judge.configured() if settings.judge == "auto" else None

    @property
    def judged_by(self) -> str:
        """Who judges the retrieved tables, for reports."""
        if self.settings.judge == "never":
            return "none: the settings ask for none"
        return self._judge.model if self._judge else "none: no endpoint is configured"

    def prepare(self) -> None:
        _ = self._documents

    def rank(self, query: Query, budget: int, seed: int) -> Ranking:
        """Nodes by their best retrieved document, then all others by what their best would score."""
        documents = self._documents
        question = asked_text(self.catalog, query)
        vector = documents.vectors @ self.catalog.encoder.encode([question])[0]
        keyword = _keyword_scores(documents.keywords, question, len(vector))
        depth = min(self.settings.n * budget, len(vector))
        brought = _highest(vector, depth) | _highest(keyword, depth)
        alpha = self.settings.alpha
        score = alpha * _scaled(keyword, brought) + (1 - alpha) * _scaled(vector, brought)
        order = np.lexsort((-score, ~brought))
        nodes, first = np.unique(documents.node[order], return_index=True)
        arrival = np.argsort(first)
        ranked = nodes[arrival].tolist()
        if self._judge is None:
            return Ranking(ranked)
        # As published, what is judged is the best n · L documents; here each table's best of them once.
        best = order[np.sort(first)]
        judged = int((np.sort(first) < min(depth, int(brought.sum()))).sum())
        relevant, notes = self._judge.relevant(
            question, [documents.texts[number] for number in best[:judged]]
        )
        front = [node for node, yes in zip(ranked[:judged], relevant, strict=True) if yes]
        behind = [node for node, yes in zip(ranked[:judged], relevant, strict=True) if not yes]
        return Ranking(front + behind + ranked[judged:], notes)

    @cached_property
    def _documents(self) -> Documents:
        catalog, kinds = self.catalog, self.settings.documents
        texts: list[str] = []
        node: list[int] = []
        for number, lead in enumerate(catalog.leads):
            headers = catalog.headers(lead)
            own = [] if kinds == "rows" else schema_documents(lead, headers)
            if kinds != "schema":
                own += row_documents(lead, headers)
            own = own or [table_text(lead.id.name)]  # a table without columns or rows still has a name
            texts += own
            node += [number] * len(own)
        tokens = _tokens(texts)
        keywords = None
        if any(tokens):
            keywords = bm25s.BM25(k1=self.settings.k1, b=self.settings.b)
            keywords.index(tokens, show_progress=False)
        vectors = catalog.vectors(texts, "documents")
        return Documents(tuple(texts), np.array(node, np.int64), vectors, keywords)


def schema_documents(table: Table, headers: Sequence[str]) -> list[str]:
    """Narrations of the columns, in blocks."""
    name = table_text(table.id.name)
    return _blocks([f"{words(header)}: the {words(header)} of the {name}" for header in headers])


def row_documents(table: Table, headers: Sequence[str]) -> list[str]:
    """Up to five sampled rows, in blocks."""
    rows = []
    for row in range(ROWS):
        cells = [
            f"{words(header)}: {column.sample[row][:MAX_VALUE]}"
            for header, column in zip(headers, table.columns, strict=True)
            if row < len(column.sample)
        ]
        if cells:
            rows.append(" | ".join(cells))
    return _blocks(rows)


def _blocks(parts: Sequence[str]) -> list[str]:
    """Neighbouring parts together, as long as a block stays short enough for the encoder."""
    blocks: list[str] = []
    for part in parts:
        if blocks and len(blocks[-1]) + len(part) + 4 <= BLOCK_CHARACTERS:
            blocks[-1] += f" || {part}"
        else:
            blocks.append(part)
    return blocks


def _tokens(texts: Sequence[str]) -> list[list[str]]:
    """Stemmed words without English stop words, as in the code."""
    stemmer = Stemmer.Stemmer("english")
    tokens = bm25s.tokenize(
        list(texts), stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
    )
    assert isinstance(tokens, list)
    return tokens


def _keyword_scores(keywords: bm25s.BM25 | None, question: str, count: int) -> Float[np.ndarray, " P"]:
    """BM25 of every document; 0 when no document has a word of the question."""
    (tokens,) = _tokens([question])
    known = [token for token in tokens if keywords is not None and token in keywords.vocab_dict]
    return keywords.get_scores(known) if keywords is not None and known else np.zeros(count, np.float32)


def _highest(scores: Float[np.ndarray, " P"], count: int) -> Bool[np.ndarray, " P"]:
    """Marks the `count` highest; of equal ones the first."""
    chosen = np.zeros(len(scores), bool)
    chosen[np.argsort(-scores, kind="stable")[:count]] = True
    return chosen


def _scaled(scores: Float[np.ndarray, " P"], among: Bool[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    """Scores so that those marked span [0, 1]; all 1 when the marked ones are equal, as in the code."""
    low, high = scores[among].min(), scores[among].max()
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)
