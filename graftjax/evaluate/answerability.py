"""Answerability: does the gold SQL give the same answer over the retrieved shards as over everything?

It is Sufficiency as seen by whoever runs SQL on what was found: a sufficient answer set gives the same
answer by construction, an insufficient one may be lucky (the missing rows do not matter to the query).
Letters: Q queries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from tqdm import tqdm

from graftjax.errors import GraftError
from graftjax.evaluate.answers import PartialDatabase, Statement, same_answer
from graftjax.evaluate.cases import Case
from graftjax.evaluate.comparison import by_method
from graftjax.evaluate.markdown import table
from graftjax.evaluate.metrics import bootstrap_interval
from graftjax.files import read_json
from graftjax.lake.benchmark import Benchmark
from graftjax.types import TableId

Record = Mapping[str, Any]
"""A run as `graftjax.evaluate.runs.run_record` makes it."""
Shards = frozenset[TableId]
NOTHING: Shards = frozenset()

_UNSTEADY = re.compile(r"\b(random|randomblob|now|current_(date|time|timestamp))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer over some of a query's gold shards, compared with the full one."""

    equal: bool
    sufficient: bool
    reason: str = ""
    """Why there is no answer over these shards, or why an answer over all of them is another one."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One query with its verdicts."""

    gold: Shards = frozenset()
    failed: str = ""
    """Why there is no answer over the full database; then there are no verdicts."""
    empty: bool = False
    """The full answer has no rows."""
    trivial: bool = False
    """The answer over no rows at all is the full answer too (as most empty ones, or a count of 0)."""
    verdicts: Mapping[Shards, Verdict] | None = None
    """By the gold shards that were retrieved."""


def read_runs(folder: Path, lake: str) -> list[dict[str, Any]]:
    """The runs over a lake among the result files of a folder, GRAFT's first, then by method and budget.

    Raises GraftError for a file that is broken.
    """
    runs = []
    for path in sorted(folder.glob(f"{lake}_*_L*_seed*.json")):
        record = read_json(path)
        try:
            if record is None:
                raise ValueError("no JSON object")
            if record["lake"] == lake:
                _check(record)
                runs.append(record)
        except (KeyError, TypeError, ValueError) as error:
            raise GraftError(f"{path}: not the result file of a run ({error})") from error
    return sorted(runs, key=lambda r: (not r["method"].startswith("graft"), r["method"], r["L"], r["seed"]))


def _check(record: Record) -> None:
    kinds = {"method": str, "L": int, "seed": int, "per_query": list}
    for name, kind in kinds.items():
        if not isinstance(record[name], kind):
            raise ValueError(f"{name} is no {kind.__name__}")
    for one in record["per_query"]:
        if not isinstance(one["id"], str):
            raise ValueError("an id is no text")
        for name in ("retrieved", "gold"):
            _tables(one[name])


def _tables(pairs: Sequence[Sequence[str]]) -> Shards:
    return frozenset(TableId(source, name) for source, name in pairs)


def judge(
    benchmark: Benchmark, cases: Sequence[Case], records: Sequence[Record], *, progress: bool = True
) -> dict[str, Judged]:
    """Every query that some run answered, by id; each database is loaded once.

    Raises GraftError when the runs are over other shards than the benchmark's.
    """
    gold = {case.query.id: frozenset(case.gold) for case in cases}
    wanted: dict[str, set[Shards]] = {}
    for record in records:
        for one in record["per_query"]:
            if _tables(one["gold"]) != gold.get(one["id"]):
                raise GraftError(
                    f"{record['method']} L={record['L']} seed={record['seed']}: query {one['id']} has other "
                    "gold tables here; was the run made with other data?"
                )
            wanted.setdefault(one["id"], set()).add(_tables(one["retrieved"]) & gold[one["id"]])
    asked = sorted((case for case in cases if case.query.id in wanted), key=lambda case: case.query.db_id)
    paths = {path.stem: path for path in benchmark.databases}
    judged: dict[str, Judged] = {}
    with tqdm(total=len(asked), desc=f"{benchmark.name}: answers", unit="query", disable=not progress) as bar:
        for name in dict.fromkeys(case.query.db_id for case in asked):
            here = [case for case in asked if case.query.db_id == name]
            if name not in paths:
                judged |= {case.query.id: Judged(failed=f"no database {name!r}") for case in here}
                continue
            with closing(PartialDatabase(benchmark, paths[name])) as database:
                for case in here:
                    judged[case.query.id] = _judge(benchmark, database, case, wanted[case.query.id])
                    bar.update()
    return judged


def _judge(benchmark: Benchmark, database: PartialDatabase, case: Case, wanted: Collection[Shards]) -> Judged:
    gold, query = frozenset(case.gold), case.query
    if not query.gold_sql.strip():
        return Judged(gold, "no gold SQL")
    try:
        statement = Statement.read(query.gold_sql, query.sql_dialect)
    except GraftError as error:
        return Judged(gold, str(error))
    full = database.full(statement.sql)
    if full.reason:
        return Judged(gold, full.reason)
    tables = [
        table
        for (source, table), shards in benchmark.shards.items()
        if source == query.db_id and gold & set(shards)
    ]

    def over(shards: Shards) -> Verdict:
        answer = database.partial(statement.sql, tables, shards)
        equal = same_answer(answer, full, statement.ordered)
        reason = answer.reason
        if shards == gold and not equal and not reason:
            unsteady = _UNSTEADY.search(statement.sql)
            reason = "the SQL asks for the time or for random numbers" if unsteady else "other rows"
        return Verdict(equal, shards == gold, reason)

    try:
        verdicts = {shards: over(shards) for shards in (*wanted, NOTHING)}
    except GraftError as error:
        return Judged(gold, str(error))
    return Judged(gold, "", not full.rows, verdicts[NOTHING].equal, verdicts)


