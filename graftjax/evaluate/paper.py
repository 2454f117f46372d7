"""The paper's own figures, for printing beside ours."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def _figures() -> dict[str, Any]:
    return yaml.safe_load(files("graftjax.evaluate").joinpath("paper.yaml").read_text(encoding="utf-8"))


def paper_budgets(table: str) -> tuple[int, ...]:
    """Budgets L that the paper reports for `table` (spider, bird, ...); none for another lake."""
    return tuple(_figures().get(table, {}).get("budgets", {}))


def paper_scores(table: str, budget: int) -> dict[str, dict[str, float]]:
    """Method → metric → value of the paper's table at one budget; empty when it has none (Tables 2-5)."""
    entry = _figures().get(table, {})
    rows = entry.get("budgets", {}).get(budget, {})
    return {method: dict(zip(entry["metrics"], values, strict=True)) for method, values in rows.items()}


def paper_statistics(lake: str) -> dict[str, int]:
    """Queries, tables, columns and rows of Table 1; empty for another lake."""
    return dict(_figures()["statistics"].get(lake, {}))


def paper_latency_s(method: str) -> float | None:
    """Seconds per query in Table 6 (Spider, L=10), on the authors' machine; None for another method."""
    return _figures()["latency_s"].get(method)
