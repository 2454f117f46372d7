"""Pairs of an intent atom and a lake node, right and wrong, in the very form in which ψ compares them.

ψ mixes up to two cosines (Sec. 3.2, `graftjax.igms.support`): of an entity with the table's name and with
its schema, of an attribute in context and alone, of a value with a summary. A pair keeps the two texts of
either side with the weights of the mix, so that a space fitted to pairs is fitted to ψ itself.
Letters: P pairs, T atom texts, n texts of the lake, N nodes of one type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from graftjax.errors import UsageError
from graftjax.igms.settings import ScoreSettings
from graftjax.igms.support import atom_texts
from graftjax.intent.atoms import ATTRIBUTE, ENTITY, VALUE, atoms_of
from graftjax.lake.record import LakeIndex
from graftjax.retrieval.samples import Sample

_CHUNK = 256
"""Atoms compared with the lake at once."""


@dataclass(frozen=True)
class PairSettings:
    """Which wrong nodes an atom is paired with."""

    hard: int = 3
    """The most similar nodes of the type that are not the image."""
    siblings: int = 3
    """Other columns of the image's cluster, for an attribute or a value."""
    random: int = 10
    """Any nodes of the type: they keep ψ of unrelated nodes low, which hard ones alone do not."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs, those of one atom together; the first of an atom is the right one."""

    texts: tuple[str, ...]
    """T atom texts."""
    query: Int[np.ndarray, "P 2"]
    """Numbers in `texts`."""
    node: Int[np.ndarray, "P 2"]
    """Numbers among the lake's texts."""
    weight: Float[np.ndarray, "P 2"]
    """Weights of the two cosines."""
    lexical: Float[np.ndarray, " P"]
    """The same mix of the trigrams' cosines, not yet multiplied by λ."""
    kind: Int[np.ndarray, " P"]
    """ENTITY, ATTRIBUTE or VALUE."""
    right: Bool[np.ndarray, " P"]
    atom: Int[np.ndarray, " P"]
    """Which pairs are of the same atom."""
    group: Int[np.ndarray, " P"]
    """Number of the image's commonest table name: pairs are held out by name, not one by one."""

    def __len__(self) -> int:
        return len(self.right)

    def check(self, what: str) -> None:
        """UsageError when the pairs, without right or without wrong ones, are nothing to fit `what` to."""
        if not self.right.any() or self.right.all():
            raise UsageError(f"{what} needs right and wrong pairs to be fitted to; the lake is too small")


@dataclass(frozen=True)
class _Atom:
    kind: int
    texts: tuple[int, int]
    image: int
    """Cluster or column class."""


def make_pairs(
    index: LakeIndex,
    samples: Iterable[Sample],
    encoder: Any,
    rng: np.random.Generator,
    score: ScoreSettings | None = None,
    settings: PairSettings = PairSettings(),
) -> Pairs:
    """Pairs from intents whose images are known (reword them before); each distinct atom is taken once.

    The space of `index` decides which wrong nodes are hard. Nodes that read exactly like the image count
    neither as right nor as wrong.
    """
    score = score or ScoreSettings()
    numbers: dict[str, int] = {}
    atoms = list(dict.fromkeys(_atoms(samples, numbers)))
    texts = tuple(numbers)
    vectors = encoder.encode(texts)
    forms = {kind: _forms(index, kind, score) for kind in (ENTITY, ATTRIBUTE, VALUE)}
    owner = index.graph.unions.class_cluster
    rows = [
        np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 2)), np.zeros(0),
        *(np.zeros(0, np.int64) for _ in range(4)),
    ]  # fmt: skip
    found: list[list[np.ndarray]] = [[part] for part in rows]
    for start in range(0, len(atoms), _CHUNK):
        chunk = atoms[start : start + _CHUNK]
        used = sorted({text for atom in chunk for text in atom.texts})
        row = {text: i for i, text in enumerate(used)}
        dense = index.space.similarity([texts[i] for i in used], vectors[used], 0.0)
        spelt = index.space.trigrams.similarity([texts[i] for i in used])
        mixed = (1 - score.lexical_share) * dense + score.lexical_share * spelt
        for number, atom in enumerate(chunk, start):
            first, second = (row[text] for text in atom.texts)
            form = forms[atom.kind]
            cosine, best = form.compare(mixed[first], mixed[second])
            nodes = _candidates(index, form, atom, cosine, rng, settings)
            variant = best[nodes]
            which = form.query[variant]
            query = np.asarray(atom.texts)[which]
            node = form.node[nodes, variant]
            weight = form.weight[variant]
            lexical = (spelt[np.asarray([first, second])[which], node] * weight).sum(1)
            cluster = atom.image if atom.kind == ENTITY else int(owner[atom.image])
            count = len(nodes)
            parts = (
                query, node, weight, lexical, np.full(count, atom.kind), np.arange(count) == 0,
                np.full(count, number), np.full(count, index.nodes.table[cluster, 0]),
            )  # fmt: skip
            for column, part in zip(found, parts, strict=True):
                column.append(np.asarray(part))
    query, node, weight, lexical, kind, right, atom_of, group = (np.concatenate(column) for column in found)
    return Pairs(
        texts,
        query.astype(np.int32),
        node.astype(np.int32),
        weight.astype(np.float32),
        lexical.astype(np.float32),
        kind.astype(np.int32),
        right.astype(bool),
        atom_of.astype(np.int32),
        group.astype(np.int32),
    )


