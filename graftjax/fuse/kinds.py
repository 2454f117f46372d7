"""What the values of a column are to SQL, how kinds meet in a union, and how keys are compared.

Kinds meet in a union by this rule: equal kinds stay; numbers of different kinds become DOUBLE; all else
becomes text, reals without a point where they are whole. A column without values decides nothing.

Keys are equal by this rule. Whole numbers are compared as whole numbers, other numbers as DOUBLE, booleans
with numbers as 0 and 1, dates and times as times. A date meets a text that reads as that date. In all
other cases texts are compared, without outer spaces and without regard to case; against a number, `7.0` in a
text is 7 and `007` is not (leading zeros make a code). NULL, NaN and blank texts equal nothing.
"""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa
from pyarrow import types as pt
from sqlglot import exp

from graftjax.fuse.terms import DIALECT, Term, call, cast, string
from graftjax.lake.values import text_column

Kind = Literal["integer", "real", "decimal", "boolean", "date", "timestamp", "text", "blob"]

_NUMBERS = frozenset({"integer", "real", "decimal"})
_TIMES = frozenset({"date", "timestamp"})
_SQL: dict[Kind, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "decimal": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "text": "TEXT",
    "blob": "BLOB",
}


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as a type that DuckDB reads without an extension; what has none becomes text."""
    kind = column.type
    if pt.is_dictionary(kind):
        return plain(column.cast(kind.value_type))
    if pt.is_null(kind) or pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        return column.cast(pa.large_string())
    if pt.is_float16(kind):
        return column.cast(pa.float32())
    if pt.is_date64(kind):
        return column.cast(pa.date32())
    if pt.is_fixed_size_binary(kind) or pt.is_binary_view(kind) or pt.is_large_binary(kind):
        return column.cast(pa.binary()) if column.nbytes < 2**31 else column.cast(pa.large_binary())
    native = (
        pt.is_integer(kind)
        or pt.is_floating(kind)
        or pt.is_boolean(kind)
        or pt.is_date32(kind)
        or pt.is_decimal128(kind)
        or pt.is_binary(kind)
        or (pt.is_timestamp(kind) and kind.tz is None)
    )
    return column if native else pa.chunked_array([text_column(column)])


def kind_of(type: pa.DataType) -> Kind:
    """Kind of the values of a plain column."""
    if pt.is_integer(type):
        return "integer"
    if pt.is_floating(type):
        return "real"
    if pt.is_decimal(type):
        return "decimal"
    if pt.is_boolean(type):
        return "boolean"
    if pt.is_date(type):
        return "date"
    if pt.is_timestamp(type):
        return "timestamp"
    return "blob" if pt.is_binary(type) or pt.is_large_binary(type) else "text"


def common_kind(types: Sequence[pa.DataType]) -> Kind:
    """The kind as which columns of these types meet in a union."""
    kinds: set[Kind] = {kind_of(type) for type in types}
    if kinds == {"decimal"}:
        return "decimal" if len(set(types)) == 1 else "real"
    if len(kinds) == 1:
        return kinds.pop()
    return "real" if kinds <= _NUMBERS else "text"


def as_kind(column: Term, type: pa.DataType, kind: Kind, *, uniform: bool) -> Term:
    """A column of one type as it goes into a union of a kind; `uniform`: the others have its type as well."""
    own = kind_of(type)
    if kind == "text":
        return as_text(column, own)
    # Whole numbers of several widths are widened by DuckDB itself.
    alike = own == kind and (uniform or kind == "integer")
    return column if alike else cast(column, _SQL[kind])


def as_text(value: Term, kind: Kind) -> Term:
    """A value as text; whole reals without a point, as the lake's readers write them."""
    if kind == "text":
        return value
    text = cast(value, "TEXT")
    return _replace(text, r"\.0$", "") if kind == "real" else text


def keys(left: Term, left_kind: Kind, right: Term, right_kind: Kind, fold_case: bool) -> tuple[Term, Term]:
    """Both sides in the form in which equality means the same value (see the module's rule)."""
    kinds = {left_kind, right_kind}
    if kinds <= _NUMBERS | {"boolean"}:
        if len(kinds) == 1 and kinds <= {"integer", "boolean"}:
            return left, right
        target = "BIGINT" if kinds <= {"integer", "boolean"} else "DOUBLE"
        return _number(left, left_kind, target), _number(right, right_kind, target)
    if kinds <= _TIMES | {"text"} and kinds != {"text"}:
        return (left, right) if kinds == {"date"} else (_time(left), _time(right))
    number = bool(kinds & _NUMBERS)
    return (
        text_key(left, left_kind, fold_case, number=number),
        text_key(right, right_kind, fold_case, number=number),
    )


def text_key(value: Term, kind: Kind, fold_case: bool, *, number: bool = False) -> Term:
    """A value as text to be compared; `number`: numbers lose zeros at the end of their decimals."""
    text = as_text(value, kind)
    if kind == "text":
        text = call("trim", text)
        text = call("lower", text) if fold_case else text
    if number and kind in ("text", "decimal"):
        text = _replace(text, r"^(-?(?:0|[1-9][0-9]*))\.0*$", r"\1")
        text = _replace(text, r"^(-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9])0+$", r"\1")
    return call("nullif", text, string("")) if kind == "text" else text


def _number(value: Term, kind: Kind, target: str) -> Term:
    if kind == "boolean" and target == "DOUBLE":
        value = cast(value, "BIGINT")
    if target == "BIGINT":
        return cast(value, target) if kind == "boolean" else value
    # DuckDB holds NaN to be equal to itself.
    return call("nullif", cast(value, target), cast(string("NaN"), target))


def _time(value: Term) -> Term:
    return exp.TryCast(this=value, to=exp.DataType.build("TIMESTAMP", dialect=DIALECT))


def _replace(text: Term, pattern: str, by: str, *options: str) -> Term:
    return call("regexp_replace", text, *map(string, (pattern, by, *options)))
