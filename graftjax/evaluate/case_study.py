"""One question step by step: what each action of a search gains, and what other methods miss (Fig. 4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from graftjax.evaluate.metrics import Score, score
from graftjax.igms.exact import covariance, utility
from graftjax.igms.surrogates import RewardName
from graftjax.intent.atoms import atoms_of
from graftjax.intent.query import Query
from graftjax.lake.record import LakeIndex
from graftjax.peers.contract import Retriever
from graftjax.report.boxes import bridge_tables
from graftjax.search.actions import NEVER, Choice, Dials, choices
from graftjax.search.beam import cluster_hashes, start_states
from graftjax.search.engine import Engine
from graftjax.search.finish import Outcome
from graftjax.search.question import Question
from graftjax.search.region import Problem
from graftjax.search.settings import ROWS
from graftjax.search.state import EMPTY, State, observe, place
from graftjax.types import Operator, Synthesis, TableId

RIVALS = 3
"""Other actions that are named for a step."""
WORTH_SAYING = 0.05
"""Rise of an atom's support from which a step is said to bring it."""

StepKind = Literal["first", "join", "bridge", "union", "apart"]
"""How a table comes in: alone, by a join, only to connect others, by a union, or without a link found."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another action that was open at a step."""

    table: TableId
    """First table of its cluster."""
    gain: float
    admissible: bool
    """Whether the stop rule lets it be taken."""


