from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.simulation.engine import simulate
from adon.simulation.measures import summarize
from adon.simulation.policies import (
    AlwaysLayer,
    Ecmp,
    Order,
    PathPortsChanged,
    PauseTransfer,
    PolicyEvent,
    PolicyView,
    RejectTransfer,
    ResultArrived,
    RunTest,
    TransferSubmitted,
    UsePath,
    WakeUp,
)
from adon.simulation.simulated_network import HostLimit, Outage
from adon.simulation.synthetic_tests import PeriodicTests
from adon.simulation.workload import Transfer
from measurement.model import Measurement, Metric, PathKey
from tests.simulation.small_worlds import ends, network, run, steps, transfer, workload


@dataclass
class Script:
    """A policy with orders by time; every transfer starts on ``p0``."""

    orders: dict[float, Sequence[Order]] = field(default_factory=dict)
    name: str = "script"
    quiet: frozenset[str] = frozenset()
    events: list[tuple[float, PolicyEvent]] = field(default_factory=list)

    @property
    def wake_at(self) -> float | None:
        return min(self.orders, default=None)

    def decide(self, what: PolicyEvent, view: PolicyView) -> Sequence[Order]:
        self.events.append((view.now, what))
        if isinstance(what, TransferSubmitted):
            return (UsePath(what.transfer.number, "p0"),)
        if isinstance(what, WakeUp):
            return [order for at in sorted(self.orders) if at <= view.now for order in self.orders.pop(at)]
        return ()

    def results(self, metric: Metric) -> list[Measurement]:
        found = [what.measurement for _, what in self.events if isinstance(what, ResultArrived)]
        return [one for one in found if one.metric is metric]


def test_one_transfer_uses_the_whole_path() -> None:
    (record,) = run(workload(transfer(at=5.0)), Script())
    assert record.ended == pytest.approx(6.0)
    assert record.stays == [(5.0, "p0")]
    assert (record.running, record.violated, record.stalled) == (pytest.approx(1.0), 0.0, 0.0)


@pytest.mark.parametrize(("streams", "first", "second"), [((1, 1), 2.0, 2.0), ((3, 1), 4 / 3, 2.0)])
def test_two_transfers_share_by_streams(streams: tuple[int, int], first: float, second: float) -> None:
    both = [transfer(n, streams=count) for n, count in enumerate(streams, 1)]
    assert ends(run(workload(*both), Script())) == pytest.approx([first, second])


def test_rate_rises_when_another_transfer_ends() -> None:
    """1 Gbit alone from 0 to 0.5, both until the first is done at 1.5, then the second alone."""
    assert ends(run(workload(transfer(1), transfer(2, at=0.5)), Script())) == pytest.approx([1.5, 2.0])


def test_rate_follows_the_capacity() -> None:
    world = workload(transfer(megabytes=250), over=network(steps((0, 1e9), (1, 0.25e9))))
    assert ends(run(world, Script())) == [5.0]


def test_other_streams_take_their_share() -> None:
    world = workload(transfer(), over=network(1e9, others=steps((0, 3.0), (2, 0.0))))
    assert ends(run(world, Script())) == [2.5]


@pytest.mark.parametrize(
    ("host", "loss", "rate"),
    [
        (HostLimit(window=250_000), 0.0, 250_000 * 8 / 0.02),
        (HostLimit(rate=2e8), 0.0, 2e8),
        (HostLimit(), 0.001, 8 * 1448 / (0.02 * math.sqrt(0.001)) * math.sqrt(1.5)),
    ],
)
def test_host_and_loss_limit_one_stream(host: HostLimit, loss: float, rate: float) -> None:
    for streams in (1, 3):
        world = workload(transfer(streams=streams), over=network(1e9, loss=loss, mu=host))
        assert ends(run(world, Script())) == pytest.approx([1e9 / (streams * rate)])


def test_ceiling_limits_a_transfer() -> None:
    world = workload(transfer(1, ceiling=1e8, streams=2), transfer(2))
    assert ends(run(world, Script())) == pytest.approx([10.0, 1 / 0.9])


def test_orders_move_and_pause_a_transfer() -> None:
    script = Script({0.5: (UsePath(1, "p1"),), 1.5: (PauseTransfer(1),), 2.0: (UsePath(1, "p0"),)})
    (record,) = run(workload(transfer()), script)
    assert record.ended == pytest.approx(2.4)
    assert record.stays == [(0.0, "p0"), (0.5, "p1"), (1.5, None), (2.0, "p0")]
    assert (record.moves, record.running) == (2, pytest.approx(1.9))


def test_rejected_transfer_never_ends() -> None:
    records = run(workload(transfer(1), transfer(2), end=50), Script({0.5: (RejectTransfer(1, "no"),)}))
    assert ends(records) == [math.inf, 1.25]
    assert records[0].rejected == "no"
    found = summarize(workload(transfer(1), transfer(2), end=50), records)
    assert (found.unserved, found.mean) == (1, pytest.approx((100 + 1.25) / 2))


