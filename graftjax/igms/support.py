"""ψ: how well each node of the lake graph supports each node atom of an intent (Sec. 3.2).

Letters: t trees, n node atoms, K column classes, M clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from graftjax.encode.space import TextSpace
from graftjax.encode.text import words
from graftjax.igms.settings import ScoreSettings
from graftjax.intent.atoms import ATTRIBUTE, ENTITY, VALUE, IntentAtoms
from graftjax.lake.record import LakeIndex
from graftjax.lake.sketch import hash_value
from graftjax.lake.values import normalise


@runtime_checkable
class TextEncoder(Protocol):
    """What the score needs of an encoder."""

    def encode(self, texts: Sequence[str]) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """An encoder for texts that were encoded before, all at once."""

    vectors: dict[str, np.ndarray]

    @classmethod
    def of(cls, texts: Iterable[str], encoder: TextEncoder, space: TextSpace | None = None) -> EncodedTexts:
        """Encode each text once; none that `space`, made by this encoder, holds already."""
        distinct = list(dict.fromkeys(texts))
        vectors = {} if space is None else space.known(distinct)
        missing = [text for text in distinct if text not in vectors]
        if missing:
            vectors.update(zip(missing, encoder.encode(missing), strict=True))
        return cls(vectors)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Raises KeyError for a text that is not among them."""
        return np.stack([self.vectors[text] for text in texts])


@dataclass(frozen=True, eq=False)
class NodeSupport:
    """ψ of every node atom with every node of its type."""

    entity: Float[np.ndarray, "t M"]
    """Trees' entities with clusters."""
    column: Float[np.ndarray, "n K"]
    """Attributes and values with column classes; zero rows for entities."""


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -60.0, 60.0)))


def atom_texts(atoms: IntentAtoms) -> list[tuple[str, ...]]:
    """The texts that an atom is matched by, one tuple per node atom.

    Entity: (name, name with attributes). Attribute: (in context of its entity, alone).
    Value: (attribute: value).
    """
    texts: list[tuple[str, ...]] = []
    for node, kind in enumerate(atoms.node_kind):
        own = words(atoms.node_text[node])
        if kind == ENTITY:
            attributes = [words(atoms.node_text[i]) for i in np.flatnonzero(atoms.node_parent == node)]
            texts.append((own, f"{own}: {', '.join(attributes)}"))
        elif kind == ATTRIBUTE:
            texts.append((f"{words(atoms.entity_of(node))} {own}", own))
        else:
            parent = words(atoms.node_text[int(atoms.node_parent[node])])
            texts.append((f"{parent}: {atoms.node_text[node]}",))
    return texts


def node_support(
    index: LakeIndex, atoms: IntentAtoms, encoder: TextEncoder, settings: ScoreSettings
) -> NodeSupport:
    """ψ of all node atoms; unit of the result: probability-like, in [0, 1]."""
    nodes, s = index.nodes, settings
    num_classes, num_clusters = len(nodes.header), len(nodes.table)
    per_atom = atom_texts(atoms)
    entity = np.zeros((len(atoms.tree_entity), num_clusters), np.float32)
    column = np.zeros((atoms.num_nodes, num_classes), np.float32)
    if not per_atom or not index.space.texts:
        return NodeSupport(entity, column)
    cosines = _Cosines(index, encoder, s.lexical_share, atoms.node_kind, per_atom)
    keys = np.flatnonzero(nodes.key >= 0)
    for node, kind in enumerate(atoms.node_kind):
        if kind == ENTITY:
            share = s.entity_schema
            cosine = cosines.best(node, {"table": 1 - share, "schema": share})
            entity[int(atoms.node_tree[node])] = sigmoid(s.beta * (cosine - s.c0))
        elif kind == ATTRIBUTE:
            share = s.attribute_header
            cosine = cosines.best(node, {"context": 1 - share, "header": share})
            alias = s.key_alias * cosines.best(node, {"key": 1.0}, keys)
            cosine[keys] = np.maximum(cosine[keys], alias)
            column[node] = sigmoid(s.beta * (cosine - s.c0))
        elif kind == VALUE:
            column[node] = sigmoid(s.beta * (cosines.best(node, {"value": 1.0}) - s.value_c0))
            holders = index.classes_with(hash_value(normalise(atoms.node_text[node])))
            column[node, holders] = np.maximum(column[node, holders], s.value_hit)
    return NodeSupport(entity, column)


_COMPARED: dict[str, tuple[int, tuple[int, ...]]] = {
    "table": (ENTITY, (0,)),
    "schema": (ENTITY, (1,)),
    "context": (ATTRIBUTE, (0,)),
    "header": (ATTRIBUTE, (1,)),
    "key": (ATTRIBUTE, (0, 1)),
    "value": (VALUE, (0,)),
}
"""By kind of node texts: atoms that are compared with them, and which of the atom's texts are."""


class _Cosines:
    """Cosines of the atoms of an intent with the nodes of a lake, each atom with texts of its kind only."""

    def __init__(
        self,
        index: LakeIndex,
        encoder: TextEncoder,
        share: float,
        kinds: np.ndarray,
        texts: list[tuple[str, ...]],
    ) -> None:
        self._index, self._texts = index, texts
        self._found: dict[str, tuple[dict[str, int], np.ndarray]] = {}
        for name, (kind, places) in _COMPARED.items():
            asked = [texts[node][place] for node in np.flatnonzero(kinds == kind) for place in places]
            if asked:
                distinct = list(dict.fromkeys(asked))
                space = index.kinds[name].space
                cosines = space.similarity(distinct, encoder.encode(distinct), share)
                self._found[name] = {text: row for row, text in enumerate(distinct)}, cosines

    def best(
        self, node: int, shares: dict[str, float], only: np.ndarray | None = None
    ) -> Float[np.ndarray, " N"]:
        """Weighted cosine of an atom with each lake node, or those in `only`, by the best reading."""
        kinds = [self._index.kinds[name] for name in shares]
        rows = [share * self._row(name, node) for name, share in shares.items()]
        firsts = [kind.first if only is None else kind.first[only] for kind in kinds]
        result = _sum(row[first] for row, first in zip(rows, firsts, strict=True))
        if only is None:
            for varied in (kind.varied for kind in kinds):
                readings = _sum(row[kind.text[varied]] for row, kind in zip(rows, kinds, strict=True))
                result[varied] = readings.max(1) if len(varied) else result[varied]
        return result

    def _row(self, name: str, node: int) -> np.ndarray:
        """Cosine of an atom with each text of a kind; the better of the atom's two texts."""
        row, cosines = self._found[name]
        first, *others = (cosines[row[self._texts[node][place]]] for place in _COMPARED[name][1])
        for other in others:
            first = np.maximum(first, other)
        return first


def _sum(parts: Iterable[np.ndarray]) -> np.ndarray:
    first, *others = parts
    for other in others:
        first = first + other
    return first
