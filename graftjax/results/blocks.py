"""Blocks of the README that are made of the figures on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graftjax.evaluate.markdown import gain_lines, retrieval_lines, table
from graftjax.results.cells import lakes_of
from graftjax.results.expected import Cell, Expected, Figure, cell_of

MADE_BY = "python -m graftjax.results readme"
PEERS_BY = "make reproduce-peers"
TABLES = {
    "peers": "2, 3, 6",
    "enrichment": "4, 5",
    "ablation_reward": "7",
    "ablation_sampler": "8",
    "ablation_intent": "9",
    "sensitivity": "Fig. 3",
    "case_study": "Fig. 4",
}
"""Experiment → where the paper has it."""
_BUDGET = 10
"""The budget whose rows are shown where an experiment has several: that of the paper's ablations."""
_OF_PEERS = {"graft-fill": ("f1", "sufficiency", "ms_mean"), "jar": ("f1", "sufficiency")}
"""What is shown of the long tables of the peers: GRAFT and the paper's strongest baseline."""
_DASH = "–"
_NOTE = (
    "Ours: mean [95 % interval]; F1 is a mean of F1, the paper's is taken from mean recall and precision, "
    "which gives higher figures. Times are of different machines."
)


def blocks(found: Mapping[str, Expected]) -> dict[str, dict[str, list[str]]]:
    """What made them → name of a block → its lines: `beside-paper`, one row a figure that the paper has too,
    and the tables of the peers when they are on record."""
    made = {MADE_BY: {"beside-paper": _beside(found)}}
    if "peers" in found:
        made[PEERS_BY] = _peers(found["peers"])
    return made


def _peers(peers: Expected) -> dict[str, list[str]]:
    """The blocks that peers.py makes of its runs, from its file alone."""
    own = {f"peers-{lake}": retrieval_lines(lake, one) for lake, one in lakes_of(peers).items()}
    return {**own, "peers-gains": gain_lines(peers.details["gains"])}


def _beside(found: Mapping[str, Expected]) -> list[str]:
    rows: list[Sequence[str]] = [("table", "what", "L", "metric", "ours", "paper")]
    missing = []
    for experiment, where in TABLES.items():
        if experiment not in found:
            missing.append(f"{experiment} ({where})")
            continue
        own = [(name, one) for name, one in found[experiment].figures.items() if one.paper is not None]
        rows += [_row(where, name, one) for name, one in own if _is_shown(experiment, cell_of(name))]
    lines = table(rows)
    lines += ["", _NOTE]
    if missing:
        lines += ["", f"Not on record yet: {', '.join(missing)}."]
    return lines


def _is_shown(experiment: str, cell: Cell | None) -> bool:
    if cell is None or cell.budget != _BUDGET:
        return cell is None
    return experiment != "peers" or cell.metric in _OF_PEERS.get(cell.method, ())


def _row(where: str, name: str, figure: Figure) -> tuple[str, ...]:
    cell = cell_of(name)
    what, metric = name.rpartition("/")[::2]
    if cell:
        what, metric = f"{cell.lake}, {cell.method}", cell.metric
    budget = str(cell.budget) if cell else ""
    return where, what, budget, metric, _shown(figure), _short(figure.paper)


def _shown(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return _short(figure.value)
    return f"{figure.value:.3f} [{figure.low:.2f}, {figure.high:.2f}]"


def _short(value: float | None) -> str:
    if value is None:
        return _DASH
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"
