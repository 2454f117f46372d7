"""Settings for all tests: they are made before JAX is imported, and child processes inherit them."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import jaxtyping
import pytest

HERE = Path(__file__).resolve().parent

# Two devices on any machine, so that sharded code is tested. Numerics are strict: no silent change of
# rank or type.
os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2".strip()
)
os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"
os.environ["JAX_NUMPY_DTYPE_PROMOTION"] = "strict"

# What the user has stored or set must not decide a test; only compiled programs are shared between runs.
_cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
os.environ.setdefault("GRAFTJAX_COMPILE_CACHE", str(Path(_cache) / "graftjax" / "xla"))
_session_cache = tempfile.TemporaryDirectory(prefix="graftjax-tests-")
os.environ["XDG_CACHE_HOME"] = _session_cache.name
for _name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
    os.environ.pop(_name, None)

# Helper modules beside the tests of a part are imported by their plain name.
sys.path += sorted(str(folder) for folder in HERE.iterdir() if folder.is_dir())

# `python -m pytest` puts the working folder first, where `kernels` would be found under its plain name and
# a module would be tested from the checkout whatever is installed.
_root = {"", ".", str(HERE.parent)}
if any(entry in _root for entry in sys.path):
    _before = list(sys.path)
    sys.path[:] = [entry for entry in sys.path if entry not in _root]
    if find_spec("graftjax") is None:  # not installed: the checkout will have to do
        sys.path[:] = _before

hypothesis.settings.register_profile(
    "local", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile(
    "ci",
    hypothesis.settings.get_profile("local"),
    max_examples=25,  # a quarter of what a developer's own run tries
    derandomize=True,
    database=None,
    print_blob=True,
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes are named by their argument, not by their content: what gzip and zip make holds the time of day,
    and two workers that collect in different seconds have to agree on the names of all tests."""
    return argname if isinstance(val, bytes | bytearray) else None


def pytest_unconfigure(config: pytest.Config) -> None:
    _session_cache.cleanup()


@pytest.fixture(autouse=True, scope="module")
def _compiled_programs_are_dropped() -> Iterator[None]:
    """Each compiled program takes memory maps, and a process has only so many (65,530 by default): with all
    of them kept to the end, a late test ended in a segmentation fault."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
        gc.collect()


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Switch the run-time type checks off, for a test of what is said about an argument of a wrong type."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
