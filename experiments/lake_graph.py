"""How good the discovered union and join edges are, against what the benchmark's schema file knows.

Command:   python experiments/lake_graph.py
Hardware:  2 CPU cores
Time:      seconds on a built index
Expected:  Spider: union precision 0.96, recall 0.98; join recall 0.92 at a mean of 17 joinable clusters
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graftjax.console import parse_arguments, run_console
from graftjax.evaluate.datasets import index_folder, open_lake, resolve_dataset


@dataclass(frozen=True)
class Args:
    """Arguments of the measurement."""

    lake: Literal["spider", "bird"] = "spider"
    """Benchmark whose lake is measured."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""
    index: Path | None = None
    """Folder of the lake's index; default in the user's cache. Built when missing or stale."""
    out: Path = Path("results")
    """Folder for the figures."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    dataset = resolve_dataset(args.lake, data_dir=args.data_dir)
    from graftjax.encode import load_encoder
    from graftjax.evaluate.graph_quality import as_text, measure

    index = open_lake(dataset, index_folder(dataset, args.index), load_encoder())
    assert dataset.benchmark is not None
    quality = measure(index, dataset.benchmark)
    print(f"{dataset.title}\n{as_text(quality)}")
    args.out.mkdir(parents=True, exist_ok=True)
    target = args.out / f"{args.lake}_lake_graph.json"
    target.write_text(json.dumps(dataclasses.asdict(quality), indent=1))
    return 0


if __name__ == "__main__":
    run_console(main, "lake_graph.py")
