"""Which path is taken: by backend, by force, and after a failure."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from graftjax.kernels import dispatch
from graftjax.kernels.attention import relation_attention_jnp
from graftjax.kernels.gain import marginal_gains
from graftjax.kernels.gain_pallas import MOST_ATOMS
from graftjax.kernels.samples import attention_sample, beam_sample

from graftjax.errors import UsageError

ARRAYS = attention_sample(np.random.default_rng(0), 2, 20, 4)
BEAM = (*beam_sample(np.random.default_rng(0), 6, 9, 5, 4), np.float32(0.01))


@pytest.fixture(autouse=True)
def _no_memory(monkeypatch):
    """Neither the caller's choice nor an earlier test's answers."""
    monkeypatch.delenv(dispatch.VARIABLE, raising=False)
    dispatch.attention_works.cache_clear()
    dispatch.gains_work.cache_clear()


@pytest.fixture
def on_a_gpu(monkeypatch):
    """The backend says that it is a GPU; what is compiled for it still meets a CPU, and fails."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")


def kernels_of(function, arguments) -> int:
    """How often a Pallas kernel stands in the program; a function of its own, so that nothing is reused."""
    return str(jax.make_jaxpr(lambda *given: function(*given))(*arguments)).count("pallas_call")


@pytest.mark.parametrize(
    ("function", "arguments"), [(dispatch.relation_attention, ARRAYS), (dispatch.candidate_gains, BEAM)]
)
def test_cpus_take_jnp_and_the_variable_or_the_argument_another_path(function, arguments, monkeypatch):
    assert kernels_of(function, arguments) == 0
    plain = jax.jit(function)(*arguments)
    monkeypatch.setenv(dispatch.VARIABLE, "interpret")
    assert kernels_of(function, arguments) == 1
    np.testing.assert_allclose(jax.jit(lambda *given: function(*given))(*arguments), plain, 1e-4, 1e-5)
    assert kernels_of(lambda *given: function(*given, path="jnp"), arguments) == 0
    monkeypatch.setenv(dispatch.VARIABLE, "auto")
    assert kernels_of(function, arguments) == 0


def test_the_jnp_path_is_the_reference_bit_for_bit():
    made = jax.jit(dispatch.relation_attention)(*ARRAYS)
    np.testing.assert_array_equal(made, jax.jit(relation_attention_jnp)(*ARRAYS))
    np.testing.assert_array_equal(jax.jit(dispatch.candidate_gains)(*BEAM), jax.jit(marginal_gains)(*BEAM))


def test_wrong_paths_are_user_errors(monkeypatch):
    monkeypatch.setenv(dispatch.VARIABLE, "cuda")
    with pytest.raises(UsageError, match="must be auto, jnp, pallas, interpret or empty, not 'cuda'"):
        dispatch.relation_attention(*map(jnp.asarray, ARRAYS))
    monkeypatch.setenv(dispatch.VARIABLE, "pallas")
    with pytest.raises(UsageError, match="needs a GPU"):
        dispatch.relation_attention(*map(jnp.asarray, ARRAYS))


def test_a_kernel_that_works_is_taken_on_gpus(on_a_gpu, monkeypatch):
    monkeypatch.setattr(dispatch, "agree", lambda *_: True)
    assert kernels_of(dispatch.relation_attention, ARRAYS) == 1
    assert kernels_of(dispatch.candidate_gains, BEAM) == 1
    half = [jnp.asarray(array, jnp.bfloat16) for array in ARRAYS]
    assert kernels_of(dispatch.relation_attention, half) == 0
    wide = (*beam_sample(np.random.default_rng(0), 6, 9, MOST_ATOMS + 1, 4), np.float32(0.01))
    assert kernels_of(dispatch.candidate_gains, wide) == 0


@pytest.mark.parametrize(
    ("function", "arguments", "reference"),
    [
        (dispatch.relation_attention, ARRAYS, relation_attention_jnp),
        (dispatch.candidate_gains, BEAM, marginal_gains),
    ],
)
def test_a_kernel_that_does_not_compile_falls_back_and_says_so_once(
    function, arguments, reference, on_a_gpu, caplog
):
    for _ in range(2):
        made = jax.jit(lambda *given: function(*given))(*arguments)
        np.testing.assert_array_equal(made, jax.jit(reference)(*arguments))
    assert [record.message for record in caplog.records] == [
        "a Pallas kernel does not work here, jnp is used: Only interpret mode is supported on CPU backend."
    ]


def test_agreement_is_found_also_while_another_function_is_traced(caplog):
    answers = []

    def kernel(x):
        return {"sum": x.sum(), "twice": x * 2.0}

    @jax.jit
    def traced(y):
        for shift in (0.0, 1e-6, 1e-2, np.nan):
            reference = lambda x, shift=shift: {"sum": x.sum() + shift, "twice": x + x}  # noqa: E731
            answers.append(dispatch.agree(kernel, reference, (np.ones(3, np.float32),)))
        return y

    jax.vmap(traced)(jnp.ones(2))
    assert answers == [True, True, False, False]
    assert len(caplog.records) == 2


@pytest.mark.parametrize("works", [dispatch.attention_works, dispatch.gains_work])
def test_the_probes_accept_the_interpreted_kernels(works, monkeypatch):
    """What they would say of a GPU on which the kernels are right."""
    for name in ("relation_attention_pallas", "marginal_gains_pallas"):
        kernel = getattr(dispatch, name)
        monkeypatch.setattr(dispatch, name, lambda *given, kernel=kernel: kernel(*given, True))
    assert works(2, 33, 5)
