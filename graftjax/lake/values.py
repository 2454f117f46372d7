"""Cell values as text: a faithful form for people, a normalised one for matching, and what kind they are."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions at import, a type checker can not see them)
from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from graftjax.types import ColumnKind

# Patterns below are run by both `re` and Arrow's RE2, on text that is already lower case: ASCII classes only,
# no look-around. A group is applied where its guard matches, its rules in turn.
_SPACES = (r"[\x00-\x1f\x7f]|  ", ((r"[\x00-\x20\x7f]+", " "),))
_NUMBERS = (r"^-?(0|[1-9][0-9]*)(\.[0-9]*)?$", ((r"(\.[0-9]*?)0+$", r"\1"), (r"\.$", ""), (r"^-0$", "0")))
_DATES = (
    r"^[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}"
    r"([t ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?( ?z|[+-][0-9:]{2,6})?)?$",
    (
        (r"^([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})t?", r"\1-\2-\3 "),
        (r"  +", " "),
        (r"-([0-9])([- ])", r"-0\1\2"),
        (r"-([0-9])([- ])", r"-0\1\2"),
        (r" ([0-9]):", r" 0\1:"),
        (r"(:[0-9]{2}\.[0-9]*?)0+( ?z|[+-][0-9:]{2,6})?$", r"\1\2"),
        (r"\.( ?z|[+-][0-9:]{2,6})?$", r"\1"),
        (r"( ?z|\+00:?00)$", ""),
        (r" ([0-9]{2}:[0-9]{2})$", r" \1:00"),
        (r" (00:00:00)?$", ""),
    ),
)

MISSING = pa.array(["", "na", "n/a", "null", "none", "nan"], pa.large_string())
"""Normalised texts that mean a missing value, but only in a column that is otherwise numeric."""

_BLANK = MISSING.slice(0, 1)

_INTEGER = r"^-?(0|[1-9][0-9]{0,17})$"
_REAL = r"^-?(0|[1-9][0-9]{0,14})?(\.[0-9]+)?(e[+-]?[0-9]{1,3})?$"
# As in a file: not yet lower case; 15 digits are what a float keeps.
_REAL_ANY_CASE = r"^-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_COMMA = r"^-?(0|[1-9][0-9]{0,14})(,[0-9]+)?$"
_THOUSANDS = r"^-?[0-9]{1,3}(,[0-9]{3})*$"
_HAS_DIGIT_FIRST = r"^-?\.?[0-9].*$"
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = "|".join(
    (
        r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([t ][0-9]{1,2}:[0-9]{2}.*)?$",
        r"^[0-9]{1,2}[/.-][0-9]{1,2}[/.-]([0-9]{4}|[0-9]{2})( [0-9]{1,2}:[0-9]{2}.*)?$",
        rf"^([a-z]+,? )?{_MONTH} [0-9]{{1,2}}(st|nd|rd|th)?,? [0-9]{{4}}( .*)?$",
        rf"^([a-z]+,? )?[0-9]{{1,2}}[ -]{_MONTH}[ ,-]+([0-9]{{4}}|[0-9]{{2}})( .*)?$",
    )
)
_BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})


def normalise(value: object) -> str:
    """The text under which a value is matched; "" for None.

    Case, surrounding and repeated white space, Unicode compatibility forms, zeros after the decimal point
    and the spelling of ISO dates (`2020/1/5`, midnight, `T`) make no difference. Leading zeros
    do: `03` is not `3`.

    >>> normalise(3.0), normalise(" 3 "), normalise("03"), normalise("2020/1/5 00:00:00")
    ('3', '3', '03', '2020-01-05')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        text = text_column(pa.array([value]))[0].as_py()
        return "" if text is None else normalise(text)
    text = value
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = " ".join(text.split())
    text = text.lower()
    for guard, rules in (_SPACES, _NUMBERS, _DATES):
        if re.search(guard, text):
            for pattern, replacement in rules:
                text = re.sub(pattern, replacement, text)
        text = text.strip(" ")
    return text


