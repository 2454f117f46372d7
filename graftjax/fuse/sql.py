"""A part of a plan → expressions of sqlglot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from graftjax.fuse.align import Group
from graftjax.fuse.kinds import as_kind, keys
from graftjax.fuse.names import Names
from graftjax.fuse.plan import Part
from graftjax.fuse.settings import JoinKind
from graftjax.fuse.terms import Term, column, named, quoted, string, table


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result."""

    name: str
    node: int
    column: str
    """Of the node's group."""


@dataclass(frozen=True, eq=False)
class Builder:
    """Expressions over one part."""

    part: Part
    fold_case: bool

    @cached_property
    def relations(self) -> dict[Group, str]:
        """Each group to its table's name, or to that of the common table expression of its union."""
        names = Names(part.name for group in self.part.groups for part in group.inputs)
        found: dict[Group, str] = {}
        for group, label in zip(self.part.groups, self.part.labels, strict=True):
            if group not in found:
                alone = len(group.inputs) == 1
                found[group] = group.inputs[0].name if alone else names.free(label)
        return found

    def column(self, node: int, name: str) -> Term:
        """A column of a node, qualified."""
        return column(name, self.part.labels[node])

    def key_pair(self, join: int, number: int) -> tuple[Term, Term]:
        """Both sides of one equality of a join, in comparable form."""
        step = self.part.joins[join]
        left, right = step.keys[number]
        return keys(
            self.column(step.anchor, left),
            self.part.groups[step.anchor].column(left).kind,
            self.column(step.new, right),
            self.part.groups[step.new].column(right).kind,
            self.fold_case,
        )

    def node(self, node: int, columns: Sequence[Term]) -> exp.Select:
        """Expressions over the rows of one node alone."""
        return self._with(exp.select(*columns).from_(self._aliased(node)), [node])

    def joined(
        self,
        columns: Sequence[Term],
        kinds: Sequence[JoinKind],
        filters: Iterable[Term] = (),
    ) -> exp.Select:
        """Expressions over the rows of the root with the first joins, one for each of `kinds`."""
        query = exp.select(*columns).from_(self._aliased(0))
        for number, kind in enumerate(kinds):
            pairs = [self.key_pair(number, k) for k in range(len(self.part.joins[number].keys))]
            query = query.join(
                self._aliased(self.part.joins[number].new),
                on=exp.and_(*(exp.EQ(this=a, expression=b) for a, b in pairs)),
                join_type=kind,
                copy=False,
            )
        for condition in filters:
            query = query.where(condition, copy=False)
        return self._with(query, range(len(kinds) + 1))

    def result(
        self, outputs: Sequence[Output], kinds: Sequence[JoinKind], filters: Iterable[Term] = ()
    ) -> exp.Select:
        """The whole fusion under the names of its outputs."""
        columns = [named(self.column(o.node, o.column), o.name) for o in outputs]
        return self.joined(columns, kinds, filters)

    def _aliased(self, node: int) -> exp.Table:
        name = self.relations[self.part.groups[node]]
        return table(name, self.part.labels[node])

    def _with(self, query: exp.Select, nodes: Iterable[int]) -> exp.Select:
        """The query with the unions that its nodes stand for."""
        for group in dict.fromkeys(self.part.groups[node] for node in nodes):
            if len(group.inputs) > 1:
                query = query.with_(quoted(self.relations[group]), as_=union(group), copy=False)
        return query


def union(group: Group) -> exp.Query:
    """All rows of a group's inputs by the names of the group's columns."""
    selects = [_select(group, number) for number in range(len(group.inputs))]
    whole: exp.Query = selects[0]
    for part in selects[1:]:
        whole = exp.Union(this=whole, expression=part, distinct=False, by_name=True)
    return whole


def _select(group: Group, number: int) -> exp.Select:
    """One input's rows; a column that it lacks, or has no value in, is left to UNION BY NAME."""
    part, columns = group.inputs[number], []
    lone: Term | None = None
    for slot in group.columns:
        member = slot.members[number]
        if slot.source:
            columns.append(named(string(part.name), slot.name))
        if member is None:
            continue
        own = part.data.schema.field(member).type
        value = named(as_kind(column(member), own, slot.kind, uniform=slot.uniform), slot.name)
        others = (m and not p.empty(m) for p, m in zip(group.inputs, slot.members, strict=True))
        if part.empty(member) and any(others):
            lone = lone or named(exp.null(), slot.name)
            continue
        columns.append(value)
    if not columns:
        columns = [lone if lone is not None else named(exp.null(), group.columns[0].name)]
    return exp.select(*columns).from_(table(part.name))


def outputs_of(part: Part, chosen: Sequence[tuple[int, str]] | None = None) -> tuple[Output, ...]:
    """Columns of the result, all or the chosen (node, column) ones, under unique names.

    A name that several chosen columns share is qualified by the label of the node for each of them.
    """
    if chosen is None:
        chosen = [(node, c.name) for node, group in enumerate(part.groups) for c in group.columns]
    count: dict[str, int] = {}
    for _, name in chosen:
        count[name.casefold()] = count.get(name.casefold(), 0) + 1
    # A plain name stays as it is; qualified ones go round it.
    names = Names(name for _, name in chosen if count[name.casefold()] == 1)
    outputs = []
    for node, name in chosen:
        qualified = f"{part.labels[node]}.{name}"
        output = Output(qualified, node, name)
        alone = count[name.casefold()] == 1
        outputs.append(replace(output, name=name if alone else names.free(qualified)))
    return tuple(outputs)
