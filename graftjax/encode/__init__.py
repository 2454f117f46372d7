"""Text encoders: a BERT-family model in Flax, read from files, that turns texts into unit vectors."""

from graftjax.encode.encoder import Encoder, load_encoder
from graftjax.encode.source import EMBEDDED

__all__ = ["EMBEDDED", "Encoder", "load_encoder"]