def normalise_texts(texts: pa.Array) -> pa.Array:
    """`normalise` of each text of a large_string array without nulls; same length."""
    ascii_only = pc.string_is_ascii(texts)
    if pc.all(ascii_only, min_count=0).as_py():
        return _normalise_ascii(texts)
    result = pc.replace_with_mask(texts, ascii_only, _normalise_ascii(texts.filter(ascii_only)))
    other = pc.invert(ascii_only)
    slow = [normalise(text) for text in texts.filter(other).to_pylist()]
    return pc.replace_with_mask(result, other, pa.array(slow, pa.large_string()))


def _normalise_ascii(texts: pa.Array) -> pa.Array:
    texts = pc.ascii_lower(texts)
    for guard, rules in (_SPACES, _NUMBERS, _DATES):
        if (
            guard is _NUMBERS[0]
            and not pc.any(pc.match_substring_regex(texts, "^-?[0-9]"), min_count=0).as_py()
        ):
            break  # neither a number nor a date
        mask = pc.match_substring_regex(texts, guard)
        if pc.any(mask, min_count=0).as_py():
            part = texts.filter(mask)
            for pattern, replacement in rules:
                part = pc.replace_substring_regex(part, pattern, replacement)
            texts = pc.replace_with_mask(texts, mask, part)
        texts = pc.utf8_trim(texts, " ")
    return texts


