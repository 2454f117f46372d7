"""What is replaced is the old content or the new one, and nothing is left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import xxhash

from graftjax.errors import GraftError
from graftjax.files import digest_of, read_json, replacing, write_json, writing


class Killed(BaseException):
    """What no handler catches."""


def killed(path: Path, text: str) -> None:
    """Write, and get no further."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    raise Killed


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_there_only_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    with replacing(path) as draft:
        draft.write_text("one")
        assert not path.exists()
    with pytest.raises(Killed), replacing(path) as draft:
        killed(draft, "half of tw")
    assert path.read_text() == "one"
    assert names(path.parent) == ["file"]


def test_a_folder_takes_the_place_of_another(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    for text in ("a", "b"):
        with replacing(place) as draft:
            draft.mkdir()
            (draft / text).write_text(text)
    with pytest.raises(Killed), replacing(place) as draft:
        killed(draft / "c", "c")
    assert names(tmp_path) == ["folder"]
    assert names(place) == ["b"]


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_json(tmp_path / "made", {})
    assert os.stat(tmp_path / "made").st_mode == os.stat(tmp_path / "plain").st_mode


def test_what_can_not_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(GraftError, match=r"x\.json: can't be written \(\w") as error:
        write_json(tmp_path / "file" / "x.json", {})
    assert "\n" not in str(error.value)
    with (
        pytest.raises(GraftError, match=r"^there: results can't be written \(gone\)$"),
        writing(Path("there"), "results"),
    ):
        raise OSError(2, "gone")


def test_objects_come_back_and_anything_else_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert read_json(path) is None
    write_json(path, {"a": [1, "ä"]})
    assert read_json(path) == {"a": [1, "ä"]}
    for text in (json.dumps([1]), '{"a": ', "\0"):
        path.write_text(text)
        assert read_json(path) is None


def test_digests_of_files_and_bytes_agree(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5_000  # more than one block
    (tmp_path / "file").write_bytes(content)
    assert digest_of(tmp_path / "file") == digest_of(content) == xxhash.xxh3_128_hexdigest(content)
    assert digest_of(tmp_path / "file", 64) == digest_of(content, 64) == xxhash.xxh3_64_hexdigest(content)
