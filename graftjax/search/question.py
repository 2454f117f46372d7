"""A question made ready for the compiled search: its evidence in the lake, its region as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graftjax.encode.space import TextSpace
from graftjax.igms.evidence import QueryEvidence
from graftjax.igms.support import EncodedTexts, TextEncoder, atom_texts, node_support
from graftjax.intent.atoms import JOIN, IntentAtoms
from graftjax.lake.record import LakeIndex
from graftjax.search.guide import Guide, Outlook
from graftjax.search.region import Region, build_region
from graftjax.search.settings import MAX_JOINS, Settings
from graftjax.search.shards import ShardOrder


@dataclass(frozen=True, eq=False)
class Question:
    """One intent over one lake for one budget."""

    evidence: QueryEvidence
    region: Region
    outlook: Outlook | None
    """What a value function reads; None without one."""


def prepare(
    index: LakeIndex,
    shards: ShardOrder,
    settings: Settings,
    guide: Guide | None,
    atoms: IntentAtoms,
    encoded: EncodedTexts,
    budget: int,
    question: str = "",
    base: int | None = None,
) -> Question:
    """Stage 1 of Algorithm 3, on the host.

    `question`: given when a rough intent is to spend the budget, and encoded with the atoms; see
    `build_region`. `base`: number of the table that the user starts with; `shards` has it first.
    """
    support = node_support(index, atoms, encoded, settings.score)
    evidence = QueryEvidence(atoms, support, index.graph, settings.score)
    near = _nearness(index, encoded, settings, question) if question else None
    cluster = None if base is None else int(index.graph.unions.table_cluster[base])
    region = build_region(evidence, shards, settings, budget, near, cluster)
    outlook = guide.outlook(index, evidence, region, encoded.vectors) if guide else None
    return Question(evidence, region, outlook)


def _nearness(
    index: LakeIndex, encoded: EncodedTexts, settings: Settings, question: str
) -> Float[np.ndarray, " M"]:
    """Cosine of a question with the name and headers of each cluster."""
    schemas = index.kinds["schema"]
    vectors = encoded.encode([question])
    cosines = schemas.space.similarity([question], vectors, settings.score.lexical_share)
    return cosines[0][schemas.text].max(1)


def encode_atoms(
    intents: Iterable[IntentAtoms],
    encoder: TextEncoder,
    space: TextSpace | None = None,
    questions: Sequence[str] = (),
) -> EncodedTexts:
    """Vectors of all texts of some intents, and of whole questions, encoded together.

    `space`: of the lake; its own texts are taken from there.
    """
    texts = (text for atoms in intents for group in atom_texts(atoms) for text in group)
    return EncodedTexts.of([*texts, *questions], encoder, space)


def left_out(atoms: IntentAtoms) -> list[str]:
    """Notes on what of an intent the search does not look at."""
    notes = list(atoms.notes)
    num_joins = int((atoms.edge_kind == JOIN).sum())
    if num_joins > MAX_JOINS:
        notes.append(f"the intent has {num_joins} joins; those beyond {MAX_JOINS} were left out")
    return notes
