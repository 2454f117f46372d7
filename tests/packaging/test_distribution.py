"""What is installed: the packages, the data files, and nothing under a name of somebody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> list[str]:
    """Names of the files in a wheel built from a copy of the checkout (no network)."""
    work = tmp_path_factory.mktemp("wheel")
    source = work / "source"
    source.mkdir()
    for name in ("graftjax", "kernels"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*command, "-w", work, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = work.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


@pytest.mark.slow
def test_wheel_has_every_module_and_data_file(wheel):
    expected = {
        path.relative_to(ROOT).as_posix()
        for pattern in ("*.py", "demo/README.md", "demo/queries.jsonl", "evaluate/*.yaml", "search/*.json")
        for path in (ROOT / "graftjax").rglob(pattern)
    }
    lake = ROOT / "graftjax/demo/lake"
    expected |= {path.relative_to(ROOT).as_posix() for path in lake.rglob("*") if path.is_file()}
    expected |= {f"graftjax/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "kernels").rglob("*.py")}
    assert len([name for name in expected if "/demo/lake/" in name]) >= 100
    assert expected - set(wheel) == set()
    assert "graftjax/py.typed" in wheel


@pytest.mark.slow
def test_wheel_has_one_top_level_package(wheel):
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"graftjax"}


def _python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_kernels_are_installed_under_graftjax_only(tmp_path):
    code = (
        "import graftjax.kernels; from importlib.util import find_spec;"
        "assert find_spec('kernels') is None, find_spec('kernels')"
    )
    done = _python(code, tmp_path)
    if "No module named 'graftjax'" in done.stderr:
        pytest.skip("graftjax is not installed in this environment")
    assert done.returncode == 0, done.stderr


def test_this_process_does_not_see_the_folder_kernels():
    from importlib.util import find_spec

    if any(Path(entry or ".").resolve() == ROOT for entry in sys.path):
        pytest.skip("graftjax is not installed: tests run from the checkout")
    assert find_spec("kernels") is None


def test_importing_graftjax_is_quick_and_names_are_real(tmp_path):
    import graftjax

    for name in graftjax.__all__:
        assert getattr(graftjax, name) is not None
    with pytest.raises(AttributeError, match="nothing_such"):
        graftjax.nothing_such  # noqa: B018
    code = f"import sys; sys.path.append({os.fspath(ROOT)!r}); import graftjax; print('jax' in sys.modules)"
    done = _python(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_settings_of_the_test_run():
    import jax

    assert jax.device_count() == 2
    assert jax.config.jax_numpy_rank_promotion == "raise"
    assert jax.config.jax_numpy_dtype_promotion == "strict"


def test_signatures_are_checked_at_run_time():
    import numpy as np

    from graftjax.lake.sketch import jaccard

    with pytest.raises(Exception, match=r"(?i)type-check"):
        jaccard(np.zeros(2, np.float32), np.zeros(2, np.uint64))
