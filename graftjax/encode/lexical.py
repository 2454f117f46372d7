"""Character trigrams with TF-IDF weights: the part of the retrieval space that knows spelling.

A small encoder places "airport" near "airline"; trigrams do not.
Letters: n texts, m of them, V trigrams, q queries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int

_WORD = re.compile(r"\w+")


def trigrams(text: str) -> Counter[str]:
    """Trigrams of each word with its ends marked; a word of one letter counts whole."""
    found: Counter[str] = Counter()
    for word in _WORD.findall(text.lower()):
        marked = f"^{word}$"
        found.update(marked[i : i + 3] for i in range(len(marked) - 2))
    return found


@dataclass(frozen=True, eq=False)
class TrigramIndex:
    """TF-IDF rows of length 1 for a fixed list of texts."""

    vocabulary: dict[str, int]
    idf: Float[np.ndarray, " V"]
    blocks: tuple[sp.csr_matrix, ...]
    """The rows of the texts, [., V] float32 each; one block at least."""
    num_texts: int
    """Texts that the weights come from: n, or more where these are a part."""

    @classmethod
    def build(cls, texts: Sequence[str]) -> TrigramIndex:
        counts = [trigrams(text) for text in texts]
        frequency: Counter[str] = Counter()
        for count in counts:
            frequency.update(count.keys())
        vocabulary = {gram: i for i, gram in enumerate(sorted(frequency))}
        df = np.array([frequency[gram] for gram in vocabulary], np.float64)
        idf = np.log1p(len(texts) / df) if len(df) else np.zeros(0)
        return cls(vocabulary, idf, (_matrix(counts, vocabulary, idf, len(texts)),), len(texts))

    def part(self, numbers: Int[np.ndarray, " m"]) -> TrigramIndex:
        """The rows of these texts, weighted as among all of them."""
        return TrigramIndex(self.vocabulary, self.idf, (self.rows[numbers],), self.num_texts)

    @cached_property
    def rows(self) -> sp.csr_matrix:
        """[n, V] float32: all blocks in one, made when it is first asked for."""
        return self.blocks[0] if len(self.blocks) == 1 else sp.csr_matrix(sp.vstack(self.blocks))

    @cached_property
    def _postings(self) -> sp.csr_matrix:
        """[V, n] float32: the texts of each trigram."""
        return self.rows.T.tocsr()

    def similarity(self, queries: Sequence[str]) -> Float[np.ndarray, "q n"]:
        """Cosine of each query with each text; trigrams unknown to the lake count in the query's length."""
        return sp.csr_matrix(self.rows_of(queries) @ self._postings).toarray()

    def rows_of(self, texts: Sequence[str]) -> sp.csr_matrix:
        """Rows of other texts under the weights of these: [q, V] float32."""
        return _matrix([trigrams(text) for text in texts], self.vocabulary, self.idf, self.num_texts)


def _matrix(
    counts: Sequence[Counter[str]], vocabulary: dict[str, int], idf: np.ndarray, n_texts: int
) -> sp.csr_matrix:
    unseen = float(np.log1p(max(n_texts, 1)))
    data, indices, indptr = [], [], [0]
    for count in counts:
        known = [(vocabulary[gram], times) for gram, times in count.items() if gram in vocabulary]
        weights = [np.sqrt(times) * idf[i] for i, times in known]
        rest = sum(times for gram, times in count.items() if gram not in vocabulary) * unseen**2
        norm = np.sqrt(sum(w * w for w in weights) + rest) or 1.0
        indices.extend(i for i, _ in known)
        data.extend(w / norm for w in weights)
        indptr.append(len(indices))
    shape = (len(counts), len(vocabulary))
    return sp.csr_matrix(
        (np.asarray(data, np.float32), np.asarray(indices, np.int32), np.asarray(indptr)), shape=shape
    )
