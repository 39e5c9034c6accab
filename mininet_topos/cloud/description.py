"""A cloud's network as values: guests, the routers they are attached to, and what each path lets through.

::

    guest -- [delay, loss of the path] -- [egress limit of the guest: path limit] -- router == router -- guest

The routers are a tree ([CHOREO] figure 5, one root of it).  A guest's *egress* limit is the hose model: what
all its connections together can have, except those within its own physical machine.  A path's own limit is
beneath it.  A link between routers is shared by all that crosses it.

Units: bits/s on the wire (with Ethernet headers, as Linux ``tc`` counts), seconds, bytes, ratios.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address

from adon.errors import InvalidInput, Problem, code_of
from measurement.health.model import Pair
from measurement.instances import Instance

NETWORK = IPv4Address("10.64.0.0")
MOST_GUESTS = 254
"""One octet of the address tells guests apart, and names the path's class in the router."""
MOST_ROUTERS = 254
MIN_RATE, MAX_RATE = 100e3, 10e9
MAX_DELAY = 1.0
MAX_BUCKET_TIME = 60.0
"""What HTB can count (``mbuffer`` of net/sched/sch_htb.c)."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A token bucket.

    :param rate: bits/s that are sustained.
    :param peak: bits/s while there are tokens; None if as fast as ``rate``.
    :param bucket: bytes above ``rate`` that ``peak`` lasts for ([HEALTH] 4.1: "approximately the first
        1000 Mb" at five times the sustained rate); 0 without a peak.
    """

    rate: float
    peak: float | None = None
    bucket: float = 0.0

    def problems(self, where: str) -> Iterator[Problem]:
        """What cannot be built about it."""
        yield from _rate(f"{where}.rate", self.rate)
        if self.peak is not None:
            yield from _rate(f"{where}.peak", self.peak)
            if self.peak <= self.rate:
                yield Problem(f"{where}.peak", f"{self.peak:g} bits/s is not above the rate")
        if (self.peak is None) != (self.bucket == 0) or not 0 <= self.bucket <= 1e9:
            yield Problem(
                f"{where}.bucket", f"{self.bucket:g} bytes: above 0 and up to 1e9 with a peak, else 0"
            )
        elif self.bucket * 8 > self.rate * MAX_BUCKET_TIME:
            yield Problem(f"{where}.bucket", f"{self.bucket:g} bytes take over {MAX_BUCKET_TIME:g} s to fill")


@dataclass(frozen=True, slots=True)
class Path:
    """What one guest's packets to another meet; the other direction is another path.

    :param rate: bits/s; None for as much as both guests and the links between routers have.
    :param delay: one way, in seconds.
    :param loss: the share of packets that is lost, each by itself.
    """

    rate: float | None = None
    delay: float = 0.0
    loss: float = 0.0

    def problems(self, where: str) -> Iterator[Problem]:
        """What cannot be built about it."""
        if self.rate is not None:
            yield from _rate(f"{where}.rate", self.rate)
        if not 0 <= self.delay <= MAX_DELAY:
            yield Problem(f"{where}.delay", f"{self.delay:g} s is not in 0..{MAX_DELAY:g}")
        if not 0 <= self.loss <= 1:
            yield Problem(f"{where}.loss", f"{self.loss:g} is not in 0..1")


@dataclass(frozen=True, slots=True)
class Router:
    """A router (a rack's switch, an aggregation switch, a zone's edge), and its link to the one above it.

    :param above: name of that one; empty for the root.
    :param up, down: bits/s of the link, away from the guests and towards them; None for no limit.
    """

    name: str
    above: str = ""
    up: float | None = None
    down: float | None = None


@dataclass(frozen=True, slots=True)
class Guest:
    """A virtual machine.

    :param router: whose it is.
    :param zone: what it says about where it is.
    :param machine: the physical machine; guests of one machine are one hop apart and share no hose.  Empty if
        it has one of its own.
    :param egress: the hose; None for no limit.
    :param ingress: bits/s that can come in; None for no limit.
    :param cores: of its processors, for placement.
    """

    name: str
    router: str
    zone: str = ""
    machine: str = ""
    egress: Limit | None = None
    ingress: float | None = None
    cores: float | None = None


