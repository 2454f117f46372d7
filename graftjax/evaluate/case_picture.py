"""A case study as one SVG: the intent, GRAFT's answer, and per method the gold tables that it found or
missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from graftjax.evaluate.case_study import Answer
from graftjax.intent.schema import IntentGraph
from graftjax.lake.names import plain_name
from graftjax.report.boxes import Box, Link, Picture, intent_picture, lake_picture
from graftjax.report.layout import Layout, layout
from graftjax.types import Synthesis, Table, TableId

_FOUND, _MISSED, _PLAIN = "found", "missed", "plain"
_FILL = {_FOUND: ("#e2f3e9", "#147a4b"), _MISSED: ("#fdf1f0", "#c0392b"), _PLAIN: ("#f5f7f9", "#9aa5b0")}
"""Kind of a box → its ground and its rim."""
_INK = {"key": "#1f6fb2", "asked": "#147a4b", "below": "#5b646e", "more": "#5b646e", "bridge": "#7b4bb3"}
_STYLE = 'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12"'
_GAP, _HEAD, _ROW = 24, 46, 1250
"""Pixels between panels, above a panel's drawing, and the width at which a row of panels ends."""


def case_picture(
    question: str,
    intent: IntentGraph,
    synthesis: Synthesis,
    tables: Mapping[TableId, Table],
    gold: Synthesis,
    answers: Sequence[Answer],
) -> str:
    """The SVG text. `gold`: the gold tables with their links, empty where they aren't known; `answers`:
    GRAFT's
    first."""
    panels = [("what the question asks for", "", layout(intent_picture(intent)), [])]
    found = lake_picture(synthesis, tables)
    kinds = [
        _PLAIN if not gold.tables else _FOUND if table in gold.tables else _PLAIN
        for table in synthesis.tables
    ]
    panels.append(("GRAFT's answer", "", layout(found), kinds))
    for one in answers if gold.tables else ():
        kinds = [_MISSED if table in one.missed else _FOUND for table in gold.tables]
        hits = len(gold.tables) - len(one.missed)
        said = f"{hits} of {len(gold.tables)} gold tables, {one.others} others"
        panels.append((one.method, said, layout(_names(gold)), kinds))
    return _sheet(question, panels)


def _names(synthesis: Synthesis) -> Picture:
    """The tables by their names alone."""
    full = lake_picture(synthesis, {})
    boxes = tuple(Box(plain_name(table.name)) for table in synthesis.tables)
    links = tuple(Link(link.kind, (link.start[0], -1), (link.end[0], -1)) for link in full.links)
    return Picture(boxes, full.stacks, links)


def _sheet(title: str, panels: Sequence[tuple[str, str, Layout, Sequence[str]]]) -> str:
    x, y, tall, wide, body = _GAP, 50, 0, 0, []
    for head, said, drawing, kinds in panels:
        width = max(drawing.width, 8 * max(len(head), len(said)) + 10)
        if x > _GAP and x + width > _ROW:
            x, y, tall = _GAP, y + tall + _GAP, 0
        body.append(f'<g transform="translate({x} {y})">{_panel(head, said, drawing, kinds)}</g>')
        x, tall = x + width + _GAP, max(tall, drawing.height + _HEAD)
        wide = max(wide, x)
    wide, height = max(wide, 8 * len(title) + 2 * _GAP), y + tall + _GAP
    legend = "green: a gold table that was found; red, dashed: one that was missed; dashed line: union"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{height}" '
        f'viewBox="0 0 {wide} {height}" {_STYLE}><rect width="100%" height="100%" fill="white"/>'
        f'<text x="{_GAP}" y="24" font-size="15" font-weight="700">{_text(title)}</text>'
        f'<text x="{_GAP}" y="42" fill="#5b646e">{legend}</text>{"".join(body)}</svg>\n'
    )


def _panel(head: str, said: str, drawing: Layout, kinds: Sequence[str]) -> str:
    parts = [f'<text y="16" font-weight="700">{_text(head)}</text>']
    if said:
        parts.append(f'<text y="33" fill="#5b646e">{_text(said)}</text>')
    parts.append(f'<g transform="translate(0 {_HEAD - 10})">')
    for frame in drawing.frames:
        parts.append(
            f'<rect x="{frame.x:g}" y="{frame.y:g}" width="{frame.width:g}" height="{frame.height:g}" rx="8" '
            'fill="none" stroke="#b0591b" stroke-opacity=".35"/>'
        )
    for curve in drawing.curves:
        look = 'stroke="#b0591b" stroke-dasharray="6 4"' if curve.kind == "union" else 'stroke="#1f6fb2"'
        parts.append(f'<path d="{curve.path}" fill="none" stroke-width="2" {look}/>')
    for number, box in enumerate(drawing.boxes):
        kind = kinds[number] if number < len(kinds) else _PLAIN
        ground, rim = _FILL[kind]
        dash = ' stroke-dasharray="5 3"' if kind == _MISSED else ""
        parts.append(
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="5" '
            f'fill="{ground}" stroke="{rim}" stroke-width="1.5"{dash}/>'
        )
        for line in (box.title, *box.lines):
            bold = ' font-weight="700"' if line is box.title or line.mark in ("key", "asked") else ""
            ink = _INK.get(line.mark, "#1a1d21")
            parts.append(
                f'<text x="{box.x + 10:g}" y="{line.y:g}" fill="{ink}"{bold}>{_text(line.text)}</text>'
            )
    return "".join([*parts, "</g>"])


def _text(text: str) -> str:
    return escape(plain_name(text))
