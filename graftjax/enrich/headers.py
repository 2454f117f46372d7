"""Headers as another department would write them: abbreviated, or in another case."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graftjax.encode.text import words
from graftjax.lake.raw import column_names
from graftjax.trajectories.abbreviations import ABBREVIATIONS

ALTERED = 0.5
"""Share of a piece's headers that are altered."""
LONG = 4
"""Words of more letters are abbreviated, to as many letters at most."""

_SHORT: dict[str, list[str]] = {}
for _abbreviation, _meaning in ABBREVIATIONS.items():
    if " " not in _meaning and len(_abbreviation) < len(_meaning):
        _SHORT.setdefault(_meaning, []).append(_abbreviation)


def alter_headers(headers: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Each header with probability `ALTERED` abbreviated or re-cased (one in two); no two become equal."""
    altered = []
    for header in headers:
        parts = words(header).split()
        if rng.random() >= ALTERED or not parts:
            altered.append(header)
        elif rng.random() < 0.5:
            altered.append("_".join(_abbreviated(part, rng) for part in parts))
        else:
            altered.append(_recased(header, parts, rng))
    return tuple(column_names(altered))


def _abbreviated(word: str, rng: np.random.Generator) -> str:
    """The usual short form of a word, else its first letters without vowels: `frontage` gives `frnt`."""
    known = _SHORT.get(word)
    if known:
        return known[int(rng.integers(len(known)))]
    if len(word) <= LONG:
        return word
    return (word[0] + re.sub("[aeiou]", "", word[1:]))[:LONG]


def _recased(header: str, parts: Sequence[str], rng: np.random.Generator) -> str:
    """One of four ways to write the words that is not the header's own."""
    capital = [part.capitalize() for part in parts]
    forms = ("_".join(parts), "_".join(parts).upper(), parts[0] + "".join(capital[1:]), " ".join(capital))
    others = [form for form in forms if form != header]
    return others[int(rng.integers(len(others)))]
