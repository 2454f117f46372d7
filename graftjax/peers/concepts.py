"""Decompositions of a question for the peers: the same recorded reading that GRAFT gets, in their forms."""

from __future__ import annotations

from functools import lru_cache

from graftjax.encode.text import column_text, schema_text, table_text
from graftjax.intent import IntentGraph, Query, extract


def intent_of(query: Query) -> IntentGraph:
    """The query's intent graph, or a lexical one when it has none."""
    return query.intent if query.intent is not None else _lexical(query.question)


@lru_cache(maxsize=1024)
def _lexical(question: str) -> IntentGraph:
    return extract(question).intent


def concepts(query: Query) -> tuple[str, ...]:
    """What a column has to say: pairs of an entity and an attribute, as JAR and its successors decompose.

    An entity without attributes stands alone; a question in which nothing is found is one concept.
    """
    found: list[str] = []
    for tree in intent_of(query).trees:
        found.extend(column_text(tree.entity, attribute.name) for attribute in tree.attributes)
        if not tree.attributes:
            found.append(table_text(tree.entity))
    return tuple(dict.fromkeys(found)) or (query.question,)


def subquestions(query: Query) -> tuple[str, ...]:
    """Recorded sub-questions; without them one per tree of the intent graph, worded like a table's text."""
    recorded = tuple(dict.fromkeys(text for text in query.subquestions if text.strip()))
    if recorded:
        return recorded
    trees = intent_of(query).trees
    texts = (schema_text(tree.entity, [attribute.name for attribute in tree.attributes]) for tree in trees)
    return tuple(dict.fromkeys(texts)) or (query.question,)
