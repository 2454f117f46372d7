"""Curves of a metric over the values of several dials, side by side (Fig. 3). Needs matplotlib (extra
`plots`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graftjax.files import replacing, writing

COLUMNS = 3
"""Panels in a row."""
_COLOURS = ("#1f6fb2", "#b0591b", "#147a4b", "#7b4bb3")


@dataclass(frozen=True, slots=True)
class Curve:
    """One method over the values of one dial."""

    label: str
    values: tuple[float, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SweepPanel:
    """One dial."""

    title: str
    axis: str
    curves: tuple[Curve, ...]
    default: float | None = None
    """Marked by a dashed line."""
    reference: float | None = None
    """A horizontal line, for example the search by exact gains."""
    log: bool = False


def sweep_plot(panels: Sequence[SweepPanel], path: Path, metric: str = "F1") -> bool:
    """Draw the panels into a file; False where matplotlib is missing. Raises GraftError when the file can't
    be
    written."""
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return False
    rows = -(-len(panels) // COLUMNS)
    canvas = Canvas(figsize=(4.2 * min(COLUMNS, len(panels)), 3.1 * rows), layout="constrained")
    axes = canvas.subplots(rows, min(COLUMNS, len(panels)), squeeze=False).ravel()
    for axis, panel in zip(axes, panels, strict=False):
        for curve, colour in zip(panel.curves, _COLOURS * 2, strict=False):
            down = [mean - low for mean, low in zip(curve.means, curve.lows, strict=True)]
            up = [high - mean for mean, high in zip(curve.means, curve.highs, strict=True)]
            axis.errorbar(
                curve.values, curve.means, yerr=[down, up], label=curve.label, color=colour,
                marker="o", markersize=4, capsize=2, linewidth=1.3,
            )  # fmt: skip
        if panel.default is not None:
            axis.axvline(panel.default, color="#888888", linestyle="--", linewidth=1)
        if panel.reference is not None:
            axis.axhline(panel.reference, color="#888888", linestyle=":", linewidth=1)
        if panel.log:
            axis.set_xscale("log")
        axis.set_title(panel.title, fontsize=10)
        axis.set_xlabel(panel.axis, fontsize=9)
        axis.set_ylabel(metric, fontsize=9)
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=8)
        axis.legend(fontsize=7)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    with writing(path), replacing(path) as draft:
        # No date and fixed ids, so that the same figures give the same file.
        import matplotlib

        with matplotlib.rc_context({"svg.hashsalt": "graftjax"}):
            canvas.savefig(draft, format=path.suffix.lstrip(".") or "svg", metadata=_metadata(path))
    return True


def _metadata(path: Path) -> dict[str, None] | None:
    return {"Date": None} if path.suffix == ".svg" else None
