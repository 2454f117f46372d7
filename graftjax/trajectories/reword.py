"""Other words for a self-made intent, as a person or a language model would have put it (Sec. 4.1).

An intent made from a lake names tables and columns by the lake's own words. Trained on those, the value
function and the retrieval space would learn that equal strings match. Rewording changes texts only: ids,
order and joins stay, so the homomorphism into the lake is still known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graftjax.encode.text import table_text, words
from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentTree
from graftjax.trajectories.abbreviations import ABBREVIATIONS
from graftjax.trajectories.synonyms import Synonyms

Place = tuple[str, str]
"""Tree id and attribute id."""


@dataclass(frozen=True)
class RewordSettings:
    """Probabilities of the changes, each drawn by itself. `UNCHANGED` has none."""

    split: float = 0.97
    """Write a name as single words; a word of two common words (`countrylanguage`) is cut as well."""
    expand: float = 0.7
    """Write out a common abbreviation, per word."""
    drop_entity: float = 0.6
    """Leave the table's words out of a header that begins or ends with them."""
    add_entity: float = 0.08
    """Put the entity's words before an attribute that lacks them."""
    key_name: float = 0.75
    """Call a key "id" (or "code") and a reference to it "<entity> id", whatever the headers say."""
    synonym: float = 0.12
    """Replace one word of a name by a near neighbour."""
    drop_word: float = 0.1
    """Leave one word out of a name of three or more."""
    abbreviate: float = 0.02
    """Shorten a long word."""
    head_noun: float = 0.12
    """Call an entity of several words by the last one only."""
    phrase: float = 0.06
    """Put an attribute as a phrase, such as "name of the singer"."""
    other_values: float = 0.5
    """Take another known value of the column, where there is one."""
    drop_values: float = 0.3
    """Leave an attribute without its values."""
    drop_attribute: float = 0.1
    """Leave out an attribute that no join needs; one attribute of a tree always stays."""
    entity_only: float = 0.02
    """Leave out all such attributes of a tree."""


UNCHANGED = RewordSettings(**dict.fromkeys(RewordSettings.__dataclass_fields__, 0.0))

PHRASES = ("{a} of the {e}", "{a} of {e}", "{e}'s {a}", "the {a}")
_KEY_NAMES, _KEY_ODDS = ("id", "code", "number"), (0.9, 0.07, 0.03)
_SNAKE = 0.6
"""Share of attributes of several words that are written with underscores."""


def reword(
    intent: IntentGraph,
    rng: np.random.Generator,
    vocabulary: Synonyms | None = None,
    settings: RewordSettings = RewordSettings(),
    key_attributes: Collection[Place] = (),
    other_values: Mapping[Place, Sequence[str]] | None = None,
) -> IntentGraph:
    """The same needs in other words.

    `vocabulary`: without one, no synonyms and no cuts inside words. `key_attributes`: which attributes are
    keys of their table; a join's other end refers to that table (a join between two keys, or none, keeps its
    headers). `other_values`: values to choose from, for example of a table's other shards.
    Deterministic in the generator's state.
    """
    names = {tree.tree_id: _entity(tree.entity, rng, vocabulary, settings) for tree in intent.trees}
    own, refers = _key_roles(intent, set(key_attributes))
    joined = {(j.from_tree, j.from_attribute) for j in intent.joins}
    joined |= {(j.to_tree, j.to_attribute) for j in intent.joins}
    trees = []
    for tree in intent.trees:
        attributes = []
        for attribute in tree.attributes:
            place = (tree.tree_id, attribute.attribute_id)
            if place in refers and rng.random() < settings.key_name:
                name = f"{names[refers[place]]} id"
            elif place in own and rng.random() < settings.key_name:
                name = str(rng.choice(_KEY_NAMES, p=_KEY_ODDS))
            else:
                name = _attribute(attribute.name, tree.entity, names[tree.tree_id], rng, vocabulary, settings)
            values = _values(attribute.values, (other_values or {}).get(place, ()), rng, settings)
            attributes.append(
                IntentAttribute(
                    attribute_id=attribute.attribute_id, name=_styled(name, rng, settings), values=values
                )
            )
        kept = _kept(attributes, {a for t, a in joined if t == tree.tree_id}, rng, settings)
        entity = names[tree.tree_id]
        if rng.random() < settings.split:
            entity = entity.title()
        trees.append(IntentTree(tree_id=tree.tree_id, entity=entity, attributes=kept))
    return IntentGraph(trees=tuple(trees), joins=intent.joins)


def _key_roles(intent: IntentGraph, keys: set[Place]) -> tuple[set[Place], dict[Place, str]]:
    """Keys, and which tree an attribute refers to."""
    refers: dict[Place, str] = {}
    for join in intent.joins:
        start, end = (join.from_tree, join.from_attribute), (join.to_tree, join.to_attribute)
        if end in keys and start not in keys:
            refers.setdefault(start, join.to_tree)
        elif start in keys and end not in keys:
            refers.setdefault(end, join.from_tree)
    # The key of a shared-key join keeps its header: "id" on both sides would say nothing.
    twice = {
        place
        for join in intent.joins
        if (join.from_tree, join.from_attribute) in keys and (join.to_tree, join.to_attribute) in keys
        for place in ((join.from_tree, join.from_attribute), (join.to_tree, join.to_attribute))
    }
    return keys - twice, refers


