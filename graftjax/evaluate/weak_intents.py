"""Intent graphs that are worse than they could be, to see what the search makes of them (Table 9)."""

from __future__ import annotations

import re

import numpy as np

from graftjax.intent import english as en
from graftjax.intent.schema import EMPTY_INTENT, IntentGraph, IntentTree


def words_intent(question: str) -> IntentGraph:
    """The crude low end: one tree, whose entity is the content words of the question."""
    content = [word for word in re.findall(r"\w+", question) if word.lower() not in en.FUNCTION | en.REQUESTS]
    kept = " ".join(content) or " ".join(question.split())
    if not any(character.isalnum() for character in kept):
        return EMPTY_INTENT
    return IntentGraph(trees=(IntentTree(tree_id="t1", entity=kept),), rough=True)


def intent_as_words(intent: IntentGraph) -> IntentGraph:
    """All that a graph names as one tree of words, each word once: only its structure is lost."""
    texts = [
        text
        for tree in intent.trees
        for text in (
            tree.entity,
            *(part for attribute in tree.attributes for part in (attribute.name, *attribute.values)),
        )
    ]
    words = dict.fromkeys(word for text in texts for word in re.findall(r"\w+", text))
    if not words:
        return EMPTY_INTENT
    return IntentGraph(trees=(IntentTree(tree_id="t1", entity=" ".join(words)),), rough=True)


def damaged_intent(intent: IntentGraph, share: float, rng: np.random.Generator) -> IntentGraph:
    """The graph without some of its elements: each tree, attribute, value and join is lost with probability
    `share`, in [0, 1]. One tree at least stays; what hung on a lost element is lost with it."""
    kept = [tree for tree in intent.trees if rng.random() >= share]
    if not kept and intent.trees:
        kept = [intent.trees[int(rng.integers(len(intent.trees)))]]
    trees = []
    for tree in kept:
        attributes = [
            attribute.model_copy(
                update={"values": tuple(value for value in attribute.values if rng.random() >= share)}
            )
            for attribute in tree.attributes
            if rng.random() >= share
        ]
        trees.append(tree.model_copy(update={"attributes": tuple(attributes)}))
    known = {(tree.tree_id, attribute.attribute_id) for tree in trees for attribute in tree.attributes}
    joins = tuple(
        join
        for join in intent.joins
        if rng.random() >= share
        and (join.from_tree, join.from_attribute) in known
        and (join.to_tree, join.to_attribute) in known
    )
    return intent.model_copy(update={"trees": tuple(trees), "joins": joins})
