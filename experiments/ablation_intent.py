"""How much a good reader of questions is worth: extraction F1 and end F1, the paper's Table 9.

Command:   python experiments/ablation_intent.py --readme README.md
Hardware:  2 CPU cores
Time:      about 3 min on Spider with a built index
Expected:  results/ablation_intent.yaml as it is in the repository

Readers, from the best to the crudest:
* gold: read off the gold SQL, in the database's own words (rule: graftjax/evaluate/gold_intents.py). An
  upper row.
* recorded: a frontier model's answer to the prompt, given the question only, as the query file has it.
* recorded-25%, -50%, -75%: the same, of which that share of trees, attributes, values and joins is lost at
  random.
* recorded-words, recorded-25%-words and so on: what these graphs name, as one tree of words.
* lexical: rules, without a model.
* words: one tree made of the question's content words.
* endpoint: any OpenAI-compatible model at OPENAI_BASE_URL or with OPENAI_API_KEY (off unless asked for).

Extraction F1 compares a graph with the gold one (rule: graftjax/evaluate/extraction.py); end F1 is that of
the search. A question whose gold SQL can't be read has no extraction F1, and for gold no end F1: it
is listed.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from _points import (
    PointArgs,
    check_common,
    difference_figure,
    on_record,
    opened,
    paired,
    point_figures,
    save,
    shown,
    tell_skipped,
)

from graftjax.console import parse_arguments, run_console
from graftjax.errors import GraftError, UsageError
from graftjax.evaluate.guidance import check_guidance
from graftjax.evaluate.markdown import table
from graftjax.evaluate.metrics import bootstrap_interval
from graftjax.evaluate.variants import Bench, check_points, run_point
from graftjax.results.expected import Figure, figure_name

READERS = ("gold", "recorded", "lexical", "words", "endpoint")
_AS_WORDS = "-words"
PAPER = {
    "GPT-5": (0.792, 0.671),
    "GPT-5-mini": (0.774, 0.668),
    "Llama-3.1-70B": (0.682, 0.605),
    "Qwen3-7B": (0.541, 0.502),
}
"""Extraction F1 and end F1 on Spider at L = 10, Table 9."""


@dataclass(frozen=True)
class Args(PointArgs):
    """Arguments of the ablation of the reader."""

    L: tuple[int, ...] = (10,)
    """Budgets: at most this many tables per query; one or more."""
    readers: tuple[str, ...] = ("gold", "recorded", "lexical", "words")
    """Readers to run, one or more of gold, recorded, lexical, words, endpoint."""
    lost: tuple[float, ...] = (0.25, 0.5, 0.75)
    """Shares of the recorded graphs that are lost in further rows, each in (0, 1); leave empty for no such
    rows."""
    as_words: bool = True
    """Beside the recorded graphs, and what is left of them, their words as one tree each: it tells whether a
    worse reader loses by the words that it misses or by the structure."""
    seed: int = 0
    """Seed of what is lost, and of the first value function."""
    guidance: Literal["auto", "learned", "exact"] = "auto"
    """Search by a value function (learned) or by exact gains; auto takes --checkpoint, else what `graftjax
    train` made for this lake, else exact gains."""
    checkpoint: tuple[Path, ...] = ()
    """Value functions, as folders of training runs; one for each of --runs, or one for all."""
    runs: int = 1
    """Number of value functions, with training seeds seed, seed + 1, ...; what is lost differs between runs
    too."""
    out: Path = Path("results/ablation_intent")
    """Folder for the result files, one JSON per reader, method, budget and seed."""
    summary: Path | None = None
    """File for the figures; default results/ablation_intent.yaml with --readme, else a file in --out."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    _check(args)
    bench = opened(args)
    from graftjax.evaluate.guidance import find_guidances
    from graftjax.search.engine import Engine

    guidances = find_guidances(
        bench.index.folder, bench.encoder.name, args.checkpoint, args.guidance, seed=args.seed, runs=args.runs
    )
    engines = [Engine(bench.index, bench.encoder, guide=found.guide) for found in guidances]
    gold, unread = _gold(bench)
    lake = bench.dataset.lake
    figures: dict[str, Figure] = {}
    details: dict[str, Any] = {"unread_gold_sql": unread, "sources": {}, "kinds": {}}
    every: list[Any] = []
    best: dict[tuple[str, int], list[Any]] = {}
    ends = ("", _AS_WORDS) if args.as_words else ("",)
    lost = [f"{_lost(share)}{end}" for share in dict.fromkeys(args.lost) for end in ends]
    whole = [f"recorded{_AS_WORDS}"] if args.as_words and "recorded" in args.readers else []
    names = [*dict.fromkeys(args.readers), *whole, *lost]
    for name in names:
        runs: dict[tuple[str, int], list[Any]] = {}
        for number in range(args.runs):
            read, sources = _read(bench, name, args, gold, args.seed + number)
            if not number:
                details["sources"][name] = sources
                extraction, details["kinds"][name] = _extraction(read, gold, bench)
                if extraction is not None:
                    figures[f"{lake}/{name}/extraction-f1"] = extraction
            which = number % len(engines)
            for method in dict.fromkeys(args.methods):
                for budget in sorted(set(args.L)):
                    record = run_point(
                        read, engines[which], variant=name, method=method, budget=budget, out=args.out,
                        seed=args.seed + number, config={"reader": name}, fresh=args.fresh,
                        guided_by=guidances[which].record(), progress=sys.stderr.isatty(),
                    )  # fmt: skip
                    runs.setdefault((method, budget), []).append(record)
        for (method, budget), records in runs.items():
            every += records
            figures |= point_figures(lake, f"{name}/{method}", {budget: records})
            if name == "recorded":
                best[method, budget] = records
            elif (method, budget) in best and (found := paired(records, best[method, budget])):
                figures[figure_name(lake, f"{name}/{method}", budget, "f1-difference")] = difference_figure(
                    found
                )
    place = on_record(args.summary, args, "results/ablation_intent.yaml")
    save(
        "ablation_intent", args, place, _lines(bench.dataset.title, lake, args, names, figures),
        figures, bench.place, seeds=tuple(range(args.seed, args.seed + args.runs)),
        encoder=bench.encoder.name,
        guidance=guidances[0].record()["guidance"], details=details,
    )  # fmt: skip
    tell_skipped(every)
    return 0


