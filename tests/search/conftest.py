from __future__ import annotations

import pytest
from small_lakes import encoder

from graftjax.demo import lake_folder
from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index


@pytest.fixture(scope="session")
def demo_index(tmp_path_factory):
    return build_index(find_tables(lake_folder()), tmp_path_factory.mktemp("demo"), encoder(), progress=False)
