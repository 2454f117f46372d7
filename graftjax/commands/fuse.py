"""`graftjax fuse`: a question → one table, or the SQL that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graftjax.commands.asking import ask, check, open_asked
from graftjax.commands.fusing import Fusing, check_writable, fuse_settings
from graftjax.commands.lakes import show, show_json
from graftjax.errors import GraftError
from graftjax.lake.names import counted

if TYPE_CHECKING:
    from graftjax.fuse import Fused


@dataclass(frozen=True, kw_only=True)
class Fuse(Fusing):
    """Find the tables that answer a question and fuse them into one: to a file, or shown with its SQL."""

    out: Path | None = None
    """File of the whole table: .csv, .tsv, .parquet, .pq, .arrow, .feather or .ipc. Tables that nothing
    connects with it go to files beside it, NAME-part2 and so on."""
    json: bool = False
    """Print what `search --json` prints, with the SQL, the steps and the first rows, as JSON."""


def run(arguments: Fuse) -> None:
    """Fuse; print or write."""
    check(arguments)
    if arguments.out is not None:
        from graftjax.fuse import check_path

        check_path(arguments.out)
        check_writable(arguments.out, "--out")
    settings = fuse_settings(arguments)
    lake = open_asked(arguments, arguments.tables)
    lake.rows()  # fails here, not after the search, when they can't be found
    found = ask(arguments, lake)
    from graftjax import describe
    from graftjax.preview import preview_record

    if not found.tables:
        if arguments.out is not None:
            raise GraftError(f"{arguments.out}: not written, no tables were found ({'; '.join(found.notes)})")
        if arguments.json:
            show_json({**found.record(), "fusion": None})
        else:
            show(str(found))
        return
    fused = lake.fuse(found, settings)
    written = [] if arguments.out is None else _write(fused, arguments.out)
    if arguments.json:
        record = {**fused.record(), "preview": preview_record(fused.preview)}
        files = [str(path) for path, _ in written]
        out = {"out": files[0] if files else None, "more": files[1:]}
        show_json({**found.record(), "fusion": record, **out})
        return
    show(f"plan\n  {found.plan}", describe.notes(found.synthesis), describe.fusion(fused))
    for path, part in written:
        show(f"{path}: {counted(part.n_rows, 'row')}, {counted(len(part.columns), 'column')}")


def _write(fused: Fused, out: Path) -> list[tuple[Path, Fused]]:
    """Every part in a file of its own."""
    parts = [(out, fused)]
    for number, other in enumerate(fused.others, start=2):
        parts.append((out.with_name(f"{out.stem}-part{number}{out.suffix}"), other))
    for path, _ in parts:  # before any is written: all or none
        check_writable(path, "--out")
    for path, part in parts:
        part.write(path)
    return parts
