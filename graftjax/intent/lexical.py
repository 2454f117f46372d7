"""An intent graph from a question by rules: no model, no download, no word list of any data set."""

from __future__ import annotations

import re

from graftjax.intent import english as en
from graftjax.intent.chunks import chunks_of
from graftjax.intent.reader import Entity, LakeTerms, QuestionReader
from graftjax.intent.schema import EMPTY_INTENT, IntentAttribute, IntentGraph, IntentJoin, IntentTree

MAX_QUESTION = 2000
"""Characters that are read; what follows is left out with a note."""


def _graph(entities: list[Entity]) -> IntentGraph:
    """Number the trees and add the keys of their joins: an id here, `<entity>_id` there."""
    links = [(entity.parent, k) for k, entity in enumerate(entities) if entity.parent not in (None, k)]
    keyed = [dict(entity.attributes) for entity in entities]
    for parent, child in links:
        if parent is not None:
            keyed[parent] = {"id": keyed[parent].pop("id", []), **keyed[parent]}
            keyed[child].setdefault(en.snake([*entities[parent].words, "id"]), [])
    for attributes in keyed:
        if not attributes:
            attributes["id"] = []
    place: dict[tuple[int, str], str] = {}
    trees = []
    for k, (entity, attributes) in enumerate(zip(entities, keyed, strict=True)):
        records = []
        for name, values in attributes.items():
            place[k, name] = f"a{len(place) + 1}"
            records.append(IntentAttribute(attribute_id=place[k, name], name=name, values=tuple(values)))
        words = " ".join(word if word.isupper() else word.capitalize() for word in entity.words)
        trees.append(IntentTree(tree_id=f"t{k + 1}", entity=words, attributes=tuple(records)))
    joins = [
        IntentJoin(
            from_tree=f"t{parent + 1}",
            from_attribute=place[parent, "id"],
            to_tree=f"t{child + 1}",
            to_attribute=place[child, en.snake([*entities[parent].words, "id"])],
        )
        for parent, child in links
        if parent is not None
    ]
    return IntentGraph(trees=tuple(trees), joins=tuple(joins), rough=True)


def lexical_intent(question: str, lake_terms: LakeTerms | None = None) -> tuple[IntentGraph, tuple[str, ...]]:
    """The intent graph of an English question, with notes; never an error.

    A question without a letter or digit gives an empty graph. One that is not English, or in which no rule
    finds an entity, gives a single tree whose entity is the question itself, so that retrieval falls back to
    similarity.
    """
    notes: list[str] = []
    question = " ".join(question.encode("utf-8", "replace").decode("utf-8").replace("\0", " ").split())
    if not any(character.isalnum() for character in question):
        return EMPTY_INTENT, ("the question has no words: the intent graph is empty",)
    if len(question) > MAX_QUESTION:
        question = question[:MAX_QUESTION]
        notes.append(f"only the first {MAX_QUESTION} characters of the question were read")
    words = re.findall(r"\w+", question.lower())
    ascii_share = sum(c.isascii() for c in question if c.isalpha()) / max(1, sum(map(str.isalpha, question)))
    english = ascii_share > 0.7 and (len(words) < 6 or any(word in en.COMMONEST for word in words))
    entities = QuestionReader(chunks_of(question)[0], lake_terms).read() if english else []
    if not entities:
        reason = (
            "no entity was found in the question" if english else "the question does not seem to be English"
        )
        tree = IntentTree(tree_id="t1", entity=question)
        return IntentGraph(trees=(tree,), rough=True), (*notes, f"{reason}: all of it is taken as one entity")
    return _graph(entities), tuple(notes)
