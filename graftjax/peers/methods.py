"""The methods by the names that `--methods` takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graftjax.errors import UsageError
from graftjax.lake.record import LakeIndex
from graftjax.peers.contract import Retriever
from graftjax.peers.dtr import Dtr
from graftjax.peers.graft import Graft

if TYPE_CHECKING:
    from graftjax.search.guide import Guide

METHODS = ("graft", "graft-fill", "graft-exact", "dtr")
"""What can be run."""
GUIDED = ("graft", "graft-fill")
"""Those that a value function may guide."""
PLANNED = ("pneuma", "mtr", "jar", "jar-lp", "rear", "greedy-jar")
"""Known names without an implementation yet."""


def check_methods(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once; `UsageError` for one that can't be run, or for none."""
    for name in names:
        if name in PLANNED:
            raise UsageError(f"method {name!r} is not implemented yet: choose from {', '.join(METHODS)}")
        if name not in METHODS:
            raise UsageError(f"unknown method {name!r}: choose from {', '.join(METHODS)}")
    if not names:
        raise UsageError(f"--methods needs at least one of {', '.join(METHODS)}")
    return tuple(dict.fromkeys(names))


def retriever_factory(
    index: LakeIndex, encoder: Any, cache_folder: Path | None, guide: Guide | None = None
) -> Callable[[str], Retriever]:
    """A function from a method's name to its retriever; `graft` and `graft-fill` share one engine.

    `guide`: the value function that these two search by; exact gains without one.
    """
    engine: Any = None
    warmed: set[int] = set()

    def make(name: str) -> Retriever:
        nonlocal engine
        (name,) = check_methods([name])
        if name == "dtr":
            return Dtr(index.tables, encoder, headers=index.headers == "keep", cache_folder=cache_folder)
        if name == "graft-exact":
            from graftjax.search.exact_engine import ExactEngine

            return Graft(ExactEngine(index, encoder), name=name)
        if engine is None:
            from graftjax.search.engine import Engine

            engine = Engine(index, encoder, guide=guide)
        return Graft(engine, fill=name == "graft-fill", warmed=warmed)

    return make
