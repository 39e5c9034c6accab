"""Rounds in which one instance is asked about both ways, beside rounds in which each is asked for itself."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from measurement.health.orders import Probing, both_ways, read, split
from measurement.health.profiles import mesh
from measurement.health.record import ProbeKind, RoundRecord
from measurement.health.round_runner import Progress, Running, run
from measurement.health.round_schedule import Limits, Plan, plan
from measurement.instances import Instance
from measurement.probes.findings import ProbeReport
from tests.measurement.health.cloud import Cloud, conflicts
from tests.support.refusals import refused

NAMES = "abcdef"
APART = Running(Probing(count=2), busy_pause=0.0)
BOTH = replace(APART, both_ways=True)
A_B, B_A = Pair("a", "b"), Pair("b", "a")


def a_cloud(**more: object) -> Cloud:
    """Round trips that are equal both ways, rates and sandwiches that are not."""
    return Cloud(
        NAMES,
        rtt=lambda pair: 0.001 * (ord(min(pair)) + 3 * ord(max(pair))),
        rate=lambda pair: 1e6 * (ord(pair.source) + 7 * ord(pair.destination)),
        widened=lambda pair: 1e-6 * (ord(pair.source) + 5 * ord(pair.destination)),
        **more,  # type: ignore[arg-type]
    )


def done(cloud: Cloud, what: Plan, how: Running = BOTH, told: list[Progress] | None = None) -> RoundRecord:
    progress = [] if told is None else told
    return asyncio.run(run(what, cloud.instances, cloud.connect, how, progress=progress.append))


def test_the_order_has_the_probes_of_both_and_tcp_last() -> None:
    kinds = [one.kind for one in both_ways(Instance("b", "192.0.2.2")).probes]
    light = ["icmp", "icmp", "icmp", "udp", "udp", "sandwich", "connect"]
    assert kinds == [*light, "train", "sandwich-back", "train-back", "tcp"]


def test_the_same_is_found_in_half_as_many_orders() -> None:
    apart, both = a_cloud(takes=0.001), a_cloud(takes=0.001)
    what = plan(mesh(NAMES), [A_B])
    one = done(apart, what, replace(APART, together=True))
    other = done(both, what)
    assert other.complete
    assert other.found == one.found
    assert other.verified == one.verified
    assert not conflicts(both.met)
    count = len(mesh(NAMES))
    assert (len(apart.orders), len(both.orders)) == (count + 1, count // 2 + 1)
    asked = Counter(name for name, _ in both.orders[:-1])
    assert (min(asked.values()), max(asked.values())) == (2, 3)
    assert one.from_other_side == frozenset()
    assert len(other.from_other_side) == count // 2
    assert {pair.back for pair in other.from_other_side} == {*mesh(NAMES)} - other.from_other_side


def test_duplex_or_not_a_couple_has_both_instances_for_itself() -> None:
    cloud = a_cloud(takes=0.001)
    record = done(cloud, plan(mesh(NAMES)), replace(BOTH, limits=Limits(duplex=True)))
    assert record.complete
    assert not conflicts(cloud.met)


pairs_of_few = st.lists(st.sampled_from(sorted(mesh("abcd"))), unique=True, min_size=1)


@given(pairs_of_few, st.sets(st.sampled_from("abcd"), max_size=2), pairs_of_few, st.booleans())
def test_whatever_the_plan_the_same_is_found(
    pairs: list[Pair], dead: set[str], busy: list[Pair], refuses: bool
) -> None:
    """Also where some are gone from the beginning, and others are busy at first."""
    what = plan(pairs)

    def found(how: Running) -> RoundRecord:
        return done(a_cloud(dead=set(dead), busy=dict.fromkeys(busy, 1), refuses=refuses), what, how)

    one, other = found(replace(APART, together=True)), found(BOTH)
    assert other.found == one.found
    assert other.not_reached == one.not_reached
    assert [(each.pair, each.kind, each.why) for each in other.failures] == [
        (each.pair, each.kind, each.why) for each in one.failures
    ]


def test_a_pair_without_its_back_is_asked_as_before() -> None:
    cloud = a_cloud()
    what = plan([A_B, B_A, Pair("a", "c")])
    record = done(cloud, what)
    assert record.complete
    assert {*record.found} == {*what.pairs}
    assert len(cloud.orders) == 2
    assert record.from_other_side in ({A_B}, {B_A})


@pytest.mark.parametrize("pair", [A_B, B_A])
@pytest.mark.parametrize("refuses", [False, True])
def test_who_is_refused_is_asked_again_for_that_way_alone(pair: Pair, refuses: bool) -> None:
    cloud, told = a_cloud(busy={pair: 1}, refuses=refuses), list[Progress]()
    record = done(cloud, plan(mesh("ab")), BOTH, told)
    assert record.complete
    assert record.failures == ()
    assert record.found[A_B].throughput != record.found[B_A].throughput
    assert record.found[pair].sandwich
    trains = [one.done for one in told if one.kind is ProbeKind.TRAIN]
    assert trains == sorted(trains)
    assert (trains[-1], told[-1].of) == (2, 2)
    assert len(cloud.orders) == (3 if refuses else 2)


def test_who_is_still_busy_has_failed_that_way() -> None:
    cloud = a_cloud(busy={A_B: 9})
    record = done(cloud, plan(mesh(NAMES)))
    assert {(one.pair, "under way" in one.why) for one in record.failures} == {(A_B, True)}
    assert record.found[B_A].throughput


def test_who_vanishes_meanwhile_is_named_and_the_other_asks() -> None:
    cloud = a_cloud(after={"c": 1}, takes=0.001)
    record = done(cloud, plan(mesh(NAMES)))
    assert {pair for pair in mesh(NAMES) if "c" not in pair} <= {*record.found}
    gone = {one.pair for one in record.failures}
    assert all("c" in pair for pair in gone)
    lost = [pair for pair in mesh(NAMES) if pair.source == "c" and pair not in record.found]
    assert lost
    for pair in lost:
        assert record.found[pair.back].timed_out, "the other asked for itself"
        assert any(one.pair == pair and one.why.startswith("c: ") for one in record.failures)


def test_where_nothing_comes_the_other_is_asked_too() -> None:
    """What one finds silent may be its own fault; its silence is not the other's."""
    cloud = a_cloud(unheard={A_B})
    record = done(cloud, plan(mesh("ab")))
    assert record.found[A_B].timed_out
    assert record.found[B_A].throughput
    assert not record.found[B_A].silent
    assert {one.pair for one in record.failures} == {A_B}
    assert not record.from_other_side
    assert [name for name, _ in cloud.orders] == ["a", "b"]


def test_of_another_order_nothing_is_split() -> None:
    asked = both_ways(Instance("b", "192.0.2.2"))
    with refused(ValueError, "findings"):
        split(asked, ProbeReport((), 0.0, 1.0))


def test_what_fails_is_told_of_the_way_that_it_concerns() -> None:
    asked = both_ways(Instance("b", "192.0.2.2"), Probing(count=2))
    cloud = a_cloud()

    async def report() -> ProbeReport:
        agent = await cloud.connect(cloud.instances[0])
        cloud.busy[B_A] = 1
        return await agent.probe(asked)

    there, back = split(asked, asyncio.run(report()))
    assert read(*there, A_B)[1] == ()
    found, failures = read(*back, B_A)
    assert [(one.pair, one.kind) for one in failures] == [(B_A, ProbeKind.LIGHT), (B_A, ProbeKind.TRAIN)]
    assert found.icmp
    assert not found.throughput
