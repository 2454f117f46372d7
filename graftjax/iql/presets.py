"""Settings of networks and training, and the two presets: `paper` and `cpu`.

`paper` has the settings of Sec. 5.1: three layers, an MLP of 512, batches of 256, 200,000 steps, about 24
million trainable parameters in Q and V together (target network not counted, text encoder not counted).
`cpu` is a small copy that trains in minutes on two cores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from graftjax.errors import UsageError

PresetName = Literal["paper", "cpu"]
Reading = Literal["numbers", "texts", "both"]
"""What networks read beside node types and edges: the exact numbers, the text vectors, or both."""


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Shapes of the Q, V and policy networks."""

    num_scalars: int
    """S: exact numbers of a state."""
    num_numbers: int
    """F: exact numbers of an action."""
    text_dim: int = 256
    """D: features of a text vector."""
    texts: bool = True
    """Read text vectors. Without them a node is its type, its edges and their weights, and an action its
    numbers: a few thousand trajectories teach the texts that the sampler likes, not what questions mean."""
    numbers: bool = True
    """Read the exact numbers of state and actions. Without them texts and edges have to do."""
    hidden: int = 32
    """Features of an encoded node."""
    heads: int = 2
    layers: int = 3
    input_rank: int = 0
    """Width of a projection that all node types share, before their own; 0: each type has its full own."""
    ffn: int = 0
    """Width of the feed-forward part of a layer; 0 for none."""
    mlp: int = 128
    """Hidden width of the head."""
    dropout: float = 0.0
    """Share of input features and head activations that is dropped in training."""
    q_skip_numbers: tuple[float, ...] = ()
    """First values of Q's linear skip from the action's numbers; () for zeros."""
    q_skip_scalars: tuple[float, ...] = ()
    """First values of Q's linear skip from the state's scalars; () for zeros."""
    v_skip_scalars: tuple[float, ...] = ()
    """First values of V's linear skip from the state's scalars; () for zeros."""

    def __post_init__(self) -> None:
        for name in ("text_dim", "hidden", "heads", "layers", "mlp"):
            _at_least(name, getattr(self, name), 1)
        for name in ("num_scalars", "num_numbers", "input_rank", "ffn"):
            _at_least(name, getattr(self, name), 0)
        if not (self.texts or self.numbers):
            raise UsageError("a network has to read texts or numbers to tell actions apart")
        if self.hidden % self.heads:
            raise UsageError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout must lie in [0, 1), not {self.dropout}")
        for name, size in (
            ("q_skip_numbers", self.num_numbers),
            ("q_skip_scalars", self.num_scalars),
            ("v_skip_scalars", self.num_scalars),
        ):
            given = len(getattr(self, name))
            if given not in (0, size):
                raise UsageError(f"{name} has {given} values, but must have 0 or {size}")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How the networks are trained."""

    steps: int = 200_000
    """Updates of the whole run; the learning rate falls to 0 over them."""
    batch: int = 256
    """Transitions per update, over all devices."""
    learning_rate: float = 3e-4
    """Its peak."""
    weight_decay: float = 1e-2
    """Of weight matrices (AdamW); biases, norms and skips are not decayed."""
    clip: float = 1.0
    """Largest global norm of the gradient of each network."""
    warmup: float = 0.05
    """Share of the steps in which the learning rate rises."""
    expectile: float = 0.7
    """τ of Eq. (8)."""
    polyak: float = 0.995
    """ρ: share of the target network that stays in an update."""
    gamma: float = 0.8
    """Discount of a step."""
    policy: bool = False
    """Train a policy head by advantage-weighted regression too; the search never uses it."""
    awr_temperature: float = 3.0
    """Factor of the advantage in the policy's exponential weights."""
    policy_negatives: int = 15
    """Other transitions' actions that the policy has to tell the taken one from."""
    microbatch: int = 0
    """Transitions per device whose gradient is taken at once; 0 for all. Small ones fit a CPU's cache."""
    updates_per_dispatch: int = 50
    """Updates that run on the devices between two looks of the host."""
    checkpoint_every: int = 5_000
    """Steps between two checkpoints."""
    keep: int = 3
    """Newest checkpoints that are kept."""
    loss_limit: float = 1e6
    """A loss beyond it ends the run as diverged."""
    seed: int = 0

    def __post_init__(self) -> None:
        names = ("steps", "batch", "updates_per_dispatch", "checkpoint_every", "keep", "policy_negatives")
        for name in names:
            _at_least(name, getattr(self, name), 1)
        _at_least("microbatch", self.microbatch, 0)
        for name in ("learning_rate", "clip", "loss_limit"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be positive, not {getattr(self, name)}")
        for name in ("warmup", "polyak", "gamma"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must lie in [0, 1], not {getattr(self, name)}")
        if not 0 < self.expectile < 1:
            raise UsageError(f"expectile must lie between 0 and 1, not {self.expectile}")
        if not self.weight_decay >= 0:
            raise UsageError(f"weight_decay must not be negative, but is {self.weight_decay}")


def reading(network: NetworkSettings, what: Reading) -> NetworkSettings:
    """The network, made to read something else."""
    return replace(network, texts=what != "numbers", numbers=what != "texts")


def own_reading(name: PresetName) -> Reading:
    """What the networks of a preset read."""
    network, _ = _PRESETS[name]
    return "both" if network.texts and network.numbers else "texts" if network.texts else "numbers"


def preset(
    name: PresetName, *, num_scalars: int, num_numbers: int, text_dim: int = 256
) -> tuple[NetworkSettings, TrainSettings]:
    """Settings by name, for states with `num_scalars` numbers and actions with `num_numbers`."""
    if name not in _PRESETS:
        raise UsageError(f"preset {name!r} is none of {', '.join(_PRESETS)}")
    network, training = _PRESETS[name]
    sizes = {"num_scalars": num_scalars, "num_numbers": num_numbers, "text_dim": text_dim}
    return replace(network, **sizes), training


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UsageError(f"{name} must be at least {least}, not {value}")


_PRESETS = {
    "paper": (
        NetworkSettings(0, 0, hidden=608, heads=8, layers=3, ffn=512, mlp=512),
        TrainSettings(),
    ),
    "cpu": (
        NetworkSettings(0, 0, texts=False, hidden=32, heads=2, layers=3, mlp=128, dropout=0.1),
        TrainSettings(
            steps=3_000,
            batch=128,
            learning_rate=1e-3,
            polyak=0.97,
            microbatch=16,
            updates_per_dispatch=20,
            checkpoint_every=500,
        ),
    ),
}
