from __future__ import annotations

import numpy as np
import pytest
from contract_checks import catalog_of, make_lake
from hypothesis import given, settings
from hypothesis import strategies as st
from lake_maker import raw

from graftjax.encode.text import column_text
from graftjax.peers import compatibility
from graftjax.peers.compatibility import MEANING, NAME, VALUES, ColumnFormula, Compatibility

JOINS = ("columns", "lake")


def number(catalog, source, name):
    return next(i for i, lead in enumerate(catalog.leads) if (lead.id.source, lead.id.name) == (source, name))


def by_hand(catalog, a, b, values):
    """JAR's formula cell by cell; `values`: the distinct values and the uniqueness of each column's class."""
    best = 0.0
    left, right = catalog.leads[a], catalog.leads[b]
    for one in left.columns:
        for two in right.columns:
            kinds = ["number" if c.kind in ("integer", "real") else c.kind for c in (one, two)]
            (x, x_unique), (y, y_unique) = values[left.id, one.name], values[right.id, two.name]
            if kinds[0] != kinds[1] or not x or not y:
                continue
            texts = [column_text(left.id.name, one.header), column_text(right.id.name, two.header)]
            first, second = catalog.encoder.encode(texts)
            words = [set(text.split()) for text in texts]
            name = len(words[0] & words[1]) / min(map(len, words))
            score = VALUES * len(x & y) / len(x | y) + MEANING * float(first @ second) + NAME * name
            best = max(best, score * max(x_unique, y_unique))
    return best


def test_formula_as_written_out():
    contents = {
        ("a", "player"): {
            "player_id": [1, 2, 3, 4],
            "club": ["x", "x", "y", None],
            "height": [1.5, 2, 2, 1.5],
        },
        ("a", "game"): {"game_id": [11, 12, 13], "player_id": [1, 1, 3], "note": [None, None, None]},
        ("b", "club"): {"club": ["x", "y", "z"], "points": [3, 4, 4]},
    }
    catalog = catalog_of([raw(*key, columns) for key, columns in contents.items()])
    values = {}
    for lead in catalog.leads:
        for column, cells in zip(lead.columns, contents[lead.id.source, lead.id.name].values(), strict=True):
            filled = [float(c) if isinstance(c, (int, float)) else c for c in cells if c is not None]
            values[lead.id, column.name] = (set(filled), len(set(filled)) / max(1, len(filled)))
    found = Compatibility(catalog).pairs(range(3))
    for a in range(3):
        for b in range(3):
            expected = 0.0 if a == b else by_hand(catalog, a, b, values)
            assert found[a, b] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("joins", JOINS)
@pytest.mark.parametrize("unions", [True, False])
@pytest.mark.parametrize("view", ["tables", "clusters"])
def test_symmetric_in_bounds_and_equal_to_the_best_pair_of_columns(joins, unions, view):
    catalog = catalog_of(make_lake(), view)
    both = Compatibility(catalog, joins=joins, unions=unions)
    size = len(catalog.leads)
    pairs = both.pairs(range(size))
    assert (pairs == pairs.T).all()
    assert pairs.min() >= 0
    assert pairs.max() <= 1
    assert not pairs.diagonal().any()
    for a in range(size):
        for b in range(size):
            if a != b:
                columns = both.columns(a, b)
                assert np.allclose(columns, both.columns(b, a).T)
                assert columns.max(initial=0.0) == pytest.approx(pairs[a, b], abs=1e-6)


@pytest.mark.parametrize("joins", JOINS)
def test_a_large_lake_computes_only_what_a_query_needs(joins, monkeypatch):
    catalog = catalog_of(make_lake())
    nodes = [4, 0, 3, 6, 7]
    kept = Compatibility(catalog, joins=joins).pairs(nodes)
    monkeypatch.setattr(compatibility, "KEPT_CLUSTERS", 0)
    lazy = Compatibility(catalog, joins=joins)
    lazy.prepare()
    assert np.allclose(lazy.pairs(nodes), kept, atol=1e-6)
    assert "_best" not in vars(lazy)


def test_blocks_of_rows_change_nothing(monkeypatch):
    catalog = catalog_of(make_lake())
    whole = Compatibility(catalog).pairs(range(8))
    monkeypatch.setattr(compatibility, "_BLOCK", 1)
    assert np.allclose(Compatibility(catalog).pairs(range(8)), whole, atol=1e-6)


def test_shards_of_one_table_go_together_by_their_union_edge():
    catalog = catalog_of(make_lake())
    one, two = number(catalog, "music", "concert_1"), number(catalog, "music", "concert_2")
    assert catalog.cluster[one] == catalog.cluster[two]
    weight = catalog.index.graph.unions.table_score[[one, two]].min()
    assert Compatibility(catalog).pairs([one, two])[0, 1] == pytest.approx(weight)
    # Without unions a key still has its name in common with itself, but no value: ¼ + ¼.
    assert Compatibility(catalog, unions=False).pairs([one, two])[0, 1] == pytest.approx(0.5)
    assert Compatibility(catalog, joins="lake", unions=False).pairs([one, two])[0, 1] == 0


