"""Do the syntheses that a run returned execute? Each is fused once more from its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from graftjax.errors import GraftError
from graftjax.fuse import FuseSettings, fuse
from graftjax.fuse.sources import RawSource
from graftjax.types import AtomSupport, Operator, Synthesis, TableId


@dataclass(frozen=True, slots=True)
class Fusions:
    """What became of the syntheses of one run."""

    count: int
    executed: int
    filled: int
    """Those whose result has rows."""
    failures: tuple[tuple[str, str], ...]
    """(query, why) of those that did not execute; a refusal counts as one."""

    def shares(self) -> dict[str, float]:
        """Shares of the syntheses; nothing without any."""
        if not self.count:
            return {}
        return {"executed": self.executed / self.count, "non_empty": self.filled / self.count}


def synthesis_of_record(record: Mapping[str, Any]) -> Synthesis:
    """A synthesis from the JSON of a result file (see `runs.synthesis_record`)."""
    table = lambda pair: TableId(*pair)  # noqa: E731
    operators = tuple(
        Operator(
            step["kind"], table(step["anchor"]), table(step["new"]),
            tuple((a, b) for a, b in step["columns"]), float(step["weight"] or 0.0),
        )
        for step in record["operators"]
    )  # fmt: skip
    support = tuple(
        AtomSupport(
            atom["atom"], atom["support"] or 0.0, atom["table"] and table(atom["table"]), atom["column"]
        )
        for atom in record["support"]
    )
    tables = tuple(table(pair) for pair in record["tables"])
    return Synthesis(tables, operators, record["U"] or 0.0, support, tuple(record["notes"]))


def run_fusions(
    source: RawSource, per_query: Sequence[Mapping[str, Any]], settings: FuseSettings, *, progress: str = ""
) -> Fusions:
    """Fuse the answers of a run; queries whose answer is empty have nothing to fuse and do not count."""
    count = executed = filled = 0
    failures = []
    rows: Iterable[Mapping[str, Any]] = tqdm(per_query, desc=progress, disable=not progress, unit="query")
    for one in rows:
        try:
            record = one["synthesis"]
            answer = synthesis_of_record(record) if record else None
        except (LookupError, TypeError, ValueError) as error:
            raise GraftError(f"{one['id']}: not the record of a synthesis ({error})") from error
        if answer is None or not answer.tables:
            continue
        count += 1
        try:
            found = fuse(answer, source, settings=settings)
            if found.to_arrow().num_rows != found.n_rows:
                raise GraftError("the SQL gave another number of rows when it was run again")
        except GraftError as error:
            failures.append((one["id"], str(error)))
            continue
        executed += 1
        filled += found.n_rows > 0
    return Fusions(count, executed, filled, tuple(failures))
