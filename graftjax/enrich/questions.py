"""Questions of enrichment: the paper's two templates in our words, and recorded free wordings.

All methods get the same intent graph and the same sub-questions. The intent graph has one tree: its entity is
what the base table is called, its attributes are the target and the features that the question names. For the
templates these come from the manifest; for a free wording they are recorded with it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from graftjax.encode.text import table_text, words
from graftjax.enrich.manifest import Manifest, SourceEntry
from graftjax.enrich.source import rng_of
from graftjax.errors import GraftError
from graftjax.evaluate.cases import Case
from graftjax.intent import IntentGraph, Query, parse_intent

Form = Literal["template", "features", "reworded"]
FORMS: tuple[Form, ...] = ("template", "features", "reworded")
LEAST_NAMED, MOST_NAMED = 2, 3
"""Features that the second template names."""


def cases_of(manifest: Manifest, form: Form) -> tuple[Case, ...]:
    """One question per source with its gold set."""
    return tuple(
        Case(query_of(source, form, manifest.seed), tuple(sorted(source.gold))) for source in manifest.sources
    )


def query_of(source: SourceEntry, form: Form, seed: int) -> Query:
    """The question about one source. `seed` draws the features that the second template names."""
    target = words(source.target)
    if form == "template":
        named: tuple[str, ...] = ()
        question = f"Which tables of the lake help to predict the {target} in the table given here?"
    elif form == "features":
        named = _named(source, seed)
        listed = ", ".join(named)
        question = (
            f"Which tables of the lake help to predict the {target} in the table given here, "
            f"for example by {listed}?"
        )
    else:
        record = _recorded().get(source.name)
        if record is None:
            raise GraftError(f"questions.yaml has no wording for {source.name}")
        target, named, question = record["target"], tuple(record["attributes"]), record["question"]
    entity = table_text(source.base.name)
    return Query(
        id=source.name,
        question=question,
        db_id=source.task,
        intent=_intent(entity, (target, *named)),
        subquestions=_subquestions(entity, target, named),
        base=source.base,
    )


def _named(source: SourceEntry, seed: int) -> tuple[str, ...]:
    """Some columns of the pieces that are joined, in words as the source spells them."""
    columns = [
        there
        for piece in source.pieces
        if piece.role == "join"
        for _, there in piece.columns
        if there != source.key
    ]
    names = list(dict.fromkeys(map(words, columns)))
    rng = rng_of(seed, source.name, "named")
    count = min(len(names), int(rng.integers(LEAST_NAMED, MOST_NAMED + 1)))
    return tuple(names[number] for number in rng.choice(len(names), count, replace=False))


def _intent(entity: str, attributes: tuple[str, ...]) -> IntentGraph:
    own = [{"attribute_id": f"a{n}", "name": name} for n, name in enumerate(dict.fromkeys(attributes), 1)]
    return parse_intent({"trees": [{"tree_id": "t1", "entity": entity, "attributes": own}], "joins": []})


def _subquestions(entity: str, target: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """What a decomposition asks for: further records, and each named feature (or any other)."""
    more = [f"What is the {name} of each {entity} record?" for name in named]
    more = more or [f"What else is known about each {entity} record?"]
    return (f"Which other {entity} records with their {target} are there?", *more)


@cache
def _recorded() -> dict[str, Any]:
    text = files("graftjax.enrich").joinpath("questions.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
