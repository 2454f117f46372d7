"""DTR: dense table retrieval. Each table is one text, the answer the L texts nearest to the question.

Baseline of the paper's Tables 2 and 3, with the encoder that the lake was indexed with instead of a
retriever trained on table questions. `schema` is the default by mean F1 at L=10 on the 159 tuning questions
of the Spider lake with the embedded encoder: 0.373 (recall 0.467, Sufficiency 0.220), against 0.350 (0.409,
0.138) for `rows`; at L=15 0.411 against 0.379, at L=5 0.291 and 0.292. Sample values of a shard tell it apart
from its siblings, which the gold sets hold together.

Letters: N tables, D the encoder's dimension.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
import xxhash
from jaxtyping import Float

from graftjax.encode.text import schema_text, table_text, value_text
from graftjax.errors import UsageError
from graftjax.files import replacing
from graftjax.intent import Query
from graftjax.peers.contract import Retrieval, check_budget
from graftjax.types import Table

Variant = Literal["schema", "rows"]
DEFAULT_VARIANT: Variant = "schema"


@runtime_checkable
class TextEncoder(Protocol):
    """The part of `graftjax.encode.Encoder` that a dense retriever needs."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str], *, progress: bool | str = False) -> Float[np.ndarray, "N D"]: ...

    def warm_up(self, *, bulk: bool = False) -> int: ...


def _schema(table: Table, headers: bool) -> str:
    return schema_text(table.id.name, [column.header if headers else column.kind for column in table.columns])


def _rows(table: Table, headers: bool) -> str:
    columns = (value_text(column.header if headers else "", column.sample[:3]) for column in table.columns)
    return f"{table_text(table.id.name)}: {'; '.join(columns)}"


_TEXTS: dict[Variant, Callable[[Table, bool], str]] = {"schema": _schema, "rows": _rows}


class Dtr:
    """Dense table retrieval over the tables of one lake.

    `variant`: what a table's text holds, its name and headers (`schema`) or also sample values of that very
    shard (`rows`). `headers`: False for a lake whose headers are unknown. `cache_folder`: where the vectors
    are kept, keyed by texts and encoder; None keeps none.
    """

    name = "dtr"

    def __init__(
        self,
        tables: Sequence[Table],
        encoder: TextEncoder,
        *,
        variant: Variant = DEFAULT_VARIANT,
        headers: bool = True,
        cache_folder: Path | None = None,
    ) -> None:
        if variant not in get_args(Variant):
            raise UsageError(f"unknown DTR variant {variant!r}: choose from {', '.join(get_args(Variant))}")
        self.variant = variant
        self._ids = tuple(table.id for table in tables)
        self._encoder = encoder
        texts = [_TEXTS[variant](table, headers) for table in tables]
        self._vectors = cached_vectors(texts, encoder, cache_folder, label=f"dtr {variant}")

    def warm_up(self, budgets: Sequence[int]) -> None:
        self._encoder.warm_up(bulk=True)

    def retrieve(self, query: Query, budget: int, seed: int) -> Retrieval:
        """The `budget` tables of highest cosine; ties go in the order of the lake, the seed plays no part."""
        check_budget(budget)
        if not self._ids:
            return Retrieval((), notes=("the lake has no tables",))
        if not any(character.isalnum() for character in query.question):
            return Retrieval((), notes=("the question has no words",))
        scores = self._vectors @ self._encoder.encode([query.question])[0]
        best = np.argsort(-scores, kind="stable")[:budget]
        short = (f"the lake has only {len(self._ids)} tables",) if len(self._ids) < budget else ()
        return Retrieval(tuple(self._ids[position] for position in best), notes=short)


def cached_vectors(
    texts: Sequence[str], encoder: TextEncoder, folder: Path | None, *, label: str
) -> Float[np.ndarray, "N D"]:
    """Vectors of `texts`, read from `folder` when these texts were encoded by this encoder before.

    A damaged file is encoded anew; a folder that can't be written costs the cache, not the run.
    """
    if not texts:
        return np.zeros((0, encoder.dim), np.float32)
    if folder is None:
        return encoder.encode(texts, progress=label)
    digest = xxhash.xxh3_128()
    for text in (encoder.name, *texts):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    path = folder / f"{digest.hexdigest()}.npy"
    try:
        vectors = np.load(path, allow_pickle=False)
        if vectors.shape == (len(texts), encoder.dim) and vectors.dtype == np.float32:
            return vectors
    except (OSError, ValueError, EOFError):
        pass
    vectors = encoder.encode(texts, progress=label)
    with contextlib.suppress(OSError), replacing(path) as draft, draft.open("wb") as stream:
        np.save(stream, vectors)
    return vectors