@dataclass(frozen=True, slots=True)
class Step:
    """One table of the answer."""

    table: TableId
    kind: StepKind
    operator: Operator | None
    gain: float
    """In log det J (a·U), exact, in float64."""
    utility: float
    """U after the step."""
    brings: tuple[str, ...]
    """Atoms that the table supports better than those before it."""
    rivals: tuple[Rival, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """A search of one question."""

    synthesis: Synthesis
    steps: tuple[Step, ...]


def walk(engine: Engine, query: Query, budget: int, *, fill: bool = False) -> Walk:
    """The answer of a search with each step's gain. The query must have an intent graph."""
    assert query.intent is not None
    atoms = atoms_of(query.intent)
    asked = query.question if fill and query.intent.rough else ""
    if not atoms.num_atoms or not engine.index.tables:
        return Walk(engine.search(query.question, query.intent, budget=budget, fill=fill), ())
    question = engine.prepare(atoms, engine.encode([atoms], [asked]), budget, asked)
    outcome = engine.solve(question.region.problem, question.outlook, fill=fill)
    synthesis = engine.explain(question, outcome, budget, fill)
    return Walk(synthesis, _steps(engine, question, outcome, synthesis))


def _steps(engine: Engine, question: Question, outcome: Outcome, synthesis: Synthesis) -> tuple[Step, ...]:
    operators = {step.new: step for step in synthesis.operators}
    bridges = bridge_tables(synthesis)
    labels = question.evidence.atoms.labels
    rivals = _rivals(engine, question, outcome)
    before, reach, steps = 0.0, np.zeros(outcome.blocks.shape[2]), []
    for at, table in enumerate(synthesis.tables):
        after = _utility(question, outcome, at + 1)
        best = np.maximum(reach, outcome.blocks[at].max(0))
        brings = tuple(
            labels[atom] for atom in np.flatnonzero(best > reach + WORTH_SAYING) if atom < len(labels)
        )
        operator = operators.get(table)
        kind: StepKind = "first" if not at else "apart"
        if operator is not None:
            kind = "bridge" if operator.kind == "join" and table in bridges else operator.kind
        elif table in bridges:
            kind = "bridge"
        gain = (after - before) * len(labels)
        steps.append(Step(table, kind, operator, gain, after, brings, rivals[at]))
        before, reach = after, best
    return tuple(steps)


def _utility(question: Question, outcome: Outcome, count: int) -> float:
    """U of the first `count` tables, from M and C at once."""
    cluster, shard = outcome.table_cluster[:count], outcome.table_shard[:count]
    problem = question.region.problem
    jaccard = problem.correlation[cluster[:, None], shard[:, None], shard[None, :]]
    c = covariance(cluster, jaccard, ROWS, question.evidence.settings.noise)
    return utility(outcome.blocks[:count].reshape(count * ROWS, -1), c, question.evidence.atoms.num_atoms)


def _rivals(engine: Engine, question: Question, outcome: Outcome) -> list[tuple[Rival, ...]]:
    """The best other new clusters before each step, by exact gain."""
    problem = question.region.problem
    found = []
    for at, state in enumerate(states_along(engine, question, outcome)):
        options = jax.device_get(rated(problem, state, engine._dials, reward=engine.settings.reward))
        size = len(problem.cluster)
        gains = np.where(np.isfinite(options.gain[:size]), options.gain[:size], NEVER)
        taken = set(outcome.table_cluster[: at + 1].tolist())
        best: dict[int, Rival] = {}
        for candidate in np.argsort(-gains, kind="stable").tolist():
            own = int(problem.cluster[candidate])
            if len(best) == RIVALS or gains[candidate] <= 0:
                break
            if own not in taken and own not in best:
                lake = int(question.region.clusters[own])
                table = engine.index.tables[int(engine.shards.tables[lake][0])].id
                best[own] = Rival(table, float(gains[candidate]), bool(options.regular[candidate]))
        found.append(tuple(best.values()))
    return found


@partial(jax.jit, static_argnames="reward")
def rated(problem: Problem, state: State, dials: Dials, *, reward: RewardName) -> Choice:
    return choices(problem, state, dials, reward)


def states_along(engine: Engine, question: Question, outcome: Outcome) -> Iterator[State]:
    """The state of the search before each table of an outcome."""
    problem = question.region.problem
    state = jax.tree.map(lambda leaf: leaf[0], start_states(problem, 1))
    for at in range(int(outcome.num_tables)):
        yield state
        cluster, action = (
            jnp.asarray(int(which[at]), jnp.int32) for which in (outcome.table_cluster, outcome.table_action)
        )
        block = jnp.asarray(outcome.blocks[at])
        state = _taken(
            problem, state, block, cluster, action, engine._dials.noise, reward=engine.settings.reward
        )


@partial(jax.jit, static_argnames="reward")
def _taken(
    problem: Problem, state: State, block: Any, cluster: Any, action: Any, noise: Any, *, reward: RewardName
) -> State:
    """The state after one more table."""
    state = observe(problem, state, block, cluster, noise, reward)
    state = place(state, block, cluster, action, cluster_hashes())
    claims = problem.witnesses[jnp.maximum(action, 0)] & (state.tree_cluster == EMPTY) & (action != EMPTY)
    return state._replace(tree_cluster=jnp.where(claims, cluster, state.tree_cluster))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method returned for the question."""

    method: str
    tables: tuple[TableId, ...]
    missed: tuple[TableId, ...]
    """Gold tables that are not among them."""
    others: int
    """Tables that are no gold."""
    failings: tuple[str, ...]
    """What is missing, in words."""
    score: Score | None
    """None where the gold is not known."""


def answer_of(
    method: str,
    tables: Sequence[TableId],
    gold: Sequence[TableId],
    index: LakeIndex,
    bridges: Collection[TableId] = (),
) -> Answer:
    """Compare a method's tables with the gold ones. `bridges`: gold tables that only connect others."""
    missed = tuple(table for table in gold if table not in tables)
    hit = {_cluster(index, table) for table in tables}
    failings = []
    for table in missed:
        if _cluster(index, table) in hit:
            failings.append(f"leaves out {table}, a further shard of a table that it has")
        elif table in bridges:
            failings.append(f"misses {table}, the bridge: without it the others can't be joined")
        else:
            failings.append(f"misses {table}")
    others = sum(table not in gold for table in tables)
    return Answer(
        method, tuple(tables), missed, others if gold else 0, tuple(failings),
        score(tables, gold) if gold else None,
    )  # fmt: skip


def answers(
    query: Query,
    gold: Sequence[TableId],
    methods: Sequence[str],
    make: Callable[[str], Retriever],
    index: LakeIndex,
    budget: int,
    bridges: Collection[TableId] = (),
) -> list[Answer]:
    """What each method returns."""
    found = []
    for method in methods:
        retriever = make(method)
        retriever.warm_up([budget])
        tables = retriever.retrieve(query, budget, 0).tables
        found.append(answer_of(method, tables, gold, index, bridges))
    return found


def gold_synthesis(index: LakeIndex, gold: Sequence[TableId]) -> Synthesis:
    """The gold tables with the joins and unions of the lake graph that connect them."""
    from graftjax.search.explain import _operators

    numbers = [index.numbers[table] for table in gold if table in index.numbers]
    joins = index.graph.cluster_joins
    order: list[int] = []
    while numbers:  # along the joins, so that each table finds one before it
        near = {other for table in order for other in joins[_number(index, table)]}
        near |= {_number(index, table) for table in order}
        chosen = next((table for table in numbers if _number(index, table) in near), numbers[0])
        order.append(chosen)
        numbers.remove(chosen)
    clusters = np.array([_number(index, table) for table in order], np.int64)
    operators, notes = _operators(index, clusters, order) if order else ((), ())
    return Synthesis(tuple(index.tables[table].id for table in order), operators, 0.0, notes=notes)


def _number(index: LakeIndex, table: int) -> int:
    """The cluster of a table."""
    return int(index.graph.unions.table_cluster[table])


def _cluster(index: LakeIndex, table: TableId) -> int:
    return _number(index, index.numbers[table]) if table in index.numbers else -1
