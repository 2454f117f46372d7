"""Union clusters: which tables hold rows of one and the same relation.

Three steps, each on what the one before left open: tables that agree in name and headers
(`groups`), groups whose columns match one to one by meaning and content (contextual column
embeddings and bipartite matching, as in Starmie), and a check on keys that tells the shards of one
table from same-named tables of different origin.
Letters: N tables, C columns, G groups, S slots, K classes, D dimension of the encoder.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt64

from graftjax.encode.text import table_text, words
from graftjax.lake.classes import pool
from graftjax.lake.groups import SchemaGroups
from graftjax.lake.partition import members_of
from graftjax.lake.sketch import in_both
from graftjax.types import Column, Table

NEIGHBOURS = 8
"""Nearest groups that are compared column by column."""
MATCH = 0.62
"""Least mean similarity of matched columns for two groups to be unionable."""
COLUMN_MATCH = 0.4
"""Least similarity of each matched pair: one foreign column is enough to say no."""
EVIDENT = 0.4
"""Least share of matched pairs whose likeness the values bear out (common words, or codes of one form)."""
KEY_REPEAT = 1.3
"""Mean number of tables per key value from which a group is taken to mix several origins."""
_SURROGATE = frozenset({"id", "code", "no", "num", "number", "key"})


_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")


@dataclass(frozen=True, eq=False)
class Slot:
    """A column of a schema group, pooled over the group's tables."""

    vector: Float[np.ndarray, " D"]
    family: str
    """Kind of the values, integers and reals alike "number"."""
    values: UInt64[np.ndarray, " H"]
    unique: bool
    """No value comes twice."""
    mask: str
    """Form of most values when they are codes (`U001` is `a999`), else empty."""


@dataclass(frozen=True, eq=False)
class UnionClusters:
    """A partition of the tables into clusters whose columns are aligned."""

    table_cluster: Int[np.ndarray, " N"]
    column_class: Int[np.ndarray, " C"]
    class_cluster: Int[np.ndarray, " K"]
    table_score: Float[np.ndarray, " N"]
    """Confidence in (0, 1] that the table belongs to its cluster."""

    @property
    def num_clusters(self) -> int:
        return int(self.table_cluster.max(initial=-1)) + 1

    @property
    def num_classes(self) -> int:
        return len(self.class_cluster)


def union_clusters(
    tables: Sequence[Table],
    groups: SchemaGroups,
    name_vectors: Float[np.ndarray, "G D"],
    slot_vectors: Float[np.ndarray, "S D"],
) -> UnionClusters:
    """Cluster the tables; `slot_vectors` are contextual (header and pooled sample in one text)."""
    columns = [column for table in tables for column in table.columns]
    n_rows = [tables[t].n_rows for t in groups.column_table]
    parent, slot_root, score = _match_groups(columns, n_rows, groups, name_vectors, slot_vectors)
    members: dict[int, list[int]] = defaultdict(list)
    for table, group in enumerate(groups.table_group):
        members[parent[group]].append(table)
    offsets = np.concatenate([[0], np.cumsum([len(table.columns) for table in tables])])

    table_cluster = np.zeros(len(tables), np.int32)
    column_class = np.zeros(len(columns), np.int32)
    class_cluster: list[int] = []
    clusters = 0
    for root in sorted(members):
        single = len(set(groups.table_group[members[root]].tolist())) == 1
        for part in split_by_key(tables, members[root], single=single):
            classes: dict[int, int] = {}
            for table in part:
                table_cluster[table] = clusters
                for column in range(offsets[table], offsets[table + 1]):
                    slot = int(slot_root[groups.column_slot[column]])
                    if slot not in classes:
                        classes[slot] = len(class_cluster)
                        class_cluster.append(clusters)
                    column_class[column] = classes[slot]
            clusters += 1
    return UnionClusters(
        table_cluster,
        column_class,
        np.asarray(class_cluster, np.int32),
        score[groups.table_group].astype(np.float32),
    )


