"""What running transfers tell of paths: whether one fills a path, and then what the path gives.

A transfer that has a path to itself, and takes all that it gives, is as good as a test of it, and newer: its
counters say every few seconds what the path carries.  So

- *whether one flow fills a path* is told by what one had there at most, and what several had together (or a
  test and the flows beside it); or by one that had nearly the configured capacity;
- *whether a flow takes its share* is told by TCP's fairness: one whose streams had clearly less than a
  test's, or than another flow's, on the same path at the same time, is limited by itself (its application,
  a disk, a window), and so is taken to be one that has clearly less than a path gave before, until it is
  seen to share evenly;
- the rate of a flow that takes its share, alone on a path that one flow fills, is recorded as a result of
  that path, with the number of streams of the last active test (on such a path that number does not
  matter).  It begins when the flow came: to an estimate that flow is one that was admitted since the test.

While that is so no load-generating test runs there: it would take half of the transfer's path to tell less
(spec section 2: above a load counters serve, not tests).

Of flows that take part in :mod:`adon.broker.interrupting` only.  Bits/s, seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adon.broker.flow import Flow, FlowState
from adon.broker.register import Ends
from adon.flowvisor.performance import BY_TRANSFER, carried, streams_of
from measurement.model import Measurement, Metric, PathKey

if TYPE_CHECKING:
    from adon.broker.world import World

SEVERAL = 1.4
"""Times the best of one: flows that have so much together share a path that one alone does not fill."""
NEARLY = 0.9
"""One that had this part of a path's configured capacity fills it."""
MOST_OF_IT = 0.7
"""Who has less than this part of what the path gave before may have a rate of its own."""
EVENLY = 0.8
"""A stream that has less than this part of what another has beside it is limited by itself."""
OLD_S = 120.0
"""A direction with flows whose last result is so old wants tests, whoever fills the path."""
BEHIND_S = 1e-3
"""So much later than a test that confirms it a transfer's result is: the newer one counts."""
VERIFIED_S = 900.0
"""So long transfers are believed without a test: a mistake about who takes its share ends by then."""


