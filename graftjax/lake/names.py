"""Names of files and tables as text that is safe to print and to store."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories that move the cursor, turn the direction of text or show nothing."""


def plain_name(name: str | PurePosixPath) -> str:
    r"""The name with every byte that is not printable UTF-8 spelled `\xff`; "" for the empty path.

    A line break or an escape sequence in a name can then not forge a line of a report.

    >>> plain_name("a\nb"), plain_name("caf\udce9")
    ('a\\x0ab', 'caf\\xe9')
    """
    text = "" if name == PurePosixPath() else str(name)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelt(character) if unicodedata.category(character) in _UNSEEN else character
                   for character in text)  # fmt: skip


def _spelt(character: str) -> str:
    # Zero-width joiners belong to the spelling of words in some scripts.
    if character in "\u200c\u200d":
        return character
    try:
        data = character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair that stands for no byte
        data = character.encode("utf-8", "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in data)


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "row is", "rows are")
    ('1 row', '1,200 rows', '2 rows are')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
