from __future__ import annotations

import numpy as np
import pytest
from contract_checks import check_retriever, make_lake, make_table
from fake_encoder import WordEncoder

from graftjax.errors import UsageError
from graftjax.intent import Query
from graftjax.peers.dtr import Dtr
from graftjax.types import TableId


@pytest.mark.parametrize("variant", ["schema", "rows"])
def test_contract(variant):
    check_retriever(lambda tables: Dtr(tables, WordEncoder(), variant=variant))


def test_nearest_first():
    dtr = Dtr(make_lake(), WordEncoder())
    best = dtr.retrieve(Query("q", "stadium capacity"), 3, 0).tables
    assert best[0] == TableId("music", "stadium")


def test_shards_of_one_schema_tie_and_keep_the_order_of_the_lake():
    best = Dtr(make_lake(), WordEncoder()).retrieve(Query("q", "concert year stadium"), 2, 0).tables
    assert best == (TableId("music", "concert_1"), TableId("music", "concert_2"))


def test_rows_variant_sees_values_of_the_shard():
    tables = [make_table("a", "t_1", "colour"), make_table("a", "t_2", "shade")]
    encoder = WordEncoder()
    Dtr(tables, encoder, variant="rows")
    assert "colour 1" in encoder.encoded[0]
    assert "shade 1" in encoder.encoded[1]


def test_without_headers_no_header_is_encoded():
    for variant in ("schema", "rows"):
        encoder = WordEncoder()
        Dtr([make_table("a", "t", "Kilometres")], encoder, variant=variant, headers=False)
        assert "kilometre:" not in encoder.encoded[0].lower()
        assert encoder.encoded[0].startswith("t: ")


@pytest.mark.usefixtures("unchecked")
def test_unknown_variant_and_budget_are_usage_errors():
    with pytest.raises(UsageError, match="variant 'cells'"):
        Dtr([], WordEncoder(), variant="cells")  # pyright: ignore
    with pytest.raises(UsageError, match="at least 1"):
        Dtr(make_lake(), WordEncoder()).retrieve(Query("q", "x"), 0, 0)


def test_vectors_are_cached_by_text_and_encoder(tmp_path):
    first, second, third = WordEncoder(), WordEncoder(), WordEncoder()
    third.name = "another"
    question = Query("q", "singer voice")
    answer = Dtr(make_lake(), first, cache_folder=tmp_path).retrieve(question, 3, 0)
    again = Dtr(make_lake(), second, cache_folder=tmp_path).retrieve(question, 3, 0)
    assert again == answer
    assert second.encoded == ["singer voice"]  # the tables came from the file
    Dtr(make_lake(), third, cache_folder=tmp_path)
    assert len(third.encoded) == len(make_lake())
    assert len(list(tmp_path.iterdir())) == 2
    Dtr(make_lake()[:-1], second, cache_folder=tmp_path)  # another lake, another file
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY\x01\x00v\x00{'descr'", b"not an array"])
def test_damaged_cache_is_encoded_anew(tmp_path, damage):
    Dtr(make_lake(), WordEncoder(), cache_folder=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage)
    encoder = WordEncoder()
    Dtr(make_lake(), encoder, cache_folder=tmp_path)
    assert len(encoder.encoded) == len(make_lake())
    assert np.load(path).shape == (len(make_lake()), WordEncoder.dim)


def test_cache_folder_that_can_not_be_made_costs_only_the_cache(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert Dtr(make_lake(), WordEncoder(), cache_folder=blocked).retrieve(Query("q", "age"), 1, 0).tables
