"""Decision policies of the simulator: the interface, and policies that select a path at submission.

A policy answers events with orders.  It knows what a controller knows: requests with their sizes, results of
tests, ports that go down, the bytes that its transfers have sent.  The policies here start a transfer at once
and keep its path until the ports of that path go down.  :class:`~adon.simulation.broker_policy.BrokerPolicy`
also lets transfers wait and reroutes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from adon.simulation.simulated_network import SimulatedPath
from adon.simulation.synthetic_tests import uniform
from adon.simulation.workload import Transfer
from measurement.model import Measurement, Metric, PathKey


@dataclass(frozen=True, slots=True)
class TransferSubmitted:
    """A user requests a transfer."""

    transfer: Transfer


@dataclass(frozen=True, slots=True)
class TransferEnded:
    """The last byte of a transfer has arrived."""

    transfer: Transfer


@dataclass(frozen=True, slots=True)
class ResultArrived:
    """A test has a result."""

    measurement: Measurement


@dataclass(frozen=True, slots=True)
class PathPortsChanged:
    """The ports of a path went down or came up."""

    path: SimulatedPath
    live: bool


@dataclass(frozen=True, slots=True)
class WakeUp:
    """The time that the policy asked for has come."""


PolicyEvent = TransferSubmitted | TransferEnded | ResultArrived | PathPortsChanged | WakeUp


@dataclass(frozen=True, slots=True)
class UsePath:
    """Send the packets of a transfer over a path."""

    number: int
    path: str


@dataclass(frozen=True, slots=True)
class PauseTransfer:
    """Let a transfer wait."""

    number: int


@dataclass(frozen=True, slots=True)
class RejectTransfer:
    """Never carry out a transfer."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class RunTest:
    """Run a test as soon as possible."""

    key: PathKey
    metric: Metric


Order = UsePath | PauseTransfer | RejectTransfer | RunTest


class PolicyView(Protocol):
    """What a policy can read at the present time."""

    @property
    def now(self) -> float:
        """Seconds from the start."""

    def between(self, source: str, destination: str) -> tuple[SimulatedPath, ...]:
        """Return the configured paths between two sites."""

    def sent(self, number: int) -> float:
        """Return the bytes of a transfer that have arrived."""

    def stalled(self, number: int) -> float:
        """Return the seconds in which a transfer sent and no byte arrived."""


class Policy(Protocol):
    """Decides about transfers."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    @property
    def quiet(self) -> frozenset[str]:
        """Paths on which no throughput test may run."""

    @property
    def wake_at(self) -> float | None:
        """Time of the next :class:`WakeUp`."""

    def decide(self, event: PolicyEvent, view: PolicyView) -> Sequence[Order]:
        """Return the orders that follow from an event."""


@dataclass
class PathPolicy:
    """Selects a path at submission, and another one when the ports of that path go down.

    :cvar fails_over: whether ports matter at all.
    :cvar reverts: whether all transfers select again when a path comes back.
    """

    name: str
    quiet: frozenset[str] = frozenset()
    wake_at: float | None = None
    down: set[str] = field(default_factory=set)
    placed: dict[int, tuple[Transfer, str]] = field(default_factory=dict)
    fails_over: ClassVar[bool] = True
    reverts: ClassVar[bool] = False

    def decide(self, event: PolicyEvent, view: PolicyView) -> Sequence[Order]:
        """As :meth:`Policy.decide`."""
        match event:
            case TransferSubmitted(transfer):
                return self._place(transfer, view)
            case TransferEnded(transfer):
                self.placed.pop(transfer.number, None)
            case ResultArrived(measurement):
                self.learn(measurement)
            case PathPortsChanged(path, live) if self.fails_over:
                (self.down.discard if live else self.down.add)(path.name)
                affected = [
                    one for one, on in self.placed.values() if (self.reverts if live else on == path.name)
                ]
                return [order for transfer in affected for order in self._place(transfer, view)]
        return ()

    def _place(self, transfer: Transfer, view: PolicyView) -> Sequence[Order]:
        paths = view.between(transfer.source, transfer.destination)
        path = self.choose(transfer, [one for one in paths if one.name not in self.down] or paths).name
        present = self.placed.get(transfer.number)
        self.placed[transfer.number] = (transfer, path)
        return () if present is not None and present[1] == path else (UsePath(transfer.number, path),)

    def choose(self, transfer: Transfer, paths: Sequence[SimulatedPath]) -> SimulatedPath:
        """Return the path for a transfer, of those whose ports are up."""
        raise NotImplementedError

    def learn(self, measurement: Measurement) -> None:
        """Record a result."""


@dataclass
class AlwaysLayer(PathPolicy):
    """The first path of one layer; if there is none, the first path."""

    layer: int = 2
    fails_over = False

    def choose(self, transfer: Transfer, paths: Sequence[SimulatedPath]) -> SimulatedPath:  # noqa: ARG002
        """As :meth:`PathPolicy.choose`."""
        return next((path for path in paths if path.layer == self.layer), paths[0])


@dataclass
class Ecmp(PathPolicy):
    """A hash of the 5-tuple over the paths that are up (RFC 2992; highest random weight, RFC 2991)."""

    seed: int = 0
    reverts = True

    def choose(self, transfer: Transfer, paths: Sequence[SimulatedPath]) -> SimulatedPath:
        """As :meth:`PathPolicy.choose`."""
        tuple5 = f"6/{transfer.source}/{transfer.destination}/{transfer.number}"
        return max(paths, key=lambda path: uniform(self.seed, f"{tuple5}/{path.name}"))


@dataclass
class BestTest(PathPolicy):
    """The best last result of one metric; paths without a result are worst, the first of equals is chosen."""

    metric: Metric = Metric.THROUGHPUT
    results: dict[PathKey, float] = field(default_factory=dict)

    def learn(self, measurement: Measurement) -> None:
        """As :meth:`PathPolicy.learn`."""
        if measurement.metric is self.metric:
            self.results[measurement.key] = measurement.value

    def choose(self, transfer: Transfer, paths: Sequence[SimulatedPath]) -> SimulatedPath:
        """As :meth:`PathPolicy.choose`."""
        sign = -1 if self.metric.higher_is_better else 1

        def cost(path: SimulatedPath) -> float:
            value = self.results.get(PathKey(path.name, transfer.source, transfer.destination))
            return math.inf if value is None else sign * value

        return min(paths, key=cost)