def test_shards_are_judged_by_the_values_of_their_table():
    tables = [
        raw("m", "visit_1", {"visit_id": ["v1", "v2"], "place": ["p1", "p2"]}),
        raw("m", "visit_2", {"visit_id": ["v3", "v4"], "place": ["p3", "p4"]}),
        raw("m", "city", {"city_id": ["p1", "p2", "p3", "p4"]}),
    ]
    catalog = catalog_of(tables)
    pairs = Compatibility(catalog).pairs([0, 1, 2])
    assert pairs[0, 2] == pairs[1, 2] >= VALUES


def test_nulls_and_empty_tables_have_nothing_in_common():
    tables = [
        raw("a", "one", {"code": [None, None], "x": ["u", "v"]}),
        raw("b", "two", {"code": [None, None]}),
        raw("c", "three", {"code": []}),
        raw("d", "four"),
        raw("e", "half", {"x": ["u", None, None, None]}),
    ]
    catalog = catalog_of(tables)
    for joins in JOINS:
        pairs = Compatibility(catalog, joins=joins, unions=False).pairs(range(5))
        assert not pairs[1:4].any()
    u, v, empty = 1.0, 0.5, 0.0  # {u, v} and {u}: J = ½, however many NULLs
    formula = ColumnFormula(catalog)
    classes = catalog.column_class
    met = {(int(n), i): int(k) for i, (n, k) in enumerate(zip(catalog.column_node, classes, strict=True))}
    x, half = met[0, 1], met[4, 4]
    found = formula.jaccard(np.array([x]), np.array([x, half, met[1, 2]]))[0]
    assert found.tolist() == [u, v, empty]


def test_keys_numbered_alike_get_less_than_a_foreign_key_and_no_lake_edge():
    numbers = list(range(1, 31))
    tables = [
        raw("a", "singer", {"singer_id": numbers, "name": [f"n{i}" for i in numbers]}),
        raw("a", "song", {"song_id": list(range(101, 131)), "singer_id": numbers}),
        raw("b", "gearbox", {"kilometre": numbers}),
    ]
    catalog = catalog_of(tables)
    pairs = Compatibility(catalog).pairs(range(3))
    assert pairs[0, 1] > 0.8
    assert pairs[0, 2] < 0.6  # values alone: ½, and what the texts happen to share
    assert Compatibility(catalog, joins="lake").pairs(range(3))[0, 2] == 0


def test_unlike_kinds_never_join():
    tables = [raw("a", "one", {"code": ["1", "x"]}), raw("b", "two", {"code": [1, 2]})]
    assert not Compatibility(catalog_of(tables)).pairs([0, 1]).any()


def test_sets_known_up_to_a_limit_are_compared_below_it():
    """Two columns of 4,000 values, half of them in common: J = ⅓ from sketches of 1,024."""
    tables = [
        raw("a", "one", {"code": [f"c{i}" for i in range(4000)]}),
        raw("b", "two", {"kind": [f"c{i}" for i in range(2000, 6000)]}),
        raw("c", "few", {"sort": [f"c{i}" for i in range(2000, 2300)]}),
    ]
    catalog = catalog_of(tables)
    formula = ColumnFormula(catalog)
    found = formula.jaccard(catalog.column_class.astype(int), catalog.column_class.astype(int))
    assert (found == found.T).all()
    assert found[0, 1] == pytest.approx(1 / 3, abs=0.06)
    assert found[0, 2] == pytest.approx(300 / 4000, abs=0.03)
    assert np.allclose(found.diagonal(), 1.0)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sets(st.integers(0, 12), max_size=8), min_size=2, max_size=5))
def test_jaccard_of_known_sets_is_exact(sets):
    tables = [raw(f"s{i}", f"t{i}", {"h": [f"v{x}" for x in sorted(s)]}) for i, s in enumerate(sets)]
    catalog = catalog_of(tables)
    found = ColumnFormula(catalog).jaccard(
        np.arange(catalog.index.graph.unions.num_classes), np.arange(catalog.index.graph.unions.num_classes)
    )
    classes = catalog.column_class
    if len(set(classes.tolist())) == len(sets):  # no two tables were taken for shards of one
        for i, a in enumerate(sets):
            for j, b in enumerate(sets):
                expected = len(a & b) / len(a | b) if a | b else 0.0
                assert found[classes[i], classes[j]] == pytest.approx(expected)


def test_a_lake_without_headers_is_judged_without_them():
    def found(header, **options):
        tables = [
            raw("a", "one", {"stadium": ["x", "y"]}),
            raw("b", "two", {header: ["x", "z"], "n": [1, 2]}),
        ]
        return Compatibility(catalog_of(tables, **options)).pairs([0, 1])[0, 1]

    assert found("stadium") > found("arena")
    assert found("stadium", headers="drop") == found("arena", headers="drop")