def _match_groups(
    columns: Sequence[Column],
    n_rows: Sequence[int],
    groups: SchemaGroups,
    name_vectors: np.ndarray,
    slot_vectors: np.ndarray,
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Root group of each group, root slot of each slot, and each group's confidence."""
    n = groups.num_groups
    slots = members_of(groups.slot_group, groups.num_groups)
    parent, slot_root, score = list(range(n)), np.arange(groups.num_slots), np.ones(n)
    if n < 2:
        return parent, slot_root, score
    centre = np.stack([slot_vectors[s].mean(0) if len(s) else np.zeros(slot_vectors.shape[1]) for s in slots])
    centre /= np.maximum(np.linalg.norm(centre, axis=1, keepdims=True), 1e-9)
    slot_columns = members_of(groups.column_slot, groups.num_slots)

    families = [family_of([columns[c] for c in members]) for members in slot_columns]

    @cache
    def profile(group: int) -> list[Slot]:
        return [
            slot_of(
                [columns[c] for c in slot_columns[s]],
                [n_rows[c] for c in slot_columns[s]],
                slot_vectors[s],
                families[s],
            )
            for s in slots[group]
        ]

    scored = []
    for a, b in _nearest(centre, NEIGHBOURS):
        if not may_match([families[s] for s in slots[a]], [families[s] for s in slots[b]]):
            continue
        found = match_slots(profile(a), profile(b), float(name_vectors[a] @ name_vectors[b]))
        if found is not None:
            scored.append((found.confidence, int(a), int(b), found.partner))
    joined: set[int] = set()
    roots: set[int] = set()
    for total, a, b, cols in sorted(scored, key=lambda item: (-item[0], item[1], item[2])):
        # Best pairs first; a group joins one cluster, through its best match that is not itself a joiner.
        if a in joined or b in joined or b in roots:
            continue
        parent[b] = a
        joined.add(b)
        roots.add(a)
        score[b] = total
        slot_root[slots[b][cols]] = slots[a]
    return parent, slot_root, score


class Match(NamedTuple):
    """Two groups of tables that are parts of one."""

    confidence: float
    """In (0, 1]."""
    partner: Int[np.ndarray, " S"]
    """Slot of the second group for each of the first."""


def match_slots(a: Sequence[Slot], b: Sequence[Slot], names: float) -> Match | None:
    """Match the columns of two groups one to one; None when these are not unionable.

    `names`: cosine of the tables' names.
    """
    similarity, evident = _column_similarity(a, b)
    from scipy.optimize import linear_sum_assignment  # a quarter of a second: an index is opened without it

    rows, cols = linear_sum_assignment(-similarity)
    matched = similarity[rows, cols]
    total = float(matched.mean()) + 0.1 * min(0.0, names - 0.3)
    if total < MATCH or matched.min() < COLUMN_MATCH or evident[rows, cols].mean() < EVIDENT:
        return None
    return None if _repeats_a_key(a, [b[j] for j in cols]) else Match(min(1.0, total), cols)


def _nearest(vectors: np.ndarray, count: int, block: int = 2048) -> list[tuple[int, int]]:
    """Pairs (a, b), a < b, in which one is among the other's nearest neighbours."""
    pairs = set()
    for start in range(0, len(vectors), block):
        similarity = vectors[start : start + block] @ vectors.T
        similarity[np.arange(len(similarity)), np.arange(start, start + len(similarity))] = -np.inf
        keep = min(count, len(vectors) - 1)
        near = np.argpartition(-similarity, keep - 1, axis=1)[:, :keep]
        for row, others in enumerate(near):
            pairs.update((min(start + row, int(o)), max(start + row, int(o))) for o in others)
    return sorted(pairs)


def may_match(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two groups' columns can match one to one at all, by the families of their values alone."""
    if not a or len(a) != len(b):
        return False
    words = min(sum(family != "number" for family in side) for side in (a, b))
    if words < EVIDENT * len(a):  # numbers are no evidence
        return False
    return "empty" in a or "empty" in b or sorted(a) == sorted(b)


def _column_similarity(a: Sequence[Slot], b: Sequence[Slot]) -> tuple[np.ndarray, np.ndarray]:
    """(similarity in [0, 1], whether values bear it out) of each slot of one group with each of another."""
    similarity = np.zeros((len(a), len(b)))
    evident = np.zeros((len(a), len(b)), bool)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            if left.family != right.family and "empty" not in (left.family, right.family):
                continue
            meaning = float(np.clip(left.vector @ right.vector, 0.0, 1.0))
            shared = _shared(left, right)
            similarity[i, j] = max(meaning, 0.5 * meaning + 0.5 * shared)
            # Numbers lie in each other's range everywhere; words and codes do not.
            evident[i, j] = left.family != "number" and (
                shared >= 0.3 or (left.mask != "" and left.mask == right.mask)
            )
    return similarity, evident


def _shared(left: Slot, right: Slot) -> float:
    """Overlap coefficient of the known values."""
    smaller = min(len(left.values), len(right.values))
    return in_both(left.values, right.values) / smaller if smaller else 0.0


def _repeats_a_key(a: Sequence[Slot], b: Sequence[Slot]) -> bool:
    """Whether a column that is a key on both sides has common values: copies or rivals, not parts."""
    return any(
        left.unique
        and right.unique
        and min(len(left.values), len(right.values)) > 2
        and _shared(left, right) >= 0.3
        for left, right in zip(a, b, strict=True)
    )


def family_of(columns: Sequence[Column]) -> str:
    """Kind of the columns' values, integers and reals alike "number"."""
    kinds = {column.kind for column in columns} - {"empty"}
    if not kinds:
        return "empty"
    return "number" if kinds <= {"integer", "real"} else min(kinds - {"integer", "real"})


def slot_of(
    columns: Sequence[Column], n_rows: Sequence[int], vector: Float[np.ndarray, " D"], family: str
) -> Slot:
    """The columns of one slot, pooled; `vector` is that of their contextual text."""
    values, _, filled = pool(columns, n_rows)
    masks = Counter(_DIGIT.sub("9", _LETTER.sub("a", value)) for column in columns for value in column.sample)
    mask, count = masks.most_common(1)[0] if masks else ("", 0)
    coded = "a" in mask and "9" in mask and 2 * count > sum(masks.values())
    return Slot(vector, family, values, 0 < filled <= len(values), mask if coded else "")


def split_by_key(tables: Sequence[Table], members: Sequence[int], *, single: bool) -> list[list[int]]:
    """Part same-schema tables of different origin.

    The shards of one table never repeat a key. When the leading column is the table's own key (unique
    in each table, and named after the table's rows) and its values come back again and again across
    tables, the group mixes several origins: tables are dealt, large ones first, to parts without a
    repeated key. Nothing is parted on weaker grounds (a leading foreign key repeats by right).
    """
    if not single or len(members) < 2 or not tables[members[0]].columns:
        return [list(members)]
    keys = [tables[t].columns[0] for t in members]
    filled = [round((1.0 - key.null_share) * tables[t].n_rows) for key, t in zip(keys, members, strict=True)]
    if not sum(filled) or any(key.n_distinct != count for key, count in zip(keys, filled, strict=True)):
        return [list(members)]
    if not _names_rows(keys[0].name, tables[members[0]].id.name):
        return [list(members)]
    union = len(np.unique(np.concatenate([key.sketch for key in keys])))
    if sum(len(key.sketch) for key in keys) < KEY_REPEAT * union:
        return [list(members)]
    parts: list[tuple[list[int], np.ndarray]] = []
    order = sorted(range(len(members)), key=lambda i: (-len(keys[i].sketch), members[i]))
    for i in order:
        sketch = keys[i].sketch
        for number, (part, values) in enumerate(parts):
            if not len(np.intersect1d(values, sketch, assume_unique=True)):
                part.append(members[i])
                parts[number] = (part, np.union1d(values, sketch))
                break
        else:
            parts.append(([members[i]], sketch))
    return [sorted(part) for part, _ in parts]


def _names_rows(header: str, table: str) -> bool:
    """Whether a key is named after the rows: `id`, or `FacID` in `faculty`, but no `stu_id` in `has_pet`."""
    stems = [word for word in words(header).split() if word not in _SURROGATE]
    if not stems:
        return True
    head = table_text(table).split()[-1]
    return len(stems) == 1 and len(stems[0]) >= 3 and head.startswith(stems[0][: max(3, len(stems[0]) - 2)])
