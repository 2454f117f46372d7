"""What a training run is made of, beside the lake and the encoder."""

from __future__ import annotations

from dataclasses import dataclass, field

from graftjax.errors import UsageError
from graftjax.iql.presets import PresetName
from graftjax.trajectories.reword import RewordSettings
from graftjax.trajectories.samplers import SamplerName
from graftjax.trajectories.settings import SampleSettings

_DEFAULT_TRAJECTORIES = {"cpu": (12, 1_500, 8_000), "paper": (10_000, 200_000, 200_000)}
"""By preset: per table of the lake, at least, at most."""
_HELD_OUT = 400


@dataclass(frozen=True)
class JobSettings:
    """Settings of a run; None takes the preset's value."""

    preset: PresetName = "cpu"
    """cpu trains in minutes on two cores; paper has all sizes of the paper."""
    seed: int = 0
    """Of samples, words, walks, first weights and batches."""
    trajectories: int | None = None
    """Sampled subgraphs."""
    held_out: int = _HELD_OUT
    """Further ones that the report is made on."""
    sampler: SamplerName = "centrality"
    """centrality, anchor (no centrality bias) or uniform (random walk)."""
    steps: int | None = None
    """Updates of IQL."""
    batch: int | None = None
    """Transitions per update."""
    learning_rate: float | None = None
    gamma: float | None = None
    """Discount of a decision."""
    expectile: float | None = None
    policy: bool = False
    """Train the AWR policy head too; no search uses it."""
    sample: SampleSettings = field(default_factory=SampleSettings)
    wording: RewordSettings = field(default_factory=RewordSettings)

    def num_trajectories(self, num_tables: int) -> int:
        """Sampled subgraphs for a lake of that size."""
        if self.trajectories is not None:
            return self.trajectories
        per_table, least, most = _DEFAULT_TRAJECTORIES[self.preset]
        return min(most, max(least, per_table * num_tables))

    def __post_init__(self) -> None:
        if self.preset not in _DEFAULT_TRAJECTORIES:
            raise UsageError(f"preset {self.preset!r} is none of {', '.join(_DEFAULT_TRAJECTORIES)}")
        for name in ("trajectories", "steps", "batch"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")
        if self.seed < 0 or self.held_out < 0:
            raise UsageError("seed and held_out can't be negative")
