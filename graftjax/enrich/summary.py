"""All records of an enrichment experiment in one summary, with intervals over sources.

Letters: Q sources of a task, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from graftjax.enrich.runs import DOWNSTREAM, LOWER_IS_BETTER, REFERENCES
from graftjax.evaluate.comparison import by_method
from graftjax.evaluate.metrics import RESAMPLES
from graftjax.evaluate.paper import paper_scores
from graftjax.evaluate.significance import Record
from graftjax.results.expected import Figure, figure_name

RETRIEVAL = ("recall", "precision", "f1")
OURS = ("graft-fill", "graft")
"""What is compared with the peers: GRAFT when it spends the whole budget, and when it stops by itself."""
TOLERANCES = {"recall": 0.03, "precision": 0.03, "f1": 0.03, "nrmse": 0.03, "accuracy": 0.02}
"""Of a mean over ten sources."""

Values = dict[str, dict[str, float]]
"""Source → metric → mean over the runs that scored it."""


def values_of(records: Sequence[Record]) -> Values:
    """Per source its metrics, averaged over runs."""
    rows: dict[str, dict[str, list[float]]] = {}
    for record in records:
        for one in record["per_query"]:
            own = rows.setdefault(one["id"], {})
            for name in RETRIEVAL:
                own.setdefault(name, []).append(one[name])
            for name in DOWNSTREAM[record["task"]]:
                own.setdefault(name, []).append(one["downstream"][name])
    return {
        id: {name: float(np.mean(found)) for name, found in own.items()} for id, own in sorted(rows.items())
    }


def figures_of(records: Sequence[Record]) -> dict[str, Figure]:
    """A figure for each label, method, budget and metric, the paper's beside it."""
    found: dict[str, Figure] = {}
    for (lake, budget, method), runs in cells(records).items():
        values = values_of(runs)
        skipped = max(record["n_skipped"] for record in runs)
        for metric in (*RETRIEVAL, *DOWNSTREAM[runs[0]["task"]]) if values else ():
            matrix = np.array([[own[metric]] for own in values.values()])
            drawn = weights(len(matrix)) @ matrix
            low, high = np.quantile(drawn, [0.025, 0.975])
            paper = paper_scores(lake, budget).get("graft" if method == "graft-fill" else method, {})
            if metric == "rmse":  # in the units of other targets
                paper = {}
            found[figure_name(lake, method, budget, metric)] = Figure(
                value=float(matrix.mean()),
                low=float(low),
                high=float(high),
                by_seed=_by_seed(runs, metric) if len(runs) > 1 else (),
                n=len(matrix),
                runs=len(runs),
                skipped=skipped,
                tolerance=TOLERANCES.get(metric),
                paper=None if method in REFERENCES or method == "graft" else paper.get(metric),
            )
    return found


def cells(records: Sequence[Record]) -> dict[tuple[str, int, str], list[Record]]:
    """(label, L, method) → its runs, in the order of the records."""
    found: dict[tuple[str, int, str], list[Record]] = {}
    for record in records:
        found.setdefault((record["lake"], record["L"], record["method"]), []).append(record)
    return found


def details_of(records: Sequence[Record]) -> dict[str, Any]:
    """Gap closed by each method, and GRAFT against each peer; [value, low, high], paired over sources."""
    gap: dict[str, Any] = {}
    against: list[dict[str, Any]] = []
    by_cell = cells(records)
    for lake, budget in dict.fromkeys((lake, budget) for lake, budget, _ in by_cell):
        own = {m: runs for (other, at, m), runs in by_cell.items() if (other, at) == (lake, budget)}
        metric = DOWNSTREAM[next(iter(own.values()))[0]["task"]][0]
        if "base" in own and "oracle" in own:
            for method, runs in own.items():
                if method not in REFERENCES:
                    closed = gap_closed(runs, own["base"], own["oracle"], metric)
                    gap.setdefault(lake, {}).setdefault(budget, {})[method] = closed
        for ours in OURS:
            for peer in own if ours in own else ():
                if not peer.startswith("graft") and peer not in REFERENCES:
                    row = {"lake": lake, "L": budget, "ours": ours, "peer": peer}
                    for name in ("recall", "f1", metric):
                        row[name] = difference(own[ours], own[peer], name)
                    row["f1_gain"] = gain(own[ours], own[peer], "f1")
                    against.append(row)
    return {"gap_closed": gap, "differences": against}


