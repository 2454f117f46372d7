"""Bytes of unknown encoding → text, counting what had to be guessed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Iterator
from io import BufferedIOBase, TextIOWrapper
from pathlib import Path
from typing import IO, cast

import charset_normalizer
import pyarrow as pa

from graftjax.errors import GraftError

HEAD_BYTES = 1 << 18
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
# Byte values that text files do not hold: many of them mean a picture or an archive under a wrong name.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


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


def open_bytes(path: Path) -> BufferedIOBase | pa.NativeFile:
    """Open a file, unpacking by its last extension (.gz, .bz2, .xz, .zst)."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.open(path, "rb")
    if suffix == ".bz2":
        return bz2.open(path, "rb")
    if suffix == ".xz":
        return lzma.open(path, "rb")
    if suffix == ".zst":
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return path.open("rb")


def guess_encoding(head: bytes, name: str = "file") -> str:
    """Name of the codec for a file that starts with `head`; raises GraftError for binary content."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if (zeros := head.count(0)) > len(head) // 5:
        # Without a mark, UTF-16 of mostly Latin text shows as a NUL in every second byte.
        if zeros >= 0.9 * head[0::2].count(0) > 0.3 * len(head):
            return "utf-16-be"
        if head[1::2].count(0) > 0.3 * len(head):
            return "utf-16-le"
    if len(_BINARY.findall(head)) > len(head) // 50:
        raise GraftError(f"{name} holds binary data, not text")
    wrong = len(_ESCAPED.findall(head.decode("utf-8", "surrogateescape")))
    high = len(_HIGH.findall(head))
    # Mostly wrong bytes, and more of them than ASCII letters: no Western text, so ask the statistics.
    # Otherwise UTF-8 with single bytes patched reads Latin-1 rightly, more surely than any guess.
    if wrong > high // 2 and wrong > len(_LETTER.findall(head)):
        for guess in charset_normalizer.from_bytes(head[: 1 << 16]):
            # EBCDIC, or two bytes a letter without a mark or a NUL: a guess that any few bytes invite.
            if _keeps_ascii(guess.encoding):
                return guess.encoding
    return "utf-8"


def _keeps_ascii(encoding: str) -> bool:
    ascii_letters = b"aZ09,;"
    return ascii_letters.decode(encoding, "replace") == ascii_letters.decode()


class TextLines:
    """Lines of a text file of unknown encoding, endings kept (\\n, \\r\\n and bare \\r).

    `bad_bytes` counts, up to the line read last, the bytes that the encoding does not allow.
    """

    def __init__(self, path: Path):
        self.path = path
        with open_bytes(path) as file:
            self.head = file.read(HEAD_BYTES)
        self.encoding = guess_encoding(self.head, path.name)
        self.bad_bytes = 0

    def head_text(self) -> str:
        """The first lines as one text, the last one possibly cut."""
        codec = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        text = self.head.decode(codec, self._errors())
        return _ESCAPED.sub(_western, text)

    def _errors(self) -> str:
        # Only in UTF-8 is a wrong byte likely to be a Western letter; UTF-16 could not carry it on anyway.
        return "surrogateescape" if self.encoding in ("utf-8", "utf-8-sig") else "replace"

    def __iter__(self) -> Iterator[str]:
        self.bad_bytes = 0
        with (
            open_bytes(self.path) as raw,
            TextIOWrapper(cast(IO[bytes], raw), self.encoding, errors=self._errors(), newline="") as file,
        ):
            for line in file:
                if not line.isascii():
                    line, count = _ESCAPED.subn(_western, line)
                    self.bad_bytes += count + line.count("\ufffd")
                yield line
