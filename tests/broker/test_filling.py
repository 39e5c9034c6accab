"""What transfers tell of paths: whole lives of flows in the simulator, before switches that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker import filling
from adon.broker.filling import Filling
from adon.flowvisor.performance import BY_TRANSFER, streams_of
from adon.simulation.brokered import Brokered
from adon.simulation.measuring import Plan
from adon.simulation.network import Network
from adon.simulation.policy import Happening, Measured, Order, View
from adon.simulation.steps import Steps
from adon.simulation.workload import Transfer
from measurement.model import Measurement, Metric, PathKey
from tests.simulation.small import network, run, transfer, workload

PLAN = Plan(throughput_period=60, throughput_duration=2, noise=0.0)
P0 = PathKey("p0", "mu", "osu")
FRAMES = 1.05
"""Counters count frames, of which a little is not data."""


class Watching(Brokered):
    """Notes the core's results of p0, when tests were told, and when the path was to be quiet."""

    def __init__(self, *asked: Any, **options: Any) -> None:
        super().__init__(*asked, **options)
        self.tests: list[tuple[float, str]] = []
        self.results: list[Measurement] = []
        self.hushed: list[float] = []

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        if isinstance(what, Measured) and what.measurement.metric is Metric.THROUGHPUT:
            self.tests.append((view.now, what.measurement.key.path))
        orders = super().happened(what, view)
        latest = self.broker.world.performance.latest(P0, Metric.THROUGHPUT)
        if latest is not None and latest not in self.results:
            self.results.append(latest)
        if self.quiet:
            self.hushed.append(view.now)
        return orders

    def told(self) -> list[Measurement]:
        """What transfers told of p0."""
        return [one for one in self.results if one.tool == BY_TRANSFER]


def watched(
    *asked: Transfer, over: Network | None = None, pausable: bool = True, end: float = 3000.0
) -> Watching:
    world = workload(*asked, over=network(1e9) if over is None else over, plan=PLAN, end=end)
    policy = Watching(world, policy={"interrupting": True}, pausable=pausable)
    run(world, policy, measured=True)
    return policy


def test_a_transfer_alone_on_its_path_is_as_good_as_a_test() -> None:
    policy = watched(transfer(1, at=100, megabytes=12_500))
    told = policy.told()
    assert told
    for one in told:
        assert one.value == pytest.approx(1e9, rel=FRAMES - 1)
        assert one.parameters == {"streams": 1}
        assert one.started_at < one.observed_at
    assert 100 < policy.hushed[0] < 115
    assert policy.hushed[-1] < 202


def test_no_test_runs_meanwhile_but_one_now_and_then() -> None:
    policy = watched(transfer(1, at=100, megabytes=250_000))
    times = [at for at, path in policy.tests if 120 < at < 2000]
    assert len(times) <= 4, "without that there would be one each minute"
    gaps = [after - before for before, after in zip([62.0, *times], [*times, 2100.0], strict=True)]
    assert max(gaps) <= filling.VERIFIED_S + 120 + 2


def test_who_does_not_take_part_tells_nothing_and_is_tested() -> None:
    policy = watched(transfer(1, at=100, megabytes=12_500), pausable=False)
    assert not policy.told()
    assert not policy.hushed


def test_two_together_and_an_application_with_a_rate_of_its_own_tell_nothing() -> None:
    asked = [transfer(n, at=100, megabytes=6_000, ceiling=2e8) for n in (1, 2)]
    policy = watched(*asked)
    assert not policy.told()
    assert not policy.hushed
    alone = watched(transfer(1, at=100, megabytes=6_000, ceiling=2e8))
    assert not alone.told()


def test_a_path_that_carries_less_from_now_on_is_found_out_before_the_next_test() -> None:
    slower = network(Steps.of((0.0, 1e9), (150.0, 0.4e9)), 0.3e9)
    policy = watched(transfer(1, at=100, megabytes=12_500), over=slower)
    first = next(one for one in policy.told() if one.value < 0.6e9)
    assert first.observed_at - 1_000_000.0 < 163


def test_a_direction_whose_results_are_old_is_tested_whoever_fills_the_path() -> None:
    """A transfer comes the other way, where nothing is known any more: the path is quiet no longer."""
    forth = transfer(1, at=100, megabytes=125_000)
    back = transfer(2, at=800, megabytes=1_250, source="osu", destination="mu")
    policy = watched(forth, back)
    after = [at for at, _ in policy.tests if at > 800]
    assert after
    assert after[0] < 800 + 60 + 3


