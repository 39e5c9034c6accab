"""Instances of a cloud below a tree of routers, as a ``mininet.topo.Topo``.

Limits are on links: the *egress* of an instance is its hose (what all its connections together can have), a
link between routers is shared by all that crosses it.  Delay and loss need netem::

    instance N (from 1)  10.64.0.0/16 in /30s, the router has the lower address
    between routers      10.65.0.0/16 in /30s
    management           172.31.1.0/24; the program that builds the network has 172.31.0.1, and reaches the
                         instances' own addresses this way too

Units of the declarations: Mbit/s, seconds, ratios 0..1, bytes; of what is read: bits/s, otherwise the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any, ClassVar

from mininet.topo import Topo

from mininet_topos.link_shape import MTU, LinkShape
from mininet_topos.nodes import DirectedLink, Instance, ManagementBridge, Router

INSTANCES, ROUTERS = IPv4Address("10.64.0.0"), IPv4Address("10.65.0.0")
MANAGEMENT, MANAGEMENT_NETWORK = IPv4Address("172.31.1.0"), "172.31.0.1/16"
MAX_INSTANCES = 254
MAX_NAME = 8
"""Characters: interfaces are called after nodes, with an ending."""


@dataclass(frozen=True)
class CloudInstance:
    """A virtual machine.

    :param zone: what its provider says about where it is.
    :param cores: of its processors, for placement; None if unknown.
    :param management: address, with prefix length, on the management network.
    :param egress, ingress: bits/s that it can send and receive all the time; None for no limit.
    """

    name: str
    router: str
    zone: str
    cores: float | None
    address: str
    management: str
    egress: float | None
    ingress: float | None


@dataclass(frozen=True)
class _Uplink:
    """A router's link to the one above it."""

    above: str
    shapes: tuple[LinkShape | None, LinkShape | None]
    network: IPv4Address


