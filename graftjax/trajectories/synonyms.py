"""Near neighbours of common words in the encoder's own space: a thesaurus that needs no further file.

Letters: W words, D the encoder's dimension, S neighbours kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from jaxtyping import Float, Int

from graftjax.encode.text import words

NEAREST = 12
"""Two words are neighbours when each is among this many nearest of the other."""
KEPT = 6
"""S."""
LOWEST, HIGHEST = 0.55, 0.9
"""Cosines between which a neighbour means about the same: unrelated below, the same word above."""
COMMONEST = 14000
"""Words taken from a vocabulary: WordPiece lists begin with the frequent ones, later ones are names."""
FORMAT = 1
_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Synonyms:
    """Words, commonest first, with the places of their neighbours."""

    words: tuple[str, ...]
    near: Int[np.ndarray, "W S"]
    """Nearest first, filled up with −1."""

    @cached_property
    def _place(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def of(self, word: str) -> tuple[str, ...]:
        """Neighbours of a word, nearest first; none for an unknown word."""
        place = self._place.get(word)
        return () if place is None else tuple(self.words[i] for i in self.near[place] if i >= 0)

    def split(self, word: str) -> tuple[str, ...]:
        """The two known words that an unknown one is written of (`highschooler`: high schooler), else itself.

        The cut with the commoner pair wins.
        """
        if word in self._place or f"{word}s" in self._place or len(word) < 6:
            return (word,)
        cuts = [
            (max(self._place[head], self._place[tail]), head, tail)
            for cut in range(3, len(word) - 2)
            if (head := word[:cut]) in self._place and (tail := word[cut:]) in self._place
        ]
        return min(cuts)[1:] if cuts else (word,)


def common_words(vocabulary: Iterable[str]) -> list[str]:
    """Whole lower-case words of three or more plain letters, in the given order."""
    kept = (w for w in vocabulary if len(w) >= 3 and w.isascii() and w.isalpha() and w.islower())
    return list(dict.fromkeys(kept))[:COMMONEST]


def same_stem(a: str, b: str) -> bool:
    """Whether two words look like forms of one: all but two letters of the shorter at the start of both."""
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return shared >= max(3, min(len(a), len(b)) - 2)


def nearest_words(vocabulary: Sequence[str], vectors: Float[np.ndarray, "W D"]) -> Synonyms:
    """The neighbours of every word; only singular words are neighbours of another."""
    listed = list(vocabulary)
    count, wide = len(listed), min(NEAREST, max(len(listed) - 1, 0))
    near = np.full((count, KEPT), -1, np.int32)
    if not wide:
        return Synonyms(tuple(listed), near)
    found = np.empty((count, wide), np.int32)
    cosine = np.empty((count, wide), np.float32)
    for start in range(0, count, _BLOCK):
        block = vectors[start : start + _BLOCK] @ vectors.T
        block[np.arange(len(block)), np.arange(start, start + len(block))] = -2.0
        best = np.argpartition(-block, wide - 1, axis=1)[:, :wide]
        score = np.take_along_axis(block, best, 1)
        order = np.lexsort((best, -score))
        found[start : start + _BLOCK] = np.take_along_axis(best, order, 1)
        cosine[start : start + _BLOCK] = np.take_along_axis(score, order, 1)
    mutual = (found[found] == np.arange(count)[:, None, None]).any(2)
    usable = mutual & (cosine >= LOWEST) & (cosine <= HIGHEST)
    usable &= np.array([words(word) == word for word in listed])[found]
    for i in np.flatnonzero(usable.any(1)).tolist():
        kept = [j for j in found[i, usable[i]].tolist() if not same_stem(listed[i], listed[j])][:KEPT]
        near[i, : len(kept)] = kept
    return Synonyms(tuple(listed), near)


def load_synonyms(encoder: Any, folder: Path) -> Synonyms:
    """The thesaurus of an encoder, read from `folder` or built and left there (about 10 s, under 1 MB).

    `folder` may be shared by encoders. One that can't be written costs the time again, and is no error.
    """
    key = f"{encoder.name} {FORMAT} {NEAREST} {KEPT} {LOWEST} {HIGHEST} {COMMONEST}"
    file = Path(folder) / f"synonyms-{xxhash.xxh64_hexdigest(key.encode())}.npz"
    try:
        with np.load(file, allow_pickle=False) as data:
            return Synonyms(tuple(json.loads(bytes(data["words"]))), data["near"].astype(np.int32))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    by_number = sorted(encoder._tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    listed = common_words(word for word, _ in by_number)
    synonyms = nearest_words(listed, encoder.encode(listed))
    draft = file.with_suffix(f".{os.getpid()}.draft")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as out:
            np.savez_compressed(
                out, words=np.frombuffer(json.dumps(listed).encode(), np.uint8), near=synonyms.near
            )
        draft.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
    return synonyms
