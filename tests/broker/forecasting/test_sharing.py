"""How long a transfer lasts beside others: hand-worked cases, another model of the same, and properties."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.forecasting.sharing import (
    Beside,
    Coming,
    Company,
    Usual,
    Whole,
    lasts,
    lasts_behind,
    present,
    whole,
)
from measurement.throttling import Allowance
from tests.reference.shared_path import Job, finish

PATH = Whole(10.0)
OTHERS = st.lists(st.tuples(st.floats(10.0, 1e4), st.integers(1, 16)), max_size=12)


def beside(bits: float, streams: int = 1, since: float = 0.0, ago: float = 0.0) -> Beside:
    return Beside(bits, streams, since, ago)


@pytest.mark.parametrize(
    ("story", "company", "seconds"),
    [
        ("alone", Company(), 10.0),
        ("one beside it leaves after 10 s", Company((beside(50.0),)), 15.0),
        ("one beside it with three streams", Company((beside(75.0, 3),)), 17.5),
        ("it had 4 s since it was counted: 10 bits/s of them", Company((beside(90.0, ago=4.0),)), 15.0),
        ("what should be over lasts half a second", Company((beside(1.0, ago=9.0),)), 10.5),
        ("one who waits enters at once", Company((), (Coming(50.0, 1, 1, 5.0),)), 15.0),
        ("one who waits for all of it never does", Company((), (Coming(50.0, 1, 1, 5.1),)), 10.0),
        ("one enters when another one leaves", Company((beside(25.0),), (Coming(50.0, 1, 1, 5.0),)), 17.5),
        ("of two who wait the second has no room", Company((), (Coming(50.0, 1, 1, 5.0),) * 2), 20.0),
        ("our test runs a fifth of the time, and takes half", Company(busy=0.2), 10.0 / 0.9),
    ],
)
def test_beside_others(story: str, company: Company, seconds: float) -> None:
    assert lasts(100.0, 1, PATH, company) == pytest.approx(seconds), story


def test_other_people_take_their_part_all_the_time() -> None:
    assert lasts(100.0, 1, Whole(10.0, others=1.0), Company()) == pytest.approx(20.0)
    assert lasts(100.0, 3, Whole(10.0, others=1.0), Company()) == pytest.approx(100 / 7.5)


def test_a_stream_gets_no_more_than_one_got_in_a_test() -> None:
    assert lasts(100.0, 1, Whole(10.0, each=2.0), Company()) == pytest.approx(50.0)
    assert lasts(100.0, 8, Whole(10.0, each=2.0), Company()) == pytest.approx(10.0)


def test_what_limits_itself_leaves_the_rest_unused() -> None:
    assert lasts(100.0, 1, PATH, Company(), most=4.0) == pytest.approx(25.0)
    assert lasts(100.0, 1, PATH, Company(), most=0.0) == math.inf


BUCKET = Allowance(20.0, 4.0, 5.0)
"""80 bits beside the sustained rate; a test of 16 s has a mean of 9, which is what the path carries by it."""


@pytest.mark.parametrize(
    ("story", "bits", "company", "most", "seconds"),
    [
        ("within the burst", 60.0, Company(), math.inf, 3.0),
        ("all of the burst", 100.0, Company(), math.inf, 5.0),
        ("and some more", 140.0, Company(), math.inf, 15.0),
        ("one beside it takes half of what is sustained", 100.0, Company((beside(1e6),)), math.inf, 10.0),
        ("it limits itself to less than the burst", 60.0, Company(), 6.0, 10.0),
        ("nothing is left", 0.0, Company(), math.inf, 0.0),
        ("it sends nothing", 1.0, Company(), 0.0, math.inf),
    ],
)
def test_behind_a_token_bucket(
    story: str, bits: float, company: Company, most: float, seconds: float
) -> None:
    found = lasts_behind(BUCKET, 9.0, bits, 1, Whole(9.0), company, most)
    assert found == pytest.approx(seconds), story


@given(st.floats(1.0, 1e4), st.floats(1.0, 20.0), st.floats(0.0, 60.0), st.floats(1.0, 1e6))
def test_alone_behind_a_token_bucket_it_is_what_that_gives(
    sustained: float, ratio: float, burst_s: float, size: float
) -> None:
    bucket = Allowance(sustained * ratio, sustained, burst_s)
    found = lasts_behind(bucket, 9.0, 8 * size, 1, Whole(9.0), Company())
    assert found == pytest.approx(bucket.takes(size))


@given(st.floats(1.0, 1e4), st.integers(1, 16), OTHERS)
def test_it_is_what_the_simulator_has(bits: float, streams: int, others: list[tuple[float, int]]) -> None:
    """Sizes are large, so that nobody is done within half a second, and its last bit does not count."""
    company = Company(tuple(beside(1e6 * left, s) for left, s in others))
    jobs = [Job(1e6 * bits, streams), *(Job(1e6 * left, s) for left, s in others)]
    assert lasts(1e6 * bits, streams, Whole(1e3), company) == pytest.approx(finish(1e3, jobs)[0], rel=1e-5)


@given(st.floats(1.0, 1e4), st.integers(1, 16), OTHERS, OTHERS, st.floats(0.0, 1.0))
def test_company_makes_nobody_faster(
    bits: float,
    streams: int,
    others: list[tuple[float, int]],
    waiting: list[tuple[float, int]],
    busy: float,
) -> None:
    there = tuple(beside(*one) for one in others)
    come = tuple(Coming(left, s, s, 1e-9) for left, s in waiting)
    alone = lasts(bits, streams, PATH, Company())
    with_some = lasts(bits, streams, PATH, Company(there))
    with_all = lasts(bits, streams, PATH, Company(there, come, busy))
    assert alone * (1 - 1e-9) <= with_some <= with_all * (1 + 1e-9)
    together = bits + sum(max(left, 10.0 * s) for left, s in (*others, *waiting))
    assert with_all <= together / 10.0 / (1 - busy / 2) * (1 + 1e-9), "somebody of ours always sends"


@pytest.mark.parametrize(
    ("story", "test", "there", "expected"),
    [
        ("it has the path to itself", (10.0, 1), 0.0, Whole(10.0, 0.0, 1, 10.0)),
        ("half of it beside one of ours: nobody else", (5.0, 1), 1.0, Whole(10.0, 0.0, 1, 10.0)),
        ("half of it beside nobody of ours: one of somebody's", (5.0, 1), 0.0, Whole(10.0, 1.0, 1, 10.0)),
        ("a quarter beside one of ours: two of somebody's", (2.5, 1), 1.0, Whole(10.0, 2.0, 1, 10.0)),
        ("a third beside one of ours is chance", (10 / 3, 1), 1.0, Whole(10.0, 0.0, 1, 10.0)),
        ("a little less is chance", (9.0, 1), 0.0, Whole(10.0, 0.0, 1, 10.0)),
        ("by four streams", (5.0, 4), 0.0, Whole(10.0, 4.0, 4, 2.5)),
        ("more than ever before", (12.0, 1), 0.0, Whole(12.0, 0.0, 1, 12.0)),
    ],
)
def test_what_a_path_carries_follows_from_its_last_test(
    story: str, test: tuple[float, int], there: float, expected: Whole
) -> None:
    found = whole(*test, there, 10.0)
    assert found is not None
    assert found.others == pytest.approx(expected.others), story
    assert (found.bits, found.tester, found.each) == (expected.bits, expected.tester, expected.each)


def test_counters_know_of_somebody_who_takes_more_than_a_share() -> None:
    found = whole(2.0, 1, 1.0, 10.0, counted=10.0)
    assert found == Whole(10.0, 0.0, 1, 10.0)


def test_streams_together_may_be_seen_to_have_more_than_one() -> None:
    assert whole(10.0, 1, 0.0, 10.0, capacity=40.0) == Whole(10.0, 0.0, 1, 10.0)
    assert whole(6.0, 1, 1.0, 10.0, capacity=40.0) == Whole(10.0, 0.0, 1, 10.0), "not by a quarter"
    assert whole(9.0, 1, 2.0, 10.0, capacity=40.0) == Whole(27.0, 0.0, 1, 10.0)
    assert whole(9.0, 1, 2.0, 10.0, capacity=20.0) == Whole(20.0, 0.0, 1, 10.0)


def test_those_who_usually_come_come() -> None:
    usual = Usual(4.0, Coming(1000.0, 1, 1, 0.0))
    assert lasts(40.0, 1, PATH, Company(usual=usual)) == pytest.approx(4.0)
    assert lasts(60.0, 1, PATH, Company(usual=usual)) == pytest.approx(4.0 + 4.0)
    waits = (Coming(1000.0, 1, 1, 0.0),)
    assert lasts(60.0, 1, PATH, Company(coming=waits, usual=usual)) == pytest.approx(
        8.0 + 4.0 + (20 - 40 / 3) / 2.5
    )
    held_back = Usual(4.0, Coming(1000.0, 1, 1, 5.0))
    assert lasts(100.0, 1, PATH, Company(usual=held_back)) == pytest.approx(4.0 + 12.0), "one fits beside it"


def test_an_endless_crowd_is_looked_at_for_so_long() -> None:
    assert lasts(1e6, 1, PATH, Company(usual=Usual(1e-6, Coming(1.0, 1, 1, 0.0)))) < math.inf


@pytest.mark.parametrize("test", [0.0, math.inf])
def test_a_test_that_says_nothing(test: float) -> None:
    assert whole(test, 1, 0.0, 10.0) is None


def test_who_came_during_a_test_was_there_for_its_rest() -> None:
    there = [beside(1.0, 2, since=0.0), beside(1.0, 4, since=13.0), beside(1.0, 8, since=20.0)]
    assert present(there, 10.0, 14.0) == pytest.approx(2 + 4 / 4)
    assert present(there, 10.0, 10.0) == 2