class CloudTopo(Topo):  # type: ignore[misc]
    """A cloud; subclasses declare it in :meth:`describe`.

    :ivar queue: seconds that a packet may wait for a limit; then it is dropped.
    """

    queue = 0.05

    def build(self) -> None:
        """Declare the cloud and hand it to Mininet's graph.

        :raises ValueError: if it cannot be built, with the name of the router or instance.
        """
        self.instances: dict[str, CloudInstance] = {}
        self.routers: dict[str, str | None] = {}
        self._uplinks: dict[str, _Uplink] = {}
        self._links: dict[str, tuple[LinkShape | None, LinkShape | None]] = {}
        self.describe()
        for name, router in self.routers.items():
            self.addHost(name, cls=Router, ip=None, routes=tuple(self._routes(name, router)))
        reached = tuple((one.address, one.management.partition("/")[0]) for one in self.instances.values())
        self.addSwitch("management", cls=ManagementBridge, address=MANAGEMENT_NETWORK, routes=reached)
        for number, (name, uplink) in enumerate(self._uplinks.items(), start=1):
            self._add_link(name, uplink.above, uplink.network, uplink.shapes, f"{name}-up", f"down{number}")
        for number, one in enumerate(self.instances.values(), start=1):
            network = _network(INSTANCES, number)
            gateway = ((("0.0.0.0/0"), str(network + 1)),)
            self.addHost(one.name, cls=Instance, ip=None, routes=gateway)
            shapes = self._links[one.name]
            self._add_link(one.name, one.router, network, shapes, f"{one.name}-eth", f"to{number}")
            self.addLink(
                "management",
                one.name,
                intfName1=f"mgmt{number}",
                intfName2=f"{one.name}-mgmt",
                params2={"ip": one.management},
            )

    def describe(self) -> None:
        """Declare the routers, the root first, and the instances."""
        raise NotImplementedError

    def router(
        self,
        name: str,
        above: str | None = None,
        up: float | None = None,
        down: float | None = None,
        delay: float = 0.0,
        loss: float = 0.0,
    ) -> None:
        """Declare a router.

        :param above: the router that its link leads to; None for the root.
        :param up, down: Mbit/s of the link, away from the instances and towards them; None for no limit.
        :param delay, loss: of the link, one way.
        """
        self._check_name(name)
        if (above is None) != (not self.routers) or (above is not None and above not in self.routers):
            raise ValueError(
                f"{name}: its router above is {above}; expected none for the first, else a declared one"
            )
        self.routers[name] = above
        if above is not None:
            shapes = (
                self._shape(name, up, delay=delay, loss=loss),
                self._shape(name, down, delay=delay, loss=loss),
            )
            network = _network(ROUTERS, len(self._uplinks) + 1)
            self._uplinks[name] = _Uplink(above, shapes, network)

    def instance(
        self,
        name: str,
        router: str,
        zone: str = "",
        egress: float | None = None,
        peak: float | None = None,
        bucket: float = 0.0,
        ingress: float | None = None,
        delay: float = 0.0,
        cores: float | None = None,
    ) -> None:
        """Declare an instance.

        :param egress: Mbit/s of its hose that are sustained; None for no limit.
        :param peak: Mbit/s while the token bucket is not empty.
        :param bucket: bytes of the token bucket above the sustained rate.
        :param ingress: Mbit/s that can arrive; None for no limit.
        :param delay: seconds between it and its router, one way.
        """
        self._check_name(name)
        if router not in self.routers:
            raise ValueError(f"{name}: {router!r} is no router; declare it before the instance")
        number = len(self.instances) + 1
        if number > MAX_INSTANCES:
            raise ValueError(f"{name}: is instance {number}; expected at most {MAX_INSTANCES}")
        address, management = str(_network(INSTANCES, number) + 2), f"{MANAGEMENT + number}/16"
        shapes = (
            self._shape(name, egress, peak=peak, bucket=bucket, delay=delay),
            self._shape(name, ingress, delay=delay),
        )
        rates = [None if shape is None else shape.rate for shape in shapes]
        self.instances[name] = CloudInstance(name, router, zone, cores, address, management, *rates)
        self._links[name] = shapes

    def hops(self, one: str, other: str) -> int:
        """Links that a packet from one instance to another crosses ([CHOREO] 3.3.1)."""
        ways = [[*self._above(self.instances[name].router)] for name in (one, other)]
        shared = len({*ways[0]} & {*ways[1]})
        return len(ways[0]) + len(ways[1]) - 2 * shared + 2

    def _above(self, router: str | None) -> Iterator[str]:
        """A router and all above it, up to the root."""
        while router is not None:
            yield router
            router = self.routers[router]

    def _check_name(self, name: str) -> None:
        if name in self.routers or name in self.instances or name == "management":
            raise ValueError(f"{name}: is declared already; expected another name")
        if not (1 < len(name) <= MAX_NAME and name.replace("-", "").isalnum()):
            raise ValueError(f"{name}: expected 2 to {MAX_NAME} letters and digits, such as rack1")

    def _shape(
        self,
        name: str,
        rate: float | None,
        *,
        peak: float | None = None,
        bucket: float = 0.0,
        delay: float = 0.0,
        loss: float = 0.0,
    ) -> LinkShape | None:
        if rate is None and (peak is not None or delay or loss):
            raise ValueError(f"{name}: has a peak, delay or loss without a rate; expected a rate too")
        if rate is None:
            return None
        bps = rate * 1e6
        queue = max(4, round(bps * self.queue / 8 / MTU))
        shape = LinkShape(bps, queue, delay, loss, None if peak is None else peak * 1e6, bucket)
        for attribute, cause in shape.faults():
            raise ValueError(f"{name}.{attribute}: {cause}")
        return shape

    def _routes(self, name: str, above: str | None) -> Iterator[tuple[str, str]]:
        """Destinations and next hops: all instances below each router below, the rest upwards."""
        for number, one in enumerate(self.instances.values(), start=1):
            way = [*self._above(one.router)]
            if name in way and one.router != name:
                below = self._uplinks[way[way.index(name) - 1]]
                yield f"{_network(INSTANCES, number)}/30", str(below.network + 2)
        if above is not None:
            yield "0.0.0.0/0", str(self._uplinks[name].network + 1)

    def _add_link(
        self,
        below: str,
        above: str,
        network: IPv4Address,
        shapes: tuple[LinkShape | None, LinkShape | None],
        *names: str,
    ) -> None:
        options: dict[str, Any] = {"cls": DirectedLink, "shapes": shapes}
        for number, (name, host) in enumerate(zip((names[0], f"{above}-{names[1]}"), (2, 1), strict=True), 1):
            options[f"intfName{number}"] = name
            options[f"params{number}"] = {"ip": f"{network + host}/30"}
        self.addLink(below, above, **options)


