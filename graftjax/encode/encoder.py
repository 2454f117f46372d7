"""The encoder that the rest of graftjax uses: texts in, unit vectors out.

Letters: N texts, D the encoder's dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int
from tqdm import tqdm

from graftjax.encode import pack
from graftjax.encode.compile_cache import use_compile_cache
from graftjax.encode.source import EMBEDDED, locate
from graftjax.encode.tokenize import load_tokenizer, tokenize
from graftjax.errors import UsageError

if TYPE_CHECKING:
    from jax import Array
    from tokenizers import Tokenizer

    from graftjax.encode.bert import Bert

MAX_TOKENS = 64
BATCH_TOKENS_CPU = 1024
"""Larger batches leave the processor's cache."""
BATCH_TOKENS_ACCELERATOR = 32768
IN_FLIGHT = 2
"""Batches handed to the device before the first result is asked for: packing overlaps computing."""


@dataclass(frozen=True)
class Encoder:
    """A loaded encoder; made by `load_encoder`. Safe to use from several threads."""

    name: str
    """Stable identity for index manifests: shape, pooling, cut, precision, and a hash of weights and
    tokenizer.

    It does not depend on where the files lie; equal names mean equal vectors.
    """
    dim: int
    max_tokens: int
    """Longer texts are cut here (marks included)."""
    batch_tokens: int
    _params: Any = field(repr=False)
    _model: Bert = field(repr=False)
    _tokenizer: Tokenizer = field(repr=False)

    def encode(self, texts: Sequence[str], *, progress: bool | str = False) -> Float[np.ndarray, "N D"]:
        """float32 vectors of length 1, in the order of `texts`; N = 0 gives an array of shape (0, D).

        Each distinct text is encoded once, and its vector does not depend on its companions (up to rounding,
        1e-6). `progress` shows a bar on stderr, with the string as its label.
        Raises UsageError when an entry is not a string.
        """
        out = np.zeros((len(texts), self.dim), np.float32)
        label = progress if isinstance(progress, str) else "encode"
        with tqdm(total=len(texts), desc=label, unit="text", disable=not progress) as bar:
            for indices, vectors in self.encode_batches(texts):
                out[indices] = vectors
                bar.update(len(indices))
        return out

    def encode_batches(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[Int[np.ndarray, " n"], Float[np.ndarray, "n D"]]]:
        """The same vectors batch by batch, for a caller that saves as it goes.

        Yields (positions in `texts`, their vectors); every position comes exactly once, repeats of a text
        together. Raises UsageError when `texts` is one string, or has an entry that is not a string.
        """
        if isinstance(texts, str):
            raise UsageError("texts to encode must be a sequence of strings, not one string")
        where: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            where.setdefault(text, []).append(position)
        positions = list(where.values())
        sequences = tokenize(self._tokenizer, list(where))
        waiting: list[tuple[pack.Batch, Array]] = []
        for batch in pack.pack(sequences, self.batch_tokens):
            waiting.append((batch, self._launch(batch)))
            if len(waiting) > IN_FLIGHT:
                yield self._collect(*waiting.pop(0), positions)
        for batch, result in waiting:
            yield self._collect(batch, result, positions)

    def warm_up(self, *, bulk: bool = False) -> int:
        """Compile the shapes of small requests (up to 512 tokens of short texts) ahead of time.

        With `bulk`, also those of large requests. Afterwards no such request compiles. Returns the number of
        shapes.
        """
        shapes = [(n, pack.SMALL_ROW) for n in pack.row_counts(pack.SMALL_ROW, self.batch_tokens)]
        row = pack.BULK_ROW
        while bulk:
            shapes += [(n, row) for n in pack.row_counts(row, self.batch_tokens)]
            if row >= self.max_tokens:
                break
            row *= 2
        for n_rows, length in shapes:
            self._launch(pack.empty_batch(n_rows, length)).block_until_ready()
        return len(shapes)

    def _launch(self, batch: pack.Batch) -> Array:
        return _forward()(
            self._params,
            batch.tokens,
            batch.segment,
            batch.positions,
            model=self._model,
            n_segments=batch.n_segments,
        )

    def _collect(
        self, batch: pack.Batch, result: Array, positions: list[list[int]]
    ) -> tuple[np.ndarray, np.ndarray]:
        vectors = np.asarray(result).reshape(-1, self.dim)[batch.slots]
        groups = [positions[member] for member in batch.members]
        repeats = [len(group) for group in groups]
        return np.concatenate([np.asarray(group, np.int64) for group in groups]), np.repeat(
            vectors, repeats, axis=0
        )


@cache
def _forward() -> Any:
    """The jitted forward pass, shared by all encoders of a process; made late so that importing stays
    quick.
    """
    import jax

    def forward(
        params: Any, tokens: Any, segment: Any, positions: Any, *, model: Bert, n_segments: int
    ) -> Array:
        return model.apply({"params": params}, tokens, segment, positions, n_segments)  # pyright: ignore

    return jax.jit(forward, static_argnames=("model", "n_segments"))


def load_encoder(
    name: str = EMBEDDED,
    *,
    max_tokens: int = MAX_TOKENS,
    batch_tokens: int | None = None,
    dtype: Any = np.float32,
) -> Encoder:
    """Load a BERT-family encoder.

    `name`: `embedded`, a model folder, or a hub name (see `graftjax.encode.source.locate`). `max_tokens`:
    texts are cut there, at most the model's number of positions. `batch_tokens`: tokens computed at once
    (1,024 on a CPU, 32,768 on an accelerator). `dtype`: of the arithmetic inside, float32 or bfloat16; the
    vectors are float32 either way. Raises GraftError when the model cannot be read, UsageError for an
    argument out of range.
    """
    import jax

    from graftjax.encode.bert import Bert, BertConfig
    from graftjax.encode.weights import read_safetensors, to_params

    if jax.numpy.dtype(dtype).name not in ("float32", "bfloat16"):
        raise UsageError(f"dtype must be float32 or bfloat16, not {dtype}")
    files = locate(name)
    config = BertConfig.from_json(files.config, str(files.folder / "config.json"))
    if not 3 <= max_tokens <= config.max_positions:
        raise UsageError(
            f"max_tokens must be between 3 and the model's {config.max_positions}, not {max_tokens}"
        )
    if batch_tokens is None:
        batch_tokens = BATCH_TOKENS_CPU if jax.default_backend() == "cpu" else BATCH_TOKENS_ACCELERATOR
    if batch_tokens < 1:
        raise UsageError(f"batch_tokens must be positive, not {batch_tokens}")
    tokenizer = load_tokenizer(files.folder, max_tokens)
    if tokenizer.get_vocab_size() > config.vocab_size:
        raise UsageError(f"{files.folder}: the tokenizer has more words than the model's {config.vocab_size}")
    use_compile_cache()
    dtype = jax.numpy.dtype(dtype)
    params = to_params(read_safetensors(files.weights), config, str(files.folder))
    params = jax.tree.map(lambda leaf: jax.numpy.asarray(leaf, dtype), params)
    pooling = "cls" if files.pooling == "cls" else "mean"
    return Encoder(
        name=f"bert-{config.n_layers}x{config.hidden_size}-{pooling}-{max_tokens}-{dtype.name}-{files.digest[:16]}",
        dim=config.hidden_size,
        max_tokens=max_tokens,
        batch_tokens=batch_tokens,
        _params=params,
        _model=Bert(config, pooling, dtype),
        _tokenizer=tokenizer,
    )
