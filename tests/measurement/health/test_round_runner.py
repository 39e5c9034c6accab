"""A round put to work, among agents of a cloud that is only thought of."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from measurement.health.model import Indicator, Pair
from measurement.health.orders import Probing
from measurement.health.pair_scores import scores
from measurement.health.profiles import mesh
from measurement.health.record import ProbeKind, RoundRecord
from measurement.health.round_runner import Progress, Running, run
from measurement.health.round_schedule import Limits, Plan, plan
from measurement.instances import Instance
from measurement.probes.findings import FailureCause, Finding, ProbeFailure, RoundTrips
from measurement.probes.probe_types import IcmpEcho, Probe, ProbeOrder, Throughput, Train
from tests.measurement.health.cloud import Agent, Cloud, conflicts
from tests.support.refusals import refused

NAMES = "abcdef"
QUICK = Running(Probing(count=2))
AT_ONCE_AGAIN = Running(Probing(count=2), busy_pause=0.0)
A_B = Pair("a", "b")


def is_heavy(order: ProbeOrder) -> bool:
    return any(isinstance(one, Train | Throughput) for one in order.probes)


def done(cloud: Cloud, what: Plan, how: Running = QUICK) -> RoundRecord:
    return asyncio.run(run(what, cloud.instances, cloud.connect, how))


def test_all_pairs_are_found_and_no_two_trains_meet() -> None:
    cloud = Cloud(NAMES, rate=lambda pair: 1e9 if "a" in pair else 5e8, takes=0.001)
    record = done(cloud, plan(mesh(NAMES)))
    assert record.complete
    assert not conflicts(cloud.met)
    assert {*record.found} == {*mesh(NAMES)}
    found = record.found[A_B]
    assert (found.icmp[4096], found.udp[64], found.sandwich) == ((0.01, 0.01), (0.01, 0.01), (1e-4, 1e-4))
    assert (found.connect, found.tcp, found.throughput) == ((0.01, 0.01), (0.01, 0.01), (1e9,))
    assert scores(record.found)[A_B].total == 1.0
    assert sorted(cloud.connected) == sorted(cloud.closed) == [*NAMES], "one connection each"


def test_at_the_same_time_are_as_many_as_may() -> None:
    cloud = Cloud(NAMES, takes=0.001)
    done(cloud, plan(mesh(NAMES)))
    assert max(map(len, cloud.met)) == 3
    assert cloud.most_lights == 24, "four of each instance"
    cloud = Cloud(NAMES, takes=0.001)
    done(cloud, plan(mesh(NAMES)), Running(Probing(count=2), lights_at_once=5, trains_at_once=2))
    assert max(map(len, cloud.met)) == 2
    assert cloud.most_lights == 5


def test_light_probes_together_with_trains_find_the_same_in_fewer_orders() -> None:
    apart, together = Cloud(NAMES, takes=0.001), Cloud(NAMES, takes=0.001)
    what = plan(mesh(NAMES), [A_B])
    one = done(apart, what)
    other = done(together, what, Running(Probing(count=2), together=True))
    assert other.found == one.found
    assert other.verified == one.verified
    assert not conflicts(together.met)
    count = len(mesh(NAMES))
    assert (len(apart.orders), len(together.orders)) == (2 * count + 1, count + 1)


def test_who_has_no_train_has_light_probes_all_the_same() -> None:
    pairs = mesh(NAMES)
    cloud = Cloud(NAMES)
    what = Plan(pairs, ((A_B,),))
    record = done(cloud, what, Running(Probing(count=2), together=True))
    assert {*record.found} == {*pairs}
    assert [pair for pair, found in record.found.items() if found.throughput] == [A_B]
    assert cloud.most_lights


def test_who_is_gone_is_silent_also_where_light_probes_come_with_trains() -> None:
    cloud = Cloud(NAMES, dead={"c"})
    record = done(cloud, plan(mesh(NAMES)), Running(Probing(count=2), together=True))
    assert all(record.found[Pair(one, "c")].timed_out for one in "abdef")
    assert not any(found.timed_out for pair, found in record.found.items() if "c" not in pair)
    kinds = {one.kind for one in record.failures if one.pair == Pair("a", "c")}
    assert kinds == {ProbeKind.TRAIN}


def test_a_sample_is_verified_by_transfer_and_counts_in_no_score() -> None:
    cloud = Cloud(NAMES)
    record = done(cloud, plan(mesh(NAMES), [A_B]))
    assert record.verified == {A_B: (1e9,) * 10}
    assert record.found[A_B].throughput == (1e9,)
    assert not record.by_transfer


class Filtered(Cloud):
    """Behind a firewall that drops ICMP; transfers get stuck."""

    async def connect(self, instance: Instance) -> Agent:
        return FilteredAgent(self, (await Cloud.connect(self, instance)).name)


class FilteredAgent(Agent):
    def _finding(self, probe: Probe, pair: Pair) -> Finding:
        match probe:
            case IcmpEcho(count=count):
                return RoundTrips((None,) * count)
            case Throughput():
                return ProbeFailure(FailureCause.VANISHED, "stuck")
        return Agent._finding(self, probe, pair)


def test_a_transfer_that_gets_stuck_does_not_make_a_pair_dead_whose_train_came_through() -> None:
    record = done(Filtered(NAMES), plan(mesh(NAMES), [A_B]))
    assert record.found[A_B].silent == {Indicator.ICMP}
    assert scores(record.found)[A_B].total == 1.0
    assert [one.why for one in record.failures if one.pair == A_B] == ["throughput: stuck"]
    exhaustive = done(Filtered(NAMES), plan(mesh(NAMES), exhaustive=True))
    assert exhaustive.found[A_B].silent == {Indicator.ICMP, Indicator.THROUGHPUT}


def test_as_the_paper_does_it() -> None:
    cloud = Cloud(NAMES, takes=0.001)
    how = Running(Probing(count=2, intervals=3), Limits(duplex=True))
    record = done(cloud, plan(mesh(NAMES), exhaustive=True), how)
    assert record.by_transfer == {*mesh(NAMES)}
    assert record.found[A_B].throughput == (1e9,) * 3
    assert not record.verified
    assert not conflicts(cloud.met), "transfers are not duplex, whatever trains are"


def test_who_is_gone_from_the_beginning_is_marked_and_all_others_are_found() -> None:
    cloud = Cloud(NAMES, dead={"c"})
    record = done(cloud, plan(mesh(NAMES)))
    assert not record.complete
    assert {*record.not_reached} == {Pair("c", other) for other in NAMES if other != "c"}
    assert all(record.found[Pair(one, "c")].timed_out for one in "abdef")
    assert not any(found.timed_out for pair, found in record.found.items() if "c" not in pair)
    assert {one.why.partition(":")[0] for one in record.failures if one.pair == Pair("c", "a")} == {"c"}
    assert {one.pair for one in record.failures} == {pair for pair in mesh(NAMES) if "c" in pair}
    health = scores(record.found)
    assert health[Pair("a", "c")].total == 0.0
    assert health[A_B].total == 1.0


def test_who_vanishes_during_a_round_leaves_what_was_found() -> None:
    cloud = Cloud(NAMES, after={"c": 7}, takes=0.001)
    record = done(cloud, plan(mesh(NAMES)))
    assert record.found[Pair("c", "a")].icmp, "the light probes were done"
    assert record.failures
    others = {pair for pair in mesh(NAMES) if "c" not in pair}
    assert not {one.pair for one in record.failures} & others
    assert all(record.found[pair].throughput for pair in others)


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("exhaustive", [False, True])
def test_who_was_busy_is_asked_once_more_when_the_others_are_done(refuses: bool, exhaustive: bool) -> None:
    cloud = Cloud(NAMES, busy={A_B: 1}, refuses=refuses)
    told: list[Progress] = []
    what = plan(mesh(NAMES), exhaustive=exhaustive)
    record = asyncio.run(run(what, cloud.instances, cloud.connect, AT_ONCE_AGAIN, progress=told.append))
    assert record.complete
    assert record.failures == ()
    assert record.found[A_B].throughput
    asked = [Pair(name, order.target.name) for name, order in cloud.orders if is_heavy(order)]
    assert (asked.count(A_B), asked[-1], len(asked)) == (2, A_B, 31)
    counts = [one.done for one in told if one.kind is not ProbeKind.LIGHT]
    assert counts == sorted(counts)
    assert [(told[-1].done, told[-1].of, told[-1].failures), counts.count(30)] == [(30, 30, 0), 1]


def test_light_probes_that_came_with_a_refused_train_are_not_repeated() -> None:
    cloud = Cloud(NAMES, busy={A_B: 1})
    record = done(cloud, plan(mesh(NAMES)), replace(AT_ONCE_AGAIN, together=True))
    assert record.complete
    assert record.failures == ()
    first, second = [order for name, order in cloud.orders if Pair(name, order.target.name) == A_B]
    assert (len(first.probes) > 1, len(second.probes)) == (True, 1)
    assert record.found[A_B].icmp
    assert record.found[A_B].throughput


@pytest.mark.parametrize("refuses", [False, True])
def test_who_is_still_busy_has_failed(refuses: bool) -> None:
    cloud = Cloud(NAMES, busy={A_B: 2}, refuses=refuses)
    told: list[Progress] = []
    what = plan(mesh(NAMES))
    record = asyncio.run(run(what, cloud.instances, cloud.connect, AT_ONCE_AGAIN, progress=told.append))
    assert told[-1] == Progress(ProbeKind.TRAIN, 30, 30, 1)
    ((pair, kind, why),) = [(one.pair, one.kind, one.why) for one in record.failures]
    assert (pair, kind, "under way" in why) == (A_B, ProbeKind.TRAIN, True)
    assert sum(is_heavy(order) and name == "a" for name, order in cloud.orders) == 6
    assert record.found[A_B].icmp
    assert not record.found[A_B].throughput


def test_stopped_before_the_second_try_the_first_is_told() -> None:
    cloud = Cloud(NAMES, busy={A_B: 1})

    async def some() -> RoundRecord:
        stop = asyncio.Event()

        def enough(progress: Progress) -> None:
            if progress.kind is ProbeKind.TRAIN and progress.done == 29:
                stop.set()

        return await run(
            plan(mesh(NAMES)),
            cloud.instances,
            cloud.connect,
            replace(QUICK, busy_pause=60.0),
            stop=stop,
            progress=enough,
        )

    record = asyncio.run(some())
    assert [(one.pair, "under way" in one.why) for one in record.failures] == [(A_B, True)]


def test_stopped_it_keeps_what_there_is() -> None:
    cloud = Cloud(NAMES, takes=0.001)

    async def some() -> RoundRecord:
        stop = asyncio.Event()

        def enough(progress: Progress) -> None:
            if (progress.kind, progress.done) == (ProbeKind.TRAIN, 5):
                stop.set()

        return await run(
            plan(mesh(NAMES), [A_B]), cloud.instances, cloud.connect, QUICK, stop=stop, progress=enough
        )

    record = asyncio.run(some())
    assert record.interrupted
    assert not record.complete
    trained = [pair for pair, found in record.found.items() if found.throughput]
    assert 5 <= len(trained) < 30
    assert {*record.found} == {*mesh(NAMES)}
    assert not any(isinstance(order.probes[0], Throughput) for _, order in cloud.orders)
    assert sorted(cloud.closed) == [*NAMES]


def test_stopped_before_it_begins_it_asks_nobody() -> None:
    cloud = Cloud(NAMES)

    async def nothing() -> RoundRecord:
        stop = asyncio.Event()
        stop.set()
        return await run(plan(mesh(NAMES)), cloud.instances, cloud.connect, QUICK, stop=stop)

    record = asyncio.run(nothing())
    assert (record.found, len(record.not_reached), cloud.connected) == ({}, 30, [])


def test_an_agent_that_never_answers_is_not_waited_for_for_ever() -> None:
    cloud = Cloud(NAMES, takes=1e9)
    how = Running(Probing(count=1, interval=0, silent=0.001), light_at_once=100)
    record = done(cloud, plan(mesh("ab")), how)
    assert {one.pair for one in record.failures} == {*mesh("ab")}


def test_how_far_it_is_is_told() -> None:
    cloud, told = Cloud(NAMES), []
    asyncio.run(run(plan(mesh("abc")), cloud.instances, cloud.connect, QUICK, progress=told.append))
    assert told[-1] == Progress(ProbeKind.TRAIN, 6, 6, 0)
    assert [one.done for one in told if one.kind is ProbeKind.LIGHT] == [1, 2, 3, 4, 5, 6]


def test_who_is_behind_a_translation_is_marked() -> None:
    cloud = Cloud("abc", seen={"a": "192.0.2.99", "b": ""})
    record = done(cloud, plan(mesh("abc")))
    assert record.complete
    assert record.translated == {A_B, Pair("a", "c")}


def test_a_plan_is_of_the_instances() -> None:
    cloud = Cloud("ab")
    with refused(ValueError, "plan"):
        done(cloud, plan(mesh("abc")))
    assert not cloud.connected