@given(st.lists(st.tuples(st.integers(70, 200), st.integers(1, 30)), min_size=1, max_size=8))
@settings(max_examples=20, deadline=None)
def test_nobody_who_takes_its_share_is_thought_not_to(drawn: list[tuple[int, int]]) -> None:
    asked = [
        transfer(n, at=at + 0.37 * n, megabytes=125.0 * seconds)
        for n, (at, seconds) in enumerate(sorted(drawn), 1)
    ]
    world = workload(*asked, over=network(1e9, 0.9e9), plan=replace(PLAN, throughput_period=10_000), end=3000)
    wrong: set[int] = set()

    class Suspicious(Brokered):
        def happened(self, what: Happening, view: View) -> Sequence[Order]:
            orders = super().happened(what, view)
            wrong.update(self.broker.world.filling.limited)
            return orders

    run(world, Suspicious(world, policy={"interrupting": True}, pausable=True), measured=True)
    assert not wrong


def test_who_has_ended_is_forgotten() -> None:
    policy = watched(*(transfer(n, at=100.0 + n, megabytes=2_500) for n in range(1, 5)))
    known = policy.broker.world.filling
    assert known.elastic | known.limited <= {4}, "the run is over before the last one's rules are gone"


@pytest.mark.parametrize(
    ("best", "together", "sold", "filled"),
    [
        (None, None, 1e9, False),
        (0.95e9, None, 1e9, True),
        (0.8e9, None, 1e9, False),
        (0.8e9, 1.0e9, 2e9, True),
        (0.8e9, 1.2e9, 2e9, False),
    ],
)
def test_whether_one_flow_fills_a_path(
    best: float | None, together: float | None, sold: float, filled: bool
) -> None:
    over = network(1e9)
    over = replace(over, paths=tuple(replace(path, advertised=sold) for path in over.paths))
    world = workload(transfer(), over=over)
    held = Brokered(world, policy={"interrupting": True}).broker.world
    if best is not None:
        held.performance.record(Measurement(P0, Metric.THROUGHPUT, best, 0.0, 10.0, "t", "iperf3", {}))
    known = Filling({} if together is None else {P0: together})
    assert known.filled(held, P0, 20.0) == (best if filled else None)


def test_an_interval_in_which_somebody_came_or_went_tells_nothing() -> None:
    """Counted are the comings and goings; a time that is set back begins anew."""
    known = Filling()
    asked = [(3, 10.0), (3, 15.0), (4, 20.0), (4, 20.0), (4, 25.0), (4, 5.0), (4, 6.0)]
    found = [known._undisturbed(P0, comings, now) for comings, now in asked]
    assert found == [False, True, False, False, True, False, True]


def result(value: float, began: float, ended: float, tool: str) -> Measurement:
    return Measurement(P0, Metric.THROUGHPUT, value, began, ended, "t", tool, {"streams": 1})


@pytest.mark.parametrize(
    ("test", "told", "flows", "confirms"),
    [
        (0.5e9, 1e9, 1, True),  # beside one transfer a test has half
        (0.45e9, 1e9, 1, True),
        (0.1e9, 1e9, 1, False),  # the path carries less than it did
        (1e9, 1e9, 1, False),  # or the transfer pauses
        (0.5e9, 1e9, 2, False),
        (0.5e9, None, 1, False),
    ],
)
def test_a_test_beside_a_transfer_confirms_what_that_told(
    test: float, told: float | None, flows: int, confirms: bool
) -> None:
    asked = [transfer(n, at=100.0, megabytes=125_000) for n in range(1, flows + 1)]
    world = workload(*asked, over=network(1e9), plan=replace(PLAN, throughput_period=1e6), end=120.0)
    policy = Brokered(world, policy={"interrupting": True})
    run(world, policy, measured=True)
    held, known = policy.broker.world, policy.broker.world.filling
    flow = held.flows.get(1)
    assert flow is not None
    assert flow.path_since is not None
    now = flow.path_since + 60
    if told is not None:
        held.performance.record(result(told, flow.path_since, now, BY_TRANSFER))
    tested = result(test, now, now + 10, "iperf3")
    found = known.confirmed(held, tested)
    assert (found is not None) is confirms
    if found is not None:
        held.performance.record(tested)
        assert held.performance.record(found), "it is the newer one"
        assert found.value == told


@pytest.mark.parametrize(("said", "streams"), [(4, 4), (None, 1), (0, 1), ("many", 1)])
def test_the_streams_of_a_test(said: object, streams: int) -> None:
    parameters = {} if said is None else {"streams": said}
    tested = Measurement(P0, Metric.THROUGHPUT, 1e9, 0.0, 10.0, "t", "iperf3", parameters)
    assert streams_of(tested) == streams
