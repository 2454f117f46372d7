"""Graph-matched retrieval and fusion of tables in data lakes.

The names below are loaded when they are first used, so that importing the package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graftjax.encode import Encoder, load_encoder
    from graftjax.errors import GraftError, UsageError
    from graftjax.fuse import Fused, FuseSettings
    from graftjax.intent import IntentGraph, Query, extract, lexical_intent, parse_intent, read_queries
    from graftjax.lake.folder import find_tables
    from graftjax.lake.index import build_index, open_index
    from graftjax.lake.record import LakeIndex
    from graftjax.open import Found, Lake, open_lake
    from graftjax.search.engine import Engine
    from graftjax.types import Operator, Skip, Synthesis, Table, TableId

_HOME = {
    "Encoder": "encode",
    "Engine": "search.engine",
    "Found": "open",
    "FuseSettings": "fuse",
    "Fused": "fuse",
    "GraftError": "errors",
    "IntentGraph": "intent",
    "Lake": "open",
    "LakeIndex": "lake.record",
    "Operator": "types",
    "Query": "intent",
    "Skip": "types",
    "Synthesis": "types",
    "Table": "types",
    "TableId": "types",
    "UsageError": "errors",
    "build_index": "lake.index",
    "extract": "intent",
    "find_tables": "lake.folder",
    "lexical_intent": "intent",
    "load_encoder": "encode",
    "open_index": "lake.index",
    "open_lake": "open",
    "parse_intent": "intent",
    "read_queries": "intent",
}

__all__ = [
    "Encoder",
    "Engine",
    "Found",
    "FuseSettings",
    "Fused",
    "GraftError",
    "IntentGraph",
    "Lake",
    "LakeIndex",
    "Operator",
    "Query",
    "Skip",
    "Synthesis",
    "Table",
    "TableId",
    "UsageError",
    "build_index",
    "extract",
    "find_tables",
    "lexical_intent",
    "load_encoder",
    "open_index",
    "open_lake",
    "parse_intent",
    "read_queries",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