def _check(args: Args) -> None:
    check_common(args)
    check_points(args.methods, args.L, args.out)
    check_guidance(args.checkpoint, args.guidance)
    if not args.readers:
        raise UsageError(f"--readers needs one or more of {', '.join(READERS)}")
    for name in args.readers:
        if name not in READERS:
            raise UsageError(f"--readers {name}: choose from {', '.join(READERS)}")
    for share in args.lost:
        if not 0 < share < 1:
            raise UsageError(f"--lost {share}: a share lies between 0 and 1")
    if args.runs < 1 or args.seed < 0:
        raise UsageError("--runs must be at least 1 and --seed at least 0")
    if len(args.checkpoint) not in (0, 1, args.runs):
        raise UsageError(f"--checkpoint names {len(args.checkpoint)} value functions for {args.runs} runs")


def _gold(bench: Bench) -> tuple[dict[str, Any], dict[str, str]]:
    """Query id → gold intent graph, and why there is none."""
    from graftjax.evaluate.gold_intents import gold_intent, gold_schema

    found, unread = {}, {}
    for case in bench.cases:
        query = case.query
        try:
            if not query.gold_sql.strip():
                raise GraftError("no gold SQL")
            columns = gold_schema(bench.index, case, bench.dataset.benchmark)
            found[query.id] = gold_intent(query.gold_sql, query.sql_dialect, columns)
        except GraftError as error:
            unread[query.id] = str(error)
    return found, unread


