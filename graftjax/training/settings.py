"""What a training run is made of, beside the lake and the encoder."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from graftjax.errors import UsageError
from graftjax.iql.presets import PresetName, Reading, TrainSettings
from graftjax.trajectories.reword import UNCHANGED, RewordSettings
from graftjax.trajectories.samplers import SamplerName
from graftjax.trajectories.settings import SampleSettings

_DEFAULT_TRAJECTORIES = {"cpu": (12, 1_500, 8_000), "paper": (10_000, 200_000, 200_000)}
"""By preset: per table of the lake, at least, at most."""
_OVERRIDING = ("steps", "batch", "learning_rate", "gamma", "expectile", "polyak")
"""Settings that replace the preset's, unless they are None."""
_HELD_OUT = 400
MAX_SEED = 2**31 - 1_000_004
"""Seeds are 32-bit numbers, and those of held-out samples lie above."""
LEAST_STEPS = 400
"""Updates of the shortest run that the presets make."""


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
    exploring: int = 6
    """Walks per trajectory that may take wrong tables; 0 leaves the recorded ones, as in Algorithm 1."""
    plain_words: bool = False
    """Leave intents in the lake's own words."""
    reads: Reading | None = None
    """numbers, texts or both: what the networks read; the cpu preset reads numbers, paper both."""
    steps: int | None = None
    """Updates of IQL; the cpu preset makes one for every five trajectories."""
    batch: int | None = None
    """Transitions per update."""
    learning_rate: float | None = None
    gamma: float | None = None
    """Discount of a decision."""
    expectile: float | None = None
    polyak: float | None = None
    """ρ of the target network; in a short run a smaller one carries values to the first decisions."""
    policy: bool = False
    """Train the AWR policy head too; no search uses it."""
    sample: SampleSettings = field(default_factory=SampleSettings)
    wording: RewordSettings = field(default_factory=RewordSettings)

    def num_steps(self, trajectories: int) -> int | None:
        """Updates; None for the preset's own number."""
        if self.steps is None and self.preset == "cpu":
            return max(LEAST_STEPS, trajectories // 5)
        return self.steps

    def training(self, training: TrainSettings) -> TrainSettings:
        """A preset's settings with this run's own in their place; UsageError for one out of its range."""
        given = {name: getattr(self, name) for name in _OVERRIDING if getattr(self, name) is not None}
        return replace(training, seed=self.seed, policy=self.policy, **given)

    @property
    def words(self) -> RewordSettings:
        """How intents are put into words."""
        return UNCHANGED if self.plain_words else self.wording

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
        if self.seed > MAX_SEED:
            raise UsageError(f"seed must be at most {MAX_SEED}, not {self.seed}")
        for name in ("seed", "held_out", "exploring"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} can't be negative, but is {getattr(self, name)}")
