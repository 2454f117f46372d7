"""The index of a lake: profiles, graph and embedded node texts, and how it is built.

A table's way: raw table → profile → schema group → union cluster → column class → join edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from graftjax.encode.encoder import Encoder
from graftjax.encode.lexical import TrigramIndex
from graftjax.encode.space import TextSpace
from graftjax.encode.text import column_text, key_text, schema_text, table_text, value_text, words
from graftjax.errors import GraftError
from graftjax.lake import store
from graftjax.lake.classes import ValueSets, pool_classes
from graftjax.lake.graph import LakeGraph
from graftjax.lake.groups import SchemaGroups, group_by_schema, pooled_sample
from graftjax.lake.joins import join_edges
from graftjax.lake.partition import members_of
from graftjax.lake.profile import profile_and_rows
from graftjax.lake.raw import RawTable
from graftjax.lake.record import VARIANTS, HeaderMode, LakeIndex, NodeTexts
from graftjax.lake.stages import StageClock
from graftjax.lake.unions import union_clusters
from graftjax.lake.wording import Wording
from graftjax.types import Skip, Table


def build_index(
    tables: Iterable[RawTable | Skip],
    folder: Path,
    encoder: Encoder,
    *,
    progress: bool = True,
    headers: HeaderMode = "keep",
    clock: StageClock | None = None,
) -> LakeIndex:
    """Build (or bring up to date) the index in `folder` and open it.

    Texts that an earlier run encoded, finished or not, are not encoded again. The old index stays
    usable until the new one is complete. `clock` takes the seconds of each stage: read (what `tables`
    itself takes), profile, groups, encode, unions, classes, joins, trigrams, save.
    """
    clock = clock or StageClock()
    profiles, row_sketches, skips, notes = _profiles(tables, clock, progress)
    keep = headers == "keep"
    with clock("groups"):
        columns = [column for table in profiles for column in table.columns]
        groups = group_by_schema(profiles, headers=keep)
        names = [table_text(profiles[t].id.name) for t in groups.first_table]
        slot_texts = _slot_texts(columns, groups, keep)
    with clock("encode"):
        cache = store.TextCache(folder, encoder.name)
        cache.encode([*names, *slot_texts], encoder, progress="encode groups" if progress else False)
    with clock("unions"):
        unions = union_clusters(
            profiles, groups, cache.vectors(names, encoder.dim), cache.vectors(slot_texts, encoder.dim)
        )
    with clock("classes"):
        n_rows = [profiles[t].n_rows for t in groups.column_table]
        values = pool_classes(columns, n_rows, unions.column_class, unions.num_classes)
        texts, nodes = _node_texts(
            profiles, columns, groups, unions.table_cluster, unions.column_class, unions.num_classes, values,
            keep,
        )  # fmt: skip
    with clock("encode"):
        cache.encode(texts, encoder, progress="encode nodes" if progress else False)
        dense = cache.vectors(texts, encoder.dim)
    with clock("joins"):
        joins = join_edges(values, unions.class_cluster, Wording(dense, nodes.header, nodes.context))
    with clock("trigrams"):
        space = TextSpace(tuple(texts), dense, TrigramIndex.build(texts))
    index = LakeIndex(
        tuple(profiles),
        tuple(skips),
        tuple(notes),
        LakeGraph(unions, joins, groups.column_table),
        values,
        space,
        nodes,
        tuple(row_sketches),
        encoder.name,
        headers,
        folder,
    )
    with clock("save"):
        store.save(index, folder)
        cache.tidy()
    return index


def _profiles(
    tables: Iterable[RawTable | Skip], clock: StageClock, progress: bool
) -> tuple[list[Table], list[np.ndarray], list[Skip], list[Skip]]:
    """(profiles, row sketches, skips, notes) of all tables."""
    profiles: list[Table] = []
    row_sketches: list[np.ndarray] = []
    skips: list[Skip] = []
    notes: list[Skip] = []
    source = iter(tables)
    with tqdm(desc="read", unit="table", disable=not progress) as bar:
        while True:
            with clock("read"):
                item = next(source, None)
            if item is None:
                return profiles, row_sketches, skips, notes
            bar.update()
            if isinstance(item, Skip):
                skips.append(item)
                continue
            try:
                with clock("profile"):
                    table, rows = profile_and_rows(item)
            except (ValueError, TypeError, MemoryError) as error:  # pyarrow's errors are ValueErrors
                reason = str(error).splitlines()[0][:200]
                skips.append(Skip(item.origin, f"{item.id}: can't be profiled ({reason})"))
                continue
            profiles.append(table)
            row_sketches.append(rows)
            notes.extend(Skip(item.origin, f"{item.id}: {note}") for note in item.notes)


def open_index(folder: Path, encoder_name: str | None = None) -> LakeIndex:
    """Open a finished index.

    Raises `GraftError` when there is none, when another version of the format wrote it, when a file
    is damaged, or when `encoder_name` is given and another encoder made it.
    """
    index = store.load(folder)
    if encoder_name is not None and index.encoder_name != encoder_name:
        raise GraftError(
            f"{folder}: made with encoder {index.encoder_name}, not {encoder_name}; build it again"
        )
    return index


def _slot_texts(columns: Sequence, groups: SchemaGroups, keep: bool) -> list[str]:
    """Contextual text of each slot: header and pooled sample."""
    texts = []
    for members in members_of(groups.column_slot, groups.num_slots):
        sample = pooled_sample([columns[c].sample for c in members])
        texts.append(value_text(columns[members[0]].header if keep else "", sample))
    return texts


def _node_texts(
    tables: Sequence[Table],
    columns: Sequence,
    groups: SchemaGroups,
    table_cluster: np.ndarray,
    column_class: np.ndarray,
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
