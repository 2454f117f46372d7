"""Parameters of the score, with the values chosen on tuning questions (`experiments/tune.py`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreSettings:
    """Parameters of ψ, ψ_path and C. `PAPER` has the paper's form where the two differ."""

    beta: float = 10.0
    """Steepness β of ψ."""
    c0: float = 0.45
    """Cosine at which ψ is one half; 0 in the paper, where every unrelated node is half a match."""
    value_c0: float = 0.5
    """The same for value summaries, whose texts share their header with every other value."""
    value_hit: float = 0.95
    """ψ of a value that the column is known to hold."""
    entity_schema: float = 0.6
    """Weight of entity-with-attributes against name-with-headers; the rest is entity against name."""
    attribute_header: float = 0.5
    """Weight of attribute against header alone; the rest is in the context of entity and table."""
    key_alias: float = 0.8
    """Trust in reading a leading key column as "<table> id"."""
    lexical_share: float = 0.3
    """λ of the retrieval space."""
    noise: float = 0.01
    """σ0²."""
    shard_correlation: float = 0.0
    """Jaccard of the same column in two tables of a cluster that share no row (1 for a full copy). At 0
    shards complement each other. It decides what unions are worth in U, not which clusters are found."""
    hop_discount: float = 0.6
    """Factor per bridge on a join path; 1 in the paper."""
    join_endpoint_power: float = 0.5
    """Exponent of ψ(u, x0)·ψ(v, x|p|) in ψ_path; 1 in the paper."""
    supported: float = 0.25
    """Support from which an atom counts as supported."""


PAPER = ScoreSettings(c0=0.0, value_c0=0.0, hop_discount=1.0, join_endpoint_power=1.0)
