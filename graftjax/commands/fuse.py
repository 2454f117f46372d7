"""`graftjax fuse`: a question → one table, or the SQL that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graftjax.commands.asking import ask, check, open_asked
from graftjax.commands.fusing import Fusing, check_writable, fuse_settings
from graftjax.commands.lakes import show, show_json
from graftjax.errors import GraftError


@dataclass(frozen=True, kw_only=True)
class Fuse(Fusing):
    """Find the tables that answer a question and fuse them into one: to a file, or shown with its SQL."""

    out: Path | None = None
    """File of the whole table: .csv, .tsv, .parquet, .pq, .arrow, .feather or .ipc."""
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
    if arguments.out is not None:
        fused.write(arguments.out)
    if arguments.json:
        record = {**fused.record(), "preview": preview_record(fused.preview)}
        show_json({**found.record(), "fusion": record, "out": arguments.out and str(arguments.out)})
        return
    show(f"plan\n  {found.plan}", describe.notes(found.synthesis), describe.fusion(fused))
    if arguments.out is not None:
        show(f"{arguments.out}: {fused.n_rows:,} rows, {len(fused.columns)} columns")