def _network(pool: IPv4Address, number: int) -> IPv4Address:
    return pool + 4 * number


class Dumbbell(CloudTopo):
    """Senders and receivers with one link between them ([CHOREO] figure 3a)."""

    def __init__(self, pairs: int = 10, link: float = 100.0) -> None:
        self.pairs, self.link = pairs, link
        super().__init__()

    def describe(self) -> None:
        """Declare the cloud."""
        self.router("right")
        self.router("left", "right", up=self.link, down=self.link)
        for side, router in (("s", "left"), ("r", "right")):
            for number in range(1, self.pairs + 1):
                self.instance(f"{side}{number}", router)


class RackTree(CloudTopo):
    """Instances in racks, racks at aggregation switches, those at a core ([CHOREO] figure 5)."""

    def __init__(
        self,
        racks: int = 2,
        instances: int = 2,
        per_aggregation: int = 2,
        hose: float | None = None,
        rack_link: float | None = None,
    ) -> None:
        self.racks, self.per_rack, self.per_aggregation = racks, instances, per_aggregation
        self.hose, self.rack_link = hose, rack_link
        super().__init__()

    def describe(self) -> None:
        """Declare the cloud."""
        self.router("core")
        for number in range(-(-self.racks // self.per_aggregation)):
            self.router(f"agg{number}", "core")
        for rack in range(self.racks):
            above = f"agg{rack // self.per_aggregation}"
            self.router(f"rack{rack}", above, up=self.rack_link, down=self.rack_link)
            for number in range(self.per_rack):
                self.instance(f"r{rack}g{number}", f"rack{rack}", egress=self.hose)


class Zones(CloudTopo):
    """Three zones of unequal instances, drawn by a seed ([HEALTH] 4.2, Testbed II).

    Hoses are log-normal, and every tenth one is slow; round trips are those of [HEALTH] figure 9: 0.6 ms
    within a zone, between zones 2.0 (a, b), 2.6 (a, c) and 4.0 ms (b, c).  Rates suit two cores.
    """

    shares: ClassVar = {"a": 35, "b": 33, "c": 32}
    """Instances of each zone, of 100."""
    distances: ClassVar = {"a": 0.0, "b": 0.0007, "c": 0.001}
    """Seconds between a zone and the core, one way."""

    def __init__(self, seed: int = 1, instances: int = 100) -> None:
        self.seed, self.count = seed, instances
        super().__init__()

    def describe(self) -> None:
        """Declare the cloud."""
        chance = random.Random(self.seed)  # noqa: S311 - it draws a network
        self.router("core")
        for zone, delay in self.distances.items():
            self.router(zone * 2, "core", up=1000, down=1000, delay=delay)
        first, number = 0, 0
        for zone, share in self.shares.items():
            first += share
            while number < round(self.count * first / 100):
                slow = 4 if chance.random() < 0.1 else 1
                egress, ingress = _megabits(chance, 200, 0.25) / slow, _megabits(chance, 120, 0.5)
                name = f"i{number:03d}"
                self.instance(name, zone * 2, zone, egress, ingress=ingress, delay=0.00015)
                number += 1


def _megabits(chance: random.Random, median: float, spread: float) -> float:
    """A log-normal rate, between an eighth and eight times of its median."""
    return median * min(8.0, max(0.125, chance.lognormvariate(0, spread)))
