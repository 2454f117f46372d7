"""One lake with its questions, run under many variants of the search: what ablations and sweeps share.

A point is one variant, method, budget and seed. It leaves the result file of a run in a folder of the
variant's own, and is taken from there when it is asked for again, so that a sweep that was interrupted goes
on where it stopped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from graftjax.errors import UsageError
from graftjax.evaluate.cases import Case, load_cases, with_queries
from graftjax.evaluate.datasets import Dataset, index_folder, open_lake, resolve_dataset
from graftjax.evaluate.significance import Record
from graftjax.files import digest_of, read_json
from graftjax.intent.extract import IntentSource
from graftjax.lake.record import LakeIndex

FILLED = {"graft": False, "graft-fill": True}
"""Methods that a variant can be run by → whether they spend the whole budget."""


@dataclass(frozen=True, eq=False)
class Bench:
    """An opened lake and what is asked of it."""

    dataset: Dataset
    index: LakeIndex
    encoder: Any
    cases: tuple[Case, ...]
    warnings: tuple[str, ...]

    @cached_property
    def place(self) -> dict[str, Any]:
        """The environment, for result files."""
        from graftjax.evaluate.environment import environment

        return environment()

    @cached_property
    def lake_digest(self) -> str:
        """Changes with any table of the lake and with the encoder."""
        from graftjax.lake.store import content_digest

        return content_digest(self.index.tables, self.index.encoder_name, self.index.headers)

    def asking(self, cases: Sequence[Case]) -> Bench:
        """The same lake with other cases, for example with other intent graphs."""
        other = replace(self, cases=tuple(cases))
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k in ("place", "lake_digest")})
        return other


def open_bench(
    lake: str,
    *,
    data_dir: Path | None = None,
    encoder: str = "embedded",
    queries: Path | None = None,
    index_at: Path | None = None,
    intents: IntentSource = "recorded",
    limit: int = 0,
) -> Bench:
    """Open a lake, built first when needed, with the cases of its query file.

    `lake`: as `--lake` takes it; `auto` is Spider, else the demo lake. `limit`: only the first cases; 0 for
    all. Cases that can't be scored stay, to be listed as skipped.
    """
    dataset = resolve_dataset(lake, data_dir=data_dir, queries=queries)
    from graftjax.encode import load_encoder
    from graftjax.encode.compile_cache import use_compile_cache
    from graftjax.evaluate.intents import prepare_intents

    loaded_encoder = load_encoder(encoder)
    use_compile_cache()
    index = open_lake(dataset, index_folder(dataset, index_at), loaded_encoder)
    loaded = load_cases(dataset, [table.id for table in index.tables])
    cases = loaded.cases[:limit] if limit else loaded.cases
    prepared = prepare_intents([case.query for case in cases], intents, index.tables)
    return Bench(dataset, index, loaded_encoder, with_queries(cases, prepared.queries), loaded.warnings)


def check_points(methods: Sequence[str], budgets: Sequence[int], out: Path) -> None:
    """`UsageError` for methods, budgets or an output folder that no point can have."""
    if not methods:
        raise UsageError(f"--methods needs one or more of {', '.join(FILLED)}")
    for method in methods:
        if method not in FILLED:
            raise UsageError(f"--methods {method}: choose from {', '.join(FILLED)}")
    if not budgets or min(budgets) < 1:
        raise UsageError("--L needs one or more budgets of at least 1")
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: not a folder")


def run_point(
    bench: Bench,
    engine: Any,
    *,
    variant: str,
    method: str,
    budget: int,
    out: Path,
    seed: int = 0,
    config: Mapping[str, Any] | None = None,
    guided_by: Mapping[str, Any] | None = None,
    fresh: bool = False,
    progress: bool = False,
) -> Record:
    """The result of one point, from its file unless `fresh`.

    `engine`: a `graftjax.search.engine.Engine` under the variant's settings. `config`: what makes the
    variant; it is part of the result file, and of what a file must agree with to be taken. The file is
    `<out>/<variant>/<lake>_<method>_L<budget>_seed<seed>.json`."""
    from graftjax.evaluate.runs import record_name, run_method, run_record, write_record
    from graftjax.peers.graft import Graft

    folder = out / re.sub(r"[^A-Za-z0-9.+=-]+", "-", variant)
    guided = dict(guided_by or {"guidance": "exact"})
    told = {**_plain(config or {}), "variant": variant, "guided_by": _plain(guided), "point": ""}
    told["point"] = _point(bench, engine, told)
    named = {"lake": bench.dataset.lake, "method": method, "L": budget, "seed": seed}
    if not fresh:
        before = read_json(folder / record_name(named))
        if before is not None and before.get("config", {}).get("point") == told["point"]:
            return before
    # Only the shapes of these questions: each reward and beam is a program of its own.
    engine.warm_up([budget], [case.query.intent for case in bench.cases if case.query.intent])
    retriever = Graft(engine, fill=FILLED[method], warmed={budget})
    run = run_method(retriever, bench.cases, budget=budget, seed=seed, progress=progress)
    more = {"lake_title": bench.dataset.title, "encoder": bench.encoder.name}
    record = run_record(run, lake=bench.dataset.lake, config=told, environment=bench.place, more=more)
    write_record(folder, record)
    return record


def _point(bench: Bench, engine: Any, told: Mapping[str, Any]) -> str:
    """Digest of all that decides the result of a point, but the code."""
    asked = [
        (case.query.id, case.query.question, case.reason, [str(table) for table in case.gold],
         case.query.intent and (case.query.intent.model_dump_json(), case.query.intent.rough))
        for case in bench.cases
    ]  # fmt: skip
    return digest_of(repr((bench.lake_digest, asked, engine.settings, told)).encode())


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, Path) else value
