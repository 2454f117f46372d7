"""Vectors of texts on disk: what a killed or an earlier build encoded is not encoded again."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import xxhash
from tqdm import tqdm

from graftjax.files import replacing, writing

_BATCH = 2048


@runtime_checkable
class TextEncoder(Protocol):
    """The part of `graftjax.encode.Encoder` that is used here."""

    def encode(self, texts: Sequence[str]) -> np.ndarray: ...


class TextCache:
    """Vectors of texts in append-only parts; each finished batch is a part of its own."""

    def __init__(self, folder: Path, encoder_name: str) -> None:
        self._folder = Path(folder) / "texts" / xxhash.xxh64_hexdigest(encoder_name.encode())
        self._known: dict[str, np.ndarray] = {}
        for part in sorted(self._folder.glob("part-*.npz")):
            try:
                with part.open("rb") as file, np.load(file, allow_pickle=False) as data:
                    found = dict(zip(json.loads(bytes(data["texts"])), data["vectors"], strict=True))
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                continue  # a part that a kill or a full disk cut short: its texts are encoded again
            self._known.update(found)
        self._used: set[str] = set()

    def encode(self, texts: Iterable[str], encoder: TextEncoder, *, progress: bool | str) -> None:
        """Encode what is not known yet, saving batch by batch."""
        wanted = list(dict.fromkeys(texts))
        self._used.update(wanted)
        missing = sorted((text for text in wanted if text not in self._known), key=len)
        if not missing:
            return
        label = progress if isinstance(progress, str) else "encode"
        with tqdm(total=len(missing), desc=label, unit="text", disable=not progress) as bar:
            for start in range(0, len(missing), _BATCH):
                batch = missing[start : start + _BATCH]
                vectors = encoder.encode(batch).astype(np.float32)
                self._append(batch, vectors)
                self._known.update(zip(batch, vectors, strict=True))
                bar.update(len(batch))

    def vectors(self, texts: Sequence[str], dim: int) -> np.ndarray:
        """float32 [n, D], all of them known."""
        if not texts:
            return np.zeros((0, dim), np.float32)
        return np.stack([self._known[text] for text in texts])

    def tidy(self) -> None:
        """Merge the parts into one that holds only the texts in use."""
        parts = sorted(self._folder.glob("part-*.npz"))
        if len(parts) <= 1 and len(self._known) <= len(self._used):
            return
        kept = [text for text in self._known if text in self._used]
        if kept:
            self._append(kept, np.stack([self._known[text] for text in kept]))
        for part in parts:
            part.unlink(missing_ok=True)

    def _append(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        encoded = np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)
        numbers = [int(part.stem.split("-")[1]) for part in self._folder.glob("part-*.npz")]
        path = self._folder / f"part-{max(numbers, default=0) + 1:06d}.npz"
        with writing(self._folder), replacing(path) as draft, draft.open("wb") as file:
            np.savez(file, texts=encoded, vectors=vectors)
