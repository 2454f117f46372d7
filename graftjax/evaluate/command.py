"""Command lines: arguments by tyro, and mistakes as one line on stderr."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import tyro

from graftjax.errors import GraftError, UsageError

Args = TypeVar("Args")


def parse_arguments(
    kind: type[Args], argv: Sequence[str] | None = None, *, description: str | None = None
) -> Args:
    """The arguments as an instance of `kind`; `UsageError` (one line) for what tyro does not accept."""
    captured = io.StringIO()
    try:
        with contextlib.redirect_stderr(captured):
            return tyro.cli(kind, args=argv, description=description)
    except SystemExit as stop:
        if stop.code in (0, None):  # --help
            raise
        raise UsageError(_first_message(captured.getvalue())) from None


def run_command(main: Callable[[], int | None]) -> int:
    """Exit code of `main`: 2 for wrong usage and 1 for other known errors, each as one line on stderr."""
    try:
        return main() or 0
    except UsageError as error:
        code, message = 2, str(error)
    except GraftError as error:
        code, message = 1, str(error)
    except KeyboardInterrupt:
        code, message = 130, "interrupted"
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _first_message(box: str) -> str:
    """The message of tyro's framed report, without the frame and the help below the first rule."""
    words: list[str] = []
    for line in box.splitlines():
        text = line.strip("│ ")
        if text.startswith(("───", "╰")):
            break
        if not text.startswith("╭"):
            words.extend(text.split())
    return f"{' '.join(words) or 'the arguments are not valid'} (--help lists the options)"
