from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_replay import SMALL, TRAINING, batch_of, random_actions, random_replay

from graftjax.errors import GraftError, UsageError
from graftjax.iql import checkpoint, devices, train, update
from graftjax.iql.networks import QNetwork, evaluate
from graftjax.iql.train import METRICS, fit

REPLAY = random_replay(32)


@pytest.fixture(scope="module", autouse=True)
def _compiled_once():
    """Runs with equal settings share their program here; a user's process has one run."""
    programs = {}

    def make(network, settings, batch_of, size, chosen):
        key = (network, replace(settings, checkpoint_every=1), size, len(chosen))
        if key not in programs:
            programs[key] = update.make_update(network, settings, batch_of, size, chosen)
        return programs[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "make_update", make)
        yield


def _fit(folder, settings=TRAINING, network=SMALL, replay=REPLAY, count=1, **options):
    chosen = jax.local_devices()[:count]
    return fit(replay, batch_of, 32, network, settings, folder, devices=chosen, progress=False, **options)


def _lines(folder):
    return [json.loads(line) for line in (folder / METRICS).read_text(encoding="utf-8").splitlines()]


def _same(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of 20 steps at one go."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, _fit(folder, extra={"lake": "demo"})


@pytest.fixture
def copy(whole, tmp_path):
    """A copy of that run's folder."""
    shutil.copytree(whole[0], tmp_path / "run")
    return tmp_path / "run"


def test_ten_steps_and_ten_more_are_twenty_bit_for_bit(whole, tmp_path):
    assert _fit(tmp_path, until=10).step == 10
    resumed = _fit(tmp_path, resume=True)
    assert resumed.step == 20
    state = lambda folder: checkpoint.restore(checkpoint.latest(folder))  # noqa: E731
    _same(state(tmp_path), state(whole[0]))
    _same(resumed.params, whole[1].params)
    drop = lambda lines: [{k: v for k, v in line.items() if k != "updates_per_second"} for line in lines]  # noqa: E731
    assert drop(_lines(tmp_path)) == drop(_lines(whole[0]))


def test_metrics_have_a_line_per_dispatch(whole):
    lines = _lines(whole[0])
    assert [line["step"] for line in lines] == [5, 10, 15, 20]
    assert set(lines[0]) == {
        "step", "loss_q", "loss_v", "loss_policy", "q_mean", "v_mean", "grad_norm", "learning_rate",
        "updates_per_second",
    }  # fmt: skip
    assert lines[0]["learning_rate"] > lines[-1]["learning_rate"] > 0


def test_a_checkpoint_is_enough_to_use_the_networks(whole, monkeypatch):
    monkeypatch.chdir(whole[0].parent)
    loaded = checkpoint.load(Path(whole[0].name))
    assert (loaded.step, loaded.network, loaded.training) == (20, SMALL, TRAINING)
    assert loaded.extra == {"lake": "demo"}
    _same(loaded.params, whole[1].params)
    state = jax.tree.map(lambda leaf: leaf[0], REPLAY.state)
    actions = random_actions(3, np.random.default_rng(0))
    q = jax.jit(lambda params: evaluate(QNetwork(loaded.network), params, state, actions))
    assert np.isfinite(q(loaded.params["q"])).all()


def test_a_checkpoint_from_before_a_setting_is_whole(copy):
    """A new setting of the networks made all value functions that were trained before useless."""
    for path in copy.glob(f"step_*/{checkpoint.CONFIG}"):
        config = json.loads(path.read_text())
        del config["network"]["numbers"]
        path.write_text(json.dumps(config))
    assert checkpoint.load(copy).network == SMALL


def test_a_relative_folder_will_do(tmp_path, monkeypatch, whole):
    monkeypatch.chdir(tmp_path)
    state = checkpoint.restore(checkpoint.latest(whole[0]))
    path = checkpoint.save(Path("runs/a"), state, SMALL, TRAINING)
    assert path == tmp_path / "runs" / "a" / "step_00000020"
    assert checkpoint.load(Path("runs/a")).step == 20


def test_a_run_goes_on_with_another_number_of_devices(copy, whole):
    shutil.rmtree(copy / "step_00000020")
    two = _fit(copy, resume=True, count=2)
    assert two.step == 20
    for a, b in zip(jax.tree.leaves(two.params), jax.tree.leaves(whole[1].params), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-3)


def _largest(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != checkpoint.CONFIG]
    return max(files, key=lambda path: path.stat().st_size)


def _truncate(step):
    with _largest(step).open("r+b") as file:
        file.truncate(10)


def _flip(step):
    path = _largest(step)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES = [
    _truncate,
    _flip,
    lambda step: _largest(step).unlink(),
    lambda step: (step / checkpoint.CONFIG).unlink(),
    lambda step: (step / checkpoint.CONFIG).write_text('{"format": 1, "st', encoding="utf-8"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_passed_over(copy, damage):
    damage(copy / "step_00000020")
    (copy / ".draft-0123456789ab" / "state").mkdir(parents=True)  # killed while writing
    assert checkpoint.latest(copy).step == 10
    assert checkpoint.load(copy).step == 10


@pytest.mark.parametrize("damage", DAMAGES)
def test_no_whole_checkpoint_is_one_line(copy, damage):
    for step in copy.glob("step_*"):
        damage(step)
    with pytest.raises(GraftError, match="none of its checkpoints is whole") as caught:
        checkpoint.load(copy)
    assert "\n" not in str(caught.value)


def test_a_folder_without_checkpoints_is_one_line(tmp_path):
    with pytest.raises(GraftError, match="no such checkpoint folder"):
        checkpoint.load(tmp_path / "missing")
    with pytest.raises(GraftError, match="holds no checkpoint"):
        checkpoint.load(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(GraftError, match=r"Not a directory|File exists"):
        _fit(tmp_path / "file")


def test_arrays_of_another_network_are_refused(copy):
    path = copy / "step_00000020" / checkpoint.CONFIG
    config = json.loads(path.read_text(encoding="utf-8"))
    config["network"]["mlp"] = 9
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(GraftError, match="has another shape"):
        checkpoint.load(copy / "step_00000020")
    config["network"] |= {"mlp": SMALL.mlp, "layers": SMALL.layers + 1}
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(GraftError, match="is missing"):
        checkpoint.load(copy / "step_00000020")


def test_the_networks_are_those_of_the_whole_state(whole):
    _same(checkpoint.load(whole[0]).params, checkpoint.restore(checkpoint.latest(whole[0])).params)


def test_only_the_newest_checkpoints_are_kept(whole, tmp_path):
    state = checkpoint.restore(checkpoint.latest(whole[0]))
    for step in (1, 2, 3, 12):
        checkpoint.save(tmp_path, state._replace(step=np.int32(step)), SMALL, TRAINING)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step_00000003", "step_00000012"]


def test_a_folder_with_checkpoints_is_not_overwritten_or_continued_with_other_settings(copy):
    with pytest.raises(UsageError, match="already holds checkpoints"):
        _fit(copy)
    with pytest.raises(UsageError, match=r"trained with gamma 0.8, not 0.5"):
        _fit(copy, replace(TRAINING, gamma=0.5), resume=True)
    with pytest.raises(UsageError, match="trained with mlp 8, not 4"):
        _fit(copy, network=replace(SMALL, mlp=4), resume=True)


@pytest.mark.parametrize(("value", "said"), [(np.nan, "not finite"), (1e5, "1e\\+10, beyond 1e\\+06")])
def test_a_diverged_run_ends_with_advice_and_keeps_its_checkpoint(copy, value, said):
    shutil.rmtree(copy / "step_00000020")
    bad = REPLAY._replace(reward=np.full(32, value, np.float32))
    with pytest.raises(GraftError, match=f"loss_q is {said}.* at step 15; .*step_00000010; lower"):
        _fit(copy, replay=bad, resume=True)
    assert checkpoint.latest(copy).step == 10
    assert _lines(copy)[-1]["step"] == 15


def test_ctrl_c_saves_and_can_be_resumed(whole, tmp_path, capsys):
    before = signal.getsignal(signal.SIGINT)  # a test run in the background may ignore it

    def press(line):
        if line["step"] == 15:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        _fit(tmp_path, observer=press)
    assert "stopped after 15 of 20 steps" in "".join(capsys.readouterr())
    assert checkpoint.latest(tmp_path).step == 15
    assert signal.getsignal(signal.SIGINT) is before
    _same(_fit(tmp_path, resume=True).params, whole[1].params)


def test_replicas_hold_the_same_on_every_device():
    tree = {"a": np.arange(3, dtype=np.float32), "b": jnp.int32(4)}
    placed = devices.replicate(tree, jax.local_devices())
    assert placed["a"].shape == (2, 3)
    assert placed["b"].shape == (2,)
    _same(devices.first_copy(placed), tree)


def test_hosts_are_joined_only_when_the_environment_says_so(monkeypatch):
    assert not devices.join_hosts()
    monkeypatch.setenv(devices.COORDINATOR, "localhost:1")
    monkeypatch.setenv(devices.NUM_PROCESSES, "two")
    monkeypatch.setenv(devices.PROCESS, "0")
    with pytest.raises(GraftError, match="could not join the run at localhost:1 as process 0 of two"):
        devices.join_hosts()
