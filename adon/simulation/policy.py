"""Who decides, as one protocol: told what happens, answers with orders.  And the simple ways of deciding.

A policy sees what a controller would see: requests with their sizes, results of tests, ports that go down,
what its own transfers have sent.  It is woken when it asked to be.  The simple ways place a transfer as soon
as it is asked for and keep it there; where the port of its path goes down they place it anew.  Nobody but
:mod:`adon.simulation.brokered` lets a transfer wait or moves it for its quality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from adon.simulation.measuring import uniform
from adon.simulation.network import Path
from adon.simulation.workload import Transfer
from measurement.model import Measurement, Metric, PathKey


@dataclass(frozen=True, slots=True)
class Submitted:
    """A transfer is asked for."""

    transfer: Transfer


@dataclass(frozen=True, slots=True)
class Finished:
    """A transfer's last byte has arrived."""

    transfer: Transfer


@dataclass(frozen=True, slots=True)
class Measured:
    """A test has a result."""

    measurement: Measurement


@dataclass(frozen=True, slots=True)
class PortsSeen:
    """The ports of a path went down, or came up again."""

    path: Path
    live: bool


@dataclass(frozen=True, slots=True)
class Woken:
    """It is the time that the policy asked to be woken at."""


Happening = Submitted | Finished | Measured | PortsSeen | Woken


@dataclass(frozen=True, slots=True)
class Take:
    """From now on this transfer's packets take this path."""

    number: int
    path: str


@dataclass(frozen=True, slots=True)
class Pause:
    """This transfer waits."""

    number: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """This transfer will never be carried out."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Measure:
    """Test this as soon as there is room."""

    key: PathKey
    metric: Metric


Order = Take | Pause | Refuse | Measure


class View(Protocol):
    """What a policy may look at, at the present time."""

    @property
    def now(self) -> float:
        """Seconds from the beginning."""

    def between(self, source: str, destination: str) -> tuple[Path, ...]:
        """The configured paths from one site to another."""

    def sent(self, number: int) -> float:
        """Bytes of a transfer that have arrived so far."""

    def stalled(self, number: int) -> float:
        """Seconds in which it sent and nothing got through."""


class Policy(Protocol):
    """Decides about transfers."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def quiet(self) -> frozenset[str]:
        """The paths on which no load-generating test is to run."""

    @property
    def wake(self) -> float | None:
        """When it wants to be woken next."""

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        """Something happened; what is to be done."""


@dataclass
class AtOnce:
    """A simple way: a path as soon as a transfer is asked for, another one if its ports go down."""

    name: str
    quiet: frozenset[str] = frozenset()
    wake: float | None = None
    down: set[str] = field(default_factory=set)
    placed: dict[int, tuple[Transfer, str]] = field(default_factory=dict)

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        """As :meth:`Policy.happened`."""
        match what:
            case Submitted(transfer):
                return self._place(transfer, view)
            case Finished(transfer):
                self.placed.pop(transfer.number, None)
            case Measured(measurement):
                self.learn(measurement)
            case PortsSeen(path, live):
                return self._ports(path, live, view)
            case Woken():
                pass
        return ()

    def _ports(self, path: Path, live: bool, view: View) -> Sequence[Order]:
        (self.down.discard if live else self.down.add)(path.name)
        concerned = [transfer for transfer, on in self.placed.values() if live or on == path.name]
        return [order for transfer in concerned for order in self._again(transfer, view, returned=live)]

    def _again(self, transfer: Transfer, view: View, *, returned: bool) -> Sequence[Order]:
        return () if returned and not self.returns else self._place(transfer, view)

    @property
    def returns(self) -> bool:
        """Whether transfers are placed anew when a path comes back."""
        return False

    def _place(self, transfer: Transfer, view: View) -> Sequence[Order]:
        paths = view.between(transfer.source, transfer.destination)
        candidates = [path for path in paths if path.name not in self.down] or list(paths)
        path = self.choose(transfer, candidates).name
        present = self.placed.get(transfer.number)
        self.placed[transfer.number] = (transfer, path)
        return () if present is not None and present[1] == path else (Take(transfer.number, path),)

    def choose(self, transfer: Transfer, paths: Sequence[Path]) -> Path:
        """The path for a transfer, of those whose ports are up."""
        raise NotImplementedError

    def learn(self, measurement: Measurement) -> None:
        """Take note of a result."""


@dataclass
class Always(AtOnce):
    """The first path of one layer, whatever happens to it; without any of that layer the first of all."""

    layer: int = 2

    def _ports(self, path: Path, live: bool, view: View) -> Sequence[Order]:  # noqa: ARG002
        return ()

    def choose(self, transfer: Transfer, paths: Sequence[Path]) -> Path:  # noqa: ARG002
        """As :meth:`AtOnce.choose`."""
        return next((path for path in paths if path.layer == self.layer), paths[0])


@dataclass
class Ecmp(AtOnce):
    """By a hash of the 5-tuple over the paths that are up (RFC 2992; highest random weight, RFC 2991)."""

    seed: int = 0

    @property
    def returns(self) -> bool:
        """As :attr:`AtOnce.returns`: the hash does not remember."""
        return True

    def choose(self, transfer: Transfer, paths: Sequence[Path]) -> Path:
        """As :meth:`AtOnce.choose`."""
        tuple5 = f"6/{transfer.source}/{transfer.destination}/{transfer.number}"
        return max(paths, key=lambda path: uniform(self.seed, f"{tuple5}/{path.name}"))


@dataclass
class Latest(AtOnce):
    """The best of one metric's last results; one without a result is worst, the first of equals is taken."""

    metric: Metric = Metric.RTT
    known: dict[PathKey, float] = field(default_factory=dict)

    def learn(self, measurement: Measurement) -> None:
        """As :meth:`AtOnce.learn`."""
        if measurement.metric is self.metric:
            self.known[measurement.key] = measurement.value

    def choose(self, transfer: Transfer, paths: Sequence[Path]) -> Path:
        """As :meth:`AtOnce.choose`."""

        def badness(path: Path) -> float:
            key = PathKey(path.name, transfer.source, transfer.destination)
            value = self.known.get(key)
            if value is None:
                return math.inf
            return -value if self.metric.higher_is_better else value

        return min(paths, key=badness)


def simple_policies(seed: int) -> tuple[Policy, ...]:
    """One of each simple way, new."""
    return (
        Always("always L2", layer=2),
        Always("always L3", layer=3),
        Ecmp("ECMP", seed=seed),
        Latest("lowest RTT", metric=Metric.RTT),
        Latest("best test", metric=Metric.THROUGHPUT),
    )
