"""Likeness of columns by what their headers and contexts say, and the nearest ones by it.

A class has up to V readings, pairs of a header's text and a context's text; texts are numbers of
vectors, so nothing is held twice. For a few thousand classes every pair is compared. Beyond that the
right side is cut into cells of like readings, in two ways, and a reading is compared with the cells
nearest to it: the cost grows with the number of classes and not with its square. On 77,000 classes
that keeps 98.7 % of the join edges (by weight) that comparing all pairs finds.
Letters: K classes, V readings of a class, n texts, D dimension, R readings, L and M of the two sides,
P pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graftjax.encode.rows import StackedRows, products

ALL_PAIRS = 8192
"""Readings of the right side up to which every pair is compared."""
CELL = 128
"""Most readings of a cell."""
PROBES = 32
"""Cells of each partition with which a reading is compared."""
VIEWS = ((1.0, 0.3), (0.3, 1.0))
"""Weights of header and context in the two partitions: one knows the `id`s, the other the clubs."""
NAME_SHARE = 0.6
"""Part of the name in the likeness; the rest is that of the contexts."""
_SAMPLE, _STEPS = 2048, 6
_BLOCK, _ROWS, _FEW = 1 << 15, 1024, 16
_NO_CLASS = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class Wording:
    """Texts of K classes."""

    vectors: Float[np.ndarray, "n D"] | StackedRows
    header: Int[np.ndarray, "K V"]
    """The header alone."""
    context: Int[np.ndarray, "K V"]
    """Table and header; "club id" refers to the `id` of "club", so headers also meet contexts."""

    def own_readings(self) -> np.ndarray:
        """bool [K, V]: readings that do not repeat the first."""
        own = (self.header != self.header[:, :1]) | (self.context != self.context[:, :1])
        own[:, 0] = True
        return own

    def likeness(self, a: Int[np.ndarray, " P"], b: Int[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
        """In [0, 1], over the best pair of readings of each two classes."""
        own = self.own_readings()
        result = np.full(len(a), -1.0, np.float32)
        for v in range(own.shape[1]):
            for w in range(own.shape[1]):
                some = np.flatnonzero(own[a, v] & own[b, w])
                if len(some):
                    result[some] = np.maximum(result[some], self._of_pairs(a[some], v, b[some], w))
        return np.clip(result, 0.0, 1.0)

    def _of_pairs(self, a: np.ndarray, v: int, b: np.ndarray, w: int) -> np.ndarray:
        result = np.empty(len(a), np.float32)
        dot = lambda x, y: np.einsum("nd,nd->n", x, y)  # noqa: E731
        for start in range(0, len(a), _BLOCK):
            i, j = a[start : start + _BLOCK], b[start : start + _BLOCK]
            h, c = self.vectors[self.header[i, v]], self.vectors[self.context[i, v]]
            other_h, other_c = self.vectors[self.header[j, w]], self.vectors[self.context[j, w]]
            name = np.maximum(dot(h, other_h), np.maximum(dot(h, other_c), dot(c, other_h)))
            result[start : start + _BLOCK] = NAME_SHARE * name + (1 - NAME_SHARE) * dot(c, other_c)
        return result

    def nearest(
        self,
        left: Int[np.ndarray, " l"],
        right: Int[np.ndarray, " r"],
        group: Int[np.ndarray, " K"],
        count: int,
    ) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]:
        """For each reading of each left class the `count` nearest readings of right classes, as pairs.

        Classes of one group are no neighbours. Both outputs are class numbers; a pair may repeat.
        """
        one, other = _readings(self, left), _readings(self, right)
        if not count or not len(one.owner) or not len(other.owner):
            return _NO_CLASS, _NO_CLASS
        if len(other.owner) <= ALL_PAIRS:
            everything = [np.arange(len(other.owner))]
            views = [(everything, np.zeros((len(one.owner), 1), np.int32))]
        else:
            partitions = [_cells(other, weights) for weights in VIEWS]
            views = [(cells, _probes(one, other, cells)) for cells in partitions]
        found = []
        for cells, probes in views:
            # Readings whose nearest cell is the same are compared with much the same cells.
            sequence = np.argsort(probes[:, 0], kind="stable")
            for start in range(0, len(sequence), _ROWS):
                rows = sequence[start : start + _ROWS]
                found.append(_nearest_in_cells(one, other, rows, probes[rows], cells, group, count))
        return np.concatenate([a for a, _ in found]), np.concatenate([b for _, b in found])

    def nearest_of_few(
        self,
        left: Int[np.ndarray, " l"],
        rights: Sequence[np.ndarray],
        group: Int[np.ndarray, " K"],
        count: int,
    ) -> tuple[Int[np.ndarray, " P"], Int[np.ndarray, " P"]]:
        """`nearest` on each of several right sides, for so few left classes that cells would not pay.

        They are compared with every text once, where it lies: nothing is copied.
        """
        one, sides = _readings(self, left), [_readings(self, right) for right in rights]
        sides = [other for other in sides if count and len(other.owner)]
        found = [(_NO_CLASS, _NO_CLASS)]
        for start in range(0, len(one.owner), _FEW):
            rows = np.arange(start, min(start + _FEW, len(one.owner)))
            h, c = np.split(products(np.concatenate(one.of(rows)), self.vectors), 2)
            for other in sides:
                name = np.maximum(h[:, other.header], h[:, other.context])
                np.maximum(name, c[:, other.header], out=name)
                likeness = NAME_SHARE * name + (1 - NAME_SHARE) * c[:, other.context]
                likeness[group[one.owner[rows]][:, None] == group[other.owner][None, :]] = -np.inf
                row, place = _largest(likeness, count)
                found.append((one.owner[rows[row]], other.owner[place]))
        a, b = (np.concatenate(side).astype(np.int32) for side in zip(*found, strict=True))
        return a, b


@dataclass(frozen=True, eq=False)
class _Readings:
    owner: Int[np.ndarray, " R"]
    """Class of each reading."""
    vectors: Float[np.ndarray, "n D"] | StackedRows
    header: Int[np.ndarray, " R"]
    context: Int[np.ndarray, " R"]

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(header vectors, context vectors) of some readings."""
        return self.vectors[self.header[rows]], self.vectors[self.context[rows]]


