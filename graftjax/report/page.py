"""A story → HTML. The page has no script, asks for nothing, and its policy forbids both.

Whatever comes from the lake or the question is only ever the text of an element: never an attribute, a name
or a style. Jinja escapes it, and characters that turn the direction of text or are not seen are spelled out.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pyarrow as pa
from markupsafe import Markup

from graftjax import describe
from graftjax.fuse import Fused, FusedColumn
from graftjax.lake.names import counted, plain_name
from graftjax.preview import cell_text, cut
from graftjax.report.boxes import intent_picture, lake_picture
from graftjax.report.layout import layout
from graftjax.report.story import Story
from graftjax.types import AtomSupport

QUESTION = 1_000
"""Characters of the question that are shown."""
CELL = 120
COLUMNS = 60
"""Columns of the preview."""
SQL = 50_000
"""Characters of the SQL that are shown."""
SKIPS = 200
"""Skipped files that are named."""
ORIGINS = 3
"""Columns of the lake that are named for a column of the result."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    origin: str
    is_number: bool


@cache
def _template() -> tuple[jinja2.Template, Markup, str]:
    """The template, the style, and what the policy knows it by."""
    folder = Path(__file__).parent
    style = (folder / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html"), Markup(style), digest


def page(story: Story) -> str:
    """The page; the same story gives the same text."""
    template, style, digest = _template()
    found = story.synthesis
    parts = [] if story.fused is None else [story.fused, *story.fused.others]
    graph = lake_picture(found, story.tables)
    skipped = f"{len(story.skips):,} files, or parts of them, were skipped"
    if len(story.skips) == 1:
        skipped = "one file, or a part of it, was skipped"
    if len(story.skips) > SKIPS:
        skipped += f"; the first {SKIPS}"
    return template.render(
        style=style,
        style_hash=digest,
        question=_shown(story.question, QUESTION),
        summary=_summary(story),
        answer_notes=[_shown(note) for note in found.notes],
        intent=layout(intent_picture(story.intent)),
        plan=_shown(describe.plan(found), SQL),
        graph=layout(graph),
        tables=[_table(story, number) for number in range(len(found.tables))],
        support=[_atom(atom) for atom in found.support],
        utility=f"U = {found.utility:.3f}",
        parts=[_part(part) for part in parts],
        refusal=_shown(story.refusal),
        skips=[
            {"origin": _shown(skip.origin), "reason": _shown(skip.reason)} for skip in story.skips[:SKIPS]
        ],
        skipped=skipped,
    )


def _shown(text: str, most: int = 2_000) -> str:
    """One line of a text, without what is not seen."""
    return cut(plain_name(" ".join(text.split())), most)


def _summary(story: Story) -> str:
    count = len(story.synthesis.tables)
    said = [counted(count, "table")]
    if story.fused is not None:
        size = counted(story.fused.n_rows, "row"), counted(len(story.fused.columns), "column")
        said.append(f"{size[0]} and {size[1]} when fused")
    if story.lake:
        said.append(f"lake {_shown(story.lake)}")
    if story.guided:
        said.append(f"searched by {_shown(story.guided)}")
    return " · ".join(said)


def _table(story: Story, number: int) -> dict[str, str]:
    id = story.synthesis.tables[number]
    profile = story.tables.get(id)
    return {
        "name": _shown(str(id)),
        "origin": "" if profile is None else _shown(profile.origin),
        "rows": "" if profile is None else f"{profile.n_rows:,}",
    }


def _atom(atom: AtomSupport) -> dict[str, str]:
    place = "nowhere in these tables" if atom.table is None else str(atom.table)
    if atom.table is not None and atom.column:
        place = f"{place}.{atom.column}"
    return {"words": _shown(atom.atom), "number": f"{atom.support:.2f}", "place": _shown(place)}


def _part(fused: Fused) -> dict[str, Any]:
    preview = fused.preview.select(range(min(COLUMNS, fused.preview.num_columns)))
    left = fused.preview.num_columns - preview.num_columns
    said = f"The first {preview.num_rows} of {fused.n_rows:,} rows"
    if fused.n_rows <= preview.num_rows:
        said = {0: "No rows", 1: "One row"}.get(fused.n_rows, f"All {fused.n_rows} rows")
    if left:
        said += f", without {counted(left, 'more column', 'more columns')}"
    cells = [[cut(cell_text(value), CELL) for value in column.to_pylist()] for column in preview.columns]
    return {
        "inputs": _shown(", ".join(map(str, fused.inputs.values()))),
        "steps": [{"step": _shown(step.step), "rows": f"{step.rows:,}"} for step in fused.steps],
        "notes": [_shown(note) for note in fused.notes],
        "sql": cut("\n".join(map(plain_name, fused.sql.split("\n"))), SQL),
        "said": f"{said}. Below each name: where it comes from.",
        "columns": [
            _column(column, field) for column, field in zip(fused.columns, preview.schema, strict=False)
        ],
        "rows": list(zip(*cells, strict=True)),
    }


def _column(column: FusedColumn, field: pa.Field) -> _Column:
    places = [f"{table}.{name}" for table, name in column.origins]
    more = f" and {len(places) - ORIGINS} more" if len(places) > ORIGINS else ""
    origin = _shown(", ".join(places[:ORIGINS]) + more, 300) or "table of the row"
    is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    return _Column(_shown(column.name, CELL), origin, is_number)
