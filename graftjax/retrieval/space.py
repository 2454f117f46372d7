"""A trained retrieval space as part of a checkpoint: a folder with `space.npz` and `space.json`.

Letters: D dimension of the encoder, P of the space.
"""

from __future__ import annotations

import json
import math
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from graftjax.encode.projection import Projection
from graftjax.errors import GraftError
from graftjax.files import replacing, write_json, writing
from graftjax.igms.settings import ScoreSettings
from graftjax.lake.record import LakeIndex
from graftjax.retrieval.train import Fit

FORMAT = 1
_NUMBERS, _WORDS = "space.npz", "space.json"


@dataclass(frozen=True, eq=False)
class RetrievalSpace:
    """A projection with the β and c0 of ψ that were fitted with it."""

    projection: Projection
    encoder_name: str
    """Encoder whose vectors it is for."""
    lexical_share: float
    """λ that it was fitted under."""
    beta: tuple[float, float, float]
    """Of entities, attributes, values."""
    c0: tuple[float, float, float]

    @classmethod
    def of_fit(cls, fit: Fit, encoder_name: str, lexical_share: float) -> RetrievalSpace:
        return cls(fit.projection, encoder_name, lexical_share, fit.beta, fit.c0)

    def index(self, index: LakeIndex) -> LakeIndex:
        """The lake in this space; GraftError when its texts were encoded by another encoder."""
        if index.encoder_name != self.encoder_name:
            raise GraftError(
                f"the retrieval space is for encoder {self.encoder_name}, not {index.encoder_name}"
            )
        return replace(index, space=index.space.projected(self.projection))

    def score(self, score: ScoreSettings) -> ScoreSettings:
        """The fitted β and c0 in place of the chosen ones; the means for entities and attributes.

        Self-made atoms are nearer to their images than those of questions, so the fitted c0 is strict: on
        tuning questions the chosen values find more.
        """
        return replace(
            score,
            beta=(self.beta[0] + self.beta[1]) / 2,
            c0=(self.c0[0] + self.c0[1]) / 2,
            value_c0=self.c0[2],
            lexical_share=self.lexical_share,
        )

    def save(self, folder: Path) -> None:
        """Write the two files; the folder is made when it is missing. GraftError when it can't be written."""
        words = {
            "format": FORMAT,
            "encoder": self.encoder_name,
            "lexical_share": self.lexical_share,
            "beta": list(self.beta),
            "c0": list(self.c0),
        }
        with writing(folder), replacing(folder / _NUMBERS) as draft, draft.open("wb") as file:
            np.savez(file, matrix=self.projection.matrix)
        write_json(folder / _WORDS, words)


def load_space(folder: Path) -> RetrievalSpace:
    """Read what `RetrievalSpace.save` wrote; GraftError when it is missing or damaged."""
    try:
        words = json.loads((folder / _WORDS).read_text(encoding="utf-8"))
        if words["format"] != FORMAT:
            raise GraftError(f"{folder / _WORDS}: format {words['format']}, this version reads {FORMAT}")
        with np.load(folder / _NUMBERS, allow_pickle=False) as data:
            matrix = np.asarray(data["matrix"], np.float32)
        beta, c0 = (tuple(float(x) for x in words[name]) for name in ("beta", "c0"))
        share = float(words["lexical_share"])
        sound = matrix.ndim == 2 and np.isfinite(matrix).all() and len(beta) == len(c0) == 3
        if not sound or not all(math.isfinite(x) for x in (*beta, *c0, share)):
            raise ValueError("numbers out of range")
        return RetrievalSpace(Projection(matrix), str(words["encoder"]), share, beta, c0)  # pyright: ignore
    except FileNotFoundError as error:
        raise GraftError(f"{folder}: no retrieval space there ({error.filename} is missing)") from error
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise GraftError(f"{folder}: not a readable retrieval space ({error})") from error