@dataclass(frozen=True)
class Cloud:
    """A whole network, checked when it is made.

    :param paths: those that are limited, delayed or lossy; the others are not.
    :param queue: how long a packet may wait for its path's limit, in seconds; then it is dropped (tail drop).
    :raises InvalidInput: with every problem found.
    """

    name: str
    routers: tuple[Router, ...]
    guests: tuple[Guest, ...]
    paths: Mapping[Pair, Path] = field(default_factory=dict)
    queue: float = 0.05

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise InvalidInput(problems)

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """The guests, as those see them who measure between them or place tasks on them."""
        return tuple(
            Instance(guest.name, str(self.address(guest.name)), zone=guest.zone, cores=guest.cores)
            for guest in self.guests
        )

    def octet(self, guest: str) -> int:
        """A guest's number from 1, the last octet of its address."""
        return self._number[guest]

    def address(self, guest: str) -> IPv4Address:
        """Its address."""
        return NETWORK + self.octet(guest)

    def path(self, pair: Pair) -> Path:
        """What packets from the one to the other meet."""
        return self.paths.get(pair, Path())

    def neighbours(self, pair: Pair) -> bool:
        """Whether both are on one physical machine."""
        one, other = (self.guests[self.octet(name) - 1] for name in pair)
        return one.machine != "" and one.machine == other.machine

    def router(self, guest: Guest) -> Router:
        """Whose it is."""
        return self._routers[guest.router]

    def hops(self, pair: Pair) -> int:
        """Links that a packet crosses, as [CHOREO] 3.3.1 counts them.

        One within a physical machine, two in a rack, and so on.
        """
        if self.neighbours(pair):
            return 1
        one, other = (self.above(self.guests[self.octet(name) - 1].router) for name in pair)
        shared = len({*one} & {*other})
        return len(one) + len(other) - 2 * shared + 2

    def above(self, router: str) -> tuple[str, ...]:
        """A router and all above it, up to the root."""
        found = [router]
        while (up := self._routers[found[-1]].above) != "":
            found.append(up)
        return tuple(found)

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return {guest.name: number for number, guest in enumerate(self.guests, 1)}

    @cached_property
    def _routers(self) -> Mapping[str, Router]:
        return {router.name: router for router in self.routers}

    def _problems(self) -> Iterator[Problem]:
        yield from _repeated("routers", [router.name for router in self.routers])
        yield from _repeated("guests", [guest.name for guest in self.guests])
        if not 2 <= len(self.guests) <= MOST_GUESTS:
            yield Problem("guests", f"{len(self.guests)} is not in 2..{MOST_GUESTS}")
        if not 1 <= len(self.routers) <= MOST_ROUTERS:
            yield Problem("routers", f"{len(self.routers)} is not in 1..{MOST_ROUTERS}")
        if not 0.001 <= self.queue <= 1:
            yield Problem("queue", f"{self.queue:g} s is not in 0.001..1")
        yield from self._tree()
        for guest in self.guests:
            yield from self._guest(guest)
        for pair, path in self.paths.items():
            where = f"paths.{' > '.join(pair)}"
            if not {*pair} <= {*self._number} or pair.source == pair.destination:
                yield Problem(where, "is not from one guest to another")
            yield from path.problems(where)

    def _tree(self) -> Iterator[Problem]:
        if sum(router.above == "" for router in self.routers) != 1:
            yield Problem("routers", "one, and only one, must have nothing above it")
        for router in self.routers:
            where = f"routers.{router.name}"
            for name, rate in (("up", router.up), ("down", router.down)):
                if rate is not None:
                    yield from _rate(f"{where}.{name}", rate)
            seen, at = {router.name}, router.above
            while at:
                if at not in self._routers or at in seen:
                    yield Problem(f"{where}.above", f"{at!r} is no router that leads to the root")
                    break
                seen.add(at)
                at = self._routers[at].above

    def _guest(self, guest: Guest) -> Iterator[Problem]:
        where = f"guests.{guest.name}"
        if guest.router not in self._routers:
            yield Problem(f"{where}.router", f"there is no router {guest.router!r}")
        if guest.egress is not None:
            yield from guest.egress.problems(f"{where}.egress")
        if guest.ingress is not None:
            yield from _rate(f"{where}.ingress", guest.ingress)
        apart = {other.router for other in self.guests if other.machine == guest.machine != ""}
        if len(apart) > 1:
            yield Problem(f"{where}.machine", f"{guest.machine!r} cannot be at {len(apart)} routers")
        try:
            Instance(guest.name, str(NETWORK), cores=guest.cores)
        except ValueError as error:
            yield Problem(where, str(error), code=code_of(error))


def _rate(field: str, rate: float) -> Iterator[Problem]:
    if not MIN_RATE <= rate <= MAX_RATE:
        yield Problem(field, f"{rate:g} bits/s is not in {MIN_RATE:g}..{MAX_RATE:g}")


def _repeated(field: str, values: list[str]) -> Iterator[Problem]:
    return (Problem(field, f"{value!r} is there {n} times") for value, n in Counter(values).items() if n > 1)
