"""What the intent asks of the fused table: columns for its attributes, conditions for its values.

A value is compared by this rule: with a column of numbers as a number, with dates as a date, with texts
without regard to case and outer spaces; a column of long texts has to contain it. `> 5` and the like compare
numbers, and texts that read as numbers, in the column of the attribute itself. Of several values of one
attribute any will do (of several comparisons all); conditions on different attributes all have to hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from graftjax.fuse.kinds import Kind, keys
from graftjax.fuse.plan import Part
from graftjax.fuse.run import Session
from graftjax.fuse.settings import FuseSettings
from graftjax.fuse.sql import Builder
from graftjax.fuse.terms import DIALECT, Term, call, cast, named, string
from graftjax.intent.atoms import VALUE, atoms_of
from graftjax.intent.schema import IntentGraph
from graftjax.types import AtomSupport

_ATTRIBUTE = "attribute: "
"""How the label of an attribute atom begins."""
_NUMBERS = ("integer", "real", "decimal")
_COMPARISON = re.compile(r"(>=|<=|>|<)\s*(.+)")
_SIGNS = {">": exp.GT, "<": exp.LT, ">=": exp.GTE, "<=": exp.LTE}
_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}(,\d{3})+)(\.\d*)?([eE][-+]?\d{1,3})?|[-+]?\.\d+")


@dataclass(frozen=True, slots=True)
class Wish:
    """A column that has to have one of some values."""

    node: int
    column: str
    values: tuple[str, ...]
    words: str
    """For people."""


def asked_columns(part: Part, support: Sequence[AtomSupport], join_keys: bool) -> list[tuple[int, str]]:
    """(node, column) of the best evidence of each attribute that the part holds, in the intent's order."""
    found: dict[tuple[int, str], None] = {}
    for atom in support:
        if atom.atom.startswith(_ATTRIBUTE) and atom.table is not None and atom.column is not None:
            place = part.find(atom.table, atom.column)
            if place is not None:
                found[place] = None
    if found and join_keys:
        for join in part.joins:
            for left, right in join.keys:
                found[join.anchor, left] = found[join.new, right] = None
    return list(found)


def wishes(
    part: Part, support: Sequence[AtomSupport], intent: IntentGraph, least_support: float
) -> tuple[list[Wish], list[str]]:
    """The values that the intent fixes, attribute by attribute, with notes on those without a column."""
    atoms = atoms_of(intent)
    by_label = {atom.atom: atom for atom in support}
    # Two trees may have atoms of one label: the support of a search comes in the order of the atoms.
    aligned = [atom.atom for atom in support] == list(atoms.labels)
    found, notes = [], []
    for parent in dict.fromkeys(atoms.node_parent[atoms.node_kind == VALUE].tolist()):
        leaves = np.flatnonzero((atoms.node_kind == VALUE) & (atoms.node_parent == parent)).tolist()
        places: dict[tuple[int, str, bool], list[str]] = {}
        for leaf in leaves:
            value = atoms.node_text[leaf].strip()
            compared = _comparison(value) is not None
            number = parent if compared else leaf
            atom = support[number] if aligned else by_label.get(atoms.labels[number])
            known = atom is not None and atom.table is not None and atom.column is not None
            if atom is None or not known or atom.support < least_support:
                notes.append(f"no column has {value!r} for certain: not filtered by it")
                continue
            place = part.find(atom.table, atom.column)  # type: ignore[arg-type]
            if place is None:
                notes.append(f"{value!r} is in a table that is not fused here: not filtered by it")
                continue
            places.setdefault((*place, compared), []).append(value)
        for (node, column, compared), values in places.items():
            said = " and ".join(values) if compared else f"= {' or '.join(map(repr, values))}"
            found.append(Wish(node, column, tuple(values), f"{part.labels[node]}.{column} {said}"))
    return found, notes


def condition(
    wish: Wish, build: Builder, session: Session, settings: FuseSettings
) -> tuple[Term | None, bool]:
    """(the condition, whether it searches long texts); None when no value fits the column's kind."""
    column = build.column(wish.node, wish.column)
    comparisons = [_comparison(value) for value in wish.values]
    limits = [found for found in comparisons if found is not None]
    kind = build.part.groups[wish.node].column(wish.column).kind
    if limits:
        if kind not in (*_NUMBERS, "text"):
            return None, False
        number = exp.TryCast(this=column, to=exp.DataType.build("DOUBLE", dialect=DIALECT))
        return exp.and_(
            *(_SIGNS[sign](this=number, expression=exp.Literal.number(limit)) for sign, limit in limits)
        ), False
    if kind == "text":
        average = exp.Avg(this=call("length", column.copy()))
        (row,) = session.table(build.node(wish.node, [named(average, "mean")])).to_pylist()
        if (row["mean"] or 0.0) >= settings.long_text:
            return exp.or_(*(call("contains", call("lower", column), _lower(v)) for v in wish.values)), True
    parts = [_equal(column, kind, value.strip()) for value in wish.values]
    known = [part for part in parts if part is not None]
    return (exp.or_(*known) if known else None), False


def _comparison(value: str) -> tuple[str, str] | None:
    """(sign, number) of a value such as `>= 5`."""
    found = _COMPARISON.fullmatch(value.strip())
    if found is None or not _NUMBER.fullmatch(found[2].strip()):
        return None
    number = float(found[2].replace(",", ""))
    return (found[1], repr(number)) if math.isfinite(number) else None


def _equal(column: Term, kind: Kind, value: str) -> Term | None:
    """The column has the value; None when a column of its kind can't."""
    if kind == "text":
        return exp.EQ(this=call("lower", call("trim", column)), expression=_lower(value))
    if kind not in _NUMBERS:
        left, right = keys(column, kind, string(value), "text", True)
        return exp.EQ(this=left, expression=right)
    if not _NUMBER.fullmatch(value):
        return None
    number = float(value.replace(",", ""))
    if not math.isfinite(number):
        return None
    if kind == "integer" and number.is_integer() and abs(number) < 2**53:
        return exp.EQ(this=column, expression=exp.Literal.number(int(number)))
    return exp.EQ(this=cast(column, "DOUBLE"), expression=cast(string(repr(number)), "DOUBLE"))


def _lower(value: str) -> Term:
    return call("lower", string(value))
