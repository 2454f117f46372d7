from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_lakes import lake_of, plans

from graftjax.intent.atoms import atoms_of
from graftjax.intent.schema import EMPTY_INTENT, parse_intent
from graftjax.trajectories.reward import ideal_utility
from graftjax.trajectories.settings import SampleSettings
from graftjax.trajectories.stream import Source

NOISE = 0.01


def intents(index):
    source = Source.of(index, SampleSettings(value_share=0.6), 0)
    return [source.record(i).compression.intent for i in range(4)]


@given(plan=plans(), data=st.data())
@settings(max_examples=25)
def test_utility_grows_with_what_is_witnessed_up_to_its_bound(plan, data):
    for intent in intents(lake_of(*plan)):
        trees, joins = range(len(intent.trees)), range(len(intent.joins))
        some = data.draw(st.sets(st.sampled_from(trees)))
        more = some | data.draw(st.sets(st.sampled_from(trees)))
        joined = data.draw(st.sets(st.sampled_from(joins))) if joins else set()
        values = [
            ideal_utility(intent, *part, NOISE)
            for part in (((), ()), (some, ()), (more, ()), (more, joined), (trees, joins))
        ]
        assert values[0] == 0.0
        assert all(b >= a - 1e-12 for a, b in pairwise(values))
        assert (values[1] < values[2]) == (some < more)

        # Every atom is in one unit with full support, so nothing is left to gain.
        units = [1.0 for _ in trees] + [1.0 for _ in joins]
        units += [2.0 + 2.0 * len(a.values) for tree in intent.trees for a in tree.attributes]
        best = sum(math.log1p(size / (1.0 + NOISE)) for size in units) / sum(units)
        assert sum(units) == atoms_of(intent, 10**6).num_atoms
        assert values[-1] == pytest.approx(best)


def test_a_large_intent_counts_in_full():
    attributes = [{"attribute_id": f"a{i}", "name": f"n{i}"} for i in range(60)]
    intent = parse_intent({"trees": [{"tree_id": "t", "entity": "e", "attributes": attributes}]})
    assert atoms_of(intent).notes
    expected = (math.log1p(1 / 1.01) + 60 * math.log1p(2 / 1.01)) / 121
    assert ideal_utility(intent, [0], [], NOISE) == pytest.approx(expected)


def test_empty_and_wrong_arguments():
    assert ideal_utility(EMPTY_INTENT, (), (), NOISE) == 0.0
    (intent, *_) = intents(lake_of([[("one", ["id"])]]))
    assert np.isfinite(ideal_utility(intent, [0, 0], [], NOISE))
    with pytest.raises(IndexError, match="1 trees"):
        ideal_utility(intent, [1], [], NOISE)
    with pytest.raises(IndexError, match="0 joins"):
        ideal_utility(intent, [0], [0], NOISE)
