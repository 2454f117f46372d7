"""The methods by the names that `--methods` takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graftjax.errors import UsageError
from graftjax.lake.record import LakeIndex
from graftjax.peers.catalog import Catalog, View
from graftjax.peers.contract import Retriever
from graftjax.peers.graft import Graft
from graftjax.peers.peer import WITH_UNIONS, Peer
from graftjax.peers.settings import tuned_settings

if TYPE_CHECKING:
    from graftjax.search.guide import Guide

GRAFT = ("graft", "graft-fill", "graft-exact")
GUIDED = ("graft", "graft-fill")
"""Those that a value function may guide."""
_PEERS = {
    "dtr": ("dtr", "Dtr", "DtrSettings"),
    "pneuma": ("pneuma", "Pneuma", "PneumaSettings"),
    "mtr": ("mtr", "Mtr", "MtrSettings"),
    "jar": ("jar", "Jar", "JarSettings"),
    "jar-lp": ("jar", "JarLp", "JarSettings"),
    "rear": ("rear", "Rear", "RearSettings"),
    "greedy-jar": ("greedy_jar", "GreedyJar", "GreedyJarSettings"),
}
"""Name → module, class, settings; a module is loaded when its method is wanted."""
PEERS = tuple(_PEERS)
METHODS = (*GRAFT, *PEERS, *(name + WITH_UNIONS for name in PEERS))
"""What can be run."""


def check_methods(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once; `UsageError` for one that can't be run, or for none."""
    for name in names:
        if name not in METHODS:
            raise UsageError(
                f"unknown method {name!r}: choose from {', '.join((*GRAFT, *PEERS))}; a peer may end in "
                f"{WITH_UNIONS}"
            )
    if not names:
        raise UsageError(f"--methods needs at least one of {', '.join((*GRAFT, *PEERS))}")
    return tuple(dict.fromkeys(names))


def peer_class(name: str) -> tuple[type[Peer], type[Any]]:
    """Class and settings of a peer, by its name with or without `+unions`."""
    module, peer, settings = _PEERS[name.removesuffix(WITH_UNIONS)]
    loaded = import_module(f"graftjax.peers.{module}")
    return getattr(loaded, peer), getattr(loaded, settings)


def view_of(name: str) -> View:
    """What a peer of that name chooses among."""
    return "clusters" if name.endswith(WITH_UNIONS) else "tables"


def retriever_factory(
    index: LakeIndex,
    encoder: Any,
    cache_folder: Path | None,
    guide: Guide | None = None,
    *,
    tuned: bool = True,
    based: bool = False,
) -> Callable[[str], Retriever]:
    """A function from a method's name to its retriever; `graft` and `graft-fill` share one engine, the peers
    a catalog for each view.

    `guide`: the value function that these two search by; exact gains without one. `tuned`: peers with the
    dials that the tuning chose, not with their defaults (the published ones where there are any). `based`:
    queries come with a base table.
    """
    warmed: set[int] = set()

    @cache
    def engine() -> Any:
        from graftjax.search.engine import Engine

        return Engine(index, encoder, guide=guide)

    @cache
    def catalog(view: View) -> Catalog:
        return Catalog(index, encoder, view, cache_folder)

    def make(name: str) -> Retriever:
        (name,) = check_methods([name])
        if name in GUIDED:
            return Graft(engine(), fill=name == "graft-fill", warmed=warmed, based=based)
        if name == "graft-exact":
            from graftjax.search.exact_engine import ExactEngine

            return Graft(ExactEngine(index, encoder), name=name)
        peer, settings = peer_class(name)
        dials = tuned_settings(settings, name) if tuned else settings()
        return peer(catalog(view_of(name)), dials)  # pyright: ignore[reportCallIssue]

    return make
