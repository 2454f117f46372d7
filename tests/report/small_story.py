"""A story made by hand, in words that are given: harmless ones, or an attacker's."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from graftjax.fuse import FuseSettings, MemorySource, fuse
from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentJoin, IntentTree
from graftjax.lake.profile import profile_table
from graftjax.lake.raw import RawTable, column_names
from graftjax.report import Story
from graftjax.types import AtomSupport, Operator, Skip, Synthesis, TableId

Words = Callable[[str], str]


def small_story(words: Words = str) -> Story:
    """clubs ⋈ members ⋈ (games_1 ∪ games_2); `words` gets each plain word and gives the one that is used."""
    spelt: dict[str, str] = {}

    def w(word: str) -> str:
        return spelt.setdefault(word, words(word))

    def column(word: str) -> str:
        return column_names([w(word)])[0]

    clubs, members, one, two = (
        TableId(w("in"), w(name)) for name in ("clubs", "members", "games1", "games2")
    )
    data = {
        clubs: {"club": ["C1", "C2"], "name": [w("AIB"), w("Town")]},
        members: {"club": ["C1", "C1"], "player": ["P1", "P2"]},
        one: {"player": ["P1"], "points": [3]},
        two: {"player": ["P2"], "points": [4]},
    }
    tables = {id: pa.table({column(n): values for n, values in data[id].items()}) for id in data}
    raw = [RawTable(id, table, tuple(table.column_names), w("file")) for id, table in tables.items()]
    club, player, points = column("club"), column("player"), column("points")
    synthesis = Synthesis(
        (clubs, members, one, two),
        (
            Operator("join", clubs, members, ((club, club),), 0.9),
            Operator("join", members, one, ((player, player),), 0.8),
            Operator("union", one, two, ((player, player), (points, points)), 0.7),
        ),
        1.25,
        (
            AtomSupport(f"entity: {w('Club')}", 0.9, clubs, None),
            AtomSupport(f"value: {w('Club')}.name = {w('AIB')}", 0.8, clubs, column("name")),
            AtomSupport(f"attribute: {w('Club')}.id", 0.7, members, club),
            AtomSupport(f"attribute: {w('Match')}.points", 0.6, one, points),
            AtomSupport(f"entity: {w('Ghost')}", 0.0, None, None),
        ),
        (w("a note"),),
    )
    intent = IntentGraph(
        trees=(
            IntentTree(
                tree_id="t1",
                entity=w("Club"),
                attributes=(
                    IntentAttribute(attribute_id="a1", name=w("id")),
                    IntentAttribute(attribute_id="a2", name=w("name"), values=(w("AIB"),)),
                ),
            ),
            IntentTree(
                tree_id="t2",
                entity=w("Match"),
                attributes=(IntentAttribute(attribute_id="a3", name=w("points")),),
            ),
        ),
        joins=(IntentJoin(from_tree="t1", from_attribute="a1", to_tree="t2", to_attribute="a3"),),
    )
    fused = fuse(synthesis, MemorySource(tables), intent=intent, settings=FuseSettings())
    return Story(
        w("Which points?"),
        intent,
        synthesis,
        {table.id: table for table in map(profile_table, raw)},
        fused,
        "",
        w("my lake"),
        "exact gains",
        (Skip(w("broken.csv"), w("no table in it")),),
    )
