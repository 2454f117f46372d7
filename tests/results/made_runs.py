"""Small result files with known scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graftjax.evaluate.metrics import METRICS, mean_scores, score, score_matrix
from graftjax.types import TableId

GOLD = {"q0": ["a", "b"], "q1": ["c"], "q2": ["d", "e", "f"]}


def made_run(
    found: dict[str, list[str]],
    *,
    skipped: tuple[str, ...] = (),
    gold: dict[str, list[str]] | None = None,
    tables: int = 10,
    config: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A run whose answers are `found`: query → names of tables."""
    gold = gold or GOLD
    scores = {
        id: score([TableId("s", one) for one in names], [TableId("s", one) for one in gold[id]])
        for id, names in found.items()
    }
    return {
        "lake": "spider",
        "method": "graft",
        "L": 5,
        "seed": 0,
        "n_queries": len(found) + len(skipped),
        "n_skipped": len(skipped),
        "metrics": mean_scores(score_matrix([*scores.values()])) if found else None,
        "mean_retrieved": 2.0 if found else None,
        "latency_ms": {"mean": 1.0, "p50": 1.0, "p95": 1.0} if found else None,
        "per_query": [
            {
                "id": id,
                "retrieved": [["s", one] for one in names],
                "gold": [["s", one] for one in gold[id]],
                **{name: getattr(scores[id], name) for name in METRICS[:3]},
                "sufficient": bool(scores[id].sufficiency),
            }
            for id, names in found.items()
        ],
        "skipped": [{"id": id, "reason": "ValueError: boom"} for id in skipped],
        "config": {"lake_statistics": {"tables": tables}, **(config or {})},
        "environment": {},
        **fields,
    }


ALL = {"q0": ["a", "b"], "q1": ["c"], "q2": ["d", "e", "f"]}
HALF = {"q0": ["a", "x"], "q1": ["c"], "q2": ["x"]}


def put(path: Path, run: dict[str, Any]) -> Path:
    """Write a run's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run))
    return path
