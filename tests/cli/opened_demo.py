"""The demo lake, indexed once for all tests of a session."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from graftjax.evaluate.datasets import index_folder, resolve_dataset
from graftjax.open import Lake, open_lake

FIG4 = "What is the average points of players from the club with name 'AIB'?"
RECORDED = ("--lake", "demo", "--guidance", "exact", "--intents", "recorded")


@cache
def demo() -> Lake:
    """Opened as `--lake demo` is; the commands of a test find its index in the same place."""
    return open_lake("demo", guidance="exact", intents="recorded")


def demo_index() -> Path:
    """Folder of its index."""
    demo()
    return index_folder(resolve_dataset("demo"))
