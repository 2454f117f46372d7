"""`graftjax search`: a question → the tables that answer it."""

from __future__ import annotations

from dataclasses import dataclass

from graftjax.commands.asking import Asking, ask, check, open_asked
from graftjax.commands.lakes import show, show_json


@dataclass(frozen=True, kw_only=True)
class Search(Asking):
    """Find the tables that answer a question, and how to join and union them."""

    json: bool = False
    """Print the answer as JSON."""


def run(arguments: Search) -> None:
    """Print the answer."""
    check(arguments)
    found = ask(arguments, open_asked(arguments))
    if arguments.json:
        show_json(found.record())
    else:
        show(str(found))
