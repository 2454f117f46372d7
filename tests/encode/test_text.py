from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.encode.text import column_text, key_text, schema_text, table_text, value_text, words


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("stu_id", "stu id"),
        ("StuID", "stu id"),
        ("StuIDs", "stu id"),
        ("singer_ids", "singer id"),
        ("IDsOfPets", "id of pet"),
        ("phone_nos", "phone no"),
        ("URLs", "url"),
        ("GPSUnit", "gps unit"),
        ("HTTPServer", "http server"),
        ("singersInConcerts", "singer in concert"),
        ("season2019", "season 2019"),
        ("player2", "player2"),
        ("cities", "city"),
        ("classes", "class"),
        ("boxes", "box"),
        ("gas", "gas"),
        ("gps", "gps"),
        ("status", "status"),
        ("analysis", "analysis"),
        ("TV_series", "tv series"),
        ("  a.b-c/d\\e:f;g,h|i#j(k)[l]{m}\"n'o`p  ", "a b c d e f g h i j k l m n o p"),
        ("1:00-2:00AM", "1 00 2 00am"),
        ("", ""),
        ("___", ""),
        ("日本語", "日本語"),
    ],
)
def test_words(identifier, expected):
    assert words(identifier) == expected


def test_spellings_of_one_name_agree():
    spellings = ["singers_in_concert", "SingerInConcert", "Singer in concert", "SINGERS IN CONCERT"]
    assert {words(name) for name in spellings} == {"singer in concert"}


@given(st.text(max_size=40))
def test_words_are_clean_for_any_text(identifier):
    found = words(identifier)
    assert found == " ".join(found.split())
    assert not set(found) & set("_-./\\:;,|#()[]{}\"'`")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("singer", "singer"),
        ("singer_1", "singer"),
        ("Singers 12", "singer"),
        ("singer.part3", "singer"),
        ("singer_shard_7", "singer"),
        ("singer-split-00012", "singer"),
        ("singer_123456", "singer 123456"),
        ("表_3", "表"),
        ("2019", "2019"),
        ("7_8", "7 8"),
        ("_", ""),
    ],
)
def test_table_text_drops_what_only_tells_shards_apart(name, expected):
    assert table_text(name) == expected


def test_texts_of_the_nodes():
    assert column_text("singers_2", "StuName") == "singer stu name"
    assert column_text("singers_2", "") == "singer"
    assert key_text("singers_2") == "singer id"
    assert schema_text("singers_2", ["Name", "birth_years"]) == "singer: name, birth year"
    assert value_text("Cities", ["Rome", "Bern"]) == "city: Rome, Bern"
    assert value_text("", ["Rome", "Bern"]) == "Rome, Bern"


def test_a_value_summary_has_a_bounded_length():
    text = value_text("h", ["x" * 500] * 50)
    assert text == "h: " + ", ".join(["x" * 40] * 10)
