"""What was read lately, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Kept(Generic[K, V]):
    """Values with their sizes; the ones not used for longest go first when there are too many bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._held = most_bytes, 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, which from now on is the one used last."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of `size` bytes; one that is too large by itself is not kept."""
        self._held -= self._values.pop(key, (value, 0))[1]
        if size > self._most:
            return
        self._values[key] = value, size
        self._held += size
        while self._held > self._most:
            self._held -= self._values.popitem(last=False)[1][1]
