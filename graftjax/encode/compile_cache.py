"""Compiled programs kept between runs, so that a second start skips the compilations."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path


def use_compile_cache() -> Path | None:
    """Point JAX's persistent compilation cache to the user's cache folder; returns the folder in use.

    A cache that the user has set up (jax_compilation_cache_dir) is left as it is. GRAFTJAX_COMPILE_CACHE
    names another folder, or turns it off when empty. A folder that cannot be written means no cache (None),
    never an error.
    """
    import jax

    if current := getattr(jax.config, "jax_compilation_cache_dir", None):
        return Path(current)
    chosen = os.environ.get("GRAFTJAX_COMPILE_CACHE")
    if chosen == "":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    base = Path(chosen) if chosen else Path(home) / "graftjax" / "xla"
    # A home folder may be shared by machines whose instruction sets differ: one folder for each kind.
    folder = base / hashlib.sha256(_cpu().encode()).hexdigest()[:12]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if not os.access(folder, os.W_OK):
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    return folder


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()} {platform.processor()} {flags}"
