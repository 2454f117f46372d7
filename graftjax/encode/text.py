"""How tables, columns, value summaries and intent atoms are put into words for the encoder.

Both sides of a match go through the same rules, so `singers_in_concert`, `SingerInConcert` and
"Singer in concert" are one text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_SEPARATORS = re.compile(r"[\s_\-./\\:;,|#()\[\]{}\"'`]+")
# The second form ends an acronym before the next word (`GPSUnit`), but not before its plural s (`StuIDs`).
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|(?<=[A-Za-z])(?=[0-9]{2,})")
_SHARD_NUMBER = re.compile(r"(?<=[^\W\d_])[\s_\-.]*(?:part|shard|split)?[\s_\-.]*\d{1,5}$", re.IGNORECASE)
_PLURAL_ES = re.compile(r"(ss|sh|ch|x|z)es$")
_NOT_PLURAL = re.compile(r"(ss|us|is)$|^(series|species|news)$")
_SHORT_PLURALS = frozenset({"ids", "nos", "cds", "tvs"})
"""Most words of three letters that end in s are no plurals (gas, bus, gps)."""
_MAX_VALUE, _MAX_VALUES = 40, 10


@lru_cache(maxsize=1 << 16)
def _singular(word: str) -> str:
    """A regular English plural without its ending; other words unchanged."""
    if len(word) > 4 and word.endswith("ies") and not _NOT_PLURAL.search(word):
        return word[:-3] + "y"
    if len(word) > 3 and _PLURAL_ES.search(word):
        return word[:-2]
    if word in _SHORT_PLURALS or (len(word) > 3 and word.endswith("s") and not _NOT_PLURAL.search(word)):
        return word[:-1]
    return word


@lru_cache(maxsize=1 << 16)
def words(identifier: str) -> str:
    """An identifier as lower-case singular words: `StuIDs` and `stu_id` give `stu id`."""
    parts = _SEPARATORS.split(_CAMEL.sub(" ", identifier.strip()))
    return " ".join(_singular(part.lower()) for part in parts if part)


@lru_cache(maxsize=1 << 16)
def table_text(name: str) -> str:
    """Words of a table's name without a trailing number, which tells shards apart and nothing else."""
    return words(_SHARD_NUMBER.sub("", name)) or words(name)


def column_text(table: str, header: str) -> str:
    """A header in the context of its table: "name" alone matches half of a lake."""
    return f"{table_text(table)} {words(header)}".strip()


def key_text(table: str) -> str:
    """A second reading of a table's key column, whatever its header: "uid" of airlines is an "airline id"."""
    return f"{table_text(table)} id"


def schema_text(table: str, headers: Sequence[str]) -> str:
    """A table by its name and headers."""
    return f"{table_text(table)}: {', '.join(words(header) for header in headers)}"


def value_text(header: str, sample: Sequence[str]) -> str:
    """A value summary: the header, then up to ten sample values."""
    values = ", ".join(value[:_MAX_VALUE] for value in sample[:_MAX_VALUES])
    return f"{words(header)}: {values}" if header else values
