"""Reads entities, attributes and values off the chunks of a question, from left to right, by rules.

A noun phrase becomes an attribute when something follows that it belongs to (`X of Y`, `Y's X`, `X for each
Y`), when it is compared or given a value, or when it is a typical property noun; else it becomes an entity,
led to by the entity before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from graftjax.intent import english as en
from graftjax.intent.chunks import STOPS, Chunk


@runtime_checkable
class LakeTerms(Protocol):
    """What a lake knows about words; both methods get lower-case words in the singular."""

    def is_table_term(self, words: str) -> bool: ...

    def is_column_term(self, words: str) -> bool: ...


_COPULAS = en.words(
    "is are was were as equal equals to of be being been not has have had a an the that like named called "
    "titled numbered at least most exactly , for on it both either in any"
)
_GREATER = en.words(
    "more greater higher over above older taller bigger larger longer heavier after since beyond "
    "exceeding exceeds exceed later faster"
)
_LESS = en.words("less fewer lower below under smaller younger shorter lighter before cheaper earlier")
_SORTING = en.words("sorted ordered order grouped arranged ranked listed sort group descending ascending")
_JOINERS = en.words(", and or & both either also as well then")
_MEASURING = _GREATER | _LESS | en.words("than at least most of is are was were exactly equal equals to")
_WHEN = en.words("in on after before since until during by from")
_YEAR = re.compile(r"(1[5-9]|20)\d\d")


@dataclass
class Entity:
    words: list[str]
    attributes: dict[str, list[str]] = field(default_factory=dict)
    parent: int | None = None
    """The entity that led to this one."""

    def add(self, name: str, value: str | None = None) -> None:
        values = self.attributes.setdefault(name, [])
        if value is not None and value not in values:
            values.append(value)


def _comparison(left: list[str], value: str) -> str:
    """The value with the comparison that the words before it state."""
    words = set(left)
    if {"at", "least"} <= words:
        return f">= {value}"
    if {"at", "most"} <= words:
        return f"<= {value}"
    if words & _LESS:
        return f"< {value}"
    if words & _GREATER:
        return f"> {value}"
    return f"not {value}" if "not" in words or "except" in words else value


def _base_words(words: list[str]) -> list[str]:
    return [*(word.lower() for word in words[:-1]), en.singular(words[-1].lower())]


class QuestionReader:
    """One pass over the chunks of a question."""

    def __init__(self, chunks: list[Chunk], lake: LakeTerms | None) -> None:
        self.chunks = chunks
        self.lake = lake
        self.entities: list[Entity] = []
        self.current: int | None = None
        self.pending: list[list[str]] = []
        """Attributes whose entity is still to come."""
        self.pending_values: list[tuple[str, str]] = []
        self.unit: int | None = None
        """Chunk that was read as the unit of the number before it."""
        self.slot: tuple[int | None, str] | None = None
        """Entity (None: still pending) and attribute that a following value belongs to."""

    # -- what a chunk is -------------------------------------------------------------------------------------

    def is_property(self, words: list[str]) -> bool:
        base = " ".join(_base_words(words))
        if self.lake is not None:
            column, table = self.lake.is_column_term(base), self.lake.is_table_term(base)
            if column != table:
                return column
        return en.singular(words[-1].lower()) in en.PROPERTIES or words[-1].lower() in en.PROPERTIES

    def left(self, i: int) -> list[str]:
        return self.chunks[i].left if i < len(self.chunks) else []

    def coordinated(self, i: int) -> bool:
        """Chunk i continues a list: `A, B and C`."""
        left = self.left(i)
        if not left or i == 0 or not any(word in (",", "and", "or", "&") for word in left):
            return False
        allowed = _JOINERS | en.DETERMINERS | en.SUPERLATIVES
        return all(word in allowed for word in left)

    def list_end(self, i: int) -> int:
        """Index after the list of nouns that chunk i is part of."""
        end = i + 1
        while end < len(self.chunks) and self.chunks[end].kind == "noun" and self.coordinated(end):
            end += 1
        return end

    def owned_by_next(self, i: int) -> bool:
        """`X of Y`, `X for each Y`, `X in all Y`: what follows the list is the owner."""
        end = self.list_end(i)
        if end >= len(self.chunks):
            return False
        words = [word for word in self.left(end) if word not in en.SUPERLATIVES]
        if self.chunks[end].kind != "noun" and not self.precedes_noun(end):
            return False
        if not words:
            return False
        if words[0] == "of":
            return True
        properties = self.is_property(self.chunks[i].words)
        owner = self.chunks[end]
        if words[0] in ("for", "from", "in", "on") and owner.kind == "noun" and properties:
            return not self.is_property(owner.words)
        # `the average damage for all storms`; once an entity is known, what follows `for` may be another one.
        return words[0] == "for" and words[-1] in ("each", "every", "all") and self.current is None

    def counted(self, i: int) -> bool:
        """`how many X`, `number of X`, `at least 2 X`, `the most X`."""
        left = self.left(i)
        if "many" in left or (left and left[-1] in ("most", "fewest", "more", "fewer", "least")):
            return True
        if i and self.chunks[i - 1].kind == "number" and self.precedes_noun(i - 1):
            return True
        return bool(i) and left[:1] == ["of"] and self.is_measure(i - 1)

    def is_measure(self, i: int) -> bool:
        chunk = self.chunks[i]
        return chunk.kind == "noun" and all(en.singular(word) in en.COUNTS for word in chunk.words)

    def is_vague(self, i: int) -> bool:
        """`a list of`, `in alphabetical order`: words about the answer, not about the data."""
        chunk = self.chunks[i]
        if chunk.head == "order" and "in" not in chunk.left:
            return False
        return all(en.singular(word) in en.VAGUE for word in chunk.words)

    def described(self, i: int) -> bool:
        """A relative clause describes chunk i, so that it stands for a thing: `in countries that ...`."""
        prepositions = any(word in ("in", "of", "from", "to", "for") for word in self.left(i))
        return prepositions and self.left(i + 1)[:1] in (["that"], ["who"], ["which"], ["where"], ["whose"])

    def compared(self, i: int) -> bool:
        """A value or a comparison follows chunk i directly."""
        if i + 1 >= len(self.chunks) or self.chunks[i + 1].kind == "noun":
            return False
        left = self.left(i + 1)
        following = self.chunks[i + 1]
        # `course 301` is a course, `concerts after 2013` have a year.
        names_or_dates = not left or (_YEAR.fullmatch(following.text) and left[-1] in _WHEN)
        if following.kind == "number" and names_or_dates and not self.is_property(self.chunks[i].words):
            return False
        allowed = _COPULAS | _GREATER | _LESS | {"than", "between"} | en.AUXILIARIES
        if following.kind == "number" and self.precedes_noun(i + 1) and not self.has_unit(i + 1):
            return False
        return all(word in allowed for word in left)

    def has_unit(self, i: int) -> bool:
        """Number i measures the property before it in the units that follow it: `price above 30 dollars`."""
        if i == 0 or self.chunks[i - 1].kind != "noun" or not self.is_property(self.chunks[i - 1].words):
            return False
        left = set(self.left(i))
        return bool(left) and left <= _MEASURING

    def precedes_noun(self, i: int) -> bool:
        """Only `or more` and adjectives like `distinct` stand between chunk i and the noun after it."""
        if i + 1 >= len(self.chunks) or self.chunks[i + 1].kind != "noun":
            return False
        left = self.chunks[i + 1].left
        return all(word in en.SUPERLATIVES or word in ("or", "more", "less", "fewer") for word in left)

    # -- what it does ----------------------------------------------------------------------------------------

    def find(self, words: list[str]) -> int | None:
        """An entity already made of these words, or one whose words end with them or the other way round."""
        base = _base_words(words)
        for k, entity in enumerate(self.entities):
            n = min(len(base), len(entity.words))
            if base[-n:] == entity.words[-n:]:
                return k
        return None

    def enter(self, words: list[str]) -> int:
        """Make or reuse the entity of these words, give it what was pending, and make it current."""
        k = self.find(words)
        if k is None:
            k = len(self.entities)
            self.entities.append(Entity(_base_words(words), parent=self.current))
        elif len(words) > len(self.entities[k].words):
            self.entities[k].words = _base_words(words)
        entity = self.entities[k]
        for attribute in self.pending:
            base = _base_words(attribute)
            # `flight number of flights`: the entity's own name adds nothing to its attribute.
            if len(base) > len(entity.words) and base[: len(entity.words)] == entity.words:
                base = base[len(entity.words) :]
            entity.add(en.snake(base))
        for name, value in self.pending_values:
            entity.add(name, value)
        self.pending, self.pending_values = [], []
        self.current = k
        return k

    def attribute(self, words: list[str], owner: int | None) -> None:
        if owner is None:
            self.pending.append(words)
            self.slot = (None, en.snake(_base_words(words)))
            return
        base = _base_words(words)
        own = self.entities[owner].words
        if len(base) > len(own) and base[: len(own)] == own:
            base = base[len(own) :]
        name = en.snake(base)
        self.entities[owner].add(name)
        self.slot = (owner, name)

    def value(self, text: str, owner: int | None, name: str) -> None:
        if owner is None:
            self.pending_values.append((name, text))
        else:
            self.entities[owner].add(name, text)
        self.slot = (owner, name)

    def adjectives(self, left: list[str], owner: int | None) -> None:
        """`the youngest X` asks for an age."""
        for word in left:
            if word in en.ADJECTIVE_PROPERTY:
                self.attribute([en.ADJECTIVE_PROPERTY[word]], owner)

    def noun(self, i: int) -> None:
        chunk = self.chunks[i]
        left = chunk.left
        if i == self.unit or self.is_vague(i) or (self.is_measure(i) and self.left(i + 1)[:1] == ["of"]):
            return
        if any(word in STOPS for word in left) and self.entities:
            self.current = 0
        genders = [word for word in chunk.words[:-1] if word in en.GENDERS]
        chunk.words = [word for word in chunk.words if word not in genders]
        is_property = self.is_property(chunk.words)
        counted = self.counted(i)
        sorting = "by" in left and (
            bool(_SORTING & set(left)) or not any(en.looks_participle(w) for w in left)
        )
        if left[-1:] == ["'s"] or (i and "'s" in left):
            return self.attribute(chunk.words, self.current)
        possessor = self.left(i + 1)[:1] == ["'s"]
        if (
            self.coordinated(i)
            and not possessor
            and self.slot is not None
            and self.chunks[i - 1].kind == "noun"
            and not counted
        ):
            # A list keeps the role of its first member.
            return self.attribute(chunk.words, self.slot[0])
        led_to = self.current is not None and not is_property and bool(left) and not self.coordinated(i)
        if self.owned_by_next(i) and not counted and not led_to:
            owner = None if i == 0 or not self.coordinated(i) else (self.slot[0] if self.slot else None)
            return self.attribute(chunk.words, owner)
        owner_of = left[:1] == ["of"] and bool(self.pending)
        compared = self.compared(i) and not owner_of
        if (sorting or ("whose" in left and (is_property or compared))) and not counted:
            return self.attribute(chunk.words, 0 if sorting and self.entities else self.current)
        if compared and left[-1:] in (["with"], ["having"]) and self.current is not None:
            return self.attribute(chunk.words, self.current)
        if compared and (is_property or (self.current is not None and self.chunks[i + 1].kind == "number")):
            if self.current is None and len(chunk.words) > 1 and not is_property:
                self.enter(chunk.words)
            return self.attribute(chunk.words, self.current)
        described = self.current is not None and left[:1] != ["by"] and self.described(i)
        thing = possessor or owner_of or described or (counted and self.current is None)
        if is_property and not thing:
            return self.lone_property(chunk.words, left)
        k = self.enter(chunk.words)
        self.slot = None
        self.adjectives(left, k)
        if counted:
            self.entities[k].add("id")
        elif i == 0 and {"which", "what"} & set(left):
            # A thing that is asked for is shown by its name.
            self.entities[k].add("name")
        for word in genders:
            self.value(word, k, "gender")
        return None

    def lone_property(self, words: list[str], left: list[str]) -> None:
        """A property noun without an owner: the current entity's, or that of the word before it."""
        if (
            self.current is None
            and len(words) > 1
            and words[-2] not in ("first", "last", "full", "middle", "type")
        ):
            stem = words[:-2] if len(words) > 2 and self.is_property(words[:-1]) else words[:-1]
            self.enter(stem)
            self.attribute(words[len(stem) :], self.current)
            return
        self.attribute(words, self.current)
        self.adjectives(left, self.current)

    def constant(self, i: int) -> None:
        """A value or a number."""
        chunk = self.chunks[i]
        left = chunk.left
        if chunk.kind == "number" and self.precedes_noun(i):
            if not self.has_unit(i) or self.slot is None:
                return  # a count of what follows
            self.value(_comparison(left, f"{chunk.text} {self.chunks[i + 1].text}"), *self.slot)
            self.unit = i + 1
            return
        text = _comparison(left, chunk.text) if chunk.kind == "number" or "not" in left else chunk.text
        if chunk.kind == "number" and "between" in left and self.left(i + 1) == ["and"]:
            text = f"between {chunk.text} and {self.chunks[i + 1].text}"
        previous = self.chunks[i - 1] if i else None
        if (
            previous is not None
            and previous.kind == "number"
            and "between" in previous.left
            and left == ["and"]
        ):
            return
        if i and previous is not None and previous.kind != "noun" and self.slot and self.listed_values(i):
            return self.value(text, *self.slot)
        owner = self.current
        adjective = [word for word in left if word in en.ADJECTIVE_PROPERTY]
        if chunk.kind == "number" and adjective:
            return self.value(text, owner, en.ADJECTIVE_PROPERTY[adjective[0]])
        after_noun = previous is not None and previous.kind == "noun" and not any(w in STOPS for w in left)
        if chunk.kind == "value" and left[:1] == ["of"] and after_noun:
            # `population of X`: X owns the property and is not its value.
            return self.value(text, owner, "name")
        if after_noun and self.slot is not None and self.compared(i - 1):
            return self.value(text, *self.slot)
        if self.precedes_noun(i):
            nxt = self.chunks[i + 1]
            if self.is_property(nxt.words) and chunk.kind == "value":
                self.pending_values.append((en.snake(_base_words(nxt.words)), text))
                return self.settle_values()
            self.pending_values.append(("name", text))
            return None
        if chunk.kind == "number":
            if _YEAR.fullmatch(chunk.text):
                return self.value(text, owner, "year")
            return self.value(text, owner, "id" if after_noun and not left else "number")
        near = [word for word in left if word not in en.DETERMINERS][-1:]
        place = near in (["in"], ["from"], ["at"], ["near"], ["to"])
        return self.value(text, owner, "location" if place and not after_noun_named(left) else "name")

    def listed_values(self, i: int) -> bool:
        return all(
            w in _JOINERS or w in en.DETERMINERS or w in en.PREPOSITIONS or w == "not" for w in self.left(i)
        )

    def settle_values(self) -> None:
        """Values before a property noun belong to the current entity once there is one."""
        if self.current is not None:
            for name, value in self.pending_values:
                self.value(value, self.current, name)
            self.pending_values = []

    def read(self) -> list[Entity]:
        for i, chunk in enumerate(self.chunks):
            if chunk.kind == "noun":
                self.noun(i)
            else:
                self.constant(i)
        if self.entities and not self.entities[0].attributes:
            self.entities[0].add("name")
        if self.pending or self.pending_values:
            if not self.entities and self.pending:
                # Only properties: the first one is as good a name of the thing as any.
                first = self.pending.pop(0)
                self.enter(first[:-1] if len(first) > 1 else first)
                if len(first) > 1:
                    self.entities[0].add(en.snake(first[-1:]))
            elif self.entities:
                last = self.entities[self.current or 0]
                for words in self.pending:
                    last.add(en.snake(_base_words(words)))
                for name, value in self.pending_values:
                    last.add(name, value)
        return self.entities


def after_noun_named(left: list[str]) -> bool:
    return bool({"named", "called", "titled"} & set(left))