def _readings(wording: Wording, classes: np.ndarray) -> _Readings:
    row, variant = np.nonzero(wording.own_readings()[classes])
    owner = classes[row]
    return _Readings(owner, wording.vectors, wording.header[owner, variant], wording.context[owner, variant])


def _likeness(
    left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
) -> Float[np.ndarray, "L M"]:
    (h, c), (other_h, other_c) = left, right
    name = h @ other_h.T
    np.maximum(name, h @ other_c.T, out=name)
    np.maximum(name, c @ other_h.T, out=name)
    name *= NAME_SHARE
    name += (1 - NAME_SHARE) * (c @ other_c.T)
    return name


def _largest(likeness: Float[np.ndarray, "L M"], count: int) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of the `count` largest finite entries of each row."""
    few = min(count, likeness.shape[1])
    near = np.argpartition(-likeness, few - 1, axis=1)[:, :few]
    row, column = np.nonzero(np.isfinite(np.take_along_axis(likeness, near, 1)))
    return row, near[row, column]


def _nearest_in_cells(
    one: _Readings,
    other: _Readings,
    rows: np.ndarray,
    probes: np.ndarray,
    cells: list[np.ndarray],
    group: np.ndarray,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """(left class, right class) of the `count` nearest readings of each row in its cells."""
    width = max(map(len, cells))
    likeness = np.full((*probes.shape, width), -np.inf, np.float32)
    vectors, order = one.of(rows), np.argsort(probes.ravel(), kind="stable")
    asked, starts = np.unique(probes.ravel()[order], return_index=True)
    for cell, places in zip(asked, np.split(order, starts[1:]), strict=True):
        row, slot = np.divmod(places, probes.shape[1])
        members = cells[cell]
        block = _likeness((vectors[0][row], vectors[1][row]), other.of(members))
        block[group[one.owner[rows[row]]][:, None] == group[other.owner[members]][None, :]] = -np.inf
        likeness[row, slot, : len(members)] = block
    row, place = _largest(likeness.reshape(len(rows), -1), count)
    slot, member = np.divmod(place, width)
    table = np.zeros((len(cells), width), np.int64)
    for number, members in enumerate(cells):
        table[number, : len(members)] = members
    left, right = one.owner[rows[row]], other.owner[table[probes[row, slot], member]]
    return left.astype(np.int32), right.astype(np.int32)  # tens of millions in a large lake


def _cells(readings: _Readings, weights: tuple[float, float]) -> list[np.ndarray]:
    """A partition into cells of like readings: halves along the main direction, again and again.

    `weights`: how much header and context count.
    """
    cells, waiting = [], [np.arange(len(readings.owner))]
    while waiting:
        members = waiting.pop()
        if len(members) <= CELL:
            cells.append(members)
            continue
        place = _along_main_direction(readings, members, weights)
        order = np.argsort(place, kind="stable")
        half = len(members) // 2
        # The last one is taken next, so cells come in the order of the tree: neighbours are alike.
        waiting += [members[np.sort(order[half:])], members[np.sort(order[:half])]]
    return cells


def _along_main_direction(
    readings: _Readings, members: np.ndarray, weights: tuple[float, float]
) -> Float[np.ndarray, " m"]:
    """Position of each member along the first principal direction of (header, context)."""
    step = -(-len(members) // _SAMPLE)
    scaled = [weight * part for weight, part in zip(weights, readings.of(members[::step]), strict=True)]
    sample = np.concatenate(scaled, axis=1)
    sample = sample - sample.mean(0)
    direction = sample[np.argmax(np.einsum("nd,nd->n", sample, sample))]
    for _ in range(_STEPS):
        direction = sample.T @ (sample @ direction)
        direction /= max(float(np.linalg.norm(direction)), 1e-12)
    of_header, of_context = np.split(direction, 2)
    place = np.empty(len(members), np.float32)
    for start in range(0, len(members), _BLOCK):
        header, context = readings.of(members[start : start + _BLOCK])
        place[start : start + _BLOCK] = weights[0] * (header @ of_header) + weights[1] * (
            context @ of_context
        )
    return place


def _probes(one: _Readings, other: _Readings, cells: list[np.ndarray]) -> Int[np.ndarray, "L p"]:
    """The PROBES cells nearest to each reading by their mean directions, the nearest first."""
    means = [[part.mean(0) for part in other.of(cell)] for cell in cells]
    # A mean is the shorter the more a cell holds: its length must not count.
    header, context = (_unit(np.stack([mean[side] for mean in means])) for side in (0, 1))
    count = min(PROBES, len(cells))
    probes = np.empty((len(one.owner), count), np.int32)
    for start in range(0, len(one.owner), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(one.owner)))
        likeness = _likeness(one.of(rows), (header, context))
        near = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        best = np.argsort(-np.take_along_axis(likeness, near, 1), axis=1, kind="stable")
        probes[rows] = np.take_along_axis(near, best, 1)
    return probes


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