def _read(
    bench: Bench, name: str, args: Args, gold: dict[str, Any], seed: int
) -> tuple[Bench, dict[str, int]]:
    """The questions as a reader reads them, and how many graphs came from where."""
    from graftjax.evaluate.cases import with_queries
    from graftjax.evaluate.intents import prepare_intents
    from graftjax.evaluate.weak_intents import damaged_intent, intent_as_words, words_intent

    queries = [case.query for case in bench.cases]
    if name in ("lexical", "endpoint"):
        prepared = prepare_intents(queries, name, bench.index.tables)  # pyright: ignore[reportArgumentType]
        return bench.asking(with_queries(bench.cases, prepared.queries)), prepared.sources
    if name == "gold":
        cases = [
            replace(case, query=replace(case.query, intent=gold[case.query.id]))
            if case.query.id in gold
            else replace(case, reason=case.reason or "the gold SQL gives no intent graph")
            for case in bench.cases
        ]
        return bench.asking(cases), {"gold SQL": len(gold)}
    if name == "words":
        changed = [replace(query, intent=words_intent(query.question)) for query in queries]
        return bench.asking(with_queries(bench.cases, changed)), {"words": len(changed)}
    source = Counter("lexical" if query.intent and query.intent.rough else "recorded" for query in queries)
    if name == "recorded":
        return bench, dict(source)
    plain = name.removesuffix(_AS_WORDS)
    share = next((one for one in args.lost if plain == _lost(one)), 0.0)
    shape = intent_as_words if name.endswith(_AS_WORDS) else lambda intent: intent
    changed = [
        replace(query, intent=query.intent and shape(damaged_intent(query.intent, share, rng)))
        for query, rng in zip(queries, _generators(seed, share, len(queries)), strict=True)
    ]
    return bench.asking(with_queries(bench.cases, changed)), dict(source)


def _lost(share: float) -> str:
    """Name of the recorded graphs that lost a share."""
    return f"recorded-{100 * share:g}%"


def _generators(seed: int, share: float, count: int) -> list[np.random.Generator]:
    """One for each query, so that --limit changes nothing."""
    return [np.random.default_rng([seed, round(1000 * share), number]) for number in range(count)]


def _extraction(read: Bench, gold: dict[str, Any], bench: Bench) -> tuple[Figure | None, dict[str, float]]:
    """Mean F1 over questions with its interval; F1 of each kind of element over all questions together."""
    from graftjax.evaluate.extraction import KINDS, agreement, f1_of

    asked = [case.query for case in read.cases if case.query.id in gold and case.query.intent is not None]
    if not asked:
        return None, {}
    found = [agreement(query.intent, gold[query.id], bench.encoder) for query in asked if query.intent]
    values = np.array([one.f1 for one in found])
    low, high = bootstrap_interval(values)
    total = np.array([(one.matched, one.found, one.gold) for one in found]).sum(0)  # [3, kinds]
    kinds = {kind: round(f1_of(*total[:, at].tolist()), 4) for at, kind in enumerate(KINDS)}
    mean = float(values.mean())
    return Figure(value=mean, low=low, high=high, n=len(found), tolerance=0.02), kinds


def _lines(title: str, lake: str, args: Args, names: list[str], figures: dict[str, Figure]) -> list[str]:
    """A Markdown table: readers down, extraction F1 and end F1 across; the paper's rows below."""
    columns = [(method, budget) for method in dict.fromkeys(args.methods) for budget in sorted(set(args.L))]
    rows = [[title, "extraction F1", *(f"{method} L={budget} F1" for method, budget in columns)]]
    # Best extraction first: so a fall of the end F1 can be seen at a glance.
    quality = lambda name: figures.get(f"{lake}/{name}/extraction-f1")  # noqa: E731
    order = sorted(names, key=lambda name: -found.value if (found := quality(name)) else 0.0)
    for name in order:
        cells = [
            shown(figures.get(figure_name(lake, f"{name}/{method}", budget, "f1")))
            for method, budget in columns
        ]
        rows.append([name, shown(quality(name)), *cells])
    for name, (extraction, end) in PAPER.items():
        cells = [f"{end:.3f}" if budget == 10 else "–" for _, budget in columns]
        rows.append([f"*paper: {name}*", f"{extraction:.3f}", *cells])
    return table(rows)


if __name__ == "__main__":
    run_console(main, "ablation_intent.py")
