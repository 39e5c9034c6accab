from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.resources.amounts import NOTHING, Amounts, Limits, Place, whole_rate
from measurement.model import PathKey
from tests.support.refusals import refused

numbers = st.integers(0, 10**19)
amounts = st.builds(Amounts, *[numbers] * 6)
limits = st.builds(Limits, *[st.none() | numbers] * 6)


@given(amounts, amounts)
def test_what_is_added_can_be_taken_away(one: Amounts, other: Amounts) -> None:
    assert one + other == other + one
    assert (one + other) - other == one
    assert one + NOTHING == one
    assert one.at_least(other) == other.at_least(one)


@given(limits, amounts, amounts)
def test_limits(limit: Limits, asked: Amounts, other: Amounts) -> None:
    assert limit.holds(asked) is not bool(limit.lacks(asked))
    assert limit.holds(limit.clip(asked))
    assert limit.less(asked).less(other) == limit.less(asked + other)
    assert limit.least(limit) == limit
    if limit.holds(asked + other):
        assert limit.less(asked).holds(other)


def test_nonsense() -> None:
    with refused(ValueError):
        Amounts(cores=1) - Amounts(cores=2)
    with refused(ValueError):
        Limits(gpus=-1)
    with pytest.raises(ValueError, match="bandwidth"):
        whole_rate(float("inf"))


def test_words() -> None:
    assert Amounts(4, memory=16 * 10**9, bandwidth=5 * 10**9).words == (
        "4 worker nodes, 16 GB of memory, 5 Gbps of bandwidth"
    )
    assert NOTHING.words == "nothing"
    key = PathKey("al2s", "mu", "osu")
    assert (Place.at("osu-hpc").words, Place.along(key).words) == ("osu-hpc", "al2s from mu to osu")
    assert (Place.along(key).key, Place.at("osu-hpc").key) == (key, None)