@dataclass(slots=True)
class Filling:
    """See the module's text.

    :param together: bits/s that several had together, at most, per directed path.
    :param elastic, limited: numbers of running flows that take their share, and that do not.
    :param version: how often what is known of a path has changed: who is refused may rest on it.
    """

    together: dict[PathKey, float] = field(default_factory=dict)
    elastic: set[int] = field(default_factory=set)
    limited: set[int] = field(default_factory=set)
    version: int = 0
    _tested: dict[PathKey, float] = field(default_factory=dict)
    _since: dict[PathKey, tuple[int, float]] = field(default_factory=dict)

    def filled(self, world: World, key: PathKey, now: float) -> float | None:
        """What a path gives to one flow if one flow fills it; None if not, or while that is not known."""
        best = self._best(world, key, now)
        if best is None:
            return None
        capacity = world.network.topology.capacity_of(key.path)
        if capacity is not None and best >= NEARLY * capacity:
            return best
        together = self.together.get(key)
        return None if together is None or together >= SEVERAL * best else best

    def counted(self, world: World, now: float) -> None:
        """Counters were read: note what they tell."""
        if not world.configuration.policy.interrupting:
            return
        for ends in world.flows.directions():
            loads = world.flows.loads(ends)
            for path in {group.path for group in world.flows.groups(ends) if group.kind.need.pausable}:
                load = loads[path]
                flows = [flow for n in sorted(load.numbers) if (flow := world.flows.get(n)) is not None]
                key = PathKey(path, *ends)
                if flows and self._undisturbed(key, load.comings, now):
                    self._look(world, key, flows, now)

    def confirmed(self, world: World, tested: Measurement) -> Measurement | None:
        """What a transfer told of a path before an active test there, if that test confirms it.

        To be asked before the test is recorded.  Beside one transfer a test has half of the path, which says
        nothing new; without this it would stand for the path when the transfer is gone.
        """
        key, told = tested.key, world.performance.latest(tested.key, Metric.THROUGHPUT)
        if tested.metric is not Metric.THROUGHPUT:
            return None
        self._tested[key] = tested.observed_at
        load = world.flows.loads((key.source, key.destination)).get(key.path)
        if told is None or told.tool != BY_TRANSFER or load is None or len(load.numbers) != 1:
            return None
        recent = tested.started_at - 2 * world.configuration.policy.counters_period
        flow = world.flows.get(next(iter(load.numbers)))
        if flow is None or told.observed_at < recent or told.started_at != flow.path_since:
            return None
        whole = carried(tested, world.flows.need(flow).streams)
        if not MOST_OF_IT * told.value <= whole <= told.value / MOST_OF_IT:
            return None
        return replace(told, observed_at=tested.observed_at + BEHIND_S)

    def quiet(self, world: World, now: float) -> frozenset[str]:
        """The paths on which transfers tell more than tests would."""
        recent = now - 2 * world.configuration.policy.counters_period
        found = set()
        if not world.configuration.policy.interrupting:
            return frozenset()
        for ends in world.flows.directions():
            for path, load in world.flows.loads(ends).items():
                key = PathKey(path, *ends)
                latest = world.performance.latest(key, Metric.THROUGHPUT)
                told = latest is not None and latest.tool == BY_TRANSFER and latest.observed_at >= recent
                verified = now - self._tested.get(key, -math.inf) <= VERIFIED_S
                if told and verified and len(load.numbers) == 1 and not _wanted(world, path, now):
                    found.add(path)
        return frozenset(found)

    def forget(self, number: int) -> None:
        """A flow has ended."""
        self.elastic.discard(number)
        self.limited.discard(number)

    def _undisturbed(self, key: PathKey, comings: int, now: float) -> bool:
        """Whether nobody has come to a path or gone since its counters were read before this time."""
        since = self._since.get(key)
        if since is None or since[0] != comings or since[1] > now:
            since = self._since[key] = (comings, now)
        return since[1] < now

    def clock_set_back(self) -> None:
        """Times that were noted say nothing any more."""
        self._tested.clear()
        self._since.clear()

    # -- one path -----------------------------------------------------------------------------------------

    def _best(self, world: World, key: PathKey, now: float) -> float | None:
        since = now - world.configuration.measurements.window
        return world.performance.best([key], Metric.THROUGHPUT, since)

    def _usual(self, world: World, key: PathKey, now: float) -> float | None:
        """What one flow has of a path: what the last that took its share had a while ago, or the best."""
        latest = world.performance.latest(key, Metric.THROUGHPUT)
        if latest is not None and latest.tool == BY_TRANSFER and now - latest.observed_at <= OLD_S:
            return latest.value
        return self._best(world, key, now)

    def _look(self, world: World, key: PathKey, flows: Sequence[Flow], now: float) -> None:
        rates = {flow.number: _rate(world, flow, now) for flow in flows}
        known = {number: rate for number, rate in rates.items() if rate is not None}
        if len(known) < len(flows):
            return
        self._beside_a_test(world, key, flows)
        if len(flows) > 1:
            self._seen(key, sum(known.values()))
            self._compare(world, key, flows, known, now)
            return
        flow, rate = flows[0], known[flows[0].number]
        usual = self._usual(world, key, now)
        if usual is not None and rate >= MOST_OF_IT * usual:
            self._judge(flow.number, shares=True)
        elif flow.number not in self.elastic:
            self.limited.add(flow.number)
        self._record(world, key, flow, rate, now)

    def _compare(
        self, world: World, key: PathKey, flows: Sequence[Flow], rates: Mapping[int, float], now: float
    ) -> None:
        """Who has less than another is limited; that all have as much says something of a full path only."""
        each = {flow.number: rates[flow.number] / world.flows.need(flow).streams for flow in flows}
        most, usual = max(each.values()), self._usual(world, key, now)
        full = usual is not None and sum(rates.values()) >= MOST_OF_IT * usual
        for number, rate in each.items():
            if full or rate < EVENLY * most:
                self._judge(number, shares=rate >= EVENLY * most)

    def _beside_a_test(self, world: World, key: PathKey, flows: Sequence[Flow]) -> None:
        """What flows had during the last active test tells who shares, and what the path carries."""
        tested = world.performance.latest(key, Metric.THROUGHPUT)
        if tested is None or tested.tool == BY_TRANSFER:
            return
        during = {flow: _rate_beside(world, flow, tested) for flow in flows}
        known = {flow: rate for flow, rate in during.items() if rate is not None}
        for flow, rate in known.items():
            each = rate / world.flows.need(flow).streams
            self._judge(flow.number, shares=each >= EVENLY * tested.value / streams_of(tested))
        if known and len(known) == len(flows):
            self._seen(key, tested.value + sum(known.values()))

    def _judge(self, number: int, *, shares: bool) -> None:
        (self.elastic if shares else self.limited).add(number)
        (self.limited if shares else self.elastic).discard(number)

    def _seen(self, key: PathKey, rate: float) -> None:
        if rate > self.together.get(key, 0.0):
            self.together[key] = rate
            self.version += 1

    def _record(self, world: World, key: PathKey, flow: Flow, rate: float, now: float) -> None:
        if flow.number not in self.elastic or self.filled(world, key, now) is None:
            return
        from adon.broker.interrupting import takes_part

        tested = world.performance.latest(key, Metric.THROUGHPUT)
        if tested is None or flow.path_since is None or rate <= 0 or not takes_part(world, flow):
            return
        world.performance.record(
            Measurement(
                key,
                Metric.THROUGHPUT,
                rate,
                flow.path_since,
                now,
                f"rule counters of {flow.id}",
                BY_TRANSFER,
                {"streams": streams_of(tested)},
            )
        )


def _rate(world: World, flow: Flow, now: float) -> float | None:
    """A settled flow's rate in the last interval; None if it has none."""
    if flow.state is not FlowState.ACTIVE or world.network.busy(flow.id):
        return None
    latest = world.flows.counters(flow).latest()
    recent = now - 2 * world.configuration.policy.counters_period
    return None if latest is None or latest[1] < recent else latest[0]


def _rate_beside(world: World, flow: Flow, tested: Measurement) -> float | None:
    """What a flow had during a test, or during its greater part if it came shortly before."""
    counted_from = math.inf if flow.path_since is None else flow.path_since
    begins = max(tested.started_at, counted_from + world.configuration.policy.counters_period)
    if tested.observed_at - begins < (tested.observed_at - tested.started_at) / 2:
        return None
    return world.flows.counters(flow).rate(begins, tested.observed_at)


def _wanted(world: World, path: str, now: float) -> bool:
    """Whether flows go, or want to go, over a path in a direction whose last result is old."""
    directions: set[Ends] = {*world.flows.directions(), *world.line.directions()}
    keys = (PathKey(path, *ends) for ends in directions)
    known = (world.network.topology.between(key.source, key.destination) for key in keys)
    there = (one.key for candidates in known for one in candidates if one.key.path == path)
    latest = (world.performance.latest(key, Metric.THROUGHPUT) for key in there)
    return any(one is None or now - one.observed_at > OLD_S for one in latest)
