"""The experiments as modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@contextmanager
def imported(name: str) -> Iterator[Any]:
    """The experiment's module; its folder is on the path inside the block."""
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        yield import_module(name)
    finally:
        sys.path.remove(str(EXPERIMENTS))
