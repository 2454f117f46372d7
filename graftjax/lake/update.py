"""An index that a few files were added to: they are laid over it, and nothing else is computed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graftjax.encode.encoder import Encoder
from graftjax.errors import GraftError
from graftjax.lake import store
from graftjax.lake.extend import extend_index
from graftjax.lake.folder import find_files, unseen
from graftjax.lake.known_files import KnownFiles, Profiled
from graftjax.lake.record import LakeIndex
from graftjax.lake.table_file import TableFile, profiled
from graftjax.types import Skip

MOST_ADDED = 8
"""Tables that are added one by one; with more a new build is quicker."""
MOST_LAID_OVER = 32
"""Tables that may lie over a version before it is built anew; never more than it has itself."""


def add_files(root: Path, folder: Path, encoder: Encoder, known: KnownFiles) -> LakeIndex | None:
    """The index in `folder` with the few files that its lake at `root` has got; None when a build is due.

    That is when files are gone or changed, when there are many new ones or many were laid over already, and
    when the index can't be read, is another encoder's or knows no headers, or when a process that changed it
    was killed or is still at work.
    """
    index = _added(root, folder, encoder, known)
    if index is None:
        known.forget_lake()
    return index


def _added(root: Path, folder: Path, encoder: Encoder, known: KnownFiles) -> LakeIndex | None:
    lake = known.lake()
    try:
        pointer = store.manifest(folder)
    except GraftError:
        return None
    if lake is None or pointer["encoder"] != encoder.name or pointer["headers"] != "keep":
        return None
    there: dict[str | None, TableFile] = {}
    skips: list[Skip] = []
    for item in find_files(root):
        if isinstance(item, Skip):
            skips.append(item)
        else:
            there[item.key()] = item
    before = set(lake.keys)
    new = {key: file for key, file in there.items() if key is not None and key not in before}
    if None in there or not before <= set(there) or len(new) > MOST_ADDED:
        return None
    found: list[Profiled | Skip] = []
    for key, file in new.items():
        items = [profiled(item) for item in file.read()]
        if file.key() != key:
            return None
        known.add(key, items)
        found += items
    tables = [item for item in found if isinstance(item, Profiled)]
    count = sum(map(store.holds_table, store.additions_of(pointer))) + len(tables)
    if len(tables) > MOST_ADDED or count > MOST_LAID_OVER:
        return None
    try:
        index = store.load(folder)
    except GraftError:
        return None
    if count > len(index.tables) + len(tables) - count:  # words that the version lacks are not compared
        return None
    walked = set(lake.skips)
    kept = [skip for skip in index.skips if skip not in walked]
    skipped = (*kept, *(item for item in found if isinstance(item, Skip)), *skips)
    same, index = set(skipped) == set(index.skips), replace(index, skips=skipped)
    over: frozenset[str] | None = store.places_of(pointer)
    if not tables and not same:
        known.forget_lake()
        over = store.append(index, None, folder, over)
    taken = set(index.numbers)
    for item in tables:
        if over is None:
            return None
        own = replace(item.table, id=unseen(item.table.id, taken))
        index, addition = extend_index(index, item._replace(table=own), encoder)
        known.forget_lake()  # a killed run must not leave a lake that lacks this table
        over = store.append(index, addition, folder, over)
    if over is None:
        return None
    for seen in (*before, *new, *skips):
        known.saw(seen)
    return index
