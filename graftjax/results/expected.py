"""One schema of every results/<experiment>.yaml: what came out, how sure it is, and what the paper has.

An experiment ends with

    figures = {
        figure_name("spider", "r1", 10, "f1"): Figure(
            value=0.61, low=0.55, high=0.67, n=100, runs=1, tolerance=0.02, paper=0.582
        ),
    }
    write(args.summary, Expected(**header("ablation_reward"), seeds=(0,), over="queries", figures=figures))

and `read` gives the same object back. Names are paths whose last part is the metric: <lake>/<method or
variant>/L<budget>/<metric>, or <experiment's own words>/<metric>. `details` takes whatever else the
experiment wants to keep (trials, p values, texts). A figure that could not be measured is left out and said
in `details`: there is no NaN, and a crash is never a 0.
"""

from __future__ import annotations

import datetime
import math
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from graftjax.errors import GraftError
from graftjax.files import replacing, writing

_DIGITS = 6
"""Significant digits of a written number; no figure here is known better."""
_WIDTH = 1000
"""Characters after which a line of the file is broken: never, in effect."""
_KEPT = ("python", "cpu", "cpu_count", "git_commit", "devices")
"""What of the environment goes into a summary; the runs' own files have all of it."""


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("a figure must be a finite number")
    return value


Number = Annotated[float, AfterValidator(_finite)]


class Figure(BaseModel):
    """One number of a table or a point of a curve."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Number
    low: Number | None = None
    """Lower end of the 95 % interval; what was resampled is said in `Expected.over`."""
    high: Number | None = None
    sd: Annotated[Number, Field(ge=0)] | None = None
    """Standard deviation over runs (seeds)."""
    by_seed: tuple[Number, ...] = ()
    """The value of each run, in the order of `Expected.seeds`."""
    n: Annotated[int, Field(ge=0)] | None = None
    """Queries (or tasks) that the value is a mean of."""
    runs: Annotated[int, Field(ge=1)] = 1
    skipped: Annotated[int, Field(ge=0)] = 0
    """Queries without a score: they are in no mean."""
    tolerance: Annotated[Number, Field(ge=0)] | None = None
    """Largest difference of a repetition that is taken for the same; None: not compared (times, counts)."""
    paper: Number | None = None
    """The paper's value of the same cell."""

    @model_validator(mode="after")
    def _ordered(self) -> Figure:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval needs both ends")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("the interval's ends are the wrong way round")
        return self


class Expected(BaseModel):
    """All figures of one experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    experiment: str
    command: str
    date: datetime.date
    environment: dict[str, Any]
    seeds: tuple[int, ...] = ()
    over: str = "queries"
    """What the intervals speak of: `queries` (bootstrap of the mean over queries), `seeds`, ..."""
    encoder: str | None = None
    guidance: dict[str, str] | str | None = None
    """Which value functions guided the searches."""
    figures: dict[str, Figure]
    details: dict[str, Any] = {}

    @field_validator("details")
    @classmethod
    def _no_nan(cls, value: dict[str, Any]) -> dict[str, Any]:
        plain = plainly(value)
        _check_numbers(plain)
        return plain


class Cell(NamedTuple):
    """Where a figure of a retrieval table stands."""

    lake: str
    method: str
    budget: int
    metric: str


_CELL = re.compile(r"(?P<lake>[^/]+)/(?P<method>.+)/L(?P<budget>\d+)/(?P<metric>[^/]+)")


def figure_name(lake: str, method: str, budget: int, metric: str) -> str:
    """`spider/graft-fill/L10/f1`."""
    return f"{lake}/{method}/L{budget}/{metric}"


def cell_of(name: str) -> Cell | None:
    """The parts of a name made by `figure_name`; None for one of another form."""
    found = _CELL.fullmatch(name)
    return found and Cell(found["lake"], found["method"], int(found["budget"]), found["metric"])


def header(experiment: str, environment: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """experiment, command, date and environment of the process, as arguments for `Expected`.

    `environment`: as `graftjax.evaluate.environment.environment` gives it, which is called without one.
    """
    if environment is None:
        from graftjax.evaluate.environment import environment as this_place

        environment = this_place()
    return {
        "experiment": experiment,
        "command": shlex.join(["python", *_called()]),
        "date": datetime.date.today(),
        "environment": {key: environment[key] for key in _KEPT if key in environment},
    }


def _called() -> list[str]:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if Path(sys.argv[0]).name == "__main__.py" and spec is not None:
        return ["-m", spec.parent, *sys.argv[1:]]
    return sys.argv


def read(path: Path) -> Expected:
    """The figures in a file; GraftError when it is missing or not of the schema, with the first fault."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise GraftError(f"{path}: can't be read ({getattr(error, 'strerror', None) or error})") from error
    except yaml.YAMLError as error:
        raise GraftError(f"{path}: not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(found, dict):
        raise GraftError(f"{path}: not a file of figures")
    try:
        return Expected.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise GraftError(f"{path}: {where}: {first['msg']}") from error


def write(path: Path, expected: Expected) -> None:
    """Write the file in one step, one figure a line; GraftError when that is not possible."""
    plain: dict[str, Any] = expected.model_dump(mode="python", exclude_defaults=True)
    plain["over"] = expected.over
    figures, details = plain.pop("figures"), plain.pop("details", None)
    plain = plainly(plain)
    plain["figures"] = {name: _Line(_rounded(plainly(one))) for name, one in figures.items()}
    if details:
        plain["details"] = details
    # None: what holds no further lists or mappings stands on one line.
    text = yaml.dump(
        plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=None
    )
    with writing(path.parent, "results"), replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def read_all(folder: Path) -> dict[str, Expected]:
    """Name of each *.yaml in a folder (without its ending) → its figures, in the order of the names."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.yaml"))}


def plainly(value: Any) -> Any:
    """The value in YAML's types at any depth: tuples become lists, NumPy's numbers Python's, paths text."""
    if isinstance(value, Mapping):
        return {key: plainly(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plainly(one) for one in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value) if isinstance(value, Path) else value


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _check_numbers(value: Any) -> None:
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list):
        for one in value:
            _check_numbers(one)
    elif isinstance(value, float):
        _finite(value)


class _Line(dict[str, Any]):
    """Written on one line."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    _Line, lambda dumper, line: dumper.represent_mapping("tag:yaml.org,2002:map", line, flow_style=True)
)
# libyaml reads the long files ten times as fast; it is not everywhere.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
