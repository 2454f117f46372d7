"""Bottom-k sketches of value sets.

Shapes: S = number of hashes kept, at most SKETCH_SIZE. A sketch is the sorted S smallest 64-bit hashes of the
distinct normalised values (Bar-Yossef et al. 2002; KMV estimators of Beyer et al. 2007). A sketch shorter
than SKETCH_SIZE holds the whole set, and everything said about it is exact.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import xxhash
from jaxtyping import UInt64

SKETCH_SIZE = 1024
"""Relative error of the distinct count about 1/√SKETCH_SIZE = 3 %."""

Hashes = UInt64[np.ndarray, " n"]
Sketch = UInt64[np.ndarray, " _"]
EMPTY: np.ndarray = np.empty(0, np.uint64)


def hash_value(text: str) -> int:
    """64-bit hash of one normalised value (XXH3 of its UTF-8 bytes, seed 0: the same on every machine)."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def hash_texts(texts: pa.Array) -> Hashes:
    """`hash_value` of each text of an Arrow string array without nulls."""
    values = texts.cast(pa.large_binary()).to_numpy(zero_copy_only=False)
    return np.fromiter(map(xxhash.xxh3_64_intdigest, values), np.uint64, len(texts))


def build(hashes: Hashes, size: int = SKETCH_SIZE) -> Sketch:
    """Sketch of a set given by the hashes of its values, in any order and with repeats."""
    return np.unique(np.asarray(hashes, np.uint64))[:size]


def merge(sketches: Iterable[Sketch], size: int = SKETCH_SIZE) -> Sketch:
    """Sketch of the union of the sketched sets: the same as a sketch built from the union itself."""
    parts = [np.asarray(sketch, np.uint64) for sketch in sketches]
    return build(np.concatenate(parts), size) if parts else EMPTY


def is_whole(sketch: Sketch, size: int = SKETCH_SIZE) -> bool:
    """Whether the sketch certainly holds every value of its set."""
    return len(sketch) < size


def distinct(sketch: Sketch, size: int = SKETCH_SIZE) -> float:
    """Number of distinct values: exact for a whole sketch, else (S − 1) / (largest hash / 2⁶⁴)."""
    if is_whole(sketch, size):
        return float(len(sketch))
    return (len(sketch) - 1) / ((float(sketch[-1]) + 1.0) / 2.0**64)


def overlap(a: Sketch, b: Sketch, size: int = SKETCH_SIZE) -> tuple[int, int, int]:
    """(values in both, values of a, values of b) in the part of hash space that both sketches know.

    Below the smaller of the two largest hashes both sketches are complete, so the counts are a fair sample;
    they are exact when both are whole. Small counts mean an uncertain ratio: judge by them.
    """
    limits = [sketch[-1] for sketch in (a, b) if not is_whole(sketch, size)]
    if limits:
        limit = min(limits)
        a = a[: np.searchsorted(a, limit, side="right")]
        b = b[: np.searchsorted(b, limit, side="right")]
    return in_both(a, b), len(a), len(b)


def in_both(a: Sketch, b: Sketch) -> int:
    """Number of hashes that two sorted arrays have in common."""
    few, many = (a, b) if len(a) <= len(b) else (b, a)
    if not len(few):
        return 0
    place = np.minimum(many.searchsorted(few), len(many) - 1)
    return int(np.count_nonzero(many[place] == few))


def containment(a: Sketch, b: Sketch, size: int = SKETCH_SIZE) -> float:
    """|A ∩ B| / |A|; 0 when A is empty or no value of A can be compared."""
    shared, in_a, _ = overlap(a, b, size)
    return shared / in_a if in_a else 0.0


def jaccard(a: Sketch, b: Sketch, size: int = SKETCH_SIZE) -> float:
    """|A ∩ B| / |A ∪ B|; 0 when both are empty."""
    shared, in_a, in_b = overlap(a, b, size)
    return shared / (in_a + in_b - shared) if in_a + in_b else 0.0


def contains(sketch: Sketch, value_hash: int, size: int = SKETCH_SIZE) -> bool | None:
    """Whether the set has the value with this hash; None when the sketch does not reach that far."""
    key = np.uint64(value_hash)
    at = int(np.searchsorted(sketch, key))
    if at < len(sketch):
        return bool(sketch[at] == key)
    return False if is_whole(sketch, size) else None
