"""All methods on all lakes in one summary: means with intervals, and GRAFT's gains over its peers.

Letters: Q queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graftjax.evaluate.metrics import METRICS, bootstrap_interval
from graftjax.evaluate.significance import (
    Cell,
    Estimate,
    Record,
    average_gain,
    cells_of,
    compare,
    scores_by_query,
)

OURS = "graft-fill"
"""What is compared with the peers: GRAFT when it spends the whole budget, as they all do."""
BEST = "best of each cell"
GAINED = ("f1", "sufficiency", "recall")


def summary(records: Sequence[Record]) -> dict[str, Any]:
    """Lake → budget → method → figures, and the gains of `OURS` over every peer.

    Runs of one method that differ by seed alone are averaged query by query; intervals are over queries.
    """
    lakes: dict[str, Any] = {}
    for lake in dict.fromkeys(record["lake"] for record in records):
        own = [record for record in records if record["lake"] == lake]
        budgets: dict[int, Any] = {}
        for budget in sorted({record["L"] for record in own}):
            here = [record for record in own if record["L"] == budget]
            budgets[budget] = {method: _figures(runs) for method, runs in by_method(here).items()}
        lakes[lake] = {"title": own[0].get("lake_title", lake), "budgets": budgets}
    return {"lakes": lakes, "gains": gains(records), "differences": differences(records)}


def by_method(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The runs of each method, in the order of their first appearance."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record["method"], []).append(record)
    return found


def _figures(runs: Sequence[Record]) -> dict[str, Any]:
    """[mean, low, high] of each metric, tables and milliseconds a query, runs, queries without a score."""
    rows = scores_by_query(runs)
    out: dict[str, Any] = {
        "runs": len(runs),
        "queries": len(rows),
        "skipped": max(record["n_skipped"] for record in runs),
    }
    if not rows:
        return out
    matrix = np.array([*rows.values()])  # [Q, 4]
    for position, name in enumerate(METRICS):
        low, high = bootstrap_interval(matrix[:, position])
        out[name] = [round(float(value), 4) for value in (matrix[:, position].mean(), low, high)]
    out["seeds_f1"] = [round(record["metrics"]["f1"], 4) for record in runs if record["metrics"]]
    out["tables"] = round(float(np.mean([record["mean_retrieved"] for record in runs])), 2)
    for name in ("mean", "p50", "p95"):
        out[f"ms_{name}"] = round(float(np.mean([record["latency_ms"][name] for record in runs])), 2)
    return out


def gains(records: Sequence[Record]) -> dict[str, Any]:
    """Relative gain of `OURS` over each peer, averaged over all lakes and budgets, with its interval.

    `best of each cell` is whichever peer is best there by that metric: no single method, so it asks more than
    the paper's comparison with its strongest baseline does.
    """
    methods = by_method(records)
    found: dict[str, Any] = {}
    if OURS not in methods:
        return found
    for peer in _peers(records):
        gain = average_gain(*_same_cells(methods[OURS], methods[peer])).gain
        found[peer] = {metric: _rounded(gain[metric]) for metric in GAINED}
    if found:
        best = {}
        for metric in GAINED:
            chosen = _best_of_cells(records, metric)
            best[metric] = _rounded(average_gain(*_same_cells(methods[OURS], chosen)).gain[metric])
        found[BEST] = best
    return found


def differences(records: Sequence[Record]) -> list[dict[str, Any]]:
    """`OURS` against each peer in each lake and budget: difference with its interval, gain, p value."""
    methods = by_method(records)
    rows = []
    for peer in _peers(records) if OURS in methods else ():
        ours, theirs = _scored(methods[OURS]), _scored(methods[peer])
        for lake, budget in (cell for cell in theirs if cell in ours):
            found = compare(ours[lake, budget], theirs[lake, budget])
            for metric in ("f1", "sufficiency"):
                rows.append(
                    {
                        "lake": lake,
                        "L": budget,
                        "peer": peer,
                        "metric": metric,
                        "difference": _rounded(found.difference[metric]),
                        "gain": _rounded(found.gain[metric]),
                        "p": round(found.p_value[metric], 4),
                    }
                )
    return rows


def _peers(records: Sequence[Record]) -> list[str]:
    """Methods other than GRAFT that have a score, in the order of the records."""
    scored = by_method([record for record in records if record["metrics"]])
    return [name for name in scored if not name.startswith("graft")]


def _scored(records: Sequence[Record]) -> dict[Cell, list[Record]]:
    """The runs of each lake and budget that have a score."""
    return cells_of([record for record in records if record["metrics"]])


def _same_cells(a: Sequence[Record], b: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """The runs of both in the lakes and budgets that both have."""
    first, second = _scored(a), _scored(b)
    shared = [cell for cell in first if cell in second]
    return [one for cell in shared for one in first[cell]], [one for cell in shared for one in second[cell]]


def _best_of_cells(records: Sequence[Record], metric: str) -> list[Record]:
    """In each lake and budget, the runs of the peer with the best mean, under one name."""
    peers = {name: _scored(by_method(records)[name]) for name in _peers(records)}
    best: dict[Cell, list[Record]] = {}
    for cells in peers.values():
        for cell, runs in cells.items():
            if cell not in best or _mean(runs, metric) > _mean(best[cell], metric):
                best[cell] = runs
    return [{**record, "method": BEST} for runs in best.values() for record in runs]


def _mean(runs: Sequence[Record], metric: str) -> float:
    return float(np.mean([record["metrics"][metric] for record in runs]))


def _rounded(found: Estimate) -> list[float | None]:
    """[value, low, high]."""
    return [None if part is None else round(part, 4) for part in (found.value, found.low, found.high)]
