"""Curves with intervals as one SVG text: a panel a lake, a line a method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 300, 210, 46, 14, 34, 42
_LEGEND = 150
"""Pixels at the right of the last panel."""
_FONT = 'font-family="sans-serif" font-size="11" fill="#333"'
_COLOURS = ("#1f6fb4", "#d1495b", "#2e8b57", "#8e5ea2", "#c98b1b", "#3aa6a6", "#777777", "#a0522d")
_DASHES = ("", "5 3", "2 2")
_AIR = 0.06
"""Share of an axis that is kept free at its ends."""
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Point:
    """A value where it stands on the axis, with the ends of its interval if it has any."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of one method; `reference` is drawn in grey without a name of its own colour (the paper's)."""

    name: str
    points: tuple[Point, ...]
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. `labels`: words for the places 0, 1, 2, ... where x is no number. `log`: x by its
    logarithm."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    labels: tuple[str, ...] = ()
    log: bool = False


def svg(panels: Sequence[Panel]) -> str:
    """The panels in one row with one legend; the same text for the same panels."""
    names = list(dict.fromkeys(curve.name for panel in panels for curve in panel.curves if curve.points))
    step = _WIDTH + _LEFT + _RIGHT
    body = "".join(_panel(panel, number * step, names) for number, panel in enumerate(panels))
    greys = {curve.name for panel in panels for curve in panel.curves if curve.reference}
    body += "".join(
        _sample(name, len(panels) * step + 4, _TOP + 8 + 16 * number, _style(name, names, name in greys))
        for number, name in enumerate(names)
    )
    width = len(panels) * step + _LEGEND
    height = max(_HEIGHT, 16 * len(names)) + _TOP + _BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )


def _panel(panel: Panel, left: int, names: Sequence[str]) -> str:
    points = [point for curve in panel.curves for point in curve.points]
    x0, y0 = left + _LEFT, _TOP
    parts = [
        f'<rect x="{x0}" y="{y0}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999"/>',
        f'<text x="{x0}" y="{y0 - 12}" {_FONT}>{escape(panel.title)}: {escape(panel.y)}</text>',
        f'<text x="{x0 + _WIDTH / 2:g}" y="{y0 + _HEIGHT + 34}" text-anchor="middle" {_FONT}>'
        f"{escape(panel.x)}</text>",
    ]
    if not points:
        return "".join(parts)
    ends = [end for one in points for end in (one.y, one.low, one.high) if end is not None]
    y_low, y_high = _span(min(ends), max(ends))
    scaled = [_scale(one.x, panel.log) for one in points]
    x_low, x_high = _span(min(scaled), max(scaled))

    def across(x: float) -> float:
        return x0 + (_scale(x, panel.log) - x_low) / (x_high - x_low) * _WIDTH

    def up(y: float) -> float:
        return y0 + (1 - (y - y_low) / (y_high - y_low)) * _HEIGHT

    for tick in _ticks(y_low, y_high):
        parts.append(
            f'<line x1="{x0}" y1="{up(tick):.1f}" x2="{x0 + _WIDTH}" y2="{up(tick):.1f}" stroke="#eee"/>'
            f'<text x="{x0 - 5}" y="{up(tick) + 4:.1f}" text-anchor="end" {_FONT}>{tick:g}</text>'
        )
    for x in sorted({one.x for one in points}):
        label = panel.labels[int(x)] if panel.labels else _short(x)
        parts.append(
            f'<text x="{across(x):.1f}" y="{y0 + _HEIGHT + 16}" text-anchor="middle" {_FONT}>'
            f"{escape(label)}</text>"
        )
    for curve in panel.curves:
        parts.append(_curve(curve, _style(curve.name, names, curve.reference), across, up))
    return "".join(parts)


def _curve(curve: Curve, style: tuple[str, str], across, up) -> str:
    colour, dashes = style
    places = sorted(curve.points, key=lambda one: one.x)
    path = " ".join(f"{across(one.x):.1f},{up(one.y):.1f}" for one in places)
    parts = [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6" '
        f'stroke-dasharray="{dashes}"/>'
    ]
    for one in places:
        if one.low is not None and one.high is not None:
            parts.append(
                f'<line x1="{across(one.x):.1f}" y1="{up(one.low):.1f}" x2="{across(one.x):.1f}" '
                f'y2="{up(one.high):.1f}" stroke="{colour}" stroke-opacity="0.45"/>'
            )
        parts.append(f'<circle cx="{across(one.x):.1f}" cy="{up(one.y):.1f}" r="3" fill="{colour}"/>')
    return "".join(parts)


def _sample(name: str, x: float, y: float, style: tuple[str, str]) -> str:
    colour, dashes = style
    return (
        f'<line x1="{x}" y1="{y}" x2="{x + 22}" y2="{y}" stroke="{colour}" stroke-width="1.6" '
        f'stroke-dasharray="{dashes}"/><text x="{x + 27}" y="{y + 4}" {_FONT}>{escape(name)}</text>'
    )


def _style(name: str, names: Sequence[str], reference: bool) -> tuple[str, str]:
    number = names.index(name) if name in names else 0
    if reference:
        return "#aaaaaa", "4 3"
    return _COLOURS[number % len(_COLOURS)], _DASHES[number // len(_COLOURS) % len(_DASHES)]


def _scale(x: float, log: bool) -> float:
    return math.log10(x) if log else x


def _span(low: float, high: float) -> tuple[float, float]:
    """Limits of an axis, with some air at both ends."""
    air = _AIR * (high - low) or 0.5 * max(abs(high), 1e-3)
    return low - air, high + air


def _short(x: float) -> str:
    for size, letter in ((1_000_000, "M"), (1000, "K")):
        if abs(x) >= size:
            return f"{x / size:g}{letter}"
    return f"{x:g}"


def _ticks(low: float, high: float) -> list[float]:
    """About `_TICKS` round numbers between the ends."""
    raw = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(one * power for one in (1, 2, 5, 10) if one * power >= raw)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]
