"""Plain-text tables: ours beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graftjax.evaluate.metrics import METRICS, bootstrap_interval, f1_of_means
from graftjax.evaluate.paper import paper_latency_s, paper_scores, paper_statistics
from graftjax.evaluate.significance import Record, scores_by_query
from graftjax.types import Skip

_COUNTS = ("queries", "tables", "columns", "rows")
_HEADS = ("", "method", "recall", "precision", "F1", "sufficiency", "F1 of means", "tables", "ms/query")
_EXAMPLES = 3


def statistics_table(title: str, lake: str, counts: Mapping[str, int], skips: Sequence[Skip] = ()) -> str:
    """Queries, tables, columns and rows of a lake, beside the paper's Table 1 where it has the lake."""
    rows = [("", *_COUNTS), (title, *(f"{counts[name]:,}" for name in _COUNTS))]
    paper = paper_statistics(lake)
    if paper:
        rows.append(("paper (Table 1)", *(f"{paper[name]:,}" for name in _COUNTS)))
    lines = align(rows)
    lines += [f"{name}: {count:,}" for name, count in counts.items() if name not in _COUNTS]
    lines += [f"  not read: {skip.origin}: {skip.reason}" for skip in skips[:_EXAMPLES]]
    if len(skips) > _EXAMPLES:
        lines.append(f"  ... and {len(skips) - _EXAMPLES} more")
    return "\n".join(lines)


def retrieval_table(records: Sequence[Record], *, title: str, encoder: str, paper: str) -> str:
    """One block a budget: our methods as mean [95 % interval], then the figures of the paper's table `paper`.

    Runs of one method and budget that differ by seed alone are averaged query by query, and the interval
    is over queries. A method whose queries were all skipped shows dashes.
    """
    lines: list[str] = []
    by_lake = {record["lake"] for record in records}
    for budget in sorted({record["L"] for record in records}):
        rows: list[tuple[str, ...]] = [_HEADS]
        for method in dict.fromkeys(record["method"] for record in records):
            runs = [record for record in records if record["method"] == method and record["L"] == budget]
            if runs:
                rows.append(("ours", method, *_our_cells(runs)))
        for method, values in paper_scores(paper, budget).items():
            # The paper timed one setting: Spider at L=10.
            seconds = paper_latency_s(method) if (paper, budget) == ("spider", 10) else None
            cells = [f"{values[name]:.3f}" for name in METRICS]
            mean = f"{f1_of_means(values['recall'], values['precision']):.3f}"
            rows.append(
                ("paper", method, *cells, mean, "", "" if seconds is None else f"{1000 * seconds:.0f}")
            )
        lines += [f"L={budget}   lake: {title}   encoder: {encoder}", *align(rows), ""]
    lines.append(
        "ours: mean over queries [95 % bootstrap interval]; F1 is the mean of the queries' F1. The paper's F1"
        " agrees with the harmonic mean of its mean recall and precision: compare it with 'F1 of means'."
    )
    if by_lake == {paper} and "subset" not in title:
        lines.append("The paper's rows are for its own sample of queries and shards of the same benchmark.")
    else:
        lines.append(f"The paper's rows are for {paper}: other tables and queries, for orientation only.")
    lines += skip_lines(records)
    return "\n".join(lines)


def latency_table(record: Record, title: str) -> str:
    """Milliseconds per question beside the paper's Table 6, where the time goes and what else it costs."""
    rows: list[tuple[str, ...]] = [("method", "mean", "p50", "p95", "skipped", "recompiles", "paper's mean")]
    for method, row in record["methods"].items():
        times, seconds = row["latency_ms"], paper_latency_s(method)
        cells = [f"{times[name]:.1f}" for name in ("mean", "p50", "p95")] if times else ["-"] * 3
        theirs = "" if seconds is None else f"{1000 * seconds:.0f}"
        guided = " (learned)" if row["guided"] else ""
        counts = str(row["n_skipped"]), str(row["recompiles_after_warmup"])
        rows.append((method + guided, *cells, *counts, theirs))
    many, exact = record["queries_per_second"], record["exact_against_beam"]
    lines = [f"ms per question, L={record['L']}   lake: {title}", *align(rows), ""]
    stages = (f"{name} {times['mean']:.1f}" for name, times in record["stages_ms"].items())
    lines.append(f"graft by stage, ms: {', '.join(stages)}")
    lines.append(f"questions per second: {many['threads']:.0f} in threads, {many['stacked']:.0f} stacked")
    if exact["n_enumerated"]:
        lines.append(
            f"graft-exact enumerated {exact['n_enumerated']} of {exact['n_questions']} questions; the beam "
            f"by exact gains found the optimum in {100 * exact['optimum_found']:.1f} %, mean gap in U "
            f"{exact['decided_gap']['mean']:.4f}, {exact['time_ratio']:.1f} times as fast "
            f"({exact['beam_ms']:.1f} ms against {exact['exact_ms']['mean']:.1f}, search alone)"
        )
    lines.append(
        f"memory: {record['peak_memory_mib']:.0f} MiB at most, index {record['index_mib']:.0f} MiB on disk"
    )
    if record["compile_s"] is not None:
        lines.append(f"compilation without any cache: {record['compile_s']:.1f} s")
    return "\n".join(lines)


def skip_lines(records: Sequence[Record]) -> list[str]:
    """What was left out of the scores, and recompilations, one line a finding."""
    lines = []
    for record in records:
        name = f"{record['method']} L={record['L']} seed={record['seed']}"
        if record["n_skipped"]:
            first = record["skipped"][0]
            lines.append(
                f"{name}: {record['n_skipped']} of {record['n_queries']} queries skipped, not scored "
                f"(first: {first['id']}: {first['reason']})"
            )
        if record["recompiles_after_warmup"]:
            lines.append(f"{name}: {record['recompiles_after_warmup']} programs compiled after the warm-up")
    return lines


def _our_cells(runs: Sequence[Record]) -> list[str]:
    matrix = np.array([*scores_by_query(runs).values()])  # [Q, 4]
    if not len(matrix):
        return ["-"] * (len(_HEADS) - 2)
    means = matrix.mean(axis=0)
    cells = []
    for position in range(len(METRICS)):
        low, high = bootstrap_interval(matrix[:, position])
        cells.append(f"{means[position]:.3f} [{low:.3f}, {high:.3f}]")
    timed = [record for record in runs if record["latency_ms"]]
    latency = np.mean([record["latency_ms"]["mean"] for record in timed])
    size = np.mean([record["mean_retrieved"] for record in timed])
    return [*cells, f"{f1_of_means(means[0], means[1]):.3f}", f"{size:.1f}", f"{latency:.1f}"]


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with their columns under each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
