from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lake_maker import HashEncoder, deal, join_list, profile, raw

from graftjax.lake.classes import WHOLE, pool_classes
from graftjax.lake.index import build_index
from graftjax.lake.joins import join_edges
from graftjax.lake.sketch import SKETCH_SIZE
from graftjax.lake.wording import Wording


def _build(tables, folder):
    return build_index(tables, folder, HashEncoder(), progress=False)


def _same_words(classes: int) -> Wording:
    """All classes say the same."""
    text = np.zeros((classes, 1), np.int32)
    return Wording(np.ones((1, 4), np.float32) / 2, text, text)


def _clubs():
    club = raw("db", "club", {"id": [*range(101, 141)], "name": [f"Club {i}" for i in range(40)]})
    player = raw("db", "player", player_id=[*range(300)], club_id=[101 + i % 40 for i in range(300)])
    return club, player


def test_a_foreign_key_refers_to_the_key(tmp_path):
    index = _build(_clubs(), tmp_path)
    joins = index.graph.joins
    weight, ends = join_list(index)[0]
    assert ends == {"db/club.id", "db/player.club_id"}
    assert 0 < weight <= 1
    strongest = int(np.argmax(joins.weight))
    assert joins.containment[strongest] == 1
    referred = index.graph.unions.column_class.tolist().index(int(joins.referred[strongest]))
    assert index.column_names[referred] == "id"


def test_serial_ids_do_not_outrank_a_real_link(tmp_path):
    """Thirteen tables numbered 1..100 contain each other's ids to the full; a zip code tells more."""
    zips = [10_001 + 7 * i for i in range(100)]
    shops = raw("", "shops", id=[*range(1, 101)], zip=[zips[13 * i % 100] for i in range(100)],
                shop=[f"Shop {i}" for i in range(1, 101)])  # fmt: skip
    regions = raw("", "zip_regions", zip=zips, region=[f"R{i % 5}" for i in range(100)])
    measures = {f"t{i:02}": [(37 * row + 11 * i) % 101 for row in range(100)] for i in range(12)}
    fillers = [
        raw("", name, {"id": [*range(1, 101)], f"{chr(97 + i)}_measure": cells})
        for i, (name, cells) in enumerate(measures.items())
    ]
    found = join_list(_build([shops, *fillers, regions], tmp_path))
    link = next(weight for weight, ends in found if ends == {"shops.zip", "zip_regions.zip"})
    ids = [weight for weight, ends in found if all(end.endswith(".id") for end in ends)]
    assert ids
    assert max(ids) < link


def test_keys_of_a_single_shard_are_joined_through_its_cluster(tmp_path):
    """A shard has a quarter of the clubs; the other side refers to all of them."""
    club, player = _clubs()
    index = _build([*deal(club, 4), *deal(player, 2)], tmp_path)
    best = join_list(index)[0]
    assert best[1] == {"db/club.id", "db/player.club_id"}
    assert index.graph.joins.containment[int(np.argmax(index.graph.joins.weight))] == 1
    assert index.graph.unions.num_clusters == 2


def test_columns_without_values_have_no_edge(tmp_path):
    tables = [
        raw("", "left", id=[1, 2], note=[None, None]),
        raw("", "right", key=["x", "y"], note=[None, None]),
    ]
    assert not any(
        any(end.endswith("note") for end in ends) for _, ends in join_list(_build(tables, tmp_path))
    )


def test_a_lake_of_constants_has_no_key_and_no_edge(tmp_path):
    """There was no candidate to rank, which ended in an error of argpartition."""
    tables = [raw("", name, {f"{name} flag": [name] * 100}) for name in ("red", "blue")]
    assert join_list(_build(tables, tmp_path)) == []


@pytest.mark.parametrize("rows", [[], [None]])
def test_nothing_to_join(rows, tmp_path):
    assert join_list(_build([raw("", "a", x=rows), raw("", "b", x=rows)], tmp_path)) == []
    assert join_list(_build([], tmp_path)) == []


def test_values_beyond_the_sketch_are_compared_where_both_are_known():
    big = profile("", "big", key=[f"k{i}" for i in range(6 * SKETCH_SIZE)])
    small = profile("", "small", key=[f"k{i}" for i in range(2 * SKETCH_SIZE)])
    columns = [big.columns[0], small.columns[0]]
    values = pool_classes(columns, [big.n_rows, small.n_rows], np.array([0, 1]), 2)
    assert (values.limit < WHOLE).all()
    assert values.distinct() == pytest.approx([6 * SKETCH_SIZE, 2 * SKETCH_SIZE], rel=0.15)
    edges = join_edges(values, np.array([0, 1], np.int32), _same_words(2))
    into_big = [float(c) for a, c in zip(edges.refers, edges.containment, strict=True) if a == 1]
    into_small = [float(c) for a, c in zip(edges.refers, edges.containment, strict=True) if a == 0]
    assert into_big == pytest.approx([1.0])
    assert all(c == pytest.approx(1 / 3, abs=0.06) for c in into_small)


@given(st.lists(st.lists(st.integers(0, 6), max_size=8), min_size=1, max_size=6), st.integers(1, 3))
def test_edges_are_between_filled_classes_of_different_clusters(cells, n_clusters):
    columns = [profile("", "t", c=list(values)).columns[0] for values in cells]
    cluster = np.arange(len(columns), dtype=np.int32) % n_clusters
    values = pool_classes(columns, [len(c) for c in cells], np.arange(len(columns)), len(columns))
    edges = join_edges(values, cluster, _same_words(len(columns)))
    assert (cluster[edges.refers] != cluster[edges.referred]).all()
    assert all(cells[a] and cells[b] for a, b in zip(edges.refers, edges.referred, strict=True))
    assert ((edges.weight > 0) & (edges.weight <= 1)).all()
    for a, b, containment in zip(edges.refers, edges.referred, edges.containment, strict=True):
        left, right = set(cells[a]), set(cells[b])
        assert containment == pytest.approx(len(left & right) / len(left))
