import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.encode import pack

LENGTHS = st.lists(st.integers(1, 200), max_size=120)


@given(LENGTHS, st.sampled_from([1, 64, 300, 1024]))
@settings(max_examples=60, deadline=None)
def test_every_sequence_is_packed_once_and_intact(lengths, batch_tokens):
    sequences = [np.arange(n, dtype=np.int32) + 1000 * (i + 1) for i, n in enumerate(lengths)]
    seen = []
    for batch in pack.pack(sequences, batch_tokens):
        n_rows, row = batch.tokens.shape
        assert n_rows in pack.row_counts(row, batch_tokens)
        assert n_rows * row <= max(batch_tokens, row)
        assert len(set(batch.slots.tolist())) == len(batch.slots)
        for member, slot in zip(batch.members, batch.slots, strict=True):
            r, s = divmod(int(slot), batch.n_segments)
            inside = batch.segment[r] == s + 1
            np.testing.assert_array_equal(batch.tokens[r][inside], sequences[member])
            np.testing.assert_array_equal(batch.positions[r][inside], np.arange(lengths[member]))
        assert (batch.segment > 0).sum() == sum(lengths[m] for m in batch.members)
        seen += batch.members.tolist()
    assert sorted(seen) == list(range(len(lengths)))


def test_typical_texts_waste_little():
    rng = np.random.default_rng(0)
    lengths = rng.integers(12, 41, 3000)
    batches = list(pack.pack([np.ones(n, np.int32) for n in lengths], 1024))
    computed = sum(b.tokens.size for b in batches)
    assert lengths.sum() / computed > 0.95
    assert len({b.tokens.shape for b in batches}) <= 2  # the full shape and the last one


def test_a_small_request_is_one_tight_batch():
    (batch,) = pack.pack([np.ones(6, np.int32)] * 20, 1024)
    assert batch.tokens.shape == (4, 32)
