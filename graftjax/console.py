"""Command lines: arguments by tyro, and every mistake of the user as one line on stderr."""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from graftjax.errors import GraftError, UsageError


def parse_arguments(
    kind: Any,
    argv: Sequence[str] | None = None,
    *,
    program: str | None = None,
    description: str | None = None,
) -> Any:
    """The arguments as an instance of `kind`, a dataclass or a union of them (subcommands).

    `argv`: default is the process's own. Raises UsageError, one line, for what tyro does not accept;
    `--help` prints and exits with 0.
    """
    import tyro  # a quarter of a second, not needed to import this module

    captured = io.StringIO()
    try:
        with contextlib.redirect_stderr(captured):
            return tyro.cli(
                kind,
                prog=program,
                args=argv,
                description=description,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if stop.code in (0, None):
            raise
        raise UsageError(f"{_first_message(captured.getvalue())} (--help lists the options)") from None


def run_console(main: Callable[[], int | None], program: str) -> NoReturn:
    """Run `main` and exit the process with its code (None is 0).

    Wrong usage exits with 2, any other GraftError or a device that JAX does not find (JAX_PLATFORMS) with 1,
    each as one line `program: ...` on stderr;
    Ctrl-C exits with 130; a reader that closed the pipe (`| head`) ends the program quietly.
    """
    atexit.register(gc.freeze)  # collecting the objects of a large lake at exit takes half a second in vain
    try:
        code = main() or 0
        sys.stdout.flush()  # here, so that a closed pipe is met inside the block
    except UsageError as error:
        code = _complain(program, str(error), 2)
    except GraftError as error:
        code = _complain(program, str(error), 1)
    except RuntimeError as error:
        if "initialize backend" not in str(error):
            raise
        code = _complain(program, f"JAX can't start: {error}", 1)
    except KeyboardInterrupt:
        code = _complain(program, "interrupted", 130)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # Python flushes stdout once more at exit, which would complain again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        else:  # a full disk, a folder that can not be made: the system's own words say it best
            where = f"{error.filename}: " if error.filename else ""
            code = _complain(program, f"{where}{error.strerror or error}", 1)
    sys.exit(code)


def _complain(program: str, message: str, code: int) -> int:
    print(f"{program}: {' '.join(message.split()) or 'failed'}", file=sys.stderr)
    return code


def _first_message(report: str) -> str:
    """What tyro's report says between its title and its next rule, as one line.

    The title is in the frame where the terminal knows such characters, and has a rule below it elsewhere.
    """
    lines = [line.strip("│ \t") for line in report.splitlines() if line.strip("│ \t")]
    rules = [number for number, line in enumerate(lines) if not line.strip("─-╰╯")]
    framed = bool(lines) and lines[0].startswith("╭")
    start = 1 if framed or not rules else rules[0] + 1
    stop = next((number for number in rules if number >= start), len(lines))
    return " ".join(" ".join(lines[start:stop]).split()) or "the arguments are not valid"
