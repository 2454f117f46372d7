"""Placing data on devices for `pmap`, and joining several hosts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from graftjax.errors import GraftError

COORDINATOR, NUM_PROCESSES, PROCESS = "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"
"""Environment variables of a run on several hosts: `host:port` of the first, their number, one's own."""
Device: TypeAlias = Any
"""A `jax.Device`, which is no type for type checkers."""
AXIS = "devices"
"""Name of the axis of `pmap`; arrays placed under another name would compile the program twice."""


def join_hosts() -> bool:
    """Connect this process with the others of a run on several hosts; True when it is one of several.

    Does nothing unless all three environment variables are set, or when that has been done before; call it
    before anything else of JAX. Raises GraftError when they make no sense or the others can not be reached.
    """
    values = [os.environ.get(name, "") for name in (COORDINATOR, NUM_PROCESSES, PROCESS)]
    if not all(values):
        return False
    if jax.distributed.is_initialized():
        return jax.process_count() > 1
    address, count, number = values
    try:
        jax.distributed.initialize(address, int(count), int(number))
    except (ValueError, RuntimeError) as error:
        raise GraftError(
            f"could not join the run at {address} as process {number} of {count}: "
            f"{' '.join(str(error).split())} (see {COORDINATOR}, {NUM_PROCESSES}, {PROCESS})"
        ) from error
    return jax.process_count() > 1


def replicate(tree: Any, devices: Sequence[Device]) -> Any:
    """A copy of every array on each of this host's `devices`, with a leading axis for `pmap`."""
    sharding = NamedSharding(Mesh(np.array(devices), (AXIS,)), PartitionSpec(AXIS))

    def place(leaf: Any) -> jax.Array:
        copies = [jax.device_put(leaf[None], device) for device in devices]
        shape = (len(devices), *leaf.shape)
        return jax.make_array_from_single_device_arrays(shape, sharding, copies)

    return jax.tree.map(place, tree)


def first_copy(tree: Any) -> Any:
    """NumPy arrays of the first device's copy of a replicated tree."""
    return jax.tree.map(lambda leaf: np.array(leaf.addressable_data(0))[0], tree)
