"""A snapshot taken by agents of networks that are known."""

from __future__ import annotations

import asyncio
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.document import dumps, loads
from measurement.health.model import Pair
from measurement.snapshot.concurrent import plan
from measurement.snapshot.cross_traffic_paths import sample
from measurement.snapshot.model import Snapshot
from measurement.snapshot.racks import tree
from measurement.snapshot.snapshot_options import SnapshotOptions, SnapshotResult
from measurement.snapshot.snapshot_runner import take_snapshot
from tests.measurement.snapshot.standin import Agents
from tests.measurement.snapshot.trees import Network
from tests.support.refusals import refused

AT = {
    f"s{s}r{r}m{m}": (f"s{s}", f"s{s}r{r}", f"s{s}r{r}m{m} card")
    for s in (0, 1)
    for r in (0, 1)
    for m in (0, 1)
}
USUAL = SnapshotOptions()
HOSES = Network(AT, {**dict.fromkeys(AT, 300e6), "s0r0": 400e6})


def taken(agents: Agents, how: SnapshotOptions = USUAL) -> SnapshotResult:
    return asyncio.run(take_snapshot(agents.instances, agents.connect, how, clock=lambda: 1e9))


def test_everything_is_found_that_is_there() -> None:
    agents = Agents(HOSES)
    result = taken(agents)
    found = result.snapshot
    assert found.whole
    assert found.rates == pytest.approx(HOSES.alone(), rel=1e-6)
    assert found.hops == HOSES.hops()
    assert {*found.rtts.values()} == {0.01}
    assert {*found.racks} == {HOSES.group(f"s{s}r{r}") for s in (0, 1) for r in (0, 1)}
    assert found.hoses == pytest.approx(dict.fromkeys(AT, 300e6), rel=1e-6)
    (bottleneck,) = found.bottlenecks
    assert bottleneck.rate == pytest.approx(400e6, rel=1e-6)
    assert {pair.source for pair in bottleneck.pairs} == HOSES.group("s0r0")
    assert (result.faults, result.failed, result.stopped) == ((), 0, False)
    assert result.constant == {*AT}
    assert {*found.how.values()} == {"train", "transfer"}
    assert sorted(agents.closed) == sorted(AT)
    assert loads(Snapshot, dumps(found)) == found


def test_trains_do_not_meet() -> None:
    agents = Agents(HOSES)
    taken(agents, SnapshotOptions(width=0))
    assert any(len(met) > 1 for met in agents.met)
    for met in agents.met:
        assert not any({*one} & {*other} for one, other in combinations(met, 2))
    one_by_one = Agents(HOSES)
    taken(one_by_one, SnapshotOptions(width=0, trains_at_once=1))
    assert max(map(len, one_by_one.met)) == 1


def test_a_trial_is_made_whole_and_no_other_beside_it_where_one_at_a_time_was_asked_for() -> None:
    """Three racks of three: a trial in each could be made at a time."""
    at = {f"s{s}m{m}": (f"s{s}", f"s{s}r", f"s{s}m{m} card") for s in range(3) for m in range(3)}
    racks = Network(at, dict.fromkeys(at, 300e6))
    usual, alone = Agents(racks), Agents(racks)
    taken(usual, SnapshotOptions(trains_at_once=1))
    found = taken(alone, SnapshotOptions(trains_at_once=1, transfers_at_once=1))
    assert max(map(len, usual.met)) == 6
    assert max(map(len, alone.met)) == 2
    assert found.constant == {*at}


def test_the_first_interval_of_a_transfer_does_not_count() -> None:
    """The agents carry nothing in it."""
    found = taken(Agents(HOSES), SnapshotOptions(intervals=2)).snapshot
    assert found.rates == pytest.approx(HOSES.alone(), rel=1e-6)


def test_without_trials_nothing_is_known_of_what_is_shared() -> None:
    result = taken(Agents(HOSES), SnapshotOptions(width=0))
    assert (result.snapshot.hoses, result.snapshot.bottlenecks, result.trials) == ({}, (), 0)
    assert result.snapshot.whole


def test_who_is_gone_from_the_beginning_is_missing_and_the_rest_is_there() -> None:
    result = taken(Agents(HOSES, dead={"s0r0m0"}))
    found = result.snapshot
    assert not found.whole
    assert {*found.missing} == {pair for pair in HOSES.pairs if "s0r0m0" in pair}
    assert all("s0r0m0" in why for why in found.missing.values())
    assert found.hoses == pytest.approx({name: 300e6 for name in AT if name != "s0r0m0"}, rel=1e-6)


@pytest.mark.parametrize("orders", [0, 3, 8, 12, 15])
def test_who_vanishes_on_the_way_is_marked_and_the_rest_is_there(orders: int) -> None:
    result = taken(Agents(HOSES, after={"s1r1m1": orders}))
    found = result.snapshot
    assert all("s1r1m1" in pair for pair in found.missing)
    assert len(found.rates) + len(found.missing) == len(HOSES.pairs)
    # Its neighbour's trial led to it, too, and may have come to nothing.
    others = {name: 300e6 for name in AT if name != "s1r1m1"}
    seen = {name: rate for name, rate in found.hoses.items() if name != "s1r1m1"}
    assert seen == pytest.approx(dict.fromkeys(seen, 300000000.0), rel=1e-6)
    assert others.keys() - seen.keys() <= {"s1r1m0"}
    assert result.failed > 0 or len(seen) == len(others)


@pytest.mark.parametrize("orders", [0, 1, 8, 15])
def test_who_is_gone_is_asked_nothing_more(orders: int) -> None:
    agents = Agents(HOSES, after={"s1r1m1": orders})
    taken(agents)
    assert agents.asked_of["s1r1m1"] == orders + 1, "the one that showed it, and no other"
    assert agents.asked_of["s0r0m0"] > len(AT)


