"""Write the bundled demo lake anew, or check it: `python -m graftjax.demo.generate [--out DIR] [--check]`.

Everything follows from fixed seeds: two runs give the same CSV and JSONL bytes and the same tables in
Parquet and SQLite.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from graftjax.demo import lake_folder
from graftjax.demo.files import LAKE, QUERIES, differences, write_demo
from graftjax.errors import GraftError, UsageError

BUNDLED = lake_folder().parent


def check(folder: Path) -> list[str]:
    """How `lake/` and `queries.jsonl` in `folder` differ from a fresh generation; empty if they do not."""
    with tempfile.TemporaryDirectory() as fresh:
        write_demo(Path(fresh))
        return [line.replace(fresh, "a fresh generation") for line in differences(Path(fresh), folder)]


def generate(folder: Path) -> None:
    """Write the demo into `folder`.

    Raises:
        UsageError: `folder` holds a lake or questions already and is not the package's own folder, whose
            files are replaced.
    """
    present = [name for name in (LAKE, QUERIES) if (folder / name).exists()]
    if present and folder.resolve() != BUNDLED:
        raise UsageError(f"{folder / present[0]} exists already: name an empty or new folder with --out")
    if not present:
        folder.mkdir(parents=True, exist_ok=True)
        write_demo(folder)
        return
    with tempfile.TemporaryDirectory() as fresh:
        write_demo(Path(fresh))
        for line in differences(Path(fresh), folder):
            _bring(line.split(": ")[0], Path(fresh), folder)


def _bring(name: str, fresh: Path, folder: Path) -> None:
    """Replace one differing file, or drop one that is not generated any more.

    Files of equal content stay as they are, so that a new SQLite or Arrow version changes nothing.
    """
    if (fresh / name).exists():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fresh / name, folder / name)
    else:
        (folder / name).unlink()


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: written, or equal; 1: `--check` found differences, or a file failed; 2: usage."""
    parser = argparse.ArgumentParser(prog="python -m graftjax.demo.generate", description="The demo lake.")
    parser.add_argument(
        "--out", type=Path, default=BUNDLED, metavar="DIR", help="folder for lake/ and queries.jsonl"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; compare DIR with a fresh generation"
    )
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            generate(options.out)
            return 0
        lines = check(options.out)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except (GraftError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for line in lines:
        print(line)
    print("the demo lake differs from a fresh generation" if lines else "the demo lake is up to date")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