def text_column(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Values as text (large_string, nulls kept): whole floats without a point, dates ISO, lists as JSON."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # Arrow keeps the chunks of a string column beyond 2 GiB
            return pa.concat_arrays([text_column(chunk) for chunk in column.chunks])
    kind = column.type
    if pa.types.is_dictionary(kind):
        return text_column(column.dictionary_decode())
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.large_string())
    if pa.types.is_floating(kind):
        return _float_text(column)
    if pa.types.is_timestamp(kind):
        text = column.cast(pa.string())
        text = pc.replace_substring_regex(text, r"(\.[0-9]*?)0+(Z?)$", r"\1\2")
        return pc.replace_substring_regex(text, r"\.(Z?)$", r"\1").cast(pa.large_string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _binary_text(column)
    if pa.types.is_nested(kind):
        plain = [None if v is None else json.dumps(v, default=str) for v in column.to_pylist()]
        return pa.array(plain, pa.large_string())
    try:
        return column.cast(pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([None if v is None else str(v) for v in column.to_pylist()], pa.large_string())


def float_text(value: float) -> str:
    """Shortest text that reads back as the float; whole numbers below 10¹⁵ without a point or an exponent."""
    return str(int(value)) if abs(value) < 1e15 and value.is_integer() else repr(value)


def _float_text(column: pa.Array) -> pa.Array:
    column = column.cast(pa.float64()) if pa.types.is_float16(column.type) else column
    text = column.cast(pa.large_string())
    # Arrow turns to exponents at 1e10, where codes and populations still are plain numbers.
    large = pc.greater_equal(pc.abs(column), pa.scalar(1e9, column.type)).fill_null(False)
    if not pc.any(large, min_count=0).as_py():
        return text
    plain = [float_text(value) for value in column.filter(large).to_pylist()]
    return pc.replace_with_mask(text, large, pa.array(plain, pa.large_string()))


def _binary_text(column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:  # not UTF-8: a picture is known by its digest
        plain = [None if v is None else f"binary {xxhash.xxh3_128_hexdigest(v)}" for v in column.to_pylist()]
        return pa.array(plain, pa.large_string())


@dataclass(frozen=True, slots=True)
class Encoded:
    """A column as codes into its D distinct values, in order of first appearance; N = rows."""

    codes: pa.Array
    """int32 [N], null for a null cell."""
    texts: pa.Array
    """large_string [D]."""
    normals: pa.Array
    """large_string [D]; two texts may share one, a blank text has ""."""


def encode(column: pa.ChunkedArray) -> Encoded:
    """Dictionary form of a column, so that text work is done once per distinct value."""
    chunks = column.combine_chunks()
    if isinstance(chunks, pa.ChunkedArray) or not _encodes(chunks.type):
        chunks = text_column(column)
    coded = chunks if pa.types.is_dictionary(chunks.type) else chunks.dictionary_encode()
    texts = text_column(coded.dictionary)
    if texts.null_count:
        texts = texts.fill_null("")
    normals = texts if pa.types.is_integer(coded.type.value_type) else normalise_texts(texts)
    return Encoded(coded.indices, texts, normals)


def _encodes(kind: pa.DataType) -> bool:
    return (
        pa.types.is_integer(kind)
        or pa.types.is_float32(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_boolean(kind)
    )


def normalise_column(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Distinct normalised texts of a column (large_string) without nulls and blanks, as they appear."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return _without(pc.unique(encode(chunked).normals), _BLANK)


def numbers_from_text(column: pa.ChunkedArray, decimal_comma: bool = False) -> tuple[pa.ChunkedArray, str]:
    """A text column as int64 or float64 if all its values are plain numbers, with a note on what was bent.

    Words for missing become NULL then. With `decimal_comma`, `1,5` is 1.5, unless every comma could also
    separate thousands.
    """
    unique = pc.utf8_trim(pc.drop_null(pc.unique(column)), " \t")
    numbers = _without_any_case(unique)
    if not len(numbers):
        return column, ""
    comma = False
    if _all_match(numbers, _INTEGER):
        kind = pa.int64()
    elif _all_match(numbers, _REAL_ANY_CASE):
        kind = pa.float64()
    elif decimal_comma and _all_match(numbers, _COMMA) and not _all_match(numbers, _THOUSANDS):
        kind, comma = pa.float64(), True
    else:
        return column, ""
    text = pc.utf8_trim(column, " \t")
    missing = pc.is_in(pc.ascii_lower(text), MISSING)
    lost = pc.sum(pc.and_(missing, pc.is_valid(column))).as_py() or 0
    text = pc.if_else(missing, pa.scalar(None, text.type), text)
    if comma:
        text = pc.replace_substring(text, ",", ".")
    try:
        numeric = text.cast(kind)
    except pa.ArrowInvalid:  # a spelling that the patterns allow and Arrow does not
        return column, ""
    notes = [f"{lost} words for missing among numbers read as NULL"] if lost else []
    return numeric, "; ".join(notes + (["decimal commas read as points"] if comma else []))


def _without_any_case(texts: pa.Array) -> pa.Array:
    return texts.filter(pc.invert(pc.is_in(pc.ascii_lower(texts), MISSING)))


def kind_of(normals: pa.Array) -> ColumnKind:
    """Kind of a set of normalised texts without nulls; words for missing do not make numbers text."""
    normals = _without(normals, _BLANK)
    if not len(normals):
        return "empty"
    numbers = _without(normals, MISSING)
    if len(numbers):
        if _all_match(numbers, _INTEGER):
            return "integer"
        if _all_match(numbers, _REAL) and _all_match(numbers, _HAS_DIGIT_FIRST):
            return "real"
    if len(normals) <= 2:
        words = set(normals.to_pylist())
        # A lone `f` or `no` says little; a lone `true` says enough.
        if any(words == pair for pair in _BOOLEANS) or words <= _BOOLEANS[0]:
            return "boolean"
    return "date" if _all_match(normals, _DATE) else "text"


def _without(normals: pa.Array, words: pa.Array) -> pa.Array:
    return normals.filter(pc.invert(pc.is_in(normals, words)))


def _all_match(texts: pa.Array, pattern: str) -> bool:
    # Most columns fail on their first values: `re` keeps its compiled pattern, RE2 compiles on every call.
    first = re.compile(pattern)
    return all(first.fullmatch(text) for text in texts.slice(0, 16).to_pylist()) and bool(
        len(texts) <= 16 or pc.all(pc.match_substring_regex(texts, pattern)).as_py()
    )
