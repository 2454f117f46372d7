"""GRAFT and its peers on Spider and BIRD: the paper's Tables 2, 3 and 6, with intervals and gains.

Command:   python experiments/peers.py --readme README.md
Hardware:  2 CPU cores, nothing else running (times are measured)
Time:      11 min on built indexes with trained value functions
Expected:  results/peers.yaml as it is in the repository

All methods get the same lake, encoder and recorded decompositions; the dials of all were chosen on other
questions (tune.py). A peer's name with +unions is the peer over union clusters: it knows which tables are
shards of one another. The search by a learned value is repeated with the value functions of `graftjax train
LAKE --seed 0`, 1, 2 as far as they are there (or --checkpoint); peers draw nothing at random and run once.
Times leave out the call that reads a question for all; where an endpoint is configured, Pneuma's judge runs
and its time counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _points import on_record
from _tables import RunArgs, check_args, check_lakes, finish, run_lake

from graftjax.console import parse_arguments, run_console
from graftjax.errors import UsageError
from graftjax.evaluate.comparison import summary
from graftjax.evaluate.datasets import BENCHMARKS, resolve_dataset
from graftjax.evaluate.markdown import gain_lines, renew, retrieval_lines
from graftjax.evaluate.report import Record, skip_lines
from graftjax.peers.methods import GUIDED, PEERS
from graftjax.peers.peer import WITH_UNIONS
from graftjax.results.cells import figures_of
from graftjax.results.expected import Expected, header, write

MADE_BY = "make reproduce-peers"


@dataclass(frozen=True)
class Args(RunArgs):
    """Arguments of the comparison."""

    methods: tuple[str, ...] = (
        "graft-fill",
        "graft",
        *(name + end for name in PEERS for end in ("", WITH_UNIONS)),
    )
    """Methods to run, one or more. All but graft, which stops by itself, spend the whole budget."""
    runs: int = 3
    """Number of value functions that guide the search, with training seeds seed, seed + 1, ..."""
    out: Path = Path("results/peers")
    """Folder for the result files, one JSON per lake, method, L and seed."""
    lakes: tuple[str, ...] = BENCHMARKS
    """Lakes, one or more of spider, bird and, to try the program, demo."""
    summary: Path | None = None
    """File for the summary; default results/peers.yaml with --readme, else a file in --out."""
    readme: Path | None = None
    """Document whose blocks `peers-<lake>` and `peers-gains` are renewed."""


def main() -> int:
    args = parse_arguments(Args, description=__doc__)
    check_args(args)
    check_lakes(args.lakes, (*BENCHMARKS, "demo"))
    if args.readme is not None and not args.readme.is_file():
        raise UsageError(f"--readme {args.readme}: no such file")
    datasets = [resolve_dataset(lake, data_dir=args.data_dir) for lake in dict.fromkeys(args.lakes)]
    records = [record for dataset in datasets for record in run_lake(args, dataset, peers_once=True)]
    found = summary(records)
    write(
        on_record(args.summary, args, "results/peers.yaml"),
        Expected(**_about(args, records), **_measured(found)),
    )
    blocks = _blocks(found)
    for lines in blocks.values():
        print("\n".join(lines), end="\n\n")
    if args.readme is not None:
        renew(args.readme, blocks, MADE_BY)
    print("\n".join(skip_lines(records)))
    return finish(args, records)


def _about(args: Args, records: list[Record]) -> dict[str, Any]:
    """Where the figures come from."""
    first = records[0]
    guides = {
        f"{record['lake']}, seed {record['seed']}": _guided(record["config"]["guided_by"])
        for record in records
        if record["method"] in GUIDED
    }
    return {
        **header("peers", first["environment"]),
        "seeds": tuple(range(args.seed, args.seed + args.runs)),
        "encoder": first["encoder"],
        "guidance": guides,
    }


def _measured(found: dict[str, Any]) -> dict[str, Any]:
    titles = {lake: own["title"] for lake, own in found["lakes"].items()}
    details = {"titles": titles, "gains": found["gains"], "differences": found["differences"]}
    return {"figures": figures_of(found["lakes"]), "details": details}


def _guided(by: dict[str, Any]) -> str:
    return by["guidance"] if by["guidance"] == "exact" else f"learned, training seed {by['training_seed']}"


def _blocks(found: dict[str, Any]) -> dict[str, list[str]]:
    """Name of a block in the document → its lines."""
    blocks = {f"peers-{lake}": retrieval_lines(lake, own) for lake, own in found["lakes"].items()}
    return {**blocks, "peers-gains": gain_lines(found["gains"])}


if __name__ == "__main__":
    run_console(main, "peers.py")
