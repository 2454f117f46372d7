"""The predictor: scikit-learn's histogram gradient boosting with fixed settings, five folds of base rows.

A fold is trained on the base rows of the other folds and on the rows that unions brought, and is tested on
its own base rows. A row that a union brought takes no part where its key is among the fold's test keys, or
where it has no key and is a copy of a test row.

Letters: N rows, F columns, B base rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from graftjax.enrich.frame import Frame, encode
from graftjax.errors import UsageError

FOLDS = 5
ROUNDS, MANY_CLASSES, FEWER_ROUNDS = 60, 6, 25
"""Rounds of boosting, and how many where there are more than so many classes (each round then makes as many
trees)."""
LEAVES, RATE = 15, 0.15
"""Leaves of a tree, and the learning rate: about half the library's leaves and rounds at a higher rate, for
more than twice the speed."""
SETTINGS = (FOLDS, ROUNDS, MANY_CLASSES, FEWER_ROUNDS, LEAVES, RATE)
"""What a kept score depends on."""
LEAST_ROWS = 2 * FOLDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """How well the target of the base rows was predicted."""

    rmse: float | None
    """In the target's unit; None for classes."""
    nrmse: float | None
    """RMSE over the standard deviation of the target in the base rows: 1 is what the mean alone gets."""
    accuracy: float | None
    trivial: float
    """Accuracy of the most frequent class, or 1 for `nrmse`."""


def check_installed() -> None:
    """`UsageError` when scikit-learn is missing."""
    try:
        import sklearn  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise UsageError("the predictor needs scikit-learn: pip install 'graftjax[experiments]'") from error


def evaluate(frame: Frame, seed: int) -> Outcome:
    """Predict every base row once, by a model that has not seen it; rows without a target are left out.

    `seed` deals the folds. The same frame and seed give the same outcome.
    """
    known = np.flatnonzero(~np.isnan(frame.target[: frame.num_base]))
    truth = frame.target[known]
    if len(known) < LEAST_ROWS or len(np.unique(truth)) < 2:
        raise UsageError(f"a base table of {len(known)} rows with a target can't be learnt from")
    fold = folds(frame, known, seed)
    predicted = np.full(len(known), np.nan)
    for number in range(FOLDS):
        test = known[fold == number]
        training = training_rows(frame, known[fold != number], test)
        predicted[fold == number] = _fit(frame, training, test, seed)
    if frame.task == "regression":
        rmse = float(np.sqrt(np.mean((predicted - truth) ** 2)))
        return Outcome(rmse, rmse / float(truth.std()), None, 1.0)
    most = float(np.bincount(truth.astype(np.int64)).max() / len(truth))
    return Outcome(None, None, float(np.mean(predicted == truth)), most)


def folds(frame: Frame, known: Int[np.ndarray, " B"], seed: int) -> Int[np.ndarray, " B"]:
    """Fold of each base row: at random, and for classes so that each fold has its share of every class."""
    rng = np.random.default_rng([seed, len(known)])
    order = rng.permutation(len(known))
    if frame.task == "classification":
        order = order[np.argsort(frame.target[known[order]], kind="stable")]
    fold = np.empty(len(known), np.int64)
    fold[order] = np.arange(len(known)) % FOLDS
    return fold


def training_rows(
    frame: Frame, base_rows: Int[np.ndarray, " _"], test: Int[np.ndarray, " _"]
) -> Int[np.ndarray, " _"]:
    """Base rows of the other folds, and rows of unions that have a target and are no test row."""
    more = np.arange(frame.num_base, len(frame.target))
    seen = np.isin(frame.key[more], frame.key[test]) | np.isin(frame.copy[more], test)
    more = more[~seen & ~np.isnan(frame.target[more])]
    return np.concatenate([base_rows, more])


def _fit(
    frame: Frame, training: Int[np.ndarray, " _"], test: Int[np.ndarray, " _"], seed: int
) -> Float[np.ndarray, " _"]:
    from sklearn.ensemble import (  # pyright: ignore[reportMissingImports]
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )

    values = encode(frame, training)
    kept = ~np.isnan(values[training]).all(axis=0)
    values = values[:, kept]
    target = frame.target[training]
    if not kept.any() or len(np.unique(target)) < 2:  # nothing to learn from
        classes = frame.task == "classification"
        guess = np.bincount(target.astype(np.int64)).argmax() if classes else target.mean()
        return np.full(len(test), float(guess))
    many = frame.task == "classification" and frame.num_classes > MANY_CLASSES
    settings = {
        "max_iter": FEWER_ROUNDS if many else ROUNDS,
        "max_leaf_nodes": LEAVES,
        "learning_rate": RATE,
        "categorical_features": frame.coded[kept],
        "early_stopping": False,
        "random_state": seed,
    }
    kind = HistGradientBoostingRegressor if frame.task == "regression" else HistGradientBoostingClassifier
    return kind(**settings).fit(values[training], target).predict(values[test])
