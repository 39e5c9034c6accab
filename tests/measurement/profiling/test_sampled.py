"""Samples scaled up: the estimate, how far it may be off, and what was lost on the way."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.profiling.packets import End
from measurement.profiling.sampled import Sampled, Sampling, Sequence
from measurement.profiling.sflow import read
from measurement.profiling.tally import Sum
from measurement.profiling.tasks import Tasks
from tests.measurement.profiling.frames import UDP, datagram, ethernet, header, ip, sample

A, B, C = End("10.0.0.1", 1000), End("10.0.0.2", 2000), End("10.0.0.3", 3000)
TASKS = Tasks.of({"a": [A.address], "b": [B.address], "c": [C.address]})
AB, BA = ("a", "b"), ("b", "a")


def of(one: End, other: End, payload: int) -> bytes:
    return header(ethernet(ip(one, other, payload)))


def found(datagrams: Iterable[bytes]) -> Sampled:
    sampling = Sampling(TASKS)
    for each in datagrams:
        sampling.add(read(each))
    return sampling.found(5.0, 6.0)


def one_each(numbers: Iterable[int], payload: int = 1000, **options: object) -> list[bytes]:
    """A sample per datagram, both numbered alike."""
    return [datagram(n, [sample(n, [of(A, B, payload)])], **options) for n in numbers]  # type: ignore[arg-type]


def test_each_sample_stands_for_as_many_packets_as_its_rate_in_its_direction() -> None:
    samples = [sample(1, [of(A, B, 1000)]), sample(2, [of(A, B, 500)], rate=10), sample(3, [of(B, A, 0)])]
    result = found([datagram(1, samples)])
    assert result.profile.sent == {AB: 100 * 1000 + 10 * 500}
    assert (result.profile.began, result.profile.ended, result.profile.tasks) == (5.0, 6.0, ("a", "b", "c"))
    assert (result.datagrams, result.samples, result.agents) == (1, 3, ("192.0.2.1",))


def test_the_bound_for_packets_of_one_size_is_the_known_one() -> None:
    result = found(one_each(range(1, 401)))
    assert result.profile.errors[AB] == pytest.approx(1.96 / 400**0.5, rel=0.01)


def test_where_everything_is_seen_there_is_no_error() -> None:
    assert found([datagram(1, [sample(1, [of(A, B, 9)], rate=1)])]).profile.errors == {}


def test_sizes_that_differ_widen_it() -> None:
    small, large = Sum(), Sum()
    for _ in range(100):
        small.add(100, 50)
    for size in [1] * 99 + [10_000]:
        large.add(size, 50)
    assert large.error > 5 * small.error


@pytest.mark.parametrize("seed", range(3))
def test_the_truth_is_within_the_bound_nineteen_times_of_twenty(seed: int) -> None:
    """Packets of two sizes, seen by chance; 300 times."""
    chance = random.Random(seed)
    sizes = [chance.choice([1448, 1448, 90]) for _ in range(5000)]
    within = 0
    for _ in range(300):
        seen = Sum()
        for size in sizes:
            if chance.random() < 1 / 40:
                seen.add(size, 40)
        within += abs(seen.sent - sum(sizes)) <= seen.error * seen.sent
    assert 0.90 <= within / 300 <= 0.99


def test_what_was_lost_is_told_and_made_up_for() -> None:
    result = found(one_each([1, 2, 3, 7, 8, 9, 10]))
    assert (result.lost_datagrams, result.lost_samples) == (3, 3)
    assert result.profile.sent == {AB: 10 * 100 * 1000}


def test_late_and_doubled_datagrams_are_no_loss() -> None:
    result = found(one_each([1, 3, 2, 3, 4, 4]))
    assert (result.lost_datagrams, result.lost_samples, result.samples) == (0, 0, 4)
    assert result.profile.sent == {AB: 4 * 100 * 1000}


def test_an_agent_that_starts_again_counts_anew() -> None:
    for numbers in ([1, 2], [5000, 5001]):  # some begin at any number
        result = found([*one_each([1000, 1001], uptime=5000.0), *one_each(numbers, uptime=1.0)])
        assert (result.lost_datagrams, result.lost_samples, result.samples) == (0, 0, 4)


def test_numbers_go_round() -> None:
    result = found(one_each([2**32 - 1, 0, 1]))
    assert (result.lost_datagrams, result.samples) == (0, 3)


def test_what_agents_dropped_is_told_from_when_we_listened() -> None:
    samples = [sample(n, [of(A, B, 1000)], drops=d) for n, d in [(1, 40), (2, 40), (3, 45)]]
    assert found([datagram(1, samples)]).dropped == 5


def test_a_packet_that_two_agents_see_counts_once_by_who_saw_more() -> None:
    far = one_each(range(1, 4), agent="192.0.2.2")
    result = found([*one_each(range(1, 6)), *far])
    assert result.profile.sent == {AB: 5 * 100 * 1000}
    assert result.agents == ("192.0.2.1", "192.0.2.2")


def test_interfaces_of_one_agent_see_different_packets() -> None:
    samples = [sample(1, [of(A, B, 1000)], origin=1), sample(1, [of(A, B, 1000)], origin=2)]
    assert found([datagram(1, samples)]).profile.sent == {AB: 2 * 100 * 1000}


def test_what_is_nobodys_is_outside_and_within_a_task_is_nothing() -> None:
    other, same = End("10.9.9.9", 1), End(A.address, 4000)
    records = [of(A, other, 100), of(A, same, 100), header(ethernet(ip(other, C, 50, UDP)))]
    result = found([datagram(1, [sample(n, [each]) for n, each in enumerate(records)])])
    assert (result.profile.sent, result.outside) == ({}, 100 * 150)


def test_nothing_that_came_is_a_profile_of_nothing() -> None:
    result = found([])
    assert (result.profile.sent, result.agents, result.outside) == ({}, (), 0)


@given(st.permutations(range(100, 130)), st.sets(st.integers(100, 129), max_size=10), st.integers(0, 2**32))
def test_losses_of_numbers_that_come_in_any_order(order: list[int], gone: set[int], start: int) -> None:
    """What came after the first and is not beyond the highest: the rest of them was lost."""
    sequence = Sequence()
    came = [100, *(n for n in order if n not in gone and n != 100)]
    for number in came:
        assert sequence.take((number + start) % 2**32)
        assert not sequence.take((number + start) % 2**32)
    assert sequence.lost == max(came) - 100 + 1 - len(came)


def test_what_is_made_up_for_is_as_uncertain_as_what_was_seen() -> None:
    one = Sum()
    for payload in (1000, 1000, 200):
        one.add(payload, 8)
    more = one.scaled(1.5)
    assert (more.sent, more.packets) == (1.5 * 8 * 2200, 3)
    assert more.error == pytest.approx(one.error)
