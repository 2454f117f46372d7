"""Fitting the retrieval space to pairs: projection W, steepness β and threshold c0 of ψ (Sec. 3.2).

A right pair costs −log ψ, a wrong one −log(1 − ψ), with ψ = σ(β·(cos − c0)) and β, c0 for each type of atom.
The encoder is frozen, so that a fit is seconds of matrix products.
Letters: D dimension of the encoder, P of the space, B pairs of a batch, T atom texts, n texts of the lake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from graftjax.encode.projection import Projection, principal
from graftjax.retrieval.pairs import Pairs

KINDS = 3
"""Entity, attribute, value."""


@dataclass(frozen=True)
class FitSettings:
    """How a space is fitted."""

    dimension: int = 256
    """P."""
    steps: int = 1500
    """At most this many updates."""
    batch: int = 1024
    """B."""
    learning_rate: float = 3e-4
    scale_rate: float = 1e-2
    """Learning rate of β and c0."""
    anchor: float = 1.0
    """Weight of the mean squared distance of cosines from those of the first projection."""
    right_weight: float = 4.0
    """Weight of a right pair; a wrong one counts 1."""
    held_out: float = 0.15
    """Share of table names whose pairs decide when to stop."""
    check_every: int = 50
    """Updates between two looks at the held-out pairs."""
    patience: int = 6
    """Looks without a better loss before the fit stops."""
    beta: float = 10.0
    """First β."""
    c0: float = 0.5
    """First c0."""


class Parameters(NamedTuple):
    """What is fitted."""

    matrix: Float[Array, "D P"]
    log_beta: Float[Array, " K"]
    c0: Float[Array, " K"]


class Terms(NamedTuple):
    """What ψ and its loss read of pairs beside their vectors; see `Pairs`."""

    weight: Float[Array, "B 2"]
    lexical: Float[Array, " B"]
    kind: Int[Array, " B"]
    right: Bool[Array, " B"]


class Batch(NamedTuple):
    """Pairs as vectors."""

    query: Float[Array, "B 2 D"]
    node: Float[Array, "B 2 D"]
    terms: Terms


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted parameters with the course of the fit."""

    projection: Projection
    beta: tuple[float, float, float]
    """Of entities, attributes, values."""
    c0: tuple[float, float, float]
    history: tuple[tuple[int, float], ...]
    """Updates done, held-out loss."""


def _unit(x: Array) -> Array:
    return x / jnp.sqrt(jnp.maximum((x * x).sum(-1, keepdims=True), 1e-12))


def dense_cosines(matrix: Float[Array, "D P"], batch: Batch) -> Float[Array, "B 2"]:
    """The two cosines of each pair in the projected space."""
    return (_unit(batch.query @ matrix) * _unit(batch.node @ matrix)).sum(-1)


def logits(
    cosines: Float[Array, "B 2"],
    terms: Terms,
    log_beta: Float[Array, " K"],
    c0: Float[Array, " K"],
    share: float,
) -> Float[Array, " B"]:
    """What the sigmoid of ψ is taken of."""
    mixed = (1.0 - share) * (cosines * terms.weight).sum(-1) + share * terms.lexical
    return jnp.exp(log_beta)[terms.kind] * (mixed - c0[terms.kind])


def pair_loss(logit: Float[Array, " B"], right: Bool[Array, " B"], right_weight: float) -> Float[Array, ""]:
    """Weighted mean of −log σ for right and −log(1 − σ) for wrong pairs."""
    weight = jnp.where(right, right_weight, 1.0)
    cost = jax.nn.softplus(jnp.where(right, -logit, logit))
    return (cost * weight).sum() / weight.sum()


def _loss(
    parameters: Parameters, first: Float[Array, "D P"], batch: Batch, share: float, s: FitSettings
) -> Float[Array, ""]:
    cosines = dense_cosines(parameters.matrix, batch)
    before = jax.lax.stop_gradient(dense_cosines(first, batch))
    moved = ((cosines - before) ** 2).mean()
    return _fit_loss(parameters, cosines, batch.terms, share, s.right_weight) + s.anchor * moved


def _fit_loss(
    parameters: Parameters, cosines: Float[Array, "B 2"], terms: Terms, share: float, right_weight: float
) -> Float[Array, ""]:
    logit = logits(cosines, terms, parameters.log_beta, parameters.c0, share)
    return pair_loss(logit, terms.right, right_weight)


def _optimiser(s: FitSettings) -> optax.GradientTransformation:
    labels = Parameters("matrix", "scale", "scale")  # pyright: ignore
    rates = {"matrix": optax.adam(s.learning_rate), "scale": optax.adam(s.scale_rate)}
    return optax.multi_transform(rates, labels)  # pyright: ignore


