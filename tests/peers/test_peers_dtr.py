from __future__ import annotations

import pytest
from contract_checks import catalog_of, check_peer, index_of, make_lake, make_table
from fake_encoder import WordEncoder

from graftjax.errors import UsageError
from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.dtr import Dtr, DtrSettings
from graftjax.types import TableId


@pytest.mark.parametrize("text", ["schema", "rows"])
def test_contract(text):
    check_peer(lambda catalog: Dtr(catalog, DtrSettings(text=text)))


def test_nearest_first():
    dtr = Dtr(catalog_of(make_lake()))
    best = dtr.retrieve(Query("q", "stadium capacity"), 3, 0).tables
    assert best[0] == TableId("music", "stadium")


def test_shards_of_one_schema_tie_and_keep_the_order_of_the_lake():
    best = Dtr(catalog_of(make_lake())).retrieve(Query("q", "concert year stadium"), 2, 0).tables
    assert best == (TableId("music", "concert_1"), TableId("music", "concert_2"))


def test_rows_variant_sees_values_of_the_shard():
    encoder = WordEncoder()
    index = index_of([make_table("a", "t_1", "colour"), make_table("a", "t_2", "shade")])
    Dtr(Catalog(index, encoder), DtrSettings(text="rows")).warm_up([1])
    assert "colour 1" in encoder.encoded[0]
    assert "shade 1" in encoder.encoded[1]


def test_without_headers_no_header_is_encoded():
    index = index_of([make_table("a", "t", "Kilometres")], headers="drop")
    for text in ("schema", "rows"):
        encoder = WordEncoder()
        Dtr(Catalog(index, encoder), DtrSettings(text=text)).warm_up([1])
        assert "kilometre:" not in encoder.encoded[0].lower()
        assert encoder.encoded[0].startswith("t: ")


def test_a_budget_below_one_is_a_usage_error():
    with pytest.raises(UsageError, match="at least 1"):
        Dtr(catalog_of(make_lake())).retrieve(Query("q", "x"), 0, 0)


def test_vectors_are_cached_by_text_and_encoder(tmp_path):
    index = index_of(make_lake())
    first, second, third = WordEncoder(), WordEncoder(), WordEncoder("another")
    question = Query("q", "singer voice")
    answer = Dtr(Catalog(index, first, cache_folder=tmp_path)).retrieve(question, 3, 0)
    again = Dtr(Catalog(index, second, cache_folder=tmp_path)).retrieve(question, 3, 0)
    assert again == answer
    assert second.encoded == [question.question]
    (cached,) = tmp_path.rglob("part-*.npz")
    cached.write_bytes(b"damaged")
    Dtr(Catalog(index, third, cache_folder=tmp_path)).retrieve(question, 3, 0)
    assert len(third.encoded) > 1
    assert Dtr(Catalog(index, WordEncoder(), cache_folder=tmp_path)).retrieve(question, 3, 0) == answer