def answerability(records: Sequence[Record], judged: Mapping[str, Judged]) -> dict[str, Any]:
    """Of runs over one lake: counts of its queries, and figures by budget and method."""
    known = list(judged.values())
    failed = {id: one.failed for id, one in judged.items() if one.failed}
    budgets: dict[int, Any] = {}
    for budget in sorted({record["L"] for record in records}):
        here = [record for record in records if record["L"] == budget]
        budgets[budget] = {method: _figures(runs, judged) for method, runs in by_method(here).items()}
    return {
        "queries": len(known) - len(failed),
        "empty": sum(one.empty for one in known),
        "trivial": sum(one.trivial for one in known),
        "failed": failed,
        "exceptions": _exceptions(records, judged),
        "budgets": budgets,
    }


def _figures(runs: Sequence[Record], judged: Mapping[str, Judged]) -> dict[str, Any]:
    """[mean, low, high] over queries; runs that differ by seed are averaged query by query."""
    rows: dict[str, list[tuple[bool, bool]]] = {}
    reasons: Counter[str] = Counter()
    for id, verdict in (pair for run in runs for pair in _verdicts(run, judged)):
        rows.setdefault(id, []).append((verdict.equal, verdict.sufficient))
        if verdict.reason and not verdict.equal:
            reasons[verdict.reason] += 1
    out: dict[str, Any] = {"runs": len(runs), "queries": len(rows)}
    if not rows:
        return out
    matrix = np.array([np.mean(values, axis=0) for values in rows.values()])  # [Q, 2]
    lucky = np.array([np.mean([equal > enough for equal, enough in values]) for values in rows.values()])
    solid = np.array([not judged[id].trivial for id in rows])
    out["answerability"] = _estimate(matrix[:, 0])
    out["sufficiency"] = _estimate(matrix[:, 1])
    out["difference"] = _estimate(matrix[:, 0] - matrix[:, 1])
    out["lucky"] = round(float(lucky.sum()), 2)
    out["lucky_trivial"] = round(float(lucky[~solid].sum()), 2)
    if solid.any():
        out["without_trivial"] = {
            "queries": int(solid.sum()),
            "answerability": _estimate(matrix[solid, 0]),
            "sufficiency": _estimate(matrix[solid, 1]),
            "difference": _estimate(matrix[solid, 0] - matrix[solid, 1]),
        }
    if reasons:
        out["no_answer"] = dict(reasons)
    return out


def _verdicts(run: Record, judged: Mapping[str, Judged]) -> list[tuple[str, Verdict]]:
    """(query id, verdict) of each query whose SQL has a full answer."""
    found = []
    for one in run["per_query"]:
        known = judged[one["id"]]
        if known.verdicts is not None:
            found.append((one["id"], known.verdicts[_tables(one["retrieved"]) & known.gold]))
    return found


def _exceptions(records: Sequence[Record], judged: Mapping[str, Judged]) -> dict[str, str]:
    """Queries that a sufficient answer set does not answer, with the reason: there should be none."""
    return {
        id: verdict.reason
        for run in records
        for id, verdict in _verdicts(run, judged)
        if verdict.sufficient and not verdict.equal
    }


def _estimate(values: Float[np.ndarray, " Q"]) -> list[float]:
    return [round(float(part), 4) for part in (values.mean(), *bootstrap_interval(values))]


def answer_lines(summary: Mapping[str, Any]) -> list[str]:
    """A Markdown table: methods down; by budget across, answerability beside Sufficiency."""
    budgets: Mapping[int, Any] = summary["budgets"]
    heads = [
        part
        for budget in budgets
        for part in (f"L={budget} answered", "Suf", "lucky", "non-trivial: answered / Suf")
    ]
    rows = [[summary["title"], *heads]]
    for method in dict.fromkeys(name for own in budgets.values() for name in own):
        cells = [cell for own in budgets.values() for cell in _cells(own.get(method, {}))]
        rows.append([method, *cells])
    about = (
        f"{summary['queries']} queries with an answer over the full database, {summary['empty']} of them "
        f"empty; {summary['trivial']} have the same answer over no rows at all (trivial); gold SQL that "
        f"fails on the full database: {len(summary['failed'])}."
    )
    return [*table(rows), "", about]


def _cells(found: Mapping[str, Any]) -> list[str]:
    if "answerability" not in found:
        return ["–"] * 4
    value, low, high = found["answerability"]
    solid = found.get("without_trivial", {})
    others = f"{solid['answerability'][0]:.3f} / {solid['sufficiency'][0]:.3f}" if solid else "–"
    lucky = f"{found['lucky']:g}"
    return [f"{value:.3f} [{low:.2f}, {high:.2f}]", f"{found['sufficiency'][0]:.3f}", lucky, others]