def test_violation_is_counted_while_it_lasts() -> None:
    """100 Mbps are asked for; from 0.5 to 1.5 there are 50."""
    world = workload(transfer(), over=network(steps((0, 1e9), (0.5, 5e7), (1.5, 1e9))))
    (record,) = run(world, Script())
    assert record.violated == pytest.approx(1.0)
    assert record.running == pytest.approx(1.95)


@pytest.mark.parametrize("seen", [True, False])
def test_outage_stalls_and_visible_ports_are_reported(seen: bool) -> None:
    script = Script()
    (record,) = run(workload(transfer(), over=network(1e9, outages=[Outage(0.25, 3, seen)])), script)
    assert record.ended == pytest.approx(3.75)
    assert (record.stalled, record.violated) == (pytest.approx(2.75), pytest.approx(2.75))
    events = [(at, what.live) for at, what in script.events if isinstance(what, PathPortsChanged)]
    assert events == ([(0.25, False), (3.0, True)] if seen else [])


def test_throughput_test_takes_and_reports_its_share() -> None:
    """A test of 10 s from the start, beside a transfer of 2 Gbit: each has half while both are there."""
    script = Script()
    tests = PeriodicTests(throughput_period=1000, noise=0.0, streams=1)
    (record,) = run(workload(transfer(megabytes=250), tests=tests, end=100), script, tests=True)
    assert record.ended == pytest.approx(4.0)
    run(workload(transfer(megabytes=2500), tests=tests, end=100), script, tests=True)
    found = script.results(Metric.THROUGHPUT)
    assert [one.key for one in found] == [PathKey("p0", "mu", "osu")]
    assert found[0].value == pytest.approx(0.5e9)
    assert (found[0].started_at, found[0].observed_at, found[0].parameters) == (0.0, 10.0, {"streams": 1})


def test_quiet_path_has_no_test_and_a_requested_test_runs() -> None:
    key = PathKey("p1", "mu", "osu")
    quiet = Script({50.0: (RunTest(key, Metric.THROUGHPUT),)}, quiet=frozenset({"p0"}))
    tests = PeriodicTests(throughput_period=1000, throughput_duration=5, noise=0.0)
    run(workload(transfer(megabytes=25_000), tests=tests, end=190), quiet, tests=True)
    found = quiet.results(Metric.THROUGHPUT)
    assert [(one.key.path, one.started_at, one.value) for one in found] == [("p1", 51.0, pytest.approx(1e8))]


def test_rtt_grows_with_a_full_queue() -> None:
    script = Script()
    tests = PeriodicTests(throughput_period=1e6, rtt_period=10, noise=0.0)
    run(workload(transfer(at=5, megabytes=2500), tests=tests, end=30), script, tests=True)
    found = [(one.started_at, one.value) for one in script.results(Metric.RTT) if one.key.path == "p0"]
    assert found == [(0.0, pytest.approx(0.02)), (10.0, pytest.approx(0.021)), (20.0, pytest.approx(0.021))]


def test_noise_depends_on_the_seed() -> None:
    def values(seed: int) -> list[float]:
        script = Script()
        world = workload(transfer(megabytes=25_000), tests=PeriodicTests(noise=0.1), end=400)
        simulate(world, script, seed)
        return [one.value for one in script.results(Metric.RTT)]

    assert values(1) == values(1) != values(2)


@st.composite
def requests(draw: st.DrawFn) -> tuple[Transfer, ...]:
    drawn = draw(
        st.lists(
            st.tuples(st.integers(0, 20), st.integers(1, 500), st.integers(1, 3)), min_size=1, max_size=8
        )
    )
    return tuple(
        transfer(n, at=float(at), megabytes=mb, streams=s) for n, (at, mb, s) in enumerate(sorted(drawn), 1)
    )


@given(requests(), st.integers(0, 3))
def test_transfers_are_not_faster_than_the_network(asked: tuple[Transfer, ...], seed: int) -> None:
    records = run(workload(*asked), Ecmp("ecmp", seed=seed))
    assert all(record.ended is not None for record in records)
    first = min(one.at for one in asked)
    last = max(record.ended for record in records if record.ended is not None)
    assert sum(one.bits for one in asked) <= 1.1e9 * (last - first) * (1 + 1e-9)
    assert all((r.ended or 0) - r.transfer.at >= r.transfer.bits / 1e9 * (1 - 1e-9) for r in records)


@given(requests())
def test_path_is_busy_while_a_transfer_is_left(asked: tuple[Transfer, ...]) -> None:
    """Work is conserved: the last end is that of one server that serves in any order."""
    records = run(workload(*asked), AlwaysLayer("l2", layer=2))
    busy = 0.0
    for one in asked:
        busy = max(busy, one.at) + one.bits / 1e9
    assert max(record.ended or math.inf for record in records) == pytest.approx(busy)
