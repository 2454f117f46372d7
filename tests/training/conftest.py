from __future__ import annotations

import pytest
from small_lakes import encoder, index_of
from tiny_lake import SHORT, no_synonyms, small_preset, tables

from graftjax.encode.compile_cache import use_compile_cache
from graftjax.retrieval import learn
from graftjax.retrieval.train import FitSettings, fit_space
from graftjax.training import job
from graftjax.training.run_folder import load_trained


@pytest.fixture(scope="session", autouse=True)
def _compiled_programs_are_kept():
    use_compile_cache()


@pytest.fixture(scope="session")
def lake():
    return index_of(tables())


@pytest.fixture(scope="session", autouse=True)
def _short_runs():
    """Smaller networks, less fitting and no thesaurus."""
    little = FitSettings(dimension=64, steps=150, batch=256)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "load_synonyms", no_synonyms)
        patch.setattr(job, "preset", small_preset)
        patch.setattr(learn, "fit_space", lambda *arguments: fit_space(*arguments[:-1], little))
        yield


@pytest.fixture(scope="session")
def run(lake, tmp_path_factory, _short_runs):
    """(report, value function) of one short run."""
    folder = tmp_path_factory.mktemp("run") / "value"
    report = job.train(lake, encoder(), folder, SHORT, cache_folder=folder, progress=False)
    return report, load_trained(folder, encoder().name)
