"""GRAFT-Exact: every synthesis that the actions of `graft` can build, and the best of them by exact U.

It is the beam search by exact gains with a beam that drops nothing: the same region, admissible actions,
stop rule, budget and completion by unions. The sets of first tables are enumerated breadth first, in
compiled chunks of one fixed shape; a synthesis is kept as the numbers of its blocks of units, and the same
blocks taken in another order are one synthesis (the same tables with other witnesses or other join units
are not). Utilities are float64. `search.joint` has the variant whose completions compete in U as well.

There is no exact form of `graft-fill`, which admits every table of the region: some 10^14 sets of ten.
Letters: n syntheses, m those found from them, L budget, A actions, C clusters, a atoms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from graftjax.errors import GraftError
from graftjax.search.actions import NEVER, Dials, choices
from graftjax.search.beam import start_states
from graftjax.search.blocks import BlockArrays, Blocks
from graftjax.search.completion import log_dets as closed_log_dets
from graftjax.search.completion import shard_weights
from graftjax.search.finish import VOTE_WIDTH, Outcome
from graftjax.search.region import NUM_CLUSTERS, Problem, bucket, empty_problem
from graftjax.search.settings import MAX_TREES, ROWS
from graftjax.search.state import EMPTY, State

CHUNKS = (16, 128)
"""Syntheses whose actions are looked up at once; the smaller number where there are no more."""
LIMIT = 200_000
"""Syntheses beyond which the enumeration is refused: about a minute on two cores."""
NEAR_TIE = 1e-9
"""Difference in log det below which two syntheses are equally good; the one with fewer tables is taken."""


class TooManySyntheses(GraftError):
    """The region is too large to enumerate."""


@dataclass(frozen=True, eq=False)
class Enumeration:
    """What came of enumerating one problem."""

    outcome: Outcome
    num_syntheses: int
    """All sets of first tables; in `search.joint` with the ways to complete them."""
    num_evaluated: int
    """Exact utilities computed."""
    decided: float
    """Largest log det; without completions, unless they compete."""


class Partial(NamedTuple):
    """What an action needs to know of a synthesis without completions; leading axis n."""

    num_tables: Any
    tree_cluster: Any
    taken: Any
    support: Any
    j_inverse: Any


class Options(NamedTuple):
    """Actions of n syntheses."""

    regular: Any
    """bool [n, A]."""
    row: Any
    """float32 [n, A, a]."""
    scale: Any
    """float32 [n, A, a]."""
    bridge: Any
    """int32 [n, A]."""


@jax.jit
def look(problem: Problem, dials: Dials, partial: Partial) -> Options:
    """The admissible new clusters of each synthesis."""

    def one(state: State) -> Options:
        choice = choices(problem, state, dials)
        count = problem.cluster.shape[0]
        gain = choice.gain[:count]
        regular = choice.regular[:count] & jnp.isfinite(gain) & (gain > 0.5 * NEVER)
        return Options(regular, choice.operator_row, choice.scale, choice.bridge)

    states = start_states(problem, partial.num_tables.shape[0])._replace(**partial._asdict())
    return jax.vmap(one)(states)


def warm_up(width: int, budget: int, dials: Dials) -> None:
    """Compile for problems of these sizes."""
    walk = Walk(empty_problem(width, budget), dials, LIMIT)
    for chunk in CHUNKS:
        walk.visit(np.zeros((chunk, walk.budget), np.int32))


class Chunk(NamedTuple):
    """Distinct sets of first tables with what can be taken next."""

    numbers: Int[np.ndarray, "n L"]
    """Blocks in the order of taking; 0 beyond the last."""
    size: Int[np.ndarray, " n"]
    partial: Partial
    options: Options
    ends: Bool[np.ndarray, " n"]
    """No admissible action is left."""
    arrays: BlockArrays


class Walk:
    """A breadth-first walk through all sets of first tables of a problem."""

    def __init__(self, problem: Problem, dials: Dials, limit: int) -> None:
        self.problem: Problem = jax.tree.map(np.asarray, problem)
        self.dials, self.noise, self.budget = dials, float(dials.noise), int(problem.budget)
        self.blocks = Blocks(self.problem)
        self._on_device = jax.device_put(self.problem)
        self._limit, self._work = limit, 0

    def spend(self, work: int) -> None:
        """Count syntheses that were looked at; TooManySyntheses beyond the limit."""
        self._work += work
        if self._work > self._limit:
            raise TooManySyntheses(
                f"graft-exact: more than {self._limit} syntheses to compare at L = {self.budget}; "
                "lower L or witnesses_per_tree, or use graft"
            )

    def chunks(self) -> Iterator[Chunk]:
        waiting = np.zeros((1, self.budget), np.int32)
        seen = {waiting[0].tobytes()}
        while len(waiting):
            found = []
            for at in range(0, len(waiting), CHUNKS[-1]):
                chunk = self.visit(waiting[at : at + CHUNKS[-1]])
                found.append(self._next(chunk, seen))
                yield chunk
            waiting = np.concatenate(found)

    def visit(self, numbers: Int[np.ndarray, "n L"]) -> Chunk:
        """Look up what can be taken next, for as many syntheses as the largest chunk holds."""
        self.spend(len(numbers))
        arrays, size = self.blocks.arrays(), (numbers > 0).sum(1)
        partial = self._partial(numbers, size, arrays)
        options = self.look(partial)
        ends = ~options.regular[: len(numbers)].any(1)
        return Chunk(numbers, size, partial, options, ends, arrays)

    def look(self, partial: Partial) -> Options:
        return jax.device_get(look(self._on_device, self.dials, partial))

    def _next(self, chunk: Chunk, seen: set[bytes]) -> Int[np.ndarray, "m L"]:
        """Sets not seen so far that are one action larger."""
        parents, actions = np.nonzero(chunk.options.regular[: len(chunk.numbers)])
        children = self.children(chunk, chunk.options, parents, actions)
        fresh = []
        for child, key in zip(children, np.sort(children, axis=1), strict=True):
            name = key.tobytes()
            if name not in seen:
                seen.add(name)
                fresh.append(child)
        return np.stack(fresh) if fresh else np.zeros((0, self.budget), np.int32)

    def _partial(self, numbers: np.ndarray, size: np.ndarray, arrays: BlockArrays) -> Partial:
        """The chunk as arrays, filled up to its fixed size with empty syntheses."""
        chunk = bucket(len(numbers), CHUNKS)
        numbers = np.concatenate([numbers, np.zeros((chunk - len(numbers), self.budget), np.int32)])
        taken = np.zeros((chunk, NUM_CLUSTERS + 1), np.int32)
        np.put_along_axis(taken, np.where(numbers > 0, arrays.cluster[numbers], NUM_CLUSTERS), 1, axis=1)
        width = arrays.gram.shape[-1]
        j = np.eye(width) + arrays.gram[numbers].sum(1) / (1.0 + self.noise)
        return Partial(
            num_tables=np.concatenate([size, np.zeros(chunk - len(size), np.int64)]).astype(np.int32),
            tree_cluster=arrays.trees[numbers].max(1).astype(np.int32),
            taken=taken[:, :NUM_CLUSTERS],
            support=arrays.support[numbers].max(1),
            j_inverse=np.linalg.inv(j).astype(np.float32),
        )

    def children(
        self,
        chunk: Chunk,
        options: Options,
        parents: Int[np.ndarray, " m"],
        actions: Int[np.ndarray, " m"],
        bridges: bool = True,
    ) -> Int[np.ndarray, "m L"]:
        """Each parent with its action's block (and its bridge's) appended."""
        if not len(parents):
            return np.zeros((0, self.budget), np.int32)
        row, scale = options.row[parents, actions], options.scale[parents, actions]
        bridge = options.bridge[parents, actions] if bridges else np.full(len(parents), EMPTY, np.int32)
        packed = np.concatenate([np.stack([actions, bridge], 1), row, scale], axis=1, dtype=np.float32)
        kinds, which = np.unique(packed, axis=0, return_inverse=True)
        blocks = np.array([self._pair(kind) for kind in kinds], np.int32)[which.ravel()]
        children = chunk.numbers[parents]
        at = chunk.size[parents]
        has_bridge = blocks[:, 0] > 0
        every = np.arange(len(parents))
        children[every[has_bridge], at[has_bridge]] = blocks[has_bridge, 0]
        children[every, at + has_bridge] = blocks[:, 1]
        return children

    def _pair(self, kind: Float[np.ndarray, " k"]) -> tuple[int, int]:
        """(bridge's block or 0, block) of an action as `_children` packs it."""
        action, bridge = int(kind[0]), int(kind[1])
        row, scale = np.split(kind[2:], 2)
        block = self.problem.rows[action] * scale[None, :]
        block[-1] = 0.0 if bridge != EMPTY else row
        between = 0
        if bridge != EMPTY:
            middle = np.zeros_like(block)
            middle[-1] = row
            between = self.blocks.number(bridge, EMPTY, middle)
        return between, self.blocks.number(int(self.problem.cluster[action]), action, block)

    def outcome(
        self, blocks: tuple[int, ...], further: list[tuple[int, int]], last: int, log_det: float
    ) -> Outcome:
        """First tables, further ones as (block, shard), and a first table that takes the last place."""
        capacity, width = self.problem.correlation.shape[1], len(self.problem.atom_mask)
        order = [(block, 0) for block in blocks] + further + ([(last, 0)] if last else [])
        cluster, shard_of, action = (np.full(capacity, EMPTY, np.int32) for _ in range(3))
        rows = np.zeros((capacity, ROWS, width), np.float32)
        for at, (block, shard) in enumerate(order):
            cluster[at], shard_of[at] = self.blocks.cluster[block], shard
            action[at] = self.blocks.action[block] if shard == 0 else EMPTY
            rows[at] = self.blocks.rows[block]
        trees = self.blocks.arrays().trees[[block for block, _ in order]].reshape(-1, MAX_TREES)
        return Outcome(
            num_tables=np.asarray(len(order), np.int32),
            logdet=np.asarray(log_det, np.float32),
            tree_cluster=trees.max(0, initial=EMPTY).astype(np.int32),
            table_cluster=cluster,
            table_shard=shard_of,
            table_action=action,
            blocks=rows,
        )


def enumerate_exact(problem: Problem, dials: Dials, limit: int = LIMIT) -> Enumeration:
    """The best of all syntheses that stop by themselves, completed by unions as `graft` completes its own.

    Raises TooManySyntheses beyond `limit` syntheses.
    """
    walk = Walk(problem, dials, limit)
    found: list[np.ndarray] = []
    values: list[np.ndarray] = []
    count = 0
    for chunk in walk.chunks():
        count += len(chunk.numbers)
        ends = chunk.numbers[chunk.ends]
        grams = chunk.arrays.gram[ends].sum(1) / (1.0 + walk.noise)
        found.append(ends)
        values.append(np.linalg.slogdet(np.eye(grams.shape[-1]) + grams)[1])
    ends, log_dets = np.concatenate(found), np.concatenate(values)
    sizes = (ends > 0).sum(1)
    near = np.flatnonzero(log_dets >= log_dets.max() - NEAR_TIE)
    best = int(near[np.argmin(sizes[near])])
    blocks = tuple(ends[best, : sizes[best]].tolist())
    sure = _certainty(walk, ends, log_dets)
    further = _completions(walk, blocks, sure)
    arrays = walk.blocks.arrays()
    counts = np.ones(len(blocks), np.int64)
    for block, _ in further:
        counts[blocks.index(block)] += 1
    weights = shard_weights(walk.problem.correlation, walk.noise)[arrays.cluster[list(blocks)], counts]
    (log_det,) = closed_log_dets(arrays.gram[list(blocks)], weights[None, :])
    return Enumeration(
        walk.outcome(blocks, further, 0, float(log_det)), count, len(ends), float(log_dets[best])
    )


def _certainty(
    walk: Walk, ends: Int[np.ndarray, "n L"], log_dets: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " C"]:
    """As `search.finish.certainty`, over all syntheses."""
    atoms = max(int(walk.problem.atom_mask.sum()), 1)
    weight = np.exp(np.clip((log_dets - log_dets.max()) / atoms / VOTE_WIDTH, -60.0, 0.0))
    sure = np.zeros(NUM_CLUSTERS)
    used = ends > 0
    np.add.at(sure, walk.blocks.arrays().cluster[ends[used]], np.repeat(weight, used.sum(1)))
    return sure / weight.sum()


def _completions(walk: Walk, blocks: tuple[int, ...], sure: Float[np.ndarray, " C"]) -> list[tuple[int, int]]:
    """(block, shard) of the further tables: the surest cluster first, near copies left out."""
    problem, cluster = walk.problem, walk.blocks.cluster
    order = sorted(blocks, key=lambda block: (-round(sure[cluster[block]], 6), cluster[block]))
    most = np.minimum(problem.fresh, problem.shards)
    further = [(block, shard) for block in order for shard in range(1, int(most[cluster[block]]))]
    return further[: walk.budget - len(blocks)]
