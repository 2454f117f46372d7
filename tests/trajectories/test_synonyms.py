"""Neighbours of words, from vectors alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_bert import write_model

from graftjax.encode import load_encoder
from graftjax.trajectories import synonyms
from graftjax.trajectories.synonyms import Synonyms, common_words, load_synonyms, nearest_words, same_stem


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_neighbours_agree_with_a_plain_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synonyms, "_BLOCK", 7)
    rng = np.random.default_rng(0)
    listed = ["".join(rng.choice(list("abcdefghij"), 6)) + "ts" * (i % 4 == 0) for i in range(60)]
    vectors = unit(rng.normal(size=(60, 3)))
    found = nearest_words(listed, vectors)
    cosine = vectors @ vectors.T - 3 * np.eye(60, dtype=np.float32)
    nearest = np.argsort(-cosine, axis=1, kind="stable")[:, : synonyms.NEAREST]
    some = 0
    for i, word in enumerate(listed):
        expected = [
            listed[j]
            for j in nearest[i]
            if i in nearest[j]
            and synonyms.LOWEST <= cosine[i, j] <= synonyms.HIGHEST
            and not listed[j].endswith("s")
            and not same_stem(word, listed[j])
        ]
        assert list(found.of(word)) == expected[: synonyms.KEPT]
        some += len(expected)
    assert some > 60


def test_forms_of_one_word_are_no_synonyms() -> None:
    assert same_stem("teacher", "teaching")
    assert same_stem("run", "running")
    assert not same_stem("country", "nation")
    assert not same_stem("street", "road")


def test_only_whole_plain_words_count() -> None:
    assert common_words(["[CLS]", "##ing", "id", "name", "Name", "naïve", "x1y", "name", "city"]) == [
        "name",
        "city",
    ]


def test_a_cut_takes_the_commoner_pair() -> None:
    known = Synonyms(("high", "schooler", "highs", "chooler", "school"), np.full((5, 1), -1, np.int32))
    assert known.split("highschooler") == ("high", "schooler")
    assert known.split("school") == ("school",)
    assert known.split("qwertzuiop") == ("qwertzuiop",)


def test_kept_on_disk_and_the_same_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder(str(write_model(tmp_path / "model")))
    first = load_synonyms(encoder, tmp_path / "cache")
    assert first.words == ("name", "age", "student")
    calls: list[int] = []
    monkeypatch.setattr(type(encoder), "encode", lambda *_, **__: calls.append(1))
    second = load_synonyms(encoder, tmp_path / "cache")
    assert not calls
    assert second.words == first.words
    np.testing.assert_array_equal(second.near, first.near)


def test_a_damaged_or_unwritable_cache_costs_time_only(tmp_path: Path) -> None:
    encoder = load_encoder(str(write_model(tmp_path / "model")))
    first = load_synonyms(encoder, tmp_path)
    (file,) = tmp_path.glob("synonyms-*.npz")
    file.write_bytes(b"damaged")
    assert load_synonyms(encoder, tmp_path).words == first.words
    (tmp_path / "file").write_text("")
    assert load_synonyms(encoder, tmp_path / "file" / "below").words == first.words
