"""Parameters of the sampling of subgraphs (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass, fields

from graftjax.errors import UsageError

_SHARES = frozenset({"alpha", "payload_share", "bridge_share", "chord_share", "value_share"})


@dataclass(frozen=True)
class SampleSettings:
    """How subgraphs are drawn. Raises `UsageError` for a number that is out of its range."""

    alpha: float = 0.7
    """α: share of draws that go along joins to a new cluster; the rest go along unions."""
    sharpness: float = 8.0
    """Exponent on the weights ω of edges in the centrality; 1 in the paper. Most of a table's join edges
    are weak and lead to strangers, and together they would outweigh the few that are meant."""
    payload_share: float = 0.3
    """β: share of the columns that are no keys which a cluster keeps (rounded up, at most `max_payload`)."""
    max_tables: int = 12
    """L: most tables of a sample, the seed among them."""
    num_parts: int = 16
    """K: parts that METIS makes of the lake."""
    num_quantiles: int = 4
    """J: classes of degree inside a part."""
    max_clusters: int = 4
    """Most clusters of a sample, bridges among them."""
    bridge_share: float = 0.5
    """Probability that a cluster which can be a bridge keeps its keys only and becomes one."""
    cluster_odds: tuple[float, ...] = (3.0, 4.0, 3.0, 2.0)
    """Odds of a sample of 1, 2, ... clusters; further numbers up to `max_clusters` have the last odds.
    Questions name one to three tables; samples are a little larger, for some clusters become bridges."""
    chord_share: float = 0.2
    """Probability that a join edge between two sampled clusters which no action took is kept.
    1 gives the induced subgraph of Algorithm 1; questions hardly ever join in circles."""
    max_payload: int = 4
    """Most payload columns of a cluster."""
    value_share: float = 0.25
    """Share of the payload columns for which the intent fixes a value: about one attribute in six, keys
    included, as in questions of people."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            value, name = getattr(self, entry.name), entry.name
            if name == "cluster_odds":
                if not value or min(value) < 0 or not value[0] > 0:
                    raise UsageError(f"{name} must start with a positive number and hold no negative one")
            elif name in _SHARES:
                if not 0.0 <= value <= 1.0:
                    raise UsageError(f"{name} must lie in [0, 1], not {value}")
            elif name == "sharpness":
                if not 0.0 <= value < float("inf"):
                    raise UsageError(f"{name} must be a number from 0 on, not {value}")
            elif value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")
