"""Texts → token ids, cut at a maximum length, never padded.

Letters: N texts, T_i tokens of text i.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Int
from tokenizers import Tokenizer

from graftjax.errors import GraftError, UsageError


def load_tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    """The folder's tokenizer, cutting at `max_tokens` (marks included) and with padding off.

    tokenizer.json is read as it is; without one, transformers builds the tokenizer from vocab.txt.
    Raises GraftError when there is none, or it is damaged.
    """
    file = folder / "tokenizer.json"
    if not file.is_file() and not (folder / "vocab.txt").is_file():
        # transformers would build a tokenizer without words, which maps every text to the same ids.
        raise GraftError(f"{folder}: no tokenizer (neither tokenizer.json nor vocab.txt)")
    try:
        if file.is_file():
            tokenizer = Tokenizer.from_file(str(file))
        else:
            from transformers import AutoTokenizer  # slow to import, rarely needed

            tokenizer = AutoTokenizer.from_pretrained(str(folder)).backend_tokenizer
    except Exception as error:  # tokenizers raises bare Exception
        raise GraftError(f"{folder}: no readable tokenizer ({' '.join(str(error).split())[:160]})") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


CHARACTERS_PER_TOKEN = 256
"""A text is first cut at this many characters for each token wanted, or a cell of megabytes costs seconds."""


def clean(text: str, max_characters: int) -> str:
    """The text without leading blanks, cut at `max_characters`, and with lone surrogates (from damaged
    cells) as `?`, because tokenizers refuses them.
    """
    text = text[: 2 * max_characters].lstrip()[:max_characters]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def tokenize(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Int[np.ndarray, " T_i"]]:
    """int32 ids of each text, with the model's marks (a blank text has the marks only), at least one.

    Raises UsageError when an entry is no string.
    """
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"texts to encode must be strings, not {type(text).__name__}")
    limit = CHARACTERS_PER_TOKEN * tokenizer.truncation["max_length"] if tokenizer.truncation else sys.maxsize
    encoded = tokenizer.encode_batch_fast([clean(text, limit) for text in texts])
    # A tokenizer without marks gives nothing for a blank text; token 0 keeps its place.
    return [np.asarray(one.ids or [0], np.int32) for one in encoded]
