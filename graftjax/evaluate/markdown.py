"""Summaries as Markdown, and blocks of a document that are written by a program.

A block lies between `<!-- name: made by ... -->` and `<!-- end of name -->`; what is in between is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graftjax.errors import GraftError
from graftjax.evaluate.comparison import BEST, OURS
from graftjax.evaluate.paper import paper_budgets, paper_latency_s, paper_scores
from graftjax.files import alone_in, replacing, writing

TIMED = 10
"""The budget whose time a question is shown, as in the paper's Table 6."""
_PAPER_NAMES = {"graft": "GRAFT", "jar": "JAR", "dtr": "DTR", "mtr": "MTR", "pneuma": "Pneuma"}


def replace_block(text: str, name: str, made_by: str, lines: Sequence[str]) -> str:
    """`text` with its block `name` renewed; GraftError when it has none."""
    pattern = re.compile(rf"<!-- {re.escape(name)}: .*?<!-- end of {re.escape(name)} -->", re.DOTALL)
    if not pattern.search(text):
        raise GraftError(f"the document has no block '<!-- {name}: ... -->'")
    block = "\n".join(
        [f"<!-- {name}: made by {made_by}; do not edit -->", "", *lines, "", f"<!-- end of {name} -->"]
    )
    return pattern.sub(lambda _: block, text)


def renewed(document: Path, blocks: Mapping[str, Sequence[str]], made_by: str) -> tuple[str, str]:
    """The document's text as it is, and with its blocks (name → lines) renewed.

    GraftError when it can't be read, or has no block of a name.
    """
    try:
        before = document.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GraftError(f"{document}: can't be read ({reason})") from error
    after = before
    for name, lines in blocks.items():
        after = replace_block(after, name, made_by, lines)
    return before, after


def renew(document: Path, blocks: Mapping[str, Sequence[str]], made_by: str) -> None:
    """Write the document with its blocks renewed, in one step; GraftError as `renewed`, or when it can't be
    written: then it stays as it is."""
    with writing(document), alone_in(document.parent):
        _, text = renewed(document, blocks, made_by)
        with replacing(document) as draft:
            draft.write_text(text, encoding="utf-8")


def retrieval_lines(lake: str, summary: Mapping[str, Any], paper: str | None = None) -> list[str]:
    """One table of a lake: methods down, F1 with its interval and Sufficiency by budget across.

    `paper`: the table of the paper whose rows are added for the budgets shown; default the lake's own.
    """
    budgets: Mapping[int, Any] = summary["budgets"]
    shown = sorted(budgets)
    last, timed = shown[-1], TIMED if TIMED in budgets else shown[-1]
    heads = [part for budget in shown for part in (f"L={budget} F1", "Suf")]
    rows = [[summary["title"], *heads, f"recall, L={last}", f"ms, L={timed}"]]
    for method in dict.fromkeys(name for budget in shown for name in budgets[budget]):
        found = [budgets[budget].get(method, {}) for budget in shown]
        cells = [part for one in found for part in (_interval(one.get("f1")), _mean(one.get("sufficiency")))]
        recall, time = budgets[last].get(method, {}), budgets[timed].get(method, {})
        ms = f"{time['ms_mean']:,.0f}" if "ms_mean" in time else "–"
        rows.append([_bold(method), *cells, _mean(recall.get("recall")), ms])
    rows += _paper_rows(paper or lake, shown, last, timed)
    return table(rows)


def _paper_rows(paper: str, shown: Sequence[int], last: int, timed: int) -> list[list[str]]:
    known = paper_budgets(paper)
    methods = dict.fromkeys(name for budget in shown for name in paper_scores(paper, budget))
    rows = []
    for method in methods if any(budget in known for budget in shown) else ():
        scores = [paper_scores(paper, budget).get(method) for budget in shown]
        cells = [
            part
            for one in scores
            for part in ((f"{one['f1']:.3f}", f"{one['sufficiency']:.3f}") if one else ("–", "–"))
        ]
        final = paper_scores(paper, last).get(method)
        seconds = paper_latency_s(method) if (paper, timed) == ("spider", TIMED) else None
        ms = "–" if seconds is None else f"{1000 * seconds:,.0f}"
        name = f"*paper: {_PAPER_NAMES.get(method, method)}*"
        rows.append([name, *cells, f"{final['recall']:.3f}" if final else "–", ms])
    return rows


def gain_lines(gains: Mapping[str, Mapping[str, Sequence[float | None]]]) -> list[str]:
    """What `OURS` gains over each peer in the mean over lakes and budgets."""
    rows = [[f"{OURS} against", "F1", "Sufficiency", "recall"]]
    for peer, by_metric in gains.items():
        cells = [_percent(by_metric[metric]) for metric in ("f1", "sufficiency", "recall")]
        rows.append([f"*{peer}*" if peer == BEST else peer, *cells])
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table whose first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]


def _bold(method: str) -> str:
    return f"**{method}**" if method.startswith("graft") else method


def _interval(found: Sequence[float] | None) -> str:
    return "–" if found is None else f"{found[0]:.3f} [{found[1]:.2f}, {found[2]:.2f}]"


def _mean(found: Sequence[float] | None) -> str:
    return "–" if found is None else f"{found[0]:.3f}"


def _percent(found: Sequence[float | None]) -> str:
    value, low, high = found
    if value is None:
        return "–"
    ends = [("∞" if end is None else f"{100 * end:+.0f}") for end in (low, high)]
    return f"{100 * value:+.1f} % [{ends[0]}, {ends[1]}]"
