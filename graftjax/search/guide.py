"""A trained value function as the search uses it: Q of every action of every beam, in one call.

Letters: B beams, A actions, S scalars, F numbers, D features of a text vector, n intent nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from graftjax.encode.projection import Projection
from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.support import atom_texts
from graftjax.iql.graph import FIRST, JOIN, STOP, ActionFeatures
from graftjax.iql.networks import Params, QNetwork
from graftjax.iql.presets import NetworkSettings
from graftjax.lake.record import LakeIndex
from graftjax.search.actions import Choice, Dials
from graftjax.search.numbers import anchors, numbers_of
from graftjax.search.region import Leaf, Problem, Region
from graftjax.search.state import EMPTY, State
from graftjax.search.view import (
    IMAGES,
    IntentView,
    ProblemTexts,
    evidence_view,
    intent_slots,
    intent_view,
    state_graph,
)


class Scales(NamedTuple):
    """Means and deviations that the networks' numbers are scaled by."""

    scalar_mean: Leaf
    scalar_scale: Leaf
    number_mean: Leaf
    number_scale: Leaf

    def scalars(self, values: Leaf) -> Leaf:
        """Scaled numbers of states [..., S]."""
        return _scaled(values, self.scalar_mean, self.scalar_scale)

    def numbers(self, values: Leaf) -> Leaf:
        """Scaled numbers of actions [..., F]."""
        return _scaled(values, self.number_mean, self.number_scale)


def _scaled(values: Leaf, mean: Leaf, scale: Leaf) -> Leaf:
    lead = (None,) * (values.ndim - 1)
    return (values - mean[lead]) / scale[lead]


class Outlook(NamedTuple):
    """What the value function needs of a problem beside its arrays; texts as vectors."""

    texts: ProblemTexts
    """Numbers of texts into `vectors`."""
    vectors: Leaf
    """float32 [X, D]: the problem's own texts; the first is zero and stands for none."""
    intent_vectors: Leaf
    """float32 [n, D]."""
    intent: IntentView


@dataclass(frozen=True, eq=False)
class Guide:
    """Q with all that it was trained with."""

    network: NetworkSettings
    params: Params
    """Of Q."""
    scales: Scales
    gamma: float
    projection: Projection
    """Text vectors of the networks are those of the encoder under this projection."""

    @property
    def text_dim(self) -> int:
        """D; 1 for networks that read no texts, which then need not be fetched."""
        return self.projection.matrix.shape[1] if self.network.texts else 1

    @cached_property
    def device_params(self) -> tuple[Params, Scales]:
        """Parameters and scales as device arrays, put there once."""
        return jax.tree.map(jnp.asarray, (self.params, self.scales))

    @cached_property
    def device_gamma(self) -> Array:
        """γ as a device scalar."""
        return jnp.asarray(self.gamma, jnp.float32)

    def outlook(
        self, index: LakeIndex, evidence: QueryEvidence, region: Region, vectors: dict[str, np.ndarray]
    ) -> Outlook:
        """Texts of one problem; `vectors` has the encoder's vector of each atom text."""
        width = region.problem.rows.shape[2]
        view = intent_view(evidence, width)
        if not self.network.texts:
            return self.empty_outlook(region.problem)._replace(intent=view)
        numbers = ProblemTexts.of(region, index.nodes, 1)
        used, places = np.unique(
            np.concatenate([np.zeros(1, np.int32), *(leaf.ravel() for leaf in numbers)]), return_inverse=True
        )
        table = np.zeros((num_texts(region.problem), self.text_dim), np.float32)
        if len(used) > 1:
            table[1 : len(used)] = self.projection(index.space.dense[used[1:] - 1])
        leaves, start = [], 1
        for leaf in numbers:
            leaves.append(places[start : start + leaf.size].reshape(leaf.shape).astype(np.int32))
            start += leaf.size
        return Outlook(
            ProblemTexts(*leaves),
            table,
            intent_vectors(evidence, vectors, self.projection, width),
            view,
        )

    def empty_outlook(self, problem: Problem) -> Outlook:
        """An outlook without texts, of the right shapes."""
        n, actions = intent_slots(problem.rows.shape[2]), len(problem.cluster)
        size = self.text_dim
        zeros = lambda *shape: np.zeros(shape, np.int32)  # noqa: E731
        clusters = len(problem.shards)
        texts = ProblemTexts(zeros(clusters), zeros(clusters), zeros(actions, IMAGES), zeros(actions, IMAGES))
        view = IntentView(zeros(n), zeros(n) - 1, zeros(len(problem.joins), 2) - 1)
        floats = lambda rows: np.zeros((rows, size), np.float32)  # noqa: E731
        return Outlook(texts, floats(num_texts(problem)), floats(n), view)


def num_texts(problem: Problem) -> int:
    """Most texts that a problem can have, the empty one among them."""
    return 1 + 2 * len(problem.shards) + 2 * IMAGES * len(problem.cluster)


def intent_vectors(
    evidence: QueryEvidence, vectors: dict[str, np.ndarray], projection: Projection, width: int
) -> Float[np.ndarray, "n D"]:
    """Projected vectors of the atoms, each by its first text: an attribute in the context of its entity."""
    first = [texts[0] for texts in atom_texts(evidence.atoms)]
    result = np.zeros((intent_slots(width), projection.matrix.shape[1]), np.float32)
    if first:
        result[: len(first)] = projection(np.stack([vectors[text] for text in first]))
    return result


def action_values(
    network: NetworkSettings,
    params: Params,
    scales: Scales,
    problem: Problem,
    outlook: Outlook,
    states: State,
    options: Choice,
    dials: Dials,
) -> tuple[Float[Array, "B A"], Float[Array, " B"]]:
    """(Q of each action, Q of stopping) of every beam."""
    q_network = QNetwork(network)
    schema = outlook.vectors[outlook.texts.schema]  # [C, D]
    new = jnp.concatenate([schema[problem.cluster], jnp.zeros((1, schema.shape[1]))])

    def one(state: State, choice: Choice) -> Array:
        scalars, numbers = numbers_of(problem, state, choice, dials)
        scalars, numbers = scales.scalars(scalars), scales.numbers(numbers)
        anchor = anchors(problem, state)
        has_anchor = (anchor != EMPTY)[:, None]
        old = jnp.where(has_anchor, schema[jnp.maximum(anchor, 0)], 0.0)
        actions = ActionFeatures(
            new,
            jnp.concatenate([old, jnp.zeros((1, schema.shape[1]))]),
            jnp.append(jnp.where(anchor != EMPTY, JOIN, FIRST), STOP).astype(jnp.int32),
            jnp.concatenate([numbers, jnp.zeros((1, numbers.shape[1]))]),
        )
        evidence = evidence_view(problem, state, outlook.texts).with_vectors(outlook.vectors)
        graph = state_graph(outlook.intent_vectors, outlook.intent, evidence, scalars)
        return q_network.apply({"params": params}, graph, actions)  # pyright: ignore[reportReturnType]

    values = jax.vmap(one)(states, options)
    return values[:, :-1], values[:, -1]
