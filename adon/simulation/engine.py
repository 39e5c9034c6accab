"""Discrete-event simulation of transfers under a policy.

Between two events every stream has a constant rate, its max-min fair rate.  Events are requests, ends of
transfers, changes of the network, tests, and the policy's wake-up times.  At one instant the network changes
first, then transfers end, then tests end and start, then requests arrive, then the policy wakes up.

The same workload, policy and seed give the same run, bit for bit.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, pairwise

from adon.fluid import Demand, max_min_rates
from adon.simulation import policies
from adon.simulation.simulated_network import LinkDirection, SimulatedPath
from adon.simulation.synthetic_tests import PlannedTest, add_noise, draw_loss, plan_tests
from adon.simulation.workload import Transfer, Workload, meets_qspec
from measurement.model import Measurement, Metric, PathKey

ON_DEMAND_S = 1.0
"""Seconds from an order to the start of its test."""

FULL = 0.99
"""Utilisation from which a link has a queue."""

MOST_WAKE_UPS = 50
"""More wake-ups at one instant are an endless loop."""

_CHANGE, _TEST_END, _TEST, _REQUEST = range(4)


@dataclass(slots=True)
class TransferRecord:
    """The life of one transfer.

    :param rejected: the reason of a rejection.
    :param stays: paths and since when; None while it waited again.
    :param running: seconds on a path; of those ``violated`` with its QSpec missed and ``stalled`` without
        progress.
    """

    transfer: Transfer
    ended: float | None = None
    rejected: str = ""
    stays: list[tuple[float, str | None]] = field(default_factory=list)
    running: float = 0.0
    violated: float = 0.0
    stalled: float = 0.0

    @property
    def began(self) -> float | None:
        """The time at which it first had a path."""
        return self.stays[0][0] if self.stays else None

    @property
    def moves(self) -> int:
        """The number of changes of its path."""
        paths = [path for _, path in self.stays if path is not None]
        return sum(one != other for one, other in pairwise(paths))


@dataclass(eq=False, slots=True)
class _Load:
    """TCP streams of a transfer, or of a throughput test, on a path."""

    source: str
    streams: int
    ceiling: float
    path: SimulatedPath | None = None
    rate: float = 0.0
    sent: float = 0.0
    violates: bool = False


def simulate(
    workload: Workload, policy: policies.Policy, seed: int = 0, *, tests: bool = True
) -> list[TransferRecord]:
    """Run a workload to its end; return the records in the order of its transfers.

    :param seed: of the errors of tests.
    :param tests: whether periodic tests run.
    """
    return Simulation(workload, policy, seed, tests=tests).run()


class Simulation:
    """One run; also the policy's :class:`~adon.simulation.policies.PolicyView`."""

    def __init__(self, workload: Workload, policy: policies.Policy, seed: int, *, tests: bool) -> None:
        self._workload, self._network, self._policy, self._seed = workload, workload.network, policy, seed
        self.now = 0.0
        self._records = {one.number: TransferRecord(one) for one in workload.transfers}
        self._open: dict[int, _Load] = {}
        self._tests: list[_Load] = []
        self._full: set[LinkDirection] = set()
        self._stale = True
        self._numbers = count()
        self._agenda: list[tuple[float, int, int, Callable[[], None]]] = []
        self._requests_left = len(workload.transfers)
        self._plan(tests)

    # -- what a policy can read -----------------------------------------------------------------------

    def between(self, source: str, destination: str) -> tuple[SimulatedPath, ...]:
        """As :meth:`PolicyView.between`."""
        return self._network.between(source, destination)

    def sent(self, number: int) -> float:
        """As :meth:`PolicyView.sent`."""
        record, load = self._records[number], self._open.get(number)
        if load is None:
            return 0.0 if record.ended is None else float(record.transfer.size)
        return load.sent / 8

    def stalled(self, number: int) -> float:
        """As :meth:`PolicyView.stalled`."""
        return self._records[number].stalled

    # -- the run --------------------------------------------------------------------------------------

    def _plan(self, tests: bool) -> None:
        for at in self._network.changes:
            self._schedule(at, _CHANGE, self._change_network)
        for transfer in self._workload.transfers:
            self._schedule(transfer.at, _REQUEST, partial(self._submit, transfer))
        ends = self._workload.directions if tests else ()
        keys = [PathKey(path.name, *pair) for pair in ends for path in self._network.between(*pair)]
        for test in plan_tests(self._workload.tests, keys, self._workload.end):
            self._schedule(test.at, _TEST, partial(self._start_test, test))

    def _schedule(self, at: float, rank: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._agenda, (at, rank, next(self._numbers), action))

    def run(self) -> list[TransferRecord]:
        """As :func:`simulate`."""
        wake_ups = 0
        while self._requests_left or self._open:
            self._share_links()
            due = min(self._next_end(), self._agenda[0][0] if self._agenda else math.inf, self._wake_at())
            if due > self._workload.end:
                self._advance(self._workload.end)
                break
            wake_ups = wake_ups + 1 if due <= self.now else 0
            if wake_ups > MOST_WAKE_UPS:
                raise RuntimeError(f"{self._policy.name} wakes up without end at {self.now:g} s")
            self._advance(max(due, self.now))
            self._act()
        return list(self._records.values())

    def _wake_at(self) -> float:
        return math.inf if self._policy.wake_at is None else self._policy.wake_at

    def _next_end(self) -> float:
        left = ((self._bits(number) - load.sent, load.rate) for number, load in self._open.items())
        return min((self.now + bits / rate for bits, rate in left if rate > 0), default=math.inf)

    def _bits(self, number: int) -> float:
        return self._records[number].transfer.bits

    def _advance(self, to: float) -> None:
        seconds, self.now = to - self.now, to
        for number, load in self._open.items():
            if load.path is not None:
                record = self._records[number]
                record.running += seconds
                record.violated += seconds if load.violates else 0.0
                record.stalled += seconds if load.rate <= 0 else 0.0
        for load in (*self._open.values(), *self._tests):
            load.sent += load.rate * seconds

    def _act(self) -> None:
        """Carry out everything that is due now."""
        self._run_agenda(_CHANGE)
        ended = [
            n
            for n, load in self._open.items()
            if self._bits(n) - load.sent <= max(1.0, self._bits(n) * 1e-12)
        ]
        for number in ended:
            self._end(self._records[number])
        self._run_agenda(_REQUEST)
        if self._wake_at() <= self.now:
            self._tell(policies.WakeUp())

    def _run_agenda(self, last_rank: int) -> None:
        while self._agenda and self._agenda[0][0] <= self.now and self._agenda[0][1] <= last_rank:
            heapq.heappop(self._agenda)[-1]()

    # -- rates ----------------------------------------------------------------------------------------

    def _share_links(self) -> None:
        """Give every stream its rate, if anything has changed."""
        if not self._stale:
            return
        self._stale = False
        loads, demands = list[_Load](), list[Demand[LinkDirection]]()
        for load in (*self._open.values(), *self._tests):
            load.rate = 0.0
            if load.path is not None and not load.path.has_outage(self.now):
                limit = self._network.stream_limit(load.path, load.source, self.now)
                links = load.path.directions_from(load.source)
                loads.append(load)
                demands.append(Demand(links, load.streams, min(limit, load.ceiling / load.streams)))
        for way in dict.fromkeys(link for demand in demands for link in demand.links):
            others = round(self._network.links[way[0]].other_streams.at(self.now))
            demands += [Demand((way,), others)] if others else []
        self._assign_rates(loads, demands)
        for number, load in self._open.items():
            load.violates = not self._meets_qspec(self._records[number].transfer, load)

    def _assign_rates(self, loads: Sequence[_Load], demands: Sequence[Demand[LinkDirection]]) -> None:
        used = {link for demand in demands for link in demand.links}
        capacities = {link: self._network.links[link[0]].capacity.at(self.now) for link in used}
        rates = max_min_rates(capacities, demands)
        for load, rate in zip(loads, rates, strict=False):
            load.rate = rate * load.streams
        carried = dict.fromkeys(used, 0.0)
        for demand, rate in zip(demands, rates, strict=True):
            for link in demand.links:
                carried[link] += rate * demand.streams
        self._full = {link for link, rate in carried.items() if rate >= FULL * capacities[link]}

    def _meets_qspec(self, transfer: Transfer, load: _Load) -> bool:
        if load.path is None or load.rate <= 0:
            return False
        rtt, loss = self._rtt(load.path, load.source), self._network.loss(load.path, self.now)
        return meets_qspec(self._workload.templates[transfer.template].qspec, load.rate, rtt, loss)

    def _rtt(self, path: SimulatedPath, source: str) -> float:
        queues = (
            self._network.links[link[0]].queue for link in path.directions_from(source) if link in self._full
        )
        return self._network.rtt(path, self.now) + math.fsum(queues)

    # -- events and orders ----------------------------------------------------------------------------

    def _tell(self, event: policies.PolicyEvent) -> None:
        for order in self._policy.decide(event, self):
            self._carry_out(order)

    def _carry_out(self, order: policies.Order) -> None:
        if isinstance(order, policies.RunTest):
            test = PlannedTest(self.now + ON_DEMAND_S, order.key, order.metric)
            self._schedule(test.at, _TEST, partial(self._start_test, test))
        elif order.number in self._open:  # otherwise it has ended in the meantime
            self._stale = True
            load, record = self._open[order.number], self._records[order.number]
            match order:
                case policies.RejectTransfer(reason=reason):
                    record.rejected = reason
                    del self._open[order.number]
                case policies.UsePath(path=name) if load.path is None or load.path.name != name:
                    load.path = self._network.path(name)
                    record.stays.append((self.now, name))
                case policies.PauseTransfer() if load.path is not None:
                    load.path = None
                    record.stays.append((self.now, None))

    def _submit(self, transfer: Transfer) -> None:
        self._requests_left -= 1
        self._open[transfer.number] = _Load(transfer.source, transfer.streams, transfer.ceiling)
        self._tell(policies.TransferSubmitted(transfer))

    def _end(self, record: TransferRecord) -> None:
        record.ended = self.now
        del self._open[record.transfer.number]
        self._stale = True
        self._tell(policies.TransferEnded(record.transfer))

    def _change_network(self) -> None:
        self._stale = True
        for path in self._network.paths:
            for outage in path.outages:
                if outage.visible and self.now in (outage.begins, outage.ends):
                    self._tell(policies.PathPortsChanged(path, not path.has_outage(self.now, visible=True)))

    # -- tests ----------------------------------------------------------------------------------------

    def _start_test(self, test: PlannedTest) -> None:
        path, tests = self._network.path(test.key.path), self._workload.tests
        if path.has_outage(self.now):
            return  # the measurement points do not reach each other
        match test.metric:
            case Metric.RTT:
                rtt = self._rtt(path, test.key.source)
                self._report(test, add_noise(rtt, tests.noise, self._seed, test.name), "ping")
            case Metric.LOSS:
                loss = self._network.loss(path, self.now)
                self._report(test, draw_loss(tests.packets, loss, self._seed, test.name), "owamp")
            case _ if path.name not in self._policy.quiet and path not in [one.path for one in self._tests]:
                load = _Load(test.key.source, tests.streams, math.inf, path)
                self._tests.append(load)
                self._stale = True
                self._schedule(
                    self.now + tests.throughput_duration, _TEST_END, partial(self._end_test, test, load)
                )

    def _end_test(self, test: PlannedTest, load: _Load) -> None:
        self._tests.remove(load)
        self._stale = True
        tests = self._workload.tests
        if load.sent > 0:
            value = add_noise(load.sent / tests.throughput_duration, tests.noise, self._seed, test.name)
            self._report(test, value, "iperf3", streams=tests.streams)

    def _report(self, test: PlannedTest, value: float, tool: str, **parameters: int) -> None:
        origin = f"simulated/{test.name}"
        self._tell(
            policies.ResultArrived(
                Measurement(test.key, test.metric, value, test.at, self.now, origin, tool, parameters)
            )
        )
