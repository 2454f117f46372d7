"""How well an intent graph agrees with another one: extraction F1 (Table 9). The paper gives no rule; this
is ours.

Elements of a graph are its trees, attributes, values and joins. Found and gold elements are matched one to
one:
* trees, where the entities are alike, so that the sum of likeness is largest;
* attributes, inside matched trees, in the same way by their names;
* values, inside matched trees, where the words are the same (case, punctuation and comparison signs are
  left out);
* joins, where the two found trees are matched to the two gold ones.
Two names are alike from a likeness of `ALIKE` on: 1 for the same words, `CONTAINED` when one's words are
among the other's (`id` and `patient id`), else the cosine of the text encoder. F1 of a question is
2·matched / (found + gold) over all four kinds.

Letters: f found, g gold elements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment

from graftjax.encode.text import words
from graftjax.igms.support import TextEncoder
from graftjax.intent.schema import IntentGraph, IntentTree

ALIKE = 0.5
"""Set before anything was measured: the cosine at which the search's own ψ is about one half."""
CONTAINED = 0.9
KINDS = ("trees", "attributes", "values", "joins")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of elements by kind, in the order of `KINDS`."""

    matched: tuple[int, int, int, int]
    found: tuple[int, int, int, int]
    gold: tuple[int, int, int, int]

    @property
    def f1(self) -> float:
        """Over all kinds; 1 for two empty graphs."""
        return f1_of(sum(self.matched), sum(self.found), sum(self.gold))


def f1_of(matched: int, found: int, gold: int) -> float:
    """2·matched / (found + gold); 1 when there is nothing on either side."""
    return 2 * matched / (found + gold) if found + gold else 1.0


def agreement(found: IntentGraph, gold: IntentGraph, encoder: TextEncoder) -> Agreement:
    """Compare two intent graphs."""
    pairs = _matched(
        [tree.entity for tree in found.trees], [tree.entity for tree in gold.trees], encoder
    )  # of positions
    attributes = values = 0
    for i, j in pairs:
        mine, theirs = found.trees[i], gold.trees[j]
        names = [[attribute.name for attribute in tree.attributes] for tree in (mine, theirs)]
        attributes += len(_matched(names[0], names[1], encoder))
        values += (_values(mine) & _values(theirs)).total()
    to_gold = {found.trees[i].tree_id: gold.trees[j].tree_id for i, j in pairs}
    mapped = Counter(
        frozenset((to_gold[join.from_tree], to_gold[join.to_tree]))
        for join in found.joins
        if join.from_tree in to_gold and join.to_tree in to_gold
    )
    wanted = Counter(frozenset((join.from_tree, join.to_tree)) for join in gold.joins)
    return Agreement(
        (len(pairs), attributes, values, (mapped & wanted).total()), _counts(found), _counts(gold)
    )


def _counts(graph: IntentGraph) -> tuple[int, int, int, int]:
    attributes = [attribute for tree in graph.trees for attribute in tree.attributes]
    return (
        len(graph.trees),
        len(attributes),
        sum(_values(tree).total() for tree in graph.trees),
        len(graph.joins),
    )


def _values(tree: IntentTree) -> Counter[str]:
    """A tree's values as words; one without a letter or digit is none."""
    texts = (value for attribute in tree.attributes for value in attribute.values)
    return Counter(text for text in (" ".join(re.findall(r"\w+", text.casefold())) for text in texts) if text)


def _matched(found: Sequence[str], gold: Sequence[str], encoder: TextEncoder) -> list[tuple[int, int]]:
    """Pairs of positions, one to one, whose names are alike."""
    if not found or not gold:
        return []
    likeness = name_likeness(found, gold, encoder)
    kept = np.where(likeness >= ALIKE, likeness, 0.0)
    rows, columns = linear_sum_assignment(-kept)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if kept[i, j] > 0]


def name_likeness(
    found: Sequence[str], gold: Sequence[str], encoder: TextEncoder
) -> Float[np.ndarray, "f g"]:
    """Likeness of names, in [-1, 1]."""
    left, right = ([words(name) or name for name in names] for names in (found, gold))
    vectors = np.asarray(encoder.encode([*left, *right]), np.float64)
    result = vectors[: len(left)] @ vectors[len(left) :].T
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            mine, theirs = set(a.split()), set(b.split())
            if mine == theirs:
                result[i, j] = 1.0
            elif mine <= theirs or theirs <= mine:
                result[i, j] = max(result[i, j], CONTAINED)
    return result
