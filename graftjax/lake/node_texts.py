"""What the nodes of a lake graph are called: the texts by which a search, the unions and the joins know them.

Letters: N tables, C columns, G groups, K column classes, M clusters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Int

from graftjax.encode.text import column_text, key_text, schema_text, table_text, value_text, words
from graftjax.lake.classes import ValueSets
from graftjax.lake.groups import SchemaGroups, pooled_sample
from graftjax.lake.partition import members_of
from graftjax.lake.record import VARIANTS, NodeTexts
from graftjax.types import Column, Table


def slot_texts(columns: Sequence[Column], groups: SchemaGroups, keep: bool) -> list[str]:
    """Contextual text of each slot: header and pooled sample."""
    texts = []
    for members in members_of(groups.column_slot, groups.num_slots):
        sample = pooled_sample([columns[c].sample for c in members])
        texts.append(value_text(columns[members[0]].header if keep else "", sample))
    return texts


def node_texts(
    tables: Sequence[Table],
    columns: Sequence[Column],
    groups: SchemaGroups,
    table_cluster: Int[np.ndarray, " N"],
    column_class: Int[np.ndarray, " C"],
    num_classes: int,
    values: ValueSets,
    keep: bool,
) -> tuple[list[str], NodeTexts]:
    """Distinct texts of the graph's nodes; a node speaks through the spellings of its members."""
    texts: dict[str, int] = {}
    number = lambda text: texts.setdefault(text, len(texts))  # noqa: E731
    spelt = lambda table, name: (table_text(table.id.name), words(name))  # noqa: E731
    table_nodes, schema_nodes = [], []
    for members in members_of(table_cluster, int(table_cluster.max(initial=-1)) + 1):
        speakers = _distinct(members, lambda t: (table_text(tables[t].id.name), groups.table_group[t]))
        table_nodes.append(_filled([number(table_text(tables[t].id.name)) for t in speakers]))
        shown = [[(c.header or c.name) if keep else c.kind for c in tables[t].columns] for t in speakers]
        texts_of = zip(speakers, shown, strict=True)
        schema_nodes.append(_filled([number(schema_text(tables[t].id.name, names)) for t, names in texts_of]))
    starts = set(np.concatenate([[0], np.cumsum([len(table.columns) for table in tables])]).tolist())
    unique = values.uniqueness()
    context, header = [], []
    key, value = np.full(num_classes, -1, np.int32), np.full(num_classes, -1, np.int32)
    owner = groups.column_table
    for k, members in enumerate(members_of(column_class, num_classes)):
        name_of = lambda c: columns[c].header or columns[c].name  # noqa: E731
        speakers = _distinct(members, lambda c: spelt(tables[owner[c]], columns[c].header or columns[c].name))
        sample = pooled_sample([columns[c].sample for c in members])
        lead = speakers[0]
        if keep:
            context.append(
                _filled([number(column_text(tables[owner[c]].id.name, name_of(c))) for c in speakers])
            )
            header.append(_filled([number(words(name_of(c))) for c in speakers]))
        else:
            context.append(_filled([number(value_text(table_text(tables[owner[lead]].id.name), sample))]))
            header.append(_filled([number(value_text("", sample))]))
        value[k] = number(value_text(name_of(lead) if keep else "", sample))
        if int(lead) in starts and unique[k] > 0.95:
            key[k] = number(key_text(tables[owner[lead]].id.name))
    stack = lambda part: np.asarray(part, np.int32).reshape(-1, VARIANTS)  # noqa: E731
    return list(texts), NodeTexts(
        stack(table_nodes), stack(schema_nodes), stack(context), stack(header), key, value
    )


def _distinct(members: np.ndarray, spelling: Callable[[int], object]) -> list[int]:
    """The first member of each of the commonest spellings, at most VARIANTS, in order of appearance."""
    first: dict[object, int] = {}
    count: Counter = Counter()
    for member in members.tolist():
        name = spelling(member)
        first.setdefault(name, member)
        count[name] += 1
    kept = {name for name, _ in count.most_common(VARIANTS)}
    return [member for name, member in first.items() if name in kept]


def _filled(numbers: list[int]) -> list[int]:
    return (numbers + numbers[:1] * VARIANTS)[:VARIANTS]
