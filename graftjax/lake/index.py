"""The index of a lake: profiles, graph and embedded node texts, and how it is built.

A table's way: raw table → profile → schema group → union cluster → column class → join edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tqdm import tqdm

from graftjax.encode.encoder import Encoder
from graftjax.encode.lexical import TrigramIndex
from graftjax.encode.space import TextSpace
from graftjax.encode.text import table_text
from graftjax.errors import GraftError
from graftjax.lake import store
from graftjax.lake.classes import pool_classes
from graftjax.lake.graph import LakeGraph
from graftjax.lake.groups import group_by_schema
from graftjax.lake.joins import join_edges
from graftjax.lake.known_files import Profiled
from graftjax.lake.node_texts import node_texts, slot_texts
from graftjax.lake.raw import RawTable
from graftjax.lake.record import HeaderMode, LakeIndex
from graftjax.lake.stages import StageClock
from graftjax.lake.table_file import profiled
from graftjax.lake.text_cache import TextCache
from graftjax.lake.unions import union_clusters
from graftjax.lake.wording import Wording
from graftjax.types import Skip, Table


def build_index(
    tables: Iterable[RawTable | Profiled | Skip],
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
        slots = slot_texts(columns, groups, keep)
    with clock("encode"):
        cache = TextCache(folder, encoder.name)
        cache.encode([*names, *slots], encoder, progress="encode groups" if progress else False)
    with clock("unions"):
        unions = union_clusters(
            profiles, groups, cache.vectors(names, encoder.dim), cache.vectors(slots, encoder.dim)
        )
    with clock("classes"):
        n_rows = [profiles[t].n_rows for t in groups.column_table]
        values = pool_classes(columns, n_rows, unions.column_class, unions.num_classes)
        texts, nodes = node_texts(
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
    tables: Iterable[RawTable | Profiled | Skip], clock: StageClock, progress: bool
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
            if isinstance(item, RawTable):
                with clock("profile"):
                    item = profiled(item)
            if isinstance(item, Skip):
                skips.append(item)
                continue
            profiles.append(item.table)
            row_sketches.append(item.row_sketch)
            notes.extend(Skip(item.table.origin, f"{item.table.id}: {note}") for note in item.notes)


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
