from __future__ import annotations

import pytest
from small_lakes import encoder

from graftjax.demo import lake_folder
from graftjax.encode.compile_cache import use_compile_cache
from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index


@pytest.fixture(scope="session", autouse=True)
def _compiled_programs_are_kept():
    """Compiling the search takes much longer than all of its tests."""
    use_compile_cache()


@pytest.fixture(scope="session")
def demo_index(tmp_path_factory):
    return build_index(find_tables(lake_folder()), tmp_path_factory.mktemp("demo"), encoder(), progress=False)
