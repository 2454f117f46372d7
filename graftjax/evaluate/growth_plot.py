"""Small log-log plots side by side, as one SVG text: points, fitted line, exponent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from graftjax.evaluate.growth import Growth

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 270, 200, 56, 36, 34
_FONT = 'font-family="sans-serif" font-size="11" fill="#333"'
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity over the sizes."""

    title: str
    sizes: tuple[float, ...]
    values: tuple[float, ...]
    growth: Growth | None


def svg(panels: Sequence[Panel]) -> str:
    """The panels in one row; values that are not positive are left out."""
    body = "".join(_panel(panel, i * (_WIDTH + _LEFT + 20)) for i, panel in enumerate(panels))
    width, height = len(panels) * (_WIDTH + _LEFT + 20), _HEIGHT + _TOP + _BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )


def _panel(panel: Panel, left: int) -> str:
    points = [(n, y) for n, y in zip(panel.sizes, panel.values, strict=True) if n > 0 and y > 0]
    if not points:
        return ""
    x_low, x_high = _span([n for n, _ in points])
    y_low, y_high = _span([y for _, y in points])

    def place(n: float, y: float) -> tuple[float, float]:
        across = (math.log(n) - math.log(x_low)) / (math.log(x_high) - math.log(x_low))
        up = (math.log(y) - math.log(y_low)) / (math.log(y_high) - math.log(y_low))
        return left + _LEFT + across * _WIDTH, _TOP + (1 - up) * _HEIGHT

    parts = [
        f'<rect x="{left + _LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999"/>'
    ]
    label = panel.title
    if panel.growth:
        label += f"   ~ n^{panel.growth.exponent:.2f}"
        (x1, y1), (x2, y2) = (place(n, panel.growth.at(n)) for n in (points[0][0], points[-1][0]))
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#888" '
            'stroke-dasharray="4 3"/>'
        )
    parts.append(f'<text x="{left + _LEFT}" y="{_TOP - 12}" {_FONT}>{escape(label)}</text>')
    for tick in _ticks(x_low, x_high):
        x, _ = place(tick, y_low)
        parts.append(
            f'<text x="{x:.1f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle" {_FONT}>{tick:g}</text>'
        )
    for tick in _ticks(y_low, y_high):
        _, y = place(x_low, tick)
        parts.append(
            f'<text x="{left + _LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" {_FONT}>{tick:g}</text>'
            f'<line x1="{left + _LEFT}" y1="{y:.1f}" x2="{left + _LEFT + _WIDTH}" y2="{y:.1f}" '
            'stroke="#eee"/>'
        )
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline points="{path}" fill="none" stroke="#1f6fb4" stroke-width="1.5"/>')
    parts += [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#1f6fb4"/>'
        for x, y in (place(*point) for point in points)
    ]
    return "".join(parts)


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Limits of an axis, with some air at both ends."""
    return min(values) / 1.3, max(values) * 1.3


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten in between; only the powers where these are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in _STEPS]
    inside = [tick for tick in ticks if low <= tick <= high]
    tens = [tick for tick in inside if math.isclose(math.log10(tick) % 1, 0, abs_tol=1e-9)]
    return inside if len(inside) <= 6 or len(tens) < 2 else tens
