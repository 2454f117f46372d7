"""Parameters of the search, with the values chosen on tuning questions (`experiments/tune.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from graftjax.igms.settings import ScoreSettings
from graftjax.igms.surrogates import RewardName
from graftjax.intent.atoms import MAX_TREES


@dataclass(frozen=True)
class Settings:
    """Everything that decides an answer, apart from lake, intent and budget L."""

    score: ScoreSettings = field(default_factory=ScoreSettings)
    anchors_per_atom: int = 32
    """K: nearest nodes per atom whose tables seed the region."""
    witnesses_per_tree: int = 16
    """Candidate clusters per intent tree inside the region."""
    beam: int = 16
    """B: syntheses kept per step."""
    reward: RewardName = "igms"
    """What a table is worth: `igms`, or a surrogate of Table 7 (R1 to R4). The two thresholds below are on
    the scale of log det, so a surrogate wants its own."""
    least_gain: float = 1.6
    """Gain in log det J below which a new cluster is not worth a table (method `graft`)."""
    least_fragment_gain: float = 0.8
    """The same for a table that only completes an attribute or a value of a tree that has its witness."""
    least_novelty: float = 0.5
    """Share of rows that a further shard must not have in common with those already taken."""

    near_clusters: int = 16
    """Clusters nearest to the question as a whole that join the region when the budget is to be spent and the
    intent is rough."""
    question_weight: float = 3.0
    """Weight of the question's cosine with a cluster, beside gain and join, when the budget is spent. It
    helps where the intent was read by rules (chosen on questions of dev.json) and costs a little where a
    model read it (on the tuning questions), so it counts for rough intents only."""

    def numbers(self) -> tuple[float, ...]:
        """What steers the compiled search, in the order of `actions.Dials`."""
        score = self.score
        return (
            score.noise, score.join_endpoint_power, score.supported,
            self.least_gain, self.least_fragment_gain, self.question_weight,
        )  # fmt: skip


MAX_JOINS = 8
ROWS = 8
"""Evidence units per table: the table, up to six columns, one operator."""
COLUMN_ROWS = ROWS - 2

__all__ = ["COLUMN_ROWS", "MAX_JOINS", "MAX_TREES", "ROWS", "Settings"]
