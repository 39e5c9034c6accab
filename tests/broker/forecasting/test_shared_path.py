"""How long a transfer lasts beside others: hand-worked cases, another model of the same, and properties."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.forecasting.shared_path import CompetingFlow, Whole, lasts, lasts_behind, mean_streams, whole
from measurement.token_bucket import Allowance
from tests.reference.shared_path import Job, finish

PATH = Whole(10.0)
OTHERS = st.lists(st.tuples(st.floats(10.0, 1e4), st.integers(1, 16)), max_size=12)


def beside(bits: float, streams: int = 1, since: float = 0.0, ago: float = 0.0) -> CompetingFlow:
    return CompetingFlow(bits, streams, since, ago)


@pytest.mark.parametrize(
    ("story", "competing", "seconds"),
    [
        ("alone", (), 10.0),
        ("one beside it leaves after 10 s", (beside(50.0),), 15.0),
        ("one beside it with three streams", (beside(75.0, 3),), 17.5),
        ("it had 4 s since it was counted: 10 bits/s of them", (beside(90.0, ago=4.0),), 15.0),
        ("what should be over lasts half a second", (beside(1.0, ago=9.0),), 10.5),
    ],
)
def test_beside_others(story: str, competing: tuple[CompetingFlow, ...], seconds: float) -> None:
    assert lasts(100.0, 1, PATH, competing) == pytest.approx(seconds), story


def test_other_people_take_their_part_all_the_time() -> None:
    assert lasts(100.0, 1, Whole(10.0, others=1.0), ()) == pytest.approx(20.0)
    assert lasts(100.0, 3, Whole(10.0, others=1.0), ()) == pytest.approx(100 / 7.5)


def test_a_stream_gets_no_more_than_one_got_in_a_test() -> None:
    assert lasts(100.0, 1, Whole(10.0, each=2.0), ()) == pytest.approx(50.0)
    assert lasts(100.0, 8, Whole(10.0, each=2.0), ()) == pytest.approx(10.0)


def test_what_limits_itself_leaves_the_rest_unused() -> None:
    assert lasts(100.0, 1, PATH, (), most=4.0) == pytest.approx(25.0)
    assert lasts(100.0, 1, PATH, (), most=0.0) == math.inf


BUCKET = Allowance(20.0, 4.0, 5.0)
"""80 bits beside the sustained rate; a test of 16 s has a mean of 9, which is what the path carries by it."""


@pytest.mark.parametrize(
    ("story", "bits", "competing", "most", "seconds"),
    [
        ("within the burst", 60.0, (), math.inf, 3.0),
        ("all of the burst", 100.0, (), math.inf, 5.0),
        ("and some more", 140.0, (), math.inf, 15.0),
        ("one beside it takes half of what is sustained", 100.0, (beside(1e6),), math.inf, 10.0),
        ("it limits itself to less than the burst", 60.0, (), 6.0, 10.0),
        ("nothing is left", 0.0, (), math.inf, 0.0),
        ("it sends nothing", 1.0, (), 0.0, math.inf),
    ],
)
def test_behind_a_token_bucket(
    story: str, bits: float, competing: tuple[CompetingFlow, ...], most: float, seconds: float
) -> None:
    found = lasts_behind(BUCKET, 9.0, bits, 1, Whole(9.0), competing, most)
    assert found == pytest.approx(seconds), story


@given(st.floats(1.0, 1e4), st.floats(1.0, 20.0), st.floats(0.0, 60.0), st.floats(1.0, 1e6))
def test_alone_behind_a_token_bucket_it_is_what_that_gives(
    sustained: float, ratio: float, burst_s: float, size: float
) -> None:
    bucket = Allowance(sustained * ratio, sustained, burst_s)
    found = lasts_behind(bucket, 9.0, 8 * size, 1, Whole(9.0), ())
    assert found == pytest.approx(bucket.takes(size))


@given(st.floats(1.0, 1e4), st.integers(1, 16), OTHERS)
def test_it_is_what_the_simulator_has(bits: float, streams: int, others: list[tuple[float, int]]) -> None:
    """Sizes are large, so that nobody is done within half a second, and its last bit does not count."""
    competing = tuple(beside(1e6 * left, s) for left, s in others)
    jobs = [Job(1e6 * bits, streams), *(Job(1e6 * left, s) for left, s in others)]
    assert lasts(1e6 * bits, streams, Whole(1e3), competing) == pytest.approx(finish(1e3, jobs)[0], rel=1e-5)


@given(st.floats(1.0, 1e4), st.integers(1, 16), OTHERS)
def test_competing_flows_make_no_transfer_faster(
    bits: float, streams: int, others: list[tuple[float, int]]
) -> None:
    competing = tuple(beside(*one) for one in others)
    alone, shared = lasts(bits, streams, PATH, ()), lasts(bits, streams, PATH, competing)
    together = bits + sum(max(left, 10.0 * s) for left, s in others)
    assert alone * (1 - 1e-9) <= shared <= together / 10.0 * (1 + 1e-9), "a flow of ours always sends"


@pytest.mark.parametrize(
    ("story", "test", "there", "expected"),
    [
        ("it has the path to itself", (10.0, 1), 0.0, Whole(10.0, 0.0, 10.0)),
        ("half of it beside one of ours: nobody else", (5.0, 1), 1.0, Whole(10.0, 0.0, 10.0)),
        ("half of it beside nobody of ours: one of somebody's", (5.0, 1), 0.0, Whole(10.0, 1.0, 10.0)),
        ("a quarter beside one of ours: two of somebody's", (2.5, 1), 1.0, Whole(10.0, 2.0, 10.0)),
        ("a third beside one of ours is chance", (10 / 3, 1), 1.0, Whole(10.0, 0.0, 10.0)),
        ("a little less is chance", (9.0, 1), 0.0, Whole(10.0, 0.0, 10.0)),
        ("by four streams", (5.0, 4), 0.0, Whole(10.0, 4.0, 2.5)),
        ("more than ever before", (12.0, 1), 0.0, Whole(12.0, 0.0, 12.0)),
    ],
)
def test_what_a_path_carries_follows_from_its_last_test(
    story: str, test: tuple[float, int], there: float, expected: Whole
) -> None:
    found = whole(*test, there, 10.0)
    assert found is not None
    assert found.others == pytest.approx(expected.others), story
    assert (found.bits, found.each) == (expected.bits, expected.each)


def test_counters_know_of_somebody_who_takes_more_than_a_share() -> None:
    found = whole(2.0, 1, 1.0, 10.0, counted=10.0)
    assert found == Whole(10.0, 0.0, 10.0)


def test_streams_together_may_be_seen_to_have_more_than_one() -> None:
    assert whole(10.0, 1, 0.0, 10.0, capacity=40.0) == Whole(10.0, 0.0, 10.0)
    assert whole(6.0, 1, 1.0, 10.0, capacity=40.0) == Whole(10.0, 0.0, 10.0), "not by a quarter"
    assert whole(9.0, 1, 2.0, 10.0, capacity=40.0) == Whole(27.0, 0.0, 10.0)
    assert whole(9.0, 1, 2.0, 10.0, capacity=20.0) == Whole(20.0, 0.0, 10.0)


@pytest.mark.parametrize("test", [0.0, math.inf])
def test_a_test_that_says_nothing(test: float) -> None:
    assert whole(test, 1, 0.0, 10.0) is None


def test_who_came_during_a_test_was_there_for_its_rest() -> None:
    there = [beside(1.0, 2, since=0.0), beside(1.0, 4, since=13.0), beside(1.0, 8, since=20.0)]
    assert mean_streams(there, 10.0, 14.0) == pytest.approx(2 + 4 / 4)
    assert mean_streams(there, 10.0, 10.0) == 2
