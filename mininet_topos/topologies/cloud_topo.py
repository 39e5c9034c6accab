"""Instances of a cloud below a tree of routers, as a ``mininet.topo.Topo``.

Limits are on links.  The *egress* of an instance is its hose, the rate of all its connections together.  All
packets that cross a link between routers share its rate.  A delay needs netem::

    instance N (from 1)  10.64.0.0/16 in /30s, the router has the lower address
    between routers      10.65.0.0/16 in /30s
    management           172.31.1.0/24; the program that builds the network has 172.31.0.1, from which it
                         also reaches the addresses of the instances

Units of declarations: Mbit/s, seconds.  Units of attributes: bits/s, otherwise the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from mininet.topo import Topo

from mininet_topos.link_shape import MTU, LinkShape
from mininet_topos.nodes import Host, ManagementBridge, Router
from mininet_topos.topologies.campus_topo import DEFAULT, MANAGEMENT_BRIDGE, Interface, add_link, require

INSTANCES, ROUTERS = IPv4Address("10.64.0.0"), IPv4Address("10.65.0.0")
MANAGEMENT, MANAGEMENT_NETWORK = IPv4Address("172.31.1.0"), "172.31.0.1/16"
MAX_INSTANCES = 254
MAX_NAME = 8  # characters: the name of an interface is that of its node and an ending
QUEUE = 0.05
"""Seconds that a packet may wait for a limit; then it is dropped."""


@dataclass(frozen=True)
class CloudInstance:
    """A virtual machine.

    :param zone: its location, as its provider states it.
    :param management: address on the management network.
    :param egress, ingress: sustained bits/s that it can send and receive; None for no limit.
    """

    name: str
    router: str
    zone: str
    address: str
    management: str
    egress: float | None
    ingress: float | None


class CloudTopo(Topo):  # type: ignore[misc]
    """A cloud; subclasses declare it in :meth:`describe`."""

    def build(self, *arguments: Any, **options: Any) -> None:
        """Declare the cloud and hand it to Mininet's graph.

        :param arguments, options: of :meth:`describe`.
        :raises ValueError: if it cannot be built, with the name of the router or instance.
        """
        self.instances: dict[str, CloudInstance] = {}
        self.routers: dict[str, str | None] = {}
        self._networks: dict[str, IPv4Address] = {}
        self.addSwitch(MANAGEMENT_BRIDGE, cls=ManagementBridge, address=MANAGEMENT_NETWORK, routes=[])
        self.describe(*arguments, **options)

    def describe(self, *arguments: Any, **options: Any) -> None:
        """Declare the routers, the root first, and the instances."""
        raise NotImplementedError

    def router(
        self,
        name: str,
        above: str | None = None,
        up: float | None = None,
        down: float | None = None,
        delay: float = 0.0,
    ) -> None:
        """Declare a router.

        :param above: the router that its link leads to; None for the root.
        :param up, down: Mbit/s of the link, away from the instances and towards them; None for no limit.
        :param delay: of the link, one way.
        """
        self._check_name(name)
        expected = "none for the first" if not self.routers else "a declared one"
        is_known = above in self.routers if self.routers else above is None
        require(is_known, f"{name}: the router above it is {above}; expected {expected}")
        number = len(self.routers)
        self.routers[name] = above
        network = ROUTERS + 4 * number
        default = [] if above is None else [(DEFAULT, str(network + 1))]
        self.addHost(name, cls=Router, ip=None, routes=default)
        if above is not None:
            near = Interface(name, f"{name}-up", shape=self._shape(name, up, delay))
            far = Interface(above, f"{above}-down{number}", shape=self._shape(name, down, delay))
            self._add_link(near, far, network)

    def instance(
        self,
        name: str,
        router: str,
        zone: str = "",
        egress: float | None = None,
        ingress: float | None = None,
        delay: float = 0.0,
    ) -> None:
        """Declare an instance.

        :param egress: Mbit/s of its hose; None for no limit.
        :param ingress: Mbit/s that can arrive; None for no limit.
        :param delay: seconds between it and its router, one way.
        """
        self._check_name(name)
        require(router in self.routers, f"{name}: {router!r} is no router; declare it before the instance")
        number = len(self.instances) + 1
        require(number <= MAX_INSTANCES, f"{name}: is instance {number}; expected at most {MAX_INSTANCES}")
        near = Interface(name, f"{name}-eth", shape=self._shape(name, egress, delay))
        far = Interface(router, f"{router}-to{number}", shape=self._shape(name, ingress, delay))
        network, management = INSTANCES + 4 * number, str(MANAGEMENT + number)
        self.addHost(name, cls=Host, ip=None, routes=((DEFAULT, str(network + 1)),))
        self._add_link(near, far, network)
        rates = [None if end.shape is None else end.shape.rate for end in (near, far)]
        self.instances[name] = CloudInstance(name, router, zone, near.address, management, *rates)
        point = Interface(name, f"{name}-mgmt", address=management, prefix=16)
        add_link(self, Interface(MANAGEMENT_BRIDGE, f"mgmt{number}"), point)
        self._add_routes(self.instances[name], network)

    def _check_name(self, name: str) -> None:
        is_free = name not in (*self.routers, *self.instances, MANAGEMENT_BRIDGE)
        require(is_free, f"{name}: is declared already; expected another name")
        is_name = 1 < len(name) <= MAX_NAME and name.replace("-", "").isalnum()
        require(is_name, f"{name}: expected 2 to {MAX_NAME} letters and digits, such as rack1")

    def _add_link(self, near: Interface, far: Interface, network: IPv4Address) -> None:
        """Link a node to the router above it, which has the lower address."""
        self._networks[near.node] = network
        near.address, far.address = str(network + 2), str(network + 1)
        near.prefix = far.prefix = 30
        add_link(self, near, far)

    def _shape(self, name: str, rate: float | None, delay: float) -> LinkShape | None:
        if rate is None:
            require(not delay, f"{name}: has a delay without a rate; expected a rate too")
            return None
        shape = LinkShape(rate * 1e6, max(4, round(rate * 1e6 * QUEUE / 8 / MTU)), delay)
        for attribute, cause in shape.faults():
            raise ValueError(f"{name}.{attribute}: {cause}")
        return shape

    def _add_routes(self, instance: CloudInstance, network: IPv4Address) -> None:
        """Give the routers above an instance, and the management bridge, routes to it."""
        self.nodeInfo(MANAGEMENT_BRIDGE)["routes"].append((instance.address, instance.management))
        below, above = instance.router, self.routers[instance.router]
        while above is not None:
            self.nodeInfo(above)["routes"].append((f"{network}/30", str(self._networks[below] + 2)))
            below, above = above, self.routers[above]
