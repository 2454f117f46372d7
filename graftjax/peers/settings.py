"""The dials of the peers, as the tuning chose them (`tuned.yaml`; see `experiments/tune.py`)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import yaml

from graftjax.errors import GraftError

S = TypeVar("S")


@cache
def _tuned() -> dict[str, Any]:
    text = files("graftjax.peers").joinpath("tuned.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["methods"]


def tuned_settings(kind: type[S], name: str) -> S:
    """The settings chosen for the method `name` (with or without `+unions`); the published ones if none were.

    `GraftError` when the file names a dial that the method does not have.
    """
    chosen = _tuned().get(name, {}).get("settings", {})
    try:
        return kind(**chosen)
    except TypeError as error:
        raise GraftError(f"tuned.yaml, {name}: {error}") from error
