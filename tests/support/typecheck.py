"""The run-time checker behind `--jaxtyping-packages` in pyproject.toml."""

from __future__ import annotations

import numpy as np
from beartype import BeartypeConf, FrozenDict, beartype

_NUMBERS = FrozenDict({int: int | np.integer, float: float | int | np.integer | np.floating})

checked = beartype(conf=BeartypeConf(hint_overrides=_NUMBERS))
"""beartype, with an int accepted where a float is asked for (PEP 484) and NumPy's scalars as numbers: what is
checked are kinds, shapes and containers, not which library counted."""
