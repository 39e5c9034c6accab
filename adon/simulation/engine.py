"""From one event to the next: transfers over the network, as a policy wants them.

Between two events every stream has a constant rate, its max-min fair share, so nothing happens there that
would have to be computed.  Events are requests, the ends of transfers, changes of the network, tests, and
what the policy asked to be woken for.  At one instant the network changes first, then transfers end, then
tests, then requests come, then the policy is woken.

The same workload, policy and seed give the same run, bit for bit.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise

from adon.fluid import Demand, max_min_rates
from adon.simulation.measuring import Test, disturbed, lost, planned
from adon.simulation.network import Path, Resource
from adon.simulation.policy import (
    Finished,
    Happening,
    Measure,
    Measured,
    Order,
    Pause,
    Policy,
    PortsSeen,
    Refuse,
    Submitted,
    Take,
    Woken,
)
from adon.simulation.workload import Transfer, Workload, kept
from measurement.model import Measurement, Metric, PathKey

ON_DEMAND_S = 1.0
"""After how long a test that was asked for begins."""

FULL = 0.99
"""A link that is used so far has a queue."""

ROUNDS = 50
"""So often may a policy be woken at one instant before that is taken for an endless loop."""

_CHANGE, _TEST_ENDS, _TEST, _REQUEST = range(4)


@dataclass(slots=True)
class Record:
    """What became of one transfer.

    :param stays: paths and since when; None where it waited again.
    :param running: seconds in which it had a path, and of those ``violated`` in which its QSpec was missed
        and ``stalled`` in which nothing got through.
    """

    transfer: Transfer
    ended: float | None = None
    refused: str = ""
    stays: list[tuple[float, str | None]] = field(default_factory=list)
    running: float = 0.0
    violated: float = 0.0
    stalled: float = 0.0

    @property
    def began(self) -> float | None:
        """When it first had a path."""
        return self.stays[0][0] if self.stays else None

    @property
    def moves(self) -> int:
        """How often it changed its path."""
        paths = [path for _, path in self.stays if path is not None]
        return sum(one != other for one, other in pairwise(paths))


@dataclass(slots=True)
class _Running:
    record: Record
    left: float
    path: Path | None = None
    rate: float = 0.0
    violated: bool = False


@dataclass(slots=True)
class _Testing:
    test: Test
    path: Path
    bits: float = 0.0
    rate: float = 0.0


def simulate(workload: Workload, policy: Policy, seed: int = 0, *, measured: bool = True) -> list[Record]:
    """Run a workload to its end.

    :param seed: of the errors of tests.
    :param measured: whether there are tests at all.
    """
    return Engine(workload, policy, seed, measured=measured).run()


class Engine:
    """One run; it is the policy's :class:`~adon.simulation.policy.View`, too."""

    def __init__(self, workload: Workload, policy: Policy, seed: int, *, measured: bool = True) -> None:
        self._workload, self._network, self._policy, self._seed = workload, workload.network, policy, seed
        self._now = 0.0
        self._records = {one.number: Record(one) for one in workload.transfers}
        self._open: dict[int, _Running] = {}  # asked for and neither finished nor refused
        self._testing: list[_Testing] = []
        self._full: set[Resource] = set()
        self._stale = True
        self._numbers = count()
        self._heap: list[tuple[float, int, int, Callable[[], None]]] = []
        self._to_come = len(workload.transfers)
        self._plan(measured)

    # -- what a policy may look at --------------------------------------------------------------------

    @property
    def now(self) -> float:
        """As :meth:`View.now`."""
        return self._now

    def between(self, source: str, destination: str) -> tuple[Path, ...]:
        """As :meth:`View.between`."""
        return self._network.between(source, destination)

    def sent(self, number: int) -> float:
        """As :meth:`View.sent`."""
        record, running = self._records[number], self._open.get(number)
        if running is None:
            return 0.0 if record.ended is None else float(record.transfer.size)
        return (record.transfer.bits - running.left) / 8

    def stalled(self, number: int) -> float:
        """As :meth:`View.stalled`."""
        return self._records[number].stalled

    # -- the run --------------------------------------------------------------------------------------

    def _plan(self, measured: bool) -> None:
        for at in self._network.changes:
            self._at(at, _CHANGE, self._changed)
        for transfer in self._workload.transfers:
            self._at(transfer.at, _REQUEST, lambda one=transfer: self._asked(one))  # type: ignore[misc]
        if not measured:
            return
        ways = [
            (path.name, *direction)
            for direction in self._workload.directions
            for path in self._network.between(*direction)
        ]
        for test in planned(self._workload.plan, ways, self._workload.end):
            self._at(test.at, _TEST, lambda one=test: self._test(one))  # type: ignore[misc]

    def _at(self, when: float, rank: int, what: Callable[[], None]) -> None:
        heapq.heappush(self._heap, (when, rank, next(self._numbers), what))

    def run(self) -> list[Record]:
        """To the end; what became of every transfer, in their order."""
        woken = 0
        while self._to_come or self._open:
            self._share()
            due = min(self._next_end(), self._heap[0][0] if self._heap else math.inf, self._wake())
            if due > self._workload.end:
                self._advance(self._workload.end)
                break
            woken = woken + 1 if due <= self._now else 0
            if woken > ROUNDS:
                raise RuntimeError(f"{self._policy.name} wants to be woken for ever at {self._now:g} s")
            self._advance(max(due, self._now))
            self._happen()
        return list(self._records.values())

    def _wake(self) -> float:
        return math.inf if self._policy.wake is None else self._policy.wake

    def _happen(self) -> None:
        """Everything that is due now."""
        while self._heap and self._heap[0][0] <= self._now and self._heap[0][1] == _CHANGE:
            heapq.heappop(self._heap)[3]()
        for running in [one for one in self._open.values() if one.left <= 0.0]:
            self._finished(running)
        while self._heap and self._heap[0][0] <= self._now:
            heapq.heappop(self._heap)[3]()
        if self._wake() <= self._now:
            self._tell(Woken())

    def _advance(self, to: float) -> None:
        seconds = to - self._now
        self._now = to
        if seconds <= 0:
            return
        for running in self._open.values():
            if running.path is None:
                continue
            record = running.record
            running.left -= running.rate * seconds
            record.running += seconds
            record.violated += seconds if running.violated else 0.0
            record.stalled += seconds if running.rate <= 0 else 0.0
            if running.left <= max(1.0, record.transfer.bits * 1e-12):
                running.left = 0.0
        for testing in self._testing:
            testing.bits += testing.rate * seconds

    def _next_end(self) -> float:
        return min(
            (self._now + one.left / one.rate for one in self._open.values() if one.rate > 0), default=math.inf
        )

    # -- rates ----------------------------------------------------------------------------------------

    def _share(self) -> None:
        """Give every stream its share, if anything has changed."""
        if not self._stale:
            return
        self._stale = False
        moving = [one for one in self._open.values() if one.path is not None]
        for one in moving:
            one.rate = 0.0
        going = [one for one in moving if one.path is not None and one.path.works(self._now)]
        testing = [one for one in self._testing if one.path.works(self._now)]
        demands = [self._demand(one.path, one.record.transfer) for one in going if one.path is not None]
        demands += [self._test_demand(one) for one in testing]
        used = list(dict.fromkeys(link for demand in demands for link in demand.links))
        capacities = {way: self._network.links[way[0]].capacity.at(self._now) for way in used}
        others = [(way, round(self._network.links[way[0]].background.at(self._now))) for way in used]
        demands += [Demand((way,), streams) for way, streams in others if streams > 0]
        rates = max_min_rates(capacities, demands)
        for one, rate in zip(going, rates, strict=False):
            one.rate = rate * one.record.transfer.streams
        for other in self._testing:
            other.rate = 0.0
        for other, rate in zip(testing, rates[len(going) :], strict=False):
            other.rate = rate * self._workload.plan.streams
        self._fill(capacities, demands, rates)
        for one in moving:
            one.violated = not self._keeps(one)

    def _demand(self, path: Path, transfer: Transfer) -> Demand[Resource]:
        own = self._network.stream_limit(path, transfer.source, self._now)
        limit = min(own, transfer.ceiling / transfer.streams)
        return Demand(path.way(transfer.source), transfer.streams, limit)

    def _test_demand(self, testing: _Testing) -> Demand[Resource]:
        limit = self._network.stream_limit(testing.path, testing.test.source, self._now)
        return Demand(testing.path.way(testing.test.source), self._workload.plan.streams, limit)

    def _fill(
        self, capacities: dict[Resource, float], demands: Sequence[Demand[Resource]], rates: Sequence[float]
    ) -> None:
        carried = dict.fromkeys(capacities, 0.0)
        for demand, rate in zip(demands, rates, strict=True):
            for link in demand.links:
                carried[link] += rate * demand.streams
        self._full = {way for way, bits in carried.items() if bits >= FULL * capacities[way]}

    def _keeps(self, running: _Running) -> bool:
        path, transfer = running.path, running.record.transfer
        if path is None or running.rate <= 0:
            return False
        rtt, loss = self._rtt(path, transfer.source), self._network.loss(path, self._now)
        return kept(self._workload.qspec(transfer), running.rate, rtt, loss)

    def _rtt(self, path: Path, source: str) -> float:
        queues = (self._network.links[way[0]].queue for way in path.way(source) if way in self._full)
        return self._network.rtt(path, self._now) + math.fsum(queues)

    # -- what happens ---------------------------------------------------------------------------------

    def _tell(self, what: Happening) -> None:
        for order in self._policy.happened(what, self):
            self._obey(order)

    def _obey(self, order: Order) -> None:
        if isinstance(order, Measure):
            test = Test(self._now + ON_DEMAND_S, *order.key, order.metric)
            self._at(test.at, _TEST, lambda: self._test(test))
            return
        running = self._open.get(order.number)
        if running is None:
            return  # it has ended meanwhile
        self._stale = True
        match order:
            case Take(path=name):
                if running.path is None or running.path.name != name:
                    running.path = self._network.path(name)
                    running.record.stays.append((self._now, name))
            case Pause():
                if running.path is not None:
                    running.path, running.rate = None, 0.0
                    running.record.stays.append((self._now, None))
            case Refuse(why=why):
                running.record.refused = why
                del self._open[order.number]

    def _asked(self, transfer: Transfer) -> None:
        self._to_come -= 1
        self._open[transfer.number] = _Running(self._records[transfer.number], transfer.bits)
        self._tell(Submitted(transfer))

    def _finished(self, running: _Running) -> None:
        running.record.ended = self._now
        del self._open[running.record.transfer.number]
        self._stale = True
        self._tell(Finished(running.record.transfer))

    def _changed(self) -> None:
        self._stale = True
        for path in self._network.paths:
            for outage in path.outages:
                if outage.seen and self._now in (outage.begins, outage.ends):
                    self._tell(PortsSeen(path, path.live(self._now)))

    # -- tests ----------------------------------------------------------------------------------------

    def _test(self, test: Test) -> None:
        path = self._network.path(test.path)
        if not path.works(self._now):
            return  # the points do not reach each other
        if test.metric is not Metric.THROUGHPUT:
            self._light(test, path)
        elif path.name not in self._policy.quiet and not self._occupied(path):
            testing = _Testing(test, path)
            self._testing.append(testing)
            self._stale = True
            self._at(
                self._now + self._workload.plan.throughput_duration, _TEST_ENDS, lambda: self._over(testing)
            )

    def _occupied(self, path: Path) -> bool:
        return any(other.path.name == path.name for other in self._testing)

    def _light(self, test: Test, path: Path) -> None:
        plan = self._workload.plan
        if test.metric is Metric.RTT:
            value = disturbed(self._rtt(path, test.source), plan.noise, self._seed, test.name)
        else:
            value = lost(plan.packets, self._network.loss(path, self._now), self._seed, test.name)
        self._tell(Measured(self._result(test, value, "ping" if test.metric is Metric.RTT else "owamp")))

    def _over(self, testing: _Testing) -> None:
        self._testing.remove(testing)
        self._stale = True
        plan, test = self._workload.plan, testing.test
        if testing.bits > 0:
            value = testing.bits / plan.throughput_duration
            value = disturbed(value, plan.noise, self._seed, test.name)
            self._tell(Measured(self._result(test, value, "iperf3")))

    def _result(self, test: Test, value: float, tool: str) -> Measurement:
        key = PathKey(test.path, test.source, test.destination)
        streams = {"streams": self._workload.plan.streams} if tool == "iperf3" else {}
        return Measurement(
            key, test.metric, value, test.at, self._now, f"simulated/{test.name}", tool, streams
        )
