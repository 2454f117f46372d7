from __future__ import annotations

import numpy as np
import pytest

from graftjax.encode.rows import StackedRows
from graftjax.lake import wording as module
from graftjax.lake.wording import Wording


def _wording(classes: int, topics: int, seed: int = 0, variants: int = 2) -> Wording:
    """Texts of some topics; every third class has a second reading."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(topics, 16))
    texts = centre[rng.integers(topics, size=2 * classes)] + 0.4 * rng.normal(size=(2 * classes, 16))
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    header = np.repeat(rng.integers(2 * classes, size=(classes, 1)), variants, axis=1)
    context = np.repeat(rng.integers(2 * classes, size=(classes, 1)), variants, axis=1)
    context[::3, 1] = rng.integers(2 * classes, size=len(context[::3]))
    return Wording(texts.astype(np.float32), header.astype(np.int32), context.astype(np.int32))


def _reading_likeness(words: Wording, a: tuple[int, int], b: tuple[int, int]) -> float:
    h, c = words.vectors[words.header[a]], words.vectors[words.context[a]]
    other_h, other_c = words.vectors[words.header[b]], words.vectors[words.context[b]]
    return 0.6 * max(h @ other_h, h @ other_c, c @ other_h) + 0.4 * (c @ other_c)


def test_likeness_is_that_of_the_best_pair_of_readings():
    words = _wording(9, 3)
    a, b = (part.ravel() for part in np.indices((9, 9)))
    slow = [
        max(_reading_likeness(words, (i, v), (j, w)) for v in range(2) for w in range(2))
        for i, j in zip(a, b, strict=True)
    ]
    assert words.likeness(a, b) == pytest.approx(np.clip(slow, 0, 1), abs=1e-5)


def test_nearest_compares_all_pairs_of_a_small_lake():
    words, group = _wording(40, 5), np.arange(40) // 2
    left, right = np.arange(0, 40, 2), np.arange(30)
    a, b = words.nearest(left, right, group, 4)
    found = set(zip(a.tolist(), b.tolist(), strict=True))
    wanted = set()
    for i in left.tolist():
        for v in (0, 1) if i % 3 == 0 else (0,):
            scored = sorted(
                (-_reading_likeness(words, (i, v), (j, w)), j)
                for j in right.tolist()
                for w in ((0, 1) if j % 3 == 0 else (0,))
                if group[i] != group[j]
            )
            wanted |= {(i, j) for _, j in scored[:4]}
    assert found == wanted


def test_cells_find_nearly_all_neighbours_and_are_the_same_every_time(monkeypatch):
    words, group = _wording(3_000, 60), np.arange(3_000)
    every = np.arange(3_000)
    exact = set(zip(*(part.tolist() for part in words.nearest(every, every, group, 8)), strict=True))
    monkeypatch.setattr(module, "ALL_PAIRS", 100)
    monkeypatch.setattr(module, "CELL", 32)
    monkeypatch.setattr(module, "PROBES", 16)
    first, second = (words.nearest(every, every, group, 8) for _ in range(2))
    found = set(zip(*(part.tolist() for part in first), strict=True))
    assert len(exact & found) > 0.9 * len(exact)
    assert all(np.array_equal(x, y) for x, y in zip(first, second, strict=True))


def test_few_classes_find_what_many_find_on_each_right_side():
    words, group = _wording(60, 5), np.arange(60) // 2
    few, rights = np.arange(0, 60, 3), (np.arange(30), np.arange(10, 60))
    cut = StackedRows((words.vectors[:50], words.vectors[50:51], words.vectors[51:]))
    found = Wording(cut, words.header, words.context).nearest_of_few(few, rights, group, 4)
    wanted = [words.nearest(few, right, group, 4) for right in rights]
    pairs = lambda a, b: set(zip(a.tolist(), b.tolist(), strict=True))  # noqa: E731
    assert pairs(*found) == pairs(*wanted[0]) | pairs(*wanted[1])
    assert len(words.nearest_of_few(few, (np.zeros(0, np.int64),), group, 4)[0]) == 0
    assert len(words.nearest_of_few(np.zeros(0, np.int64), rights, group, 4)[0]) == 0


def test_equal_texts_still_part_into_cells(monkeypatch):
    monkeypatch.setattr(module, "ALL_PAIRS", 10)
    monkeypatch.setattr(module, "CELL", 4)
    monkeypatch.setattr(module, "PROBES", 2)
    text = np.zeros((50, 1), np.int32)
    words = Wording(np.ones((1, 4), np.float32) / 2, text, text)
    a, b = words.nearest(np.arange(50), np.arange(50), np.arange(50), 3)
    assert len(a) == 300  # three by each of the two partitions
    assert (a != b).all()
