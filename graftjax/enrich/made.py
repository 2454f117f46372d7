"""Sources that are made by numbers, for a stranger and for tests: two to regress, two to classify.

Each is a table of some hundred rows in which every group of columns says something about the target, so the
base table alone predicts worse than all columns and rows together. All values are invented.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from graftjax.enrich.source import IDS, LEAST_ID, Source, Task, rng_of

NOISE = 0.35
"""Standard deviation of what no column explains, beside a signal of 1."""
_LEVELS = ("low", "fair", "good", "high", "excellent")
_DESIGN: dict[str, tuple[Task, str, str, int, tuple[str, ...]]] = {
    "flat_rents": (
        "regression", "monthly_rent", "contract_number", 4,
        ("floor_area", "rooms", "district grade*", "balcony size", "year built", "energy class*",
         "heating cost", "distance to centre", "noise level", "parking spaces", "kitchen grade*",
         "school rating", "storey", "insulation grade*"),
    ),
    "crop_harvests": (
        "regression", "tonnes_per_hectare", "plot_code", 3,
        ("soil acidity", "sunshine hours", "seed grade*", "rainfall total", "nitrogen dose", "slope",
         "irrigation class*", "ploughing depth", "frost days", "humus share", "pest pressure*"),
    ),
    "loan_outcomes": (
        "classification", "repaid", "loan_number", 4,
        ("loan amount", "interest", "employment class*", "years employed", "monthly income", "open debts",
         "savings", "payment discipline*", "dependants", "home value", "card limit", "credit history*"),
    ),
    "clinic_visits": (
        "classification", "care_level", "visit_number", 3,
        ("waiting minutes", "temperature", "pulse", "pain class*", "blood pressure", "oxygen share",
         "previous visits", "frailty class*", "medication count", "glucose", "mobility class*", "fever days"),
    ),
}  # fmt: skip
"""Name → task, target, key, columns of the base table, features (a star: a grade in words)."""
_CLASSES = {"repaid": ("no", "yes"), "care_level": ("home", "ward", "intensive")}


def made_sources(seed: int, rows: int, names: Sequence[str] = ()) -> list[Source]:
    """The made sources (only `names`, if given), of `rows` rows each."""
    return [_make(name, seed, rows) for name in _DESIGN if not names or name in names]


def _make(name: str, seed: int, rows: int) -> Source:
    task, target, key, in_base, features = _DESIGN[name]
    rng = rng_of(seed, name, "made")
    values = rng.normal(size=(rows, len(features)))
    # All columns matter, the first (the base table's) no more than the rest.
    score = values @ (rng.choice([-1.0, 1.0], len(features)) / np.sqrt(len(features)))
    score += NOISE * rng.normal(size=rows)
    columns = {key: pa.array(rng.choice(IDS, rows, replace=False) + LEAST_ID)}
    for number, feature in enumerate(features):
        column, centre = values[:, number], float(rng.uniform(20, 90))
        header = feature.rstrip("*").replace(" ", "_")
        if feature.endswith("*"):
            steps = np.searchsorted(np.quantile(column, [0.2, 0.4, 0.6, 0.8]), column)
            columns[header] = pa.array([_LEVELS[step] for step in steps])
        else:
            columns[header] = pa.array(np.round(centre + 0.2 * centre * column, 2))
    if task == "regression":
        columns[target] = pa.array(np.round(50 + 12 * score, 2))
    else:
        classes = _CLASSES[target]
        cuts = np.quantile(score, np.arange(1, len(classes)) / len(classes))
        columns[target] = pa.array([classes[step] for step in np.searchsorted(cuts, score)])
    data = pa.table(columns)
    base = tuple(data.column_names[1 : 1 + in_base])
    return Source(name, task, target, key, False, base, data)
