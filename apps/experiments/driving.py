"""A policy of the simulator's decides about real traffic (:class:`adon.simulation.policies.Policy`).

It is told what a controller would be told: requests, ends, results of the measurement points, ports of the
edges.  Its orders are carried out by rules in the edges.  What it gets wrong is said with its name; it ends
the trial, not the run.

Two things are not as in the simulator.  A transfer that sends cannot be stopped: PauseTransfer is for those
that wait.  And the paths that it wants quiet are tested all the same: the plan is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from adon.errors import AdonError, Unavailable
from adon.experiments.planned import PlannedFlow
from adon.experiments.results import DecisionRow
from adon.simulation.policies import (
    Order,
    PathPortsChanged,
    PauseTransfer,
    Policy,
    PolicyEvent,
    RejectTransfer,
    ResultArrived,
    RunTest,
    TransferEnded,
    TransferSubmitted,
    UsePath,
    WakeUp,
)
from adon.simulation.simulated_network import SimulatedPath
from adon.simulation.workload import Transfer
from adon.timestamps import parse_time
from apps.experiments.deciding import Decided, Given, News, Refused, Sight
from apps.experiments.kept import KeptPaths
from measurement.model import Measurement, Metric, PathKey
from mininet_topos.carrying import Delivered
from mininet_topos.networks import Network, Path

TESTS: Mapping[Metric, str] = {
    Metric.THROUGHPUT: "throughput",
    Metric.RTT: "rtt",
    Metric.LOSS: "latency",
    Metric.JITTER: "latency",
    Metric.ONE_WAY_DELAY: "latency",
}
"""Which test measures what."""

T = TypeVar("T")
AskForTest = Callable[[PathKey, str], object]
SizeOf = Callable[[PlannedFlow], int]


class PolicyFailed(AdonError):
    """A policy raised an exception, or ordered what cannot be."""

    code = "policy-failed"


class Driven:
    """See the module's text.

    :param measure: has a test done as soon as there is room; None where nothing measures.
    """

    def __init__(
        self,
        policy: Policy,
        network: Network,
        kept: KeptPaths,
        sight: Sight,
        size_of: SizeOf,
        measure: AskForTest | None,
    ) -> None:
        self._policy, self._network, self._kept = policy, network, kept
        self._sight, self._size_of, self._measure = sight, size_of, measure
        self._paths = tuple(_simulated(path) for path in network.paths)
        self._flows: dict[int, PlannedFlow] = {}
        self._numbers: dict[str, int] = {}
        self._transfers: dict[int, Transfer] = {}
        self._placed: dict[int, str] = {}
        self._sending: set[int] = set()
        self._over: set[int] = set()
        self._news: list[News] = []
        self._decisions: list[tuple[float, str, str, str | None, str]] = []

    # -- what the policy can read (adon.simulation.policies.PolicyView) ----------------------------------

    @property
    def now(self) -> float:
        """Seconds from the trial's beginning."""
        return self._sight.now - self._sight.began_at

    def between(self, source: str, destination: str) -> tuple[SimulatedPath, ...]:
        """The configured paths between two sites."""
        return tuple(path for path in self._paths if {source, destination} == set(path.ends))

    def sent(self, number: int) -> float:
        """Bytes of a transfer that have arrived so far."""
        return float(self._sight.received(self._flows[number].name))

    def stalled(self, number: int) -> float:
        """Seconds in which it sent and nothing got through."""
        return self._sight.stalled(self._flows[number].name)

    # -- what happens ---------------------------------------------------------------------------------------

    def ask(self, flow: PlannedFlow, port: int) -> None:
        """As :meth:`Decider.ask`."""
        number = len(self._flows) + 1
        self._flows[number], self._numbers[flow.name] = flow, number
        self._kept.know(flow, port)
        source, destination = (self._network.site_of(host).name for host in (flow.source, flow.destination))
        self._transfers[number] = Transfer(
            number=number,
            at=self.now,
            source=source,
            destination=destination,
            size=self._size_of(flow),
            template=flow.template,
            streams=flow.streams,
            priority=flow.priority,
            deadline=None if flow.deadline is None else self.now + flow.deadline,
            ceiling=math.inf if flow.rate is None else flow.rate,
        )
        self._happened(TransferSubmitted(self._transfers[number]))
        if number not in self._placed and number not in self._over:
            self._note(number, "queue", None, "no path for it yet")
        first = next(at for at, of, *_ in self._decisions if of == flow.name)
        self._news.append(Decided(flow.name, at=self._sight.began_at + first))

    def began(self, flow: str) -> None:
        """As :meth:`Decider.began`."""
        self._sending.add(self._numbers[flow])

    def ended(self, flow: str, delivered: Delivered) -> None:  # noqa: ARG002
        """As :meth:`Decider.ended`."""
        number = self._numbers[flow]
        self._over.add(number)
        self._kept.remove(flow)
        self._happened(TransferEnded(self._transfers[number]))

    def withdrawn(self, flow: str) -> None:
        """As :meth:`Decider.withdrawn`; to a policy it is over, of which nothing has arrived."""
        number = self._numbers[flow]
        if number in self._over:
            return
        self._over.add(number)
        if number in self._placed:
            self._kept.remove(flow)
        self._happened(TransferEnded(self._transfers[number]))

    def measured(self, tests: Sequence[Mapping[str, Any]]) -> None:
        """As :meth:`Decider.measured`."""
        known = {str(metric) for metric in Metric}
        for one in tests:
            if one["metric"] in known and one["value"] is not None:
                self._happened(ResultArrived(_measurement(one, self._sight.began_at)))

    def ports(self, path: Path, *, live: bool) -> None:
        """As :meth:`Decider.ports`."""
        (seen,) = (one for one in self._paths if one.name == path.name)
        self._happened(PathPortsChanged(seen, live))

    def move(self, flow: str, path: str) -> str:
        """As :meth:`Decider.move`."""
        number = self._numbers.get(flow)
        if number is None or number in self._over:
            return f"{flow} has no path now"
        self._take(number, path, "ordered by hand")
        return ""

    def look(self) -> Sequence[News]:
        """As :meth:`Decider.look`."""
        if self._asked(lambda: self._due(self._policy.wake_at)):
            self._happened(WakeUp())
        news, self._news = self._news, []
        return news

    def decisions(self, trial: int) -> Sequence[DecisionRow]:
        """As :meth:`Decider.decisions`."""
        return [
            DecisionRow(trial, at, flow, outcome, path, None, None, why)
            for at, flow, outcome, path, why in self._decisions
        ]

    def remembered(self, trial: int) -> Sequence[DecisionRow]:
        """As :meth:`Decider.remembered`."""
        return self.decisions(trial)

    # -- orders ---------------------------------------------------------------------------------------------

    def _due(self, wake: float | None) -> bool:
        return wake is not None and wake <= self.now

    def _happened(self, what: PolicyEvent) -> None:
        for order in self._asked(lambda: tuple(self._policy.decide(what, self))):
            try:
                self._carry_out(order)
            except AdonError:
                raise  # a switch cannot be told, say: that is not the policy's
            except Exception as error:
                raise PolicyFailed(f"policy {self._name}: {order!r}: {error}") from error

    def _asked(self, ask: Callable[[], T]) -> T:
        """What the policy says; whatever it raises is said with its name."""
        try:
            return ask()
        except Exception as error:
            raise PolicyFailed(f"policy {self._name}: {type(error).__name__}: {error}") from error

    @property
    def _name(self) -> str:
        return str(getattr(self._policy, "name", type(self._policy).__name__))

    def _carry_out(self, order: Order) -> None:
        match order:
            case UsePath(number, path):
                self._take(self._transfer(number), path, f"{self._name} chose it")
            case RejectTransfer(number, why):
                if not isinstance(why, str):
                    raise PolicyFailed(f"policy {self._name}: {order!r} does not say why in words")
                self._over.add(self._transfer(number))
                self._note(number, "reject", None, why)
                self._news.append(Refused(self._flows[number].name, why))
            case PauseTransfer(number):
                if self._transfer(number) in self._sending:
                    flow = self._flows[number].name
                    raise PolicyFailed(f"policy {self._name}: {flow} sends and cannot wait")
            case RunTest(key, metric):
                if self._measure is not None and metric in TESTS:
                    self._measure(key, TESTS[metric])
            case _:
                raise PolicyFailed(f"policy {self._name}: {order!r} is no order")

    def _transfer(self, number: int) -> int:
        if number not in self._flows:
            raise PolicyFailed(f"policy {self._name}: there is no transfer {number}")
        return number

    def _take(self, number: int, path: str, why: str) -> None:
        flow, present = self._flows[number], self._placed.get(number)
        if number in self._over or present == path:
            return
        transfer = self._transfers[number]
        if path not in {one.name for one in self.between(transfer.source, transfer.destination)}:
            ends = f"from {transfer.source} to {transfer.destination}"
            raise PolicyFailed(f"policy {self._name}: {path!r} does not lead {ends}")
        self._note(number, "admit" if present is None else "move", path, why)
        since = self._kept.put(flow.name, path)
        self._placed[number] = path
        self._news.append(Given(flow.name, path, since))

    def _note(self, number: int, outcome: str, path: str | None, why: str) -> None:
        self._decisions.append((self.now, self._flows[number].name, outcome, path, why))


def _simulated(path: Path) -> SimulatedPath:
    return SimulatedPath(path.name, path.layer, path.sites, path.links, path.capacity)


def _measurement(found: Mapping[str, Any], began_at: float) -> Measurement:
    """In the policy's time: seconds from the trial's beginning."""
    key = PathKey(found["path"], found["source"], found["destination"])
    started, observed = (parse_time(found[name]) - began_at for name in ("started_at", "observed_at"))
    return Measurement(
        key, Metric(found["metric"]), found["value"], started, observed, found["origin"], found["tool"]
    )


def unmeasured(key: PathKey, test: str) -> None:
    """Where nothing measures, a policy that asks for a test is told so.

    :raises Unavailable: always.
    """
    raise Unavailable(f"{key}: {test} cannot be tested: the experiment measures nothing")