def difference(a: Sequence[Record], b: Sequence[Record], metric: str) -> list[float] | None:
    """Mean of a minus mean of b, over the sources that both scored."""
    pair = _paired([a, b], metric)
    if pair is None:
        return None
    matrix, drawn = pair
    ends = np.quantile(drawn[:, 0] - drawn[:, 1], [0.025, 0.975])
    return _rounded([matrix[:, 0].mean() - matrix[:, 1].mean(), *ends])


def gain(a: Sequence[Record], b: Sequence[Record], metric: str) -> list[float] | None:
    """Mean of a over mean of b, minus 1; None where b has 0 in a resample."""
    pair = _paired([a, b], metric)
    if pair is None or (pair[1][:, 1] <= 0).any():
        return None
    matrix, drawn = pair
    ends = np.quantile(drawn[:, 0] / drawn[:, 1] - 1, [0.025, 0.975])
    return _rounded([matrix[:, 0].mean() / matrix[:, 1].mean() - 1, *ends])


def gap_closed(
    runs: Sequence[Record], base: Sequence[Record], oracle: Sequence[Record], metric: str
) -> list[float] | None:
    """Share of the way from the base table alone (0) to all gold pieces (1), in the means over sources.

    None when all gold pieces don't help in some resample.
    """
    pair = _paired([runs, base, oracle], metric)
    sign = -1.0 if metric in LOWER_IS_BETTER else 1.0
    if pair is None:
        return None
    matrix, drawn = pair
    whole = sign * (drawn[:, 2] - drawn[:, 1])
    if (whole <= 0).any():
        return None
    means = matrix.mean(axis=0)
    ends = np.quantile(sign * (drawn[:, 0] - drawn[:, 1]) / whole, [0.025, 0.975])
    return _rounded([(means[0] - means[1]) / (means[2] - means[1]), *ends])


def weights(sources: int, resamples: int = RESAMPLES) -> Float[np.ndarray, "B Q"]:
    """Share of each source in each resample, the same for the same number of sources."""
    rng = np.random.default_rng(0)
    return rng.multinomial(sources, np.full(sources, 1 / sources), size=resamples) / sources


def _paired(groups: Sequence[Sequence[Record]], metric: str):
    """(values [Q, groups], resampled means [B, groups]) over the sources that all groups have."""
    values = [values_of(group) for group in groups]
    ids = sorted(set.intersection(*(set(one) for one in values)))
    if not ids:
        return None
    matrix = np.array([[one[id][metric] for one in values] for id in ids])
    return matrix, weights(len(ids)) @ matrix


def _by_seed(runs: Sequence[Record], metric: str) -> tuple[float, ...]:
    return tuple(record["metrics"][metric] for record in runs if record["metrics"])


def _rounded(values: Sequence[Any]) -> list[float]:
    return [round(float(value), 4) for value in values]


def leak_lines(records: Sequence[Record]) -> list[str]:
    """With shuffled targets: what each method gets beside the trivial guess, one line a method and label.

    More rows make a predictor that learns from noise less wrong, so a method may come nearer to the trivial
    guess than the base table does; only beyond the guess there is something to be learnt.
    """
    lines = []
    for (lake, budget, method), runs in cells(records).items():
        metric = DOWNSTREAM[runs[0]["task"]][0]
        skill = leak_skill(runs)
        lines.append(f"{lake} L={budget} {method}: mean gain over the trivial guess {skill:+.4f} ({metric})")
    return lines


def leak_skill(runs: Sequence[Record]) -> float:
    """Mean over sources of how far a score is beyond the trivial guess; at most 0 when nothing leaks, but for
    chance."""
    gains: dict[str, list[float]] = {}
    for record in runs:
        metric = DOWNSTREAM[record["task"]][0]
        sign = -1.0 if metric in LOWER_IS_BETTER else 1.0
        for one in record["per_query"]:
            found: Mapping[str, float] = one["downstream"]
            gains.setdefault(one["id"], []).append(sign * (found[metric] - found["trivial"]))
    return float(np.mean([np.mean(one) for one in gains.values()])) if gains else 0.0


__all__ = ["by_method", "cells", "details_of", "figures_of", "leak_lines", "leak_skill", "values_of"]
