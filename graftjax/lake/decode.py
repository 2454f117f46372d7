"""Bytes of unknown encoding → text, counting what had to be guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

import charset_normalizer

from graftjax.errors import GraftError
from graftjax.lake.unpack import foreign, open_bytes

HEAD_BYTES = 1 << 18
LINE_LIMIT = 1 << 26
"""A line of this many characters (64 Mi) is no line of a table: it would have to be held in memory."""
_FEW = 16
"""So many wrong bytes are too few to tell a code page by their statistics."""
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_ESCAPED = re.compile("[\udc80-\udcff]")
_HIGH = re.compile(rb"[\x80-\xff]")
_LETTER = re.compile(rb"[A-Za-z]")
# Byte values that texts do not hold (Ctrl-A is a delimiter of Hive): many of them mean a picture or an
# archive under a wrong name.
_BINARY = re.compile(rb"[\x00\x02-\x08\x0e-\x1a\x1c-\x1f]")
_BINARY_TEXT = re.compile("[\x00\x02-\x08\x0e-\x1a\x1c-\x1f\ufffd\ud800-\udfff]")
_BINARY_SHARE = 1 / 50
_END_OF_FILE = "\x1a"
"""Control-Z, with which DOS programs end a text."""


def decode(data: bytes) -> str:
    """UTF-8; a byte that is not valid UTF-8 is read as Windows-1252, or Latin-1 where that has no letter."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _ESCAPED.sub(_western, data.decode("utf-8", "surrogateescape"))


def _western(match: re.Match[str]) -> str:
    byte = bytes([ord(match.group()) - 0xDC00])
    try:
        return byte.decode("cp1252")
    except UnicodeDecodeError:
        return byte.decode("latin-1")


def guess_encoding(head: bytes) -> str:
    """Name of the codec for a file that starts with `head`; raises GraftError for binary content."""
    if (kind := foreign(head)) is not None:
        raise GraftError(f"holds {kind}")
    if (encoding := _wide_encoding(head)) is not None:
        text = head[: len(head) // 4 * 4].decode(encoding, "replace")
        if _too_many(len(_BINARY_TEXT.findall(text)), len(text)):
            raise GraftError("holds binary data, not text")
        return encoding
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if _too_many(len(_BINARY.findall(head)), len(head)):
        raise GraftError("holds binary data, not text")
    wrong = len(_ESCAPED.findall(head.decode("utf-8", "surrogateescape")))
    high = len(_HIGH.findall(head))
    # Mostly wrong bytes, and more of them than ASCII letters: no Western text, so ask the statistics.
    # Otherwise UTF-8 with single bytes patched reads Latin-1 rightly, more surely than any guess.
    if wrong >= _FEW and wrong > high // 2 and wrong > len(_LETTER.findall(head)):
        for guess in charset_normalizer.from_bytes(head[: 1 << 16]):
            # EBCDIC, or two bytes a letter without a mark or a NUL: a guess that any few bytes invite.
            if _keeps_ascii(guess.encoding):
                return guess.encoding
    return "utf-8"


def _wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, by its mark or, for UTF-16 of mostly Latin text, by a NUL in every second byte."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding if encoding != "utf-8-sig" else None
    if head.count(0) <= len(head) // 5:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if even > 0.3 * len(head) and odd < 0.1 * even:
        return "utf-16-be"
    return "utf-16-le" if odd > 0.3 * len(head) and even < 0.1 * odd else None


def _too_many(count: int, of: int) -> bool:
    # A stray NUL is found in texts too, and a short text must not be refused for it.
    return count > 2 + _BINARY_SHARE * of


def _keeps_ascii(encoding: str) -> bool:
    ascii_letters = b"aZ09,;"
    return ascii_letters.decode(encoding, "replace") == ascii_letters.decode()


class TextLines:
    """Lines of a text file of unknown encoding, endings kept (\\n, \\r\\n and bare \\r).

    Up to the line read last, `characters` counts what was read, and `bad_bytes` the bytes that the encoding
    does not allow. Raises GraftError for what is no text, and at a line of `LINE_LIMIT` characters.
    """

    def __init__(self, path: Path):
        self.path = path
        with open_bytes(path) as file:
            self.head = file.read(HEAD_BYTES)
        self.encoding = guess_encoding(self.head)
        self.bad_bytes = self.characters = 0

    def head_text(self) -> str:
        """The first lines as one text, the last one possibly cut."""
        codec = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        text = self.head.decode(codec, self._errors())
        return _ESCAPED.sub(_western, text)

    def _errors(self) -> str:
        # Only in UTF-8 is a wrong byte likely to be a Western letter; UTF-16 could not carry it on anyway.
        return "surrogateescape" if self.encoding in ("utf-8", "utf-8-sig") else "replace"

    def __iter__(self) -> Iterator[str]:
        self.bad_bytes = self.characters = 0
        with (
            open_bytes(self.path) as raw,
            TextIOWrapper(raw, self.encoding, errors=self._errors(), newline="") as file,
        ):
            while line := file.readline(LINE_LIMIT):
                if len(line) >= LINE_LIMIT:
                    raise GraftError(f"a line has more than {LINE_LIMIT >> 20} million characters: no table")
                self.characters += len(line)
                if not line.isascii():
                    line, count = _ESCAPED.subn(_western, line)
                    self.bad_bytes += count + line.count("\ufffd")
                elif line == _END_OF_FILE:
                    return
                yield line
