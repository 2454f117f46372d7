"""`graftjax train`: a lake → a value function that guides its searches."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from graftjax.commands.lakes import check_place, show
from graftjax.errors import UsageError
from graftjax.lakes import NAMED, dataset_of

if TYPE_CHECKING:
    from graftjax.evaluate.datasets import Dataset
    from graftjax.lake.record import LakeIndex
    from graftjax.training.settings import JobSettings


@dataclass(frozen=True)
class Train:
    """Train the value function of a lake on questions made from it; goes on where an earlier run stopped."""

    lake: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="LAKE")] = "demo"
    """demo, spider, bird, a folder of tables, or folder of an index."""
    out: Path | None = None
    """Folder of the run; default beside the lake's index, one per seed. Searches look for seed 0 there."""
    preset: Literal["cpu", "paper"] = "cpu"
    """cpu: a small network, trained in minutes on two cores; paper: all sizes of the paper."""
    seed: int = 0
    """Of samples, words, walks, first weights and batches."""
    trajectories: int | None = None
    """Sampled subgraphs; default by the size of the lake."""
    held_out: int = 400
    """Further ones that the report is made on."""
    steps: int | None = None
    """Updates; default that of the preset."""
    batch: int | None = None
    """Transitions per update."""
    learning_rate: float | None = None
    """Peak of the learning rate."""
    gamma: float | None = None
    """Discount of a decision."""
    expectile: float | None = None
    """Expectile of the returns that V aims at; 0.5 is the mean."""
    polyak: float | None = None
    """Share of the target network that stays in an update; smaller in short runs."""
    sampler: Literal["centrality", "anchor", "uniform"] = "centrality"
    """How subgraphs are drawn: centrality (the paper's), anchor (its seeds only), uniform (random walk)."""
    exploring: int = 6
    """Walks per trajectory that may take wrong tables; 0 trains on recorded ones only, as the paper does."""
    plain_words: bool = False
    """Leave the intents in the lake's own words, as the paper does."""
    reads: Literal["numbers", "texts", "both"] | None = None
    """What the networks read beside types and edges: exact numbers, text vectors, or both; default that of
    the preset (cpu: numbers, paper: both)."""
    policy: bool = False
    """Train the policy head as well; no search uses it."""
    fresh: bool = False
    """Remove what an earlier run left in the folder first."""
    finetune_backbone: bool = False
    """Train the text encoder instead and leave it in --out; --steps, --batch and --learning-rate are then
    those of the encoder. What to do with it is printed."""
    encoder: str = "embedded"
    """Text encoder: embedded, a model folder, or a hub name."""
    index: Path | None = None
    """Folder of the lake's index; default one per lake in the user's cache. Built when missing or stale."""
    data_dir: Path | None = None
    """Folder that holds spider/ and bird/; default $GRAFTJAX_DATA, else ./data."""


def run(arguments: Train) -> None:
    """Train, and print the report."""
    dataset = _dataset(arguments)
    settings = _settings(arguments)
    check_place(arguments.out, "--out")
    check_place(arguments.index, "--index")
    from graftjax.encode import load_encoder
    from graftjax.encode.compile_cache import use_compile_cache
    from graftjax.evaluate.datasets import cache_directory, index_folder, open_lake
    from graftjax.evaluate.guidance import value_folder
    from graftjax.files import read_json
    from graftjax.lake.index import open_index

    encoder = load_encoder(arguments.encoder)
    use_compile_cache()
    if dataset is None:
        index = open_index(Path(arguments.lake), encoder.name)
    else:
        index = open_lake(dataset, index_folder(dataset, arguments.index), encoder)
    if arguments.finetune_backbone:
        from graftjax.commands.backbone import finetune_backbone

        lake, data = arguments.lake, arguments.data_dir
        finetune_backbone(
            index, encoder, settings, model=arguments.encoder, out=arguments.out,
            lake=lake if data is None else f"{lake} --data-dir {data}", place=arguments.index,
        )  # fmt: skip
        return
    from graftjax.training.fresh import check_run_folder, remove_run
    from graftjax.training.job import train
    from graftjax.training.run_folder import REPORT

    folder = arguments.out or value_folder(index.folder, arguments.seed)
    if arguments.fresh:
        remove_run(folder)
    else:
        check_run_folder(folder)
    report = _finished(folder, index, encoder, settings)
    if report is None:
        train(
            index, encoder, folder, settings,
            cache_folder=cache_directory(), progress=sys.stderr.isatty(), say=_say,
        )  # fmt: skip
        report = read_json(folder / REPORT) or {}
    else:
        _say(f"{folder}: this run is finished, nothing is left to train (--fresh starts anew)")
    show(*report_lines(report, folder))


def _dataset(arguments: Train) -> Dataset | None:
    """The lake; None for one that is an index already."""
    if arguments.lake not in NAMED and not Path(arguments.lake).is_dir():
        raise UsageError(f"{arguments.lake}: neither {', '.join(NAMED)} nor a folder")
    dataset = dataset_of(arguments.lake, arguments.data_dir)
    if dataset is None and arguments.index is not None:
        raise UsageError(f"--index {arguments.index}: {Path(arguments.lake)} is an index itself")
    return dataset


def _settings(arguments: Train) -> JobSettings:
    """The settings; UsageError for one that is out of range, before anything is computed."""
    from graftjax.iql.presets import preset
    from graftjax.training.settings import JobSettings

    names = {field.name for field in fields(JobSettings)} & {field.name for field in fields(arguments)}
    settings = JobSettings(**{name: getattr(arguments, name) for name in names})
    settings.training(preset(arguments.preset, num_scalars=1, num_numbers=1)[1])
    return settings


def _finished(folder: Path, index: LakeIndex, encoder: Any, settings: JobSettings) -> dict[str, Any] | None:
    """Report of this very run when it has come to its end, else None."""
    from graftjax.files import read_json
    from graftjax.training.job import run_identity
    from graftjax.training.run_folder import REPORT, RUN, has_checkpoint

    begun, report = read_json(folder / RUN), read_json(folder / REPORT)
    if begun is None or report is None or not has_checkpoint(folder):
        return None
    # `train` says what differs
    return report if run_identity(index, encoder.name, settings) == begun else None


def report_lines(report: Mapping[str, Any], folder: Path) -> list[str]:
    """A run's report for people."""
    seconds: Mapping[str, float] = report.get("seconds", {})
    error = lambda name: report.get(name) or {}  # noqa: E731
    spent = ", ".join(f"{stage} {value:.0f}" for stage, value in seconds.items())
    return [
        f"trajectories        {report.get('trajectories', 0):,}",
        f"transitions         {report.get('transitions', 0):,}",
        f"updates             {report.get('steps', 0):,}",
        "error of Q on unseen trajectories (mean of |Q - G| / G)",
        f"  reworded intents  {_percent(error('held_out').get('mape'))}",
        f"  the lake's words  {_percent(error('held_out_plain').get('mape'))}",
        f"right action first  {_percent(100 * (error('held_out').get('rank_accuracy') or math.nan))}",
        f"seconds             {sum(seconds.values()):.0f} ({spent})",
        f"checkpoint          {folder}",
        *_advice(report.get("steps", 0)),
    ]


def _advice(steps: int) -> list[str]:
    from graftjax.training.settings import LEAST_STEPS

    if steps >= LEAST_STEPS:
        return []
    return [f"{steps} updates are too few to guide well: leave --steps out, or search with --guidance exact"]


def _percent(value: float | None) -> str:
    return "not measured" if value is None or not math.isfinite(value) else f"{value:.1f} %"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