def test_a_trial_that_lost_one_of_its_paths_says_nothing() -> None:
    how = SnapshotOptions(width=3)
    whole = taken(Agents(HOSES), how)
    trial = next(one for one in plan(tree([*AT], HOSES.hops()), HOSES.alone(), 3) if len(one.paths) == 3)
    lost = taken(Agents(HOSES, alone_only={trial.paths[0]}), how)
    assert lost.snapshot.whole, "it has its rate alone"
    assert whole.failed == 0
    assert lost.failed >= 1
    # The two that are left had more than a third each: a hose that nobody measured.
    assert trial.paths[0].source not in lost.constant


@pytest.mark.parametrize("orders", [1, 20, 80, 115, 125])
def test_what_was_found_until_it_is_stopped_is_kept(orders: int) -> None:
    agents = Agents(HOSES)

    async def stopped() -> SnapshotResult:
        stop = asyncio.Event()

        async def watch() -> None:
            while agents.asked < orders:
                await asyncio.sleep(0)
            stop.set()

        watching = asyncio.create_task(watch())
        result = await take_snapshot(agents.instances, agents.connect, SnapshotOptions(), stop=stop)
        await watching
        return result

    result = asyncio.run(stopped())
    assert result.stopped
    assert len(result.snapshot.rates) + len(result.snapshot.missing) == len(HOSES.pairs)
    assert sorted(agents.closed) == sorted(AT)
    assert result.snapshot.whole is (orders >= 112)


def test_others_traffic_is_looked_for_where_it_is_wanted() -> None:
    crowded, windowed = Pair("s0r0m0", "s0r0m1"), Pair("s0r0m1", "s0r0m0")
    agents = Agents(HOSES, others={crowded: 2.0, windowed: None})
    result = taken(agents, SnapshotOptions(width=0, crossing=len(HOSES.pairs)))
    found = result.snapshot
    assert {*found.crossing} | {*result.uncrossed} == {*agents.crossed}
    assert sorted(agents.crossed) == sorted(HOSES.pairs)
    assert found.crossing[crowded] == pytest.approx(2.0)
    assert found.rates[crowded] == pytest.approx(300e6), "of the link: one connection has a third of it"
    assert found.how[crowded] == "transfer"
    assert {*found.crossing.values()} == {0.0, found.crossing[crowded]}
    assert {*result.uncrossed} == {windowed}
    assert found.whole, "its rate is known all the same"
    assert loads(Snapshot, dumps(found)) == found


def test_what_was_not_asked_for_is_not_looked_for() -> None:
    agents = Agents(HOSES)
    assert taken(agents).snapshot.crossing == {}
    assert agents.crossed == []
    taken(agents, SnapshotOptions(crossing=len(AT)))
    assert sorted(pair.source for pair in agents.crossed) == sorted(AT), "a way out of each"


def test_others_traffic_alone_and_one_path_at_a_time() -> None:
    agents = Agents(HOSES)
    result = taken(agents, SnapshotOptions(width=0, crossing=10_000))
    assert {*result.snapshot.crossing} == {*HOSES.pairs}
    for met in agents.met:
        assert not any({*one} & {*other} for one, other in combinations(met, 2))


def test_who_is_gone_before_others_traffic_was_looked_for_keeps_its_rates() -> None:
    whole = Agents(HOSES)
    taken(whole)
    result = taken(
        Agents(HOSES, after={"s1r1m1": whole.asked_of["s1r1m1"]}), SnapshotOptions(crossing=len(AT))
    )
    assert result.snapshot.whole
    assert {pair.source for pair in result.uncrossed} == {"s1r1m1"}


@given(st.dictionaries(st.tuples(st.sampled_from("abcd"), st.sampled_from("efgh")), st.floats(0, 1e9)))
def test_a_sample_is_of_the_fastest_of_each(rates: dict[tuple[str, str], float]) -> None:
    known = {Pair(*pair): rate for pair, rate in rates.items()}
    usable = {pair for pair, rate in known.items() if rate > 0}
    for count in range(len(known) + 2):
        chosen = sample(known, count)
        assert len(chosen) == len({*chosen}) == min(count, len(usable))
        assert {*chosen} <= usable
        for pair in usable - {*chosen}:
            its = [one for one in chosen if one.source == pair.source]
            assert all(known[one] >= known[pair] for one in its), "no faster one of the same is left out"
            assert all(
                sum(one.source == other for one in chosen) <= len(its) + 1
                for other in {one.source for one in chosen}
            ), "and nobody has two more than another who still has some"


def test_nobody_answers() -> None:
    result = taken(Agents(HOSES, dead={*AT}))
    assert result.snapshot.rates == {}
    assert {*result.snapshot.missing} == {*HOSES.pairs}


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"width": 1}, "width"),
        ({"width": -1}, "width"),
        ({"crossing": -1}, "crossing"),
        ({"intervals": 1}, "intervals"),
    ],
)
def test_what_cannot_be_is_refused(how: dict[str, int], field: str) -> None:
    with refused(ValueError, field):
        SnapshotOptions(**how)  # type: ignore[arg-type]


def test_it_is_told_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []
    agents = Agents(HOSES)
    asyncio.run(take_snapshot(agents.instances, agents.connect, progress=lambda *each: told.append(each)))
    for what in ("hops", "trains", "transfers", "trials"):
        counts = [(done, of) for kind, done, of in told if kind == what]
        assert counts == sorted(counts)
        assert counts[-1][0] == counts[-1][1] > 0
