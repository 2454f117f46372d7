"""Shallow chunking of an English question: nouns, values and numbers, each with the words that lead to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from graftjax.intent import english as en

ChunkKind = Literal["noun", "value", "number"]

_words = en.words
_TOKEN = re.compile(
    r"""
    "(?P<q1>[^"]+)" | “(?P<q2>[^”]+)” | ‘(?P<q3>[^’]+)’ | (?<!\w)'(?P<q4>[^']+)'(?!\w) | `(?P<q5>[^`]+)`
    | (?P<poss>(?<=\w)['’]s\b | (?<=s)['’](?!\w))
    | (?P<number>[<>]?=?\s?[-+$€£]?\d+(?:[.,/:-]\d+)*%?(?![\w]))
    | (?P<word>[^\W_](?:[\w&.+#/-]*[\w+#])?(?:n['’]t)?)
    | (?P<punct>[^\w\s])
    """,
    re.VERBOSE,
)
_NUMBER_WORDS = _words("two three four five six seven eight nine ten eleven twelve hundred thousand")
_NAME_PARTS = _words("first last full middle")
_MODALS = _words("do does did can could will would may might must shall should")
_SUBJECTS = _words("i you we they he she it")
_NOT_ADVERBS = _words("family assembly supply reply fly ally rally monopoly anomaly july italy butterfly")
STOPS = _words(". ? ! ; :")


@dataclass(frozen=True)
class _Token:
    kind: Literal["value", "poss", "number", "word", "punct"]
    text: str
    first: bool
    """First word of its sentence."""

    @property
    def low(self) -> str:
        return self.text.lower()


@dataclass
class Chunk:
    """A noun phrase, a value or a number."""

    kind: ChunkKind
    words: list[str]
    left: list[str]
    """Lower-case words and marks since the previous chunk; `'s` for a possessive."""
    quoted: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def head(self) -> str:
        """Last word, lower case, singular."""
        return en.singular(self.words[-1].lower())


def _tokens(question: str) -> list[_Token]:
    question = re.sub(r"\b(first|full|middle) and (last|full) names?\b", r"\1 name and \2 name", question)
    question = re.sub(r"(?<=[a-z]{2})\.(?=[A-Z])", ". ", question)
    tokens: list[_Token] = []
    first = True
    for match in _TOKEN.finditer(question):
        kind, text = match.lastgroup or "punct", match.group(match.lastgroup or 0)
        if kind[0] == "q":
            tokens.append(_Token("value", text.strip(), False))
        else:
            tokens.append(_Token(kind, text.strip(), first))  # pyright: ignore[reportArgumentType]
        first = kind == "punct" and text in STOPS
    return [token for token in tokens if token.text]


def _mixed_case(tokens: list[_Token]) -> bool:
    """Whether capitals say anything: not in an all-lower, ALL-UPPER or Title Case question."""
    inner = [t.text for t in tokens if t.kind == "word" and not t.first and t.low not in en.FUNCTION]
    upper = sum(word[0].isupper() for word in inner)
    return not inner or upper <= 0.6 * len(inner) or len(inner) <= 2


class _Chunker:
    def __init__(self, question: str) -> None:
        self.tokens = _tokens(question)
        self.capitals = _mixed_case(self.tokens)
        self.chunks: list[Chunk] = []
        self.left: list[str] = []
        self.noun: list[str] = []

    def flush(self) -> None:
        if self.noun:
            self.chunks.append(Chunk("noun", self.noun, self.left))
            self.noun, self.left = [], []

    def word(self, text: str) -> None:
        self.flush()
        self.left.append(text)

    def emit(self, kind: ChunkKind, words: list[str], *, quoted: bool = False) -> None:
        self.flush()
        self.chunks.append(Chunk(kind, words, self.left, quoted))
        self.left = []

    def low(self, i: int) -> str:
        return self.tokens[i].low if 0 <= i < len(self.tokens) else ""

    def nounish(self, i: int) -> bool:
        """Token i could be part of a noun phrase."""
        if not 0 <= i < len(self.tokens) or self.tokens[i].kind != "word":
            return False
        return self.low(i) not in en.FUNCTION and self.low(i) not in en.SUPERLATIVES

    def is_capital(self, i: int) -> bool:
        if not 0 <= i < len(self.tokens):
            return False
        token = self.tokens[i]
        return self.capitals and token.kind == "word" and not token.first and token.text[0].isupper()

    def capital_run(self, i: int) -> int:
        """End of the run of capitalised words from i; `of` and `the` may stand inside it."""
        end = i + 1
        while True:
            if self.is_capital(end):
                end += 1
            elif (
                self.low(end) in ("of", "the", "de", "and")
                and self.low(end) != "and"
                and self.is_capital(end + 1)
            ):
                end += 2
            else:
                return end

    def capital_is_noun(self, i: int, end: int) -> bool:
        """A capitalised run that names a kind of thing (`TV Channels`, `ID`), not one thing."""
        words = [token.low for token in self.tokens[i:end]]
        acronym = self.tokens[i].text.isupper() and len(words[0]) <= 3
        if (
            words[-1] in en.PROPERTIES
            or en.singular(words[-1]) in en.PROPERTIES
            or words[-1] in ("id", "ids")
        ):
            return True
        if acronym and (len(words) > 1 or self.nounish(end)) and en.is_plural([*words, self.low(end)][-1]):
            return True
        if end < len(self.tokens) and self.tokens[end].kind == "value":
            return True
        before = self.low(i - 1)
        return en.is_plural(words[-1]) and (
            before in en.DETERMINERS or before in ("many", "of", "number", "which")
        )

    def is_verb(self, i: int) -> bool:
        low, before = self.low(i), self.low(i - 1)
        if low in ("named", "called", "titled", "numbered"):
            return True
        if low == "place" and before.startswith(("take", "took", "taking")):
            return True
        if self.tokens[i].first:
            return low in en.REQUESTS
        if (
            low in en.REQUESTS
            and before in (",", "and", "then", "please", "me", "to", "also")
            and self.nounish_after(i)
        ):
            return not self.noun and (before != "and" or len(self.chunks) == 0)
        subjectless = not self.noun
        if subjectless and before in _SUBJECTS:
            return True
        if subjectless and before == "to" and low in en.VERBS:
            return True
        if subjectless and before in _MODALS and not self.asks():
            return True
        if subjectless and before in ("not", "n't") and self.low(i - 2) in _MODALS:
            return True
        if subjectless and before.endswith("n't") and before[:-3] in _MODALS:
            return True
        if before == "who" or (before in ("ever", "also", "not", "never") and self.low(i - 2) == "who"):
            return True
        if before in ("that", "which") and self.chunks and not self.left_starts_with_preposition():
            antecedent_plural = en.is_plural(self.chunks[-1].words[-1].lower())
            return low in en.VERBS or low.endswith("ed") or low.endswith("s") != antecedent_plural
        if en.looks_participle(low):
            if self.noun:
                return not (low.endswith("ing") and self.nounish(i + 1))
            if before in en.DETERMINERS and not self.nounish(i + 1):
                return low.endswith("ed")
            if before in en.AUXILIARIES or not self.nounish(i + 1):
                return True
            return low.endswith("ed")
        if low in en.VERBS:
            if self.noun:
                return self.low(i + 1) != "of"
            if before in (",", "and", "or") and self.nounish(i + 1) and not self.is_capital(i + 1):
                return False
            return (
                before not in en.DETERMINERS
                and before not in en.PREPOSITIONS
                and before not in en.SUPERLATIVES
            )
        return self.ends_do_clause(i)

    def asks(self) -> bool:
        """A question word came before, so that the subject follows its auxiliary."""
        seen = self.left + [word for chunk in self.chunks for word in chunk.left]
        return any(word in ("which", "what", "how", "when", "where") for word in seen)

    def nounish_after(self, i: int) -> bool:
        return self.nounish(i + 1) or self.low(i + 1) in en.DETERMINERS

    def left_starts_with_preposition(self) -> bool:
        return any(word in en.PREPOSITIONS for word in self.left)

    def ends_do_clause(self, i: int) -> bool:
        """`does each maker PRODUCE`: the base form that closes a question with do."""
        if not self.noun or en.is_plural(self.low(i)):
            return False
        asked = any(word in ("do", "does", "did") for word in self.left)
        return asked and not self.nounish(i + 1)

    def run(self) -> list[Chunk]:
        i = 0
        while i < len(self.tokens):
            token = self.tokens[i]
            i = self.step(i, token) or i + 1
        self.flush()
        return self.chunks

    def step(self, i: int, token: _Token) -> int | None:
        """Take token i in; returns the next position when more than one token was used."""
        low = token.low
        if token.kind == "value":
            self.emit("value", [token.text], quoted=True)
        elif token.kind == "number":
            self.emit("number", [token.text])
        elif token.kind == "poss":
            self.word("'s")
        elif token.kind == "punct":
            self.word(token.text)
        elif low in _NUMBER_WORDS:
            self.emit("number", [low])
        elif low in _NAME_PARTS and en.singular(self.low(i + 1)) == "name":
            self.noun.append(low)
        elif self.is_capital(i) and low not in en.FUNCTION:
            end = self.capital_run(i)
            if end > i + 1 and en.singular(low) in en.PROPERTIES:
                # `City Aberdeen`: what the value is of, then the value.
                self.noun.append(low)
                return i + 1
            if self.capital_is_noun(i, end):
                self.noun += [t.text if t.text.isupper() else t.low for t in self.tokens[i:end]]
            else:
                self.emit("value", [t.text for t in self.tokens[i:end]])
            return end
        elif (
            low in en.FUNCTION
            or low in en.SUPERLATIVES
            or low.endswith("n't")
            or (low.endswith("ly") and len(low) > 4 and low not in _NOT_ADVERBS)
            or (low in en.ADJECTIVE_PROPERTY and self.low(i + 1) in ("than", ""))
            or self.is_verb(i)
        ):
            self.word(low)
        else:
            self.noun.append(low if not token.text.isupper() else token.text)
        return None


def chunks_of(question: str) -> tuple[list[Chunk], list[str]]:
    """The chunks of a question in order, and the words and marks after the last one."""
    chunker = _Chunker(question)
    return chunker.run(), chunker.left
