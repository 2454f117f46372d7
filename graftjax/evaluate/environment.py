"""Where a run took place: versions, processor, devices, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("graftjax", "jax", "jaxlib", "flax", "numpy", "tokenizers", "pyarrow")


def environment() -> dict[str, Any]:
    """A JSON object for result files; starts JAX's backend."""
    import jax

    return {
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cpu_count": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "backend": jax.default_backend(),
        "devices": [str(device) for device in jax.devices()],
        "git_commit": _commit(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    """Commit of the checkout this file lies in, with `+changes` when files differ; None outside of one."""
    here = Path(__file__).resolve().parent
    if here.parent.parent.name == "site-packages":  # an installed copy tells nothing about a repository
        return None
    try:
        commit = _git(here, "rev-parse", "HEAD")
        return commit + ("+changes" if _git(here, "status", "--porcelain") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout.strip()