@partial(jax.jit, static_argnames=("share", "s"))
def _update(
    parameters: Parameters, state: Any, first: Array, batch: Batch, *, share: float, s: FitSettings
) -> tuple[Parameters, Any]:
    gradient = jax.grad(_loss)(parameters, first, batch, share, s)
    # Optax raises a rate to the power of an integer counter, which strict promotion refuses.
    with jax.numpy_dtype_promotion("standard"):
        change, state = _optimiser(s).update(gradient, state, parameters)
    return optax.apply_updates(parameters, change), state  # pyright: ignore


@partial(jax.jit, static_argnames=("share", "right_weight"))
def _held_out_loss(parameters: Parameters, batch: Batch, *, share: float, right_weight: float) -> Array:
    cosines = dense_cosines(parameters.matrix, batch)
    return _fit_loss(parameters, cosines, batch.terms, share, right_weight)


def hold_out(pairs: Pairs, share: float, rng: np.random.Generator) -> Bool[np.ndarray, " P"]:
    """Which pairs are held out: all of about `share` of the table names (at least one of two or more)."""
    names = np.unique(pairs.group)
    count = 0 if len(names) < 2 or not share else min(len(names) - 1, max(1, round(share * len(names))))
    return np.isin(pairs.group, rng.permutation(names)[:count])


def batch_of(
    pairs: Pairs, query: Float[np.ndarray, "T D"], lake: Float[np.ndarray, "n D"], rows: Int[np.ndarray, " B"]
) -> Batch:
    """Some of the pairs as vectors."""
    return Batch(
        jnp.asarray(query[pairs.query[rows]]), jnp.asarray(lake[pairs.node[rows]]), terms_of(pairs, rows)
    )


def terms_of(pairs: Pairs, rows: Int[np.ndarray, " B"]) -> Terms:
    """What some of the pairs have beside their vectors."""
    return Terms(*(jnp.asarray(getattr(pairs, name)[rows]) for name in Terms._fields))


def _minibatches(count: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Endless; every pair once per round. Fewer pairs than a batch are repeated."""
    while True:
        order = rng.permutation(count)
        order = np.resize(order, max(size, count // size * size))
        yield from order.reshape(-1, size)


def fit_space(
    pairs: Pairs,
    query: Float[np.ndarray, "T D"],
    lake: Float[np.ndarray, "n D"],
    rng: np.random.Generator,
    share: float,
    settings: FitSettings = FitSettings(),
) -> Fit:
    """Fit W, β and c0; the state with the least held-out loss is kept.

    `query`, `lake`: the encoder's vectors of the atom texts and of the lake's texts. `share`: λ of the
    space. Deterministic in the generator's state. UsageError without right or without wrong pairs.
    """
    pairs.check("a retrieval space")
    lake = np.asarray(lake, np.float32)
    query = np.asarray(query, np.float32)
    out = hold_out(pairs, settings.held_out, rng)
    train, check = np.flatnonzero(~out), np.flatnonzero(out if out.any() else ~out)
    # A look at a part of the held-out pairs is enough to see a loss rise.
    check = np.resize(rng.permutation(check), min(len(check), 8 * settings.batch))
    held = batch_of(pairs, query, lake, check)
    first = jnp.asarray(principal(lake, settings.dimension).matrix)
    parameters = Parameters(
        first,
        jnp.full(KINDS, np.log(settings.beta), jnp.float32),
        jnp.full(KINDS, settings.c0, jnp.float32),
    )
    state = _optimiser(settings).init(parameters)  # pyright: ignore
    look = partial(_held_out_loss, share=share, right_weight=settings.right_weight)
    best, least, worse = parameters, float(look(parameters, held)), 0
    history = [(0, least)]
    for step, rows in enumerate(_minibatches(len(train), settings.batch, rng), 1):
        batch = batch_of(pairs, query, lake, train[rows])
        parameters, state = _update(parameters, state, first, batch, share=share, s=settings)
        if step % settings.check_every == 0 or step >= settings.steps:
            loss = float(look(parameters, held))
            history.append((step, loss))
            worse = 0 if loss < least else worse + 1
            if loss < least:
                best, least = parameters, loss
            if worse > settings.patience or step >= settings.steps:
                break
    beta, c0 = np.exp(np.asarray(best.log_beta)), np.asarray(best.c0)
    return Fit(
        Projection(np.asarray(best.matrix)),
        tuple(beta.tolist()),  # pyright: ignore
        tuple(c0.tolist()),  # pyright: ignore
        tuple(history),
    )
