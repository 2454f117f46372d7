from __future__ import annotations

import json
import subprocess
import sys

import pytest
from sample_lakes import lake_of

from graftjax.errors import GraftError, UsageError
from graftjax.trajectories import chunks
from graftjax.trajectories.chunks import CHUNK, open_trajectories, read_chunk
from graftjax.trajectories.homomorphism import violations
from graftjax.trajectories.settings import SampleSettings
from graftjax.trajectories.stream import sample_trajectories

LAKE = lake_of(
    [
        [(f"person_{i}", ["id", "name", "born"]) for i in range(3)],
        [("visit", ["person_id", "place_id", "day"])],
        [("place", ["id", "town"]), ("place_2", ["id", "town"])],
    ],
    [("visit.person_id", "person_0.id", 0.9), ("visit.place_id", "place.id", 0.8)],
)
SETTINGS = SampleSettings(value_share=0.5)


def draw(count, *, index=LAKE, settings=SETTINGS, seed=7, **more):
    return sample_trajectories(index, settings, count, seed, progress=False, **more)


@pytest.fixture(scope="module")
def whole():
    return draw(2 * CHUNK - 5)


def test_the_seed_decides_and_nothing_else(whole, tmp_path):
    assert len(whole) == 2 * CHUNK - 5
    assert draw(20) == whole[:20]
    assert draw(10, seed=8) != whole[:10]
    two = draw(len(whole), folder=tmp_path / "two", processes=2)
    assert list(two) == list(whole)


def test_processes_without_a_folder(whole):
    assert draw(CHUNK + 3, processes=2) == whole[: CHUNK + 3]


def test_samples_are_varied_and_realise_their_intents(whole):
    for record in whole:
        assert violations(LAKE, record.subgraph, record.compression.intent, record.compression) == ()
    assert {t for record in whole for t in record.subgraph.tables} == set(range(6))
    assert {len(record.compression.trees) for record in whole} == {1, 2, 3}
    assert any(record.compression.bridge_clusters for record in whole)
    assert any(record.subgraph.values for record in whole)


def test_records_are_read_back_as_they_were(whole, tmp_path):
    assert list(draw(len(whole), folder=tmp_path)) == list(whole)
    stored = open_trajectories(tmp_path)
    assert (len(stored), stored[-1], stored[CHUNK]) == (len(whole), whole[-1], whole[CHUNK])
    assert stored[2:5] == whole[2:5]
    with pytest.raises(IndexError):
        stored[len(whole)]


@pytest.fixture
def made(monkeypatch):
    """Numbers of the chunks that are written, in order."""
    numbers = []
    write = chunks.write_chunk

    def spy(folder, number, records):
        numbers.append(number)
        write(folder, number, records)

    monkeypatch.setattr(chunks, "write_chunk", spy)
    return numbers


def test_a_run_goes_on_from_whole_chunks(whole, tmp_path, monkeypatch, made):
    spy = chunks.write_chunk

    def killed(folder, number, records):
        if number == 1:
            raise KeyboardInterrupt
        spy(folder, number, records)

    with monkeypatch.context() as patch:
        patch.setattr(chunks, "write_chunk", killed)
        with pytest.raises(KeyboardInterrupt):
            draw(len(whole), folder=tmp_path)
    with pytest.raises(GraftError, match="chunk 1 is missing"):
        open_trajectories(tmp_path)
    assert list(draw(len(whole), folder=tmp_path)) == list(whole)
    assert made == [0, 1]
    draw(len(whole), folder=tmp_path)
    assert made == [0, 1]  # nothing to do
    assert len(draw(2 * CHUNK, folder=tmp_path)) == 2 * CHUNK
    assert made == [0, 1, 1]  # only the last chunk was short
    assert len(draw(20, folder=tmp_path)) == 20


def test_a_damaged_chunk_is_made_anew(whole, tmp_path, made):
    draw(len(whole), folder=tmp_path)
    (victim,) = tmp_path.glob("chunk-000001-*")
    victim.write_bytes(victim.read_bytes()[:-100])
    with pytest.raises(GraftError, match="damaged"):
        open_trajectories(tmp_path)
    assert list(draw(len(whole), folder=tmp_path)) == list(whole)
    assert made == [0, 1, 1]
    assert len(list(tmp_path.glob("*.parquet"))) == 2
    assert not list(tmp_path.glob(".draft*"))


def test_a_chunk_that_changed_is_refused_in_one_line(tmp_path):
    draw(5, folder=tmp_path)
    (victim,) = tmp_path.glob("chunk-*")
    victim.write_bytes(b"nothing")
    with pytest.raises(GraftError, match=r"damaged .*; sample again"):
        read_chunk(victim)


def test_a_folder_keeps_to_its_settings(tmp_path):
    draw(3, folder=tmp_path)
    with pytest.raises(UsageError, match="another seed"):
        draw(3, folder=tmp_path, seed=1)
    with pytest.raises(UsageError, match="another settings"):
        draw(3, folder=tmp_path, settings=SampleSettings())
    with pytest.raises(UsageError, match="another lake"):
        draw(3, folder=tmp_path, index=lake_of([[("one", ["id"])]]))
    (tmp_path / "samples.json").write_text("{")
    with pytest.raises(GraftError, match="remove the folder"):
        draw(3, folder=tmp_path)
    (tmp_path / "samples.json").write_text(json.dumps({"format": 0}))
    with pytest.raises(GraftError, match="format"):
        draw(3, folder=tmp_path)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GraftError, match="can't be written"):
        draw(3, folder=tmp_path / "file" / "below")
    with pytest.raises(GraftError, match="no samples"):
        open_trajectories(tmp_path / "nowhere")


def test_a_process_that_fails_says_why(tmp_path, monkeypatch):
    """The chunks' folder is replaced by a file, so that no process can write there."""
    from graftjax.trajectories import stream

    (tmp_path / "file").write_text("")
    source = stream.Source.of(LAKE, SETTINGS, 0)
    with pytest.raises(GraftError, match=r"a sampling process failed: .*can't be written"):
        list(stream._make(source, tmp_path / "file", 2 * CHUNK, [0, 1], 2))


@pytest.mark.parametrize(
    ("tables", "count"), [([], 0), ([[("one", ["id", "x"])]], 5), ([[("a", ["id"])], [("b", ["id"])]], 5)]
)
@pytest.mark.parametrize("sampler", ["centrality", "uniform", "anchor"])
def test_lakes_with_little_in_them(tables, count, sampler, tmp_path):
    index = lake_of(tables)
    records = draw(5, index=index, sampler=sampler, folder=tmp_path)
    assert len(records) == len(draw(5, index=index, sampler=sampler)) == count
    for record in records:
        assert len(record.subgraph.tables) == 1
        assert violations(index, record.subgraph, record.compression.intent, record.compression) == ()


def test_arguments_out_of_range(unchecked):
    for wrong, message in (
        ({"count": -1}, "negative"),
        ({"count": 1, "seed": -1}, "negative"),
        ({"count": 1, "processes": 0}, "processes"),
        ({"count": 1, "sampler": "best"}, "no sampler"),
    ):
        with pytest.raises(UsageError, match=message):
            draw(**wrong)


def test_sampling_never_loads_jax():
    """Processes start in half a second, and nothing of JAX runs in them."""
    code = "import graftjax.trajectories.stream, sys; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
