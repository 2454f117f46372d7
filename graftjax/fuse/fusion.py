"""A synthesis and the rows of its tables → one fused table (the F of GRAFT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graftjax.fuse.asked import asked_columns, condition, wishes
from graftjax.fuse.errors import FuseError
from graftjax.fuse.fused import Fused, FusedColumn, StepRows
from graftjax.fuse.guard import count_joins, title
from graftjax.fuse.inputs import inputs_of
from graftjax.fuse.plan import Part, parts_of
from graftjax.fuse.run import Session
from graftjax.fuse.settings import FuseSettings, JoinKind
from graftjax.fuse.sources import RawSource
from graftjax.fuse.sql import Builder, Output, outputs_of
from graftjax.fuse.terms import Term, count_rows, text
from graftjax.intent.schema import IntentGraph
from graftjax.types import AtomSupport, Synthesis

DEFAULTS = FuseSettings()


def fuse(
    synthesis: Synthesis,
    source: RawSource,
    *,
    intent: IntentGraph | None = None,
    settings: FuseSettings = DEFAULTS,
) -> Fused:
    """Fuse the tables of a synthesis: unions first, then joins, by SQL that DuckDB runs.

    Where operators leave the tables in several parts, the part with the most support is the result (then the
    one with the most tables, then the first) and the rest is fused by itself: no product of unrelated rows
    is ever made. `intent` is needed for filters only.

    Raises FuseError when there is nothing to fuse, when an operator does not fit its tables, or when a join
    would have too many rows; GraftError when a table can not be read.
    """
    if not synthesis.tables:
        raise FuseError("nothing to fuse: the answer has no tables")
    tables = tuple(dict.fromkeys(synthesis.tables))
    inputs = inputs_of(tables, source.read(tables))
    parts, notes = parts_of(synthesis, inputs, settings.source_column)
    notes += source.notes(tables)
    main = max(parts, key=lambda part: (_support(part, synthesis.support), len(part.tables)))
    others = []
    for part in parts:
        if part is main:
            continue
        names = ", ".join(map(str, part.tables))
        notes.append(f"not connected with the rest, fused by itself: {names}")
        try:
            others.append(_fuse_part(part, synthesis.support, None, replace(settings, filters=False), [], ()))
        except FuseError as error:
            notes.append(str(error))
    return _fuse_part(main, synthesis.support, intent, settings, notes, tuple(others))


def _support(part: Part, support: Sequence[AtomSupport]) -> float:
    own = set(part.tables)
    return sum(atom.support for atom in support if atom.table in own)


def _fuse_part(
    part: Part,
    support: Sequence[AtomSupport],
    intent: IntentGraph | None,
    settings: FuseSettings,
    notes: list[str],
    others: tuple[Fused, ...],
) -> Fused:
    inputs = {own.name: own for group in part.groups for own in group.inputs}
    session = Session({name: own.data for name, own in inputs.items()}, settings)
    build = Builder(part, settings.fold_case)
    steps = _union_rows(part)
    counts = count_joins(session, build, settings)
    for number, count in enumerate(counts):
        steps.append(StepRows(title(part, number, count.kind), count.rows))
        if count.before and not count.matched:
            notes.append(f"{title(part, number, count.kind)}: no key has a partner")
        elif count.chosen and count.kind == "left":
            share = f"{count.matched:,} of {count.before:,}"
            notes.append(f"{title(part, number, 'left')}: only {share} rows have a partner, all are kept")
    kinds: list[JoinKind] = [count.kind for count in counts]
    n_rows = steps[-1].rows if steps else part.groups[0].n_rows
    if not steps:
        steps.append(StepRows(f"read {part.labels[0]}", n_rows))
    filters: list[Term] = []
    if settings.filters and intent is None:
        notes.append("not filtered: no intent says which values are wanted")
    elif settings.filters and intent is not None:
        filters, n_rows = _filters(session, build, kinds, support, intent, settings, n_rows, steps, notes)
    chosen = None
    if settings.columns == "asked":
        chosen = asked_columns(part, support, settings.join_keys) or None
        if chosen is None:
            notes.append("no column here supports an attribute of the question: all columns are kept")
    outputs = outputs_of(part, chosen)
    query = build.result(outputs, kinds, filters)
    return Fused(
        sql=text(query, pretty=True),
        n_rows=n_rows,
        columns=tuple(_column(part, output) for output in outputs),
        steps=tuple(steps),
        inputs={name: own.id for name, own in inputs.items()},
        preview=session.table(query.limit(settings.preview)),
        notes=tuple(dict.fromkeys(notes)),
        others=others,
        tables={name: own.data for name, own in inputs.items()},
        _session=session,
    )


def _union_rows(part: Part) -> list[StepRows]:
    steps = []
    for group in dict.fromkeys(part.groups):
        if len(group.inputs) > 1:
            names = ", ".join(own.name for own in group.inputs)
            steps.append(StepRows(f"union of {names}", group.n_rows))
    return steps


def _filters(
    session: Session,
    build: Builder,
    kinds: Sequence[JoinKind],
    support: Sequence[AtomSupport],
    intent: IntentGraph,
    settings: FuseSettings,
    n_rows: int,
    steps: list[StepRows],
    notes: list[str],
) -> tuple[list[Term], int]:
    """The conditions that leave rows, and how many rows they leave."""
    kept: list[Term] = []
    found, more = wishes(build.part, support, intent, settings.least_support)
    notes += more
    for wish in found:
        made, inside = condition(wish, build, session, settings)
        words = f"filter {wish.words}" + (" (contained)" if inside else "")
        if made is None:
            notes.append(f"{words}: not a value that the column can have; left out")
            continue
        (left,) = session.numbers(build.joined([count_rows("rows")], kinds, [*kept, made]))
        if n_rows and not left:
            notes.append(f"{words}: no row would be left; left out")
            continue
        kept.append(made)
        n_rows = left
        steps.append(StepRows(words, left))
    return kept, n_rows


def _column(part: Part, output: Output) -> FusedColumn:
    group = part.groups[output.node]
    origins = []
    for (table, raw), name in group.places.items():
        if name == output.column:
            origins.append((table, raw))
    return FusedColumn(output.name, tuple(origins))