def _parts(
    text: str, rng: np.random.Generator, vocabulary: Synonyms | None, settings: RewordSettings
) -> list[str]:
    """Single words of an already split text, with fused words cut and abbreviations written out."""
    parts: list[str] = []
    for word in text.split():
        if word in ABBREVIATIONS:
            written = ABBREVIATIONS[word] if rng.random() < settings.expand else word
            parts.extend(written.split())
        elif vocabulary is not None and rng.random() < settings.split:
            parts.extend(vocabulary.split(word))
        else:
            parts.append(word)
    return parts


def _reworded(
    parts: list[str], rng: np.random.Generator, vocabulary: Synonyms | None, settings: RewordSettings
) -> list[str]:
    """Changes that any name may take."""
    parts = list(parts)
    if vocabulary is not None and rng.random() < settings.synonym:
        able = [i for i, word in enumerate(parts) if vocabulary.of(word)]
        if able:
            i = int(rng.choice(able))
            near = vocabulary.of(parts[i])
            # Nearer ones are likelier: the smallest of three draws.
            parts[i] = near[int(rng.integers(len(near), size=3).min())]
    if len(parts) >= 3 and rng.random() < settings.drop_word:
        del parts[int(rng.integers(len(parts)))]
    if rng.random() < settings.abbreviate:
        long = [i for i, word in enumerate(parts) if len(word) >= 6]
        if long:
            i = int(rng.choice(long))
            parts[i] = _short(parts[i], rng)
    return parts


def _short(word: str, rng: np.random.Generator) -> str:
    """A word cut after three or four letters, or without the vowels after its first letter."""
    if rng.random() < 0.5:
        return word[: int(rng.integers(3, 5))]
    return word[0] + "".join(letter for letter in word[1:] if letter not in "aeiou")


def _entity(
    name: str, rng: np.random.Generator, vocabulary: Synonyms | None, settings: RewordSettings
) -> str:
    if rng.random() >= settings.split:
        return name
    parts = _parts(table_text(name), rng, vocabulary, settings)
    if len(parts) >= 2 and rng.random() < settings.head_noun:
        parts = parts[-1:]
    return " ".join(_reworded(parts, rng, vocabulary, settings)) or name


def _attribute(
    header: str,
    table: str,
    entity: str,
    rng: np.random.Generator,
    vocabulary: Synonyms | None,
    settings: RewordSettings,
) -> str:
    if rng.random() >= settings.split:
        return header
    plain, known = words(header), table_text(table).split()
    shorter = _without(plain.split(), known)
    about = words(entity)
    if len(shorter) < len(plain.split()):
        if rng.random() < settings.drop_entity:
            plain = " ".join(shorter)
    elif about not in plain and rng.random() < settings.add_entity:
        return f"{about} {' '.join(_parts(plain, rng, vocabulary, settings))}"
    name = " ".join(_reworded(_parts(plain, rng, vocabulary, settings), rng, vocabulary, settings))
    if name and rng.random() < settings.phrase:
        # "address id of the address" nobody says.
        usable = PHRASES[-1:] if not about or about in name else PHRASES
        return usable[int(rng.integers(len(usable)))].format(a=name, e=about)
    return name or header


def _without(parts: list[str], table: list[str]) -> list[str]:
    """A header's words without the table's (all of them, or the last one) at either end; never empty."""
    for owner in (table, table[-1:]):
        size = len(owner)
        if size and len(parts) > size:
            if parts[:size] == owner:
                return parts[size:]
            if parts[-size:] == owner:
                return parts[:-size]
    return parts


def _styled(name: str, rng: np.random.Generator, settings: RewordSettings) -> str:
    if " " in name and "'" not in name and settings.split and rng.random() < _SNAKE:
        return name.lower().replace(" ", "_")
    return name


def _values(
    values: Sequence[str], others: Sequence[str], rng: np.random.Generator, settings: RewordSettings
) -> tuple[str, ...]:
    if not values or rng.random() < settings.drop_values:
        return ()
    if others and rng.random() < settings.other_values:
        count = min(len(values), len(others))
        return tuple(others[int(i)] for i in rng.choice(len(others), count, replace=False))
    return tuple(values)


def _kept(
    attributes: list[IntentAttribute],
    needed: Collection[str],
    rng: np.random.Generator,
    settings: RewordSettings,
) -> tuple[IntentAttribute, ...]:
    bare = rng.random() < settings.entity_only
    stays = [
        attribute.attribute_id in needed or not (bare or rng.random() < settings.drop_attribute)
        for attribute in attributes
    ]
    if not any(stays) and attributes and not bare:
        stays[int(rng.integers(len(stays)))] = True
    return tuple(attribute for attribute, stay in zip(attributes, stays, strict=True) if stay)