def _atoms(samples: Iterable[Sample], numbers: dict[str, int]) -> Iterator[_Atom]:
    """Node atoms with their images; `numbers` collects their texts."""
    for sample in samples:
        images: list[int] = []
        for tree in sample.intent.trees:
            images.append(sample.clusters[tree.tree_id])
            for attribute in tree.attributes:
                image = sample.classes[tree.tree_id, attribute.attribute_id]
                images.extend([image] * (1 + len(attribute.values)))
        atoms = atoms_of(sample.intent)
        if atoms.num_nodes != len(images):  # cut: positions no longer agree
            continue
        for kind, forms, image in zip(atoms.node_kind.tolist(), atom_texts(atoms), images, strict=True):
            own = [numbers.setdefault(text, len(numbers)) for text in forms]
            yield _Atom(kind, (own[0], own[-1]), image)


@dataclass(frozen=True, eq=False)
class _Forms:
    """How nodes of one type may be read: reading r compares the atom's texts query[r] with node[:, r]."""

    query: Int[np.ndarray, "R 2"]
    weight: Float[np.ndarray, "R 2"]
    node: Int[np.ndarray, "N R 2"]
    able: Bool[np.ndarray, "N R"]

    def compare(
        self, first: Float[np.ndarray, " n"], second: Float[np.ndarray, " n"]
    ) -> tuple[Float[np.ndarray, " N"], Int[np.ndarray, " N"]]:
        """Each node's best cosine with an atom, and the reading that gives it."""
        own = np.stack([first, second])
        parts = own[self.query[None], self.node] * self.weight[None]
        cosine = np.where(self.able, parts.sum(2), -2.0)
        best = cosine.argmax(1)
        return cosine[np.arange(len(best)), best], best


def _forms(index: LakeIndex, kind: int, score: ScoreSettings) -> _Forms:
    """The readings of `graftjax.igms.support.node_support`."""
    nodes = index.nodes
    if kind == VALUE:
        texts = np.stack([nodes.value, nodes.value], 1)[:, None, :]
        return _Forms(
            np.array([[0, 0]]), np.array([[1.0, 0.0]], np.float32), texts, np.ones(texts.shape[:2], bool)
        )
    if kind == ENTITY:
        texts, share = np.stack([nodes.table, nodes.schema], 2), score.entity_schema
    else:
        texts, share = np.stack([nodes.context, nodes.header], 2), score.attribute_header
    readings = texts.shape[1]
    query = np.tile([[0, 1]], (readings, 1))
    weight = np.tile(np.array([[1 - share, share]], np.float32), (readings, 1))
    able = np.ones(texts.shape[:2], bool)
    if kind == ATTRIBUTE:
        key = np.maximum(nodes.key, 0)
        alias = np.broadcast_to(key[:, None, None], (len(key), 2, 2))
        texts = np.concatenate([texts, alias], 1)
        query = np.concatenate([query, [[0, 0], [1, 1]]])
        weight = np.concatenate([weight, np.array([[score.key_alias, 0.0]] * 2, np.float32)])
        able = np.concatenate([able, np.repeat(nodes.key[:, None] >= 0, 2, 1)], 1)
    return _Forms(query, weight, texts, able)


def _candidates(
    index: LakeIndex,
    form: _Forms,
    atom: _Atom,
    cosine: Float[np.ndarray, " N"],
    rng: np.random.Generator,
    settings: PairSettings,
) -> Int[np.ndarray, " _"]:
    """The image, then wrong nodes: hard ones, siblings and random ones, each once."""
    count = len(cosine)
    allowed = (form.node[:, 0] != form.node[atom.image, 0]).any(1)
    wide = min(settings.hard + 1, count)
    hard = np.argpartition(-cosine, wide - 1)[:wide]
    hard = hard[np.lexsort((hard, -cosine[hard]))]
    near = np.zeros(0, np.int64)
    if atom.kind != ENTITY:
        near = index.graph.classes[int(index.graph.unions.class_cluster[atom.image])]
        near = rng.permutation(near)[: settings.siblings + 1]
    far = rng.integers(0, count, settings.random)
    wrong = [node for node in dict.fromkeys([*hard.tolist(), *near.tolist(), *far.tolist()]) if allowed[node]]
    return np.asarray([atom.image, *wrong], np.int64)
