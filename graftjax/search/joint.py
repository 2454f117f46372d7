"""GRAFT-Exact where completions by union compete in U with new clusters.

`graft` completes what it has decided on. Here every interleaving counts: a synthesis is what any sequence
of admissible actions gives that ends by itself or with the budget. A completion changes neither the
evidence of a later table nor which actions are there, and only lowers what they gain; so taking all new
clusters first and completing them after reaches the same syntheses. Only the last place differs (a table
that would like a bridge beside it goes without there). Completions are valued in closed form
(`search.completion`), in the order of a bound, all completions without a budget, until none can win.
Letters: n syntheses, L budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from graftjax.search.actions import Dials
from graftjax.search.blocks import BlockArrays
from graftjax.search.completion import log_dets, num_spreads, shard_weights, spreads
from graftjax.search.exact import LIMIT, NEAR_TIE, Chunk, Enumeration, Walk
from graftjax.search.region import Problem
from graftjax.search.state import EMPTY


@dataclass(frozen=True, eq=False)
class _Open:
    """First tables whose completions compete for the budget."""

    ceiling: float
    """log det with all completions: no budget gives more."""
    blocks: tuple[int, ...]
    last: int = 0
    """Block that takes the last place, after the completions; 0 for none."""


@dataclass(frozen=True, eq=False)
class _Best:
    log_det: float = -1.0
    blocks: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    last: int = 0

    @property
    def size(self) -> int:
        return sum(self.counts) + (self.last > 0)

    def or_(self, other: _Best) -> _Best:
        """The better one; of two equally good ones the smaller, then this one."""
        if other.log_det > self.log_det + NEAR_TIE:
            return other
        return other if abs(other.log_det - self.log_det) <= NEAR_TIE and other.size < self.size else self


def enumerate_joint(problem: Problem, dials: Dials, limit: int = LIMIT) -> Enumeration:
    """The best synthesis of all.

    Raises TooManySyntheses beyond `limit` syntheses that have to be looked at.
    """
    walk = Walk(problem, dials, limit)
    joint = _Joint(walk)
    for chunk in walk.chunks():
        joint.add(chunk)
    joint.complete()
    best = joint.best
    further = [
        (block, shard)
        for block, count in zip(best.blocks, best.counts, strict=True)
        for shard in range(1, count)
    ]
    outcome = walk.outcome(best.blocks, further, best.last, best.log_det)
    return Enumeration(outcome, joint.count, joint.evaluated, best.log_det)


class _Joint:
    """The best so far, and what waits for its completions."""

    def __init__(self, walk: Walk) -> None:
        problem = walk.problem
        self._walk = walk
        self._weights = shard_weights(problem.correlation, walk.noise)
        self._most = np.maximum(np.minimum(problem.shards, problem.fresh), 1)
        self._open: list[_Open] = []
        self.best = _Best(0.0)
        self.count = self.evaluated = 0

    def add(self, chunk: Chunk) -> None:
        """Exact utilities where all completions have room; the others wait with their ceiling."""
        numbers, arrays = chunk.numbers, chunk.arrays
        self.count += len(numbers)
        most = np.where(numbers > 0, self._most[arrays.cluster[numbers]], 0)
        ceilings = self._ceilings(numbers, most, arrays)
        for blocks, size, counts, ceiling in zip(numbers, chunk.size, most, ceilings, strict=True):
            used = tuple(blocks[:size].tolist())
            if counts.sum() <= self._walk.budget:
                self.evaluated += 1
                self.best = self.best.or_(_Best(float(ceiling), used, tuple(counts[:size].tolist())))
            else:
                self._open.append(_Open(float(ceiling), used))
        room = self._walk.budget - 1
        wants = chunk.options.bridge[: len(numbers)] != EMPTY
        wants &= ((most.sum(1) >= room) & (chunk.size < room))[:, None]
        if wants.any():
            self._last_places(chunk, most, wants)

    def _ceilings(self, numbers: np.ndarray, counts: np.ndarray, arrays: BlockArrays) -> np.ndarray:
        weights = np.where(numbers > 0, self._weights[arrays.cluster[numbers], counts], 0.0)
        j = np.eye(arrays.gram.shape[-1]) + np.einsum("nl,nlab->nab", weights, arrays.gram[numbers])
        return np.linalg.slogdet(j)[1]

    def _last_places(
        self, chunk: Chunk, most: Int[np.ndarray, "n L"], wants: Bool[np.ndarray, "n A"]
    ) -> None:
        """What may take the last place without the bridge that it gets earlier on."""
        budget, size = self._walk.budget, chunk.size
        full = np.full_like(chunk.partial.num_tables, budget - 1)
        options = self._walk.look(chunk.partial._replace(num_tables=full))
        parents, actions = np.nonzero(options.regular[: len(size)] & wants)
        children = self._walk.children(chunk, options, parents, actions, bridges=False)
        if not len(children):
            return
        counts = most[parents]
        counts[np.arange(len(parents)), size[parents]] = 1
        ceilings = self._ceilings(children, counts, self._walk.blocks.arrays())
        for child, end, ceiling in zip(children, size[parents], ceilings, strict=True):
            self._open.append(_Open(float(ceiling), tuple(child[:end].tolist()), int(child[end])))

    def complete(self) -> None:
        """Try the completions that compete for the budget, best ceiling first, until none can win."""
        arrays = self._walk.blocks.arrays()
        ways = {one: num_spreads(*self._room(one, arrays)) for one in self._open}
        self.count += sum(ways.values())
        for one in sorted(self._open, key=lambda one: -one.ceiling):
            if one.ceiling < self.best.log_det - NEAR_TIE:
                break
            self._walk.spend(ways[one])
            extras, room = self._room(one, arrays)
            counts = 1 + spreads(extras, room)
            self.evaluated += len(counts)
            own = list(one.blocks)
            weights = self._weights[arrays.cluster[own][None, :], counts]
            values = log_dets(arrays.gram[own], weights)
            if one.last:
                alone = self._weights[arrays.cluster[one.last], 1]
                gram = np.concatenate([arrays.gram[own], arrays.gram[[one.last]]])
                full = np.concatenate([weights, np.full((len(weights), 1), alone)], axis=1)
                after = log_dets(gram, full)
                values = np.where(after - values >= self._least(one.last), after, -1.0)
            if len(values):
                top = int(values.argmax())
                found = _Best(float(values[top]), one.blocks, tuple(counts[top].tolist()), one.last)
                self.best = self.best.or_(found)

    def _room(self, one: _Open, arrays: BlockArrays) -> tuple[tuple[int, ...], int]:
        """(further tables of each cluster, places for them)."""
        extras = tuple((self._most[arrays.cluster[list(one.blocks)]] - 1).tolist())
        return extras, self._walk.budget - len(one.blocks) - (one.last > 0)

    def _least(self, block: int) -> float:
        is_fragment = self._walk.problem.fragment[self._walk.blocks.action[block]] >= 0
        return float(self._walk.dials.least_fragment_gain if is_fragment else self._walk.dials.least_gain)
