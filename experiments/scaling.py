"""Cost of indexing and searching lakes of 1,000 to 50,000 tables, and how it grows.

Command:   python experiments/scaling.py
Hardware:  2 CPU cores, 8 GB of memory
Time:      about 35 min, most of it encoding texts; sizes already measured are not measured again
Expected:  search at most as n^0.5 with the anchors fixed; 50,000 tables within 20 min and 6 GB

The lakes are made of Spider, BIRD and open tables, and of altered copies of them beyond some 15,000
(see `graftjax/evaluate/mixed_lake.py` for the rule); a larger lake holds the smaller ones. The
questions are those on databases that are in every lake. Without the data set it runs on the demo lake.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.datasets import cache_directory, resolve_dataset
from graftjax.files import read_json, replacing, write_json, writing

SIZES = {"spider": (1_000, 5_000, 20_000, 50_000), "demo": (200, 250, 300)}


@dataclass(frozen=True)
class Args:
    """Arguments of the measurement."""

    sizes: tuple[int, ...] = ()
    """Numbers of tables; default 1000 5000 20000 50000, for the demo lake 200 250 300."""
    lake: str = "auto"
    """auto (Spider and what lies beside it, else the demo lake), spider, or demo."""
    data_dir: Path | None = None
    """Folder that holds spider/, and bird/ and open_data/ if there; default $GRAFTJAX_DATA, else ./data."""
    seed: int = 0
    """Decides which tables come first and how copies are altered."""
    runs: int = 3
    """How often each question is asked of the warm engine."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""
    work: Path | None = None
    """Folder for the indexes, which are removed once measured; default in the user's cache."""
    keep: bool = False
    """Keep the indexes."""
    keep_texts: bool = False
    """Go on from texts that a stopped build encoded; the index time is then not that of a fresh build."""
    out: Path = Path("results")
    """Folder for the result files, one JSON per size and seed, a summary and a plot."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    lake, sizes = _checked(args)
    from graftjax.evaluate.environment import environment
    from graftjax.evaluate.growth_plot import Panel, svg
    from graftjax.evaluate.mixed_lake import RULE
    from graftjax.evaluate.scaling import CURVES, Job, as_text, growth_record, growths, measure

    key = {
        "rule": RULE,
        "lake": lake,
        "data_dir": str(args.data_dir) if args.data_dir else None,
        "seed": args.seed,
        "encoder": args.encoder,
        "runs": args.runs,
        "keep_texts": args.keep_texts,
    }
    measured = []
    for size in sizes:
        target = args.out / f"scaling_{lake}_n{size}_seed{args.seed}.json"
        record = read_json(target)
        if record is None or record.get("key") != key:
            print(f"{size:,} tables ...", file=sys.stderr)
            folder = (args.work or cache_directory() / "scaling") / f"{lake}-seed{args.seed}-{size}"
            job = Job(lake, args.data_dir, args.seed, size, folder, args.encoder, args.runs)
            record = {"key": key, **measure(job, keep_texts=args.keep_texts)}
            write_json(target, record)
            if not args.keep:
                shutil.rmtree(folder, ignore_errors=True)
        measured.append(record)
    print(as_text(measured))
    summary = {
        "sizes": measured,
        "growth": growth_record(measured),
        "config": {name: str(value) for name, value in dataclasses.asdict(args).items()},
        "environment": environment(),
    }
    name = f"scaling_{lake}_seed{args.seed}"
    write_json(args.out / f"{name}.json", summary)
    fitted = growths(measured)
    panels = [
        Panel(title, sizes, tuple(of(one) for one in measured), fitted[title]) for title, of in CURVES.items()
    ]
    with writing(args.out), replacing(args.out / f"{name}.svg") as draft:
        draft.write_text(svg(panels), encoding="utf-8")
    print(f"\n{args.out / name}.json and .svg")
    return 0


def _checked(args: Args) -> tuple[str, tuple[int, ...]]:
    """The lake and its sizes, ascending; UsageError for values that can't be measured."""
    from graftjax.evaluate.mixed_lake import mixed_lake

    if args.seed < 0 or args.runs < 1:
        raise UsageError("--seed must be 0 or more and --runs at least 1")
    if args.out.exists() and not args.out.is_dir():
        raise UsageError(f"--out {args.out}: not a folder")
    if args.lake not in ("auto", *SIZES):
        raise UsageError(f"--lake {args.lake}: choose auto, {' or '.join(SIZES)}")
    lake = resolve_dataset(args.lake, data_dir=args.data_dir).lake
    sizes = tuple(sorted(set(args.sizes or SIZES[lake])))
    core = sum(1 for _ in mixed_lake(lake, args.data_dir, args.seed).core_tables())
    if sizes[0] < core:
        raise UsageError(f"--sizes {sizes[0]}: the tables that the questions need are {core} already")
    return lake, sizes


if __name__ == "__main__":
    run_console(main, "scaling.py")
