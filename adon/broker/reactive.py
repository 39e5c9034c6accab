"""Opt-in: which unannounced connection becomes a flow (R18; without an entry in the policy, none).

A switch sends the first packet of an unregistered connection.  The first entry of
``policy.reactive`` whose flowspace has it makes a request of it, in the entry's name and template, which
passes the same checks as one that a researcher sends: slice first, then everything else.  What is refused is
remembered, so that the connection's next packets cost a look-up and nothing more; so is what was taken, as
long as its rules may still be on their way.

A source address is believed only at the port where its host hangs.  Memory is bounded: an attacker's
addresses push each other out.  No clock: ``now`` is an argument.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from ipaddress import ip_address

from adon.broker.events import FlowSubmitted
from adon.broker.flow import FlowRequest
from adon.broker.intake import PROTOCOLS
from adon.broker.tenancy import slice_for
from adon.config import Configuration
from adon.config.policy import ReactiveEntry
from adon.errors import AdonError
from adon.flowspace import Connection
from adon.flowvisor.topology.path import Attachment, FiveTuple
from adon.flowvisor.topology.topology import Topology
from adon.templates_catalog.catalog import Catalog

MAX_REMEMBERED = 4096
"""Connections that are not looked at again for a while."""
SETTLE_S = 5.0
"""The rules of a flow that was taken are in the switches by then, or it has failed."""
UNMATCHED_S = 30.0
"""So long is a connection not looked at that no entry has."""
MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Packet:
    """The first packet of a connection that no rule of a flow took, where a switch saw it."""

    dpid: int
    in_port: int
    source: str
    destination: str
    tuple: FiveTuple

    def connection(self) -> Connection:
        """Its connection.

        :raises ValueError: for an address that is none.
        """
        ends = ip_address(self.source), ip_address(self.destination)
        return Connection(*ends, self.tuple.protocol, self.tuple.destination_port)


@dataclass(frozen=True, slots=True)
class Taken:
    """It becomes this request; what :class:`~adon.broker.events.FlowSubmitted` needs beside a command.

    :param row: of the entry that it is by.
    """

    request: FlowRequest
    requester: str
    row: int


@dataclass(frozen=True, slots=True)
class Refused:
    """It stays with the campus's own forwarding.

    :param until: packets of this connection are not looked at before; a switch may be told, too.
    """

    reason: str
    until: float


class Reactive:
    """What is remembered between packets; see the module's text.

    :param configuration: whose ``policy.reactive`` it goes by.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._entries = entries = configuration.policy.reactive
        self._names = {
            address: name
            for site in configuration.sites.values()
            for name, host in site.hosts.items()
            for address in (host.address, host.address6)
            if address is not None
        }
        self._until: OrderedDict[Connection, float] = OrderedDict()
        self._taken = [_Minute(entry.per_minute) for entry in entries]

    def __len__(self) -> int:
        return len(self._until)

    def decide(
        self, packet: Packet, topology: Topology, catalog: Catalog, now: float
    ) -> Taken | Refused | None:
        """What becomes of a packet; None for one whose connection was decided about a moment ago.

        :raises ValueError: for a packet whose addresses are none.
        """
        connection = packet.connection()
        until = self._until.get(connection)
        if until is not None and now < until:
            return None
        hosts = self._hosts(packet, connection, topology)
        if isinstance(hosts, str):
            return self._refuse(connection, hosts, now + UNMATCHED_S)
        for row, entry in enumerate(self._entries):
            if _has(entry, connection, hosts):
                return self._by(row, packet, connection, hosts, topology, catalog, now)
        return self._refuse(connection, "no entry of policy.reactive has it", now + UNMATCHED_S)

    def free_connections(self, row: int, now: float) -> int:
        """How many more connections an entry takes at this time."""
        return self._taken[row].free_connections(now)

    def took(self, row: int, connections: int, now: float) -> None:
        """An entry took so many connections."""
        self._taken[row].take(connections, now)

    def over(self, row: int, now: float) -> tuple[str, float]:
        """Why an entry takes no more connections now, and until when."""
        minute = self._taken[row]
        return f"policy.reactive.{row} takes {minute.most} connections a minute", minute.until(now)

    def refuse_for(self, row: int) -> float:
        """Seconds in which an entry does not look again at what was refused."""
        return self._entries[row].refuse_for

    def remember(self, connection: Connection, until: float) -> None:
        """Do not look at a connection before this time."""
        self._remember(connection, until)

    def forget(self, connection: Connection) -> None:
        """Look at a connection again when its next packet comes."""
        self._until.pop(connection, None)

    def _hosts(
        self, packet: Packet, connection: Connection, topology: Topology
    ) -> tuple[Attachment, Attachment] | str:
        """The two DTNs of a packet, or why they are not believed."""
        names = [self._names.get(address) for address in (connection.source, connection.destination)]
        if names[0] is None or names[1] is None:
            return "one of its ends is no host of this network"
        try:
            source, destination = topology.attachment(names[0]), topology.attachment(names[1])
        except AdonError as error:
            return str(error)
        if (source.dpid, source.port) != (packet.dpid, packet.in_port):
            return f"its source is said to be {names[0]}, which does not hang there"
        return source, destination

    def _by(
        self,
        row: int,
        packet: Packet,
        connection: Connection,
        hosts: tuple[Attachment, Attachment],
        topology: Topology,
        catalog: Catalog,
        now: float,
    ) -> Taken | Refused:
        entry = self._entries[row]
        if not self.free_connections(row, now):
            return self._refuse(connection, *self.over(row, now))
        try:
            request = _request(entry, packet, hosts, topology, catalog, now)
        except AdonError as error:
            return self._refuse(connection, str(error), now + entry.refuse_for)
        self._taken[row].take(1, now)
        self._remember(connection, now + SETTLE_S)
        return Taken(request, entry.requester, row)

    def _refuse(self, connection: Connection, reason: str, until: float) -> Refused:
        self._remember(connection, until)
        return Refused(f"{connection}: {reason}", until)

    def _remember(self, connection: Connection, until: float) -> None:
        self._until.pop(connection, None)
        self._until[connection] = until
        if len(self._until) > MAX_REMEMBERED:
            self._until.popitem(last=False)


class _Minute:
    """How many connections were taken in the last minute, and how many more may be.

    :param most: in any minute.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._times: deque[tuple[float, int]] = deque()
        self._sum = 0

    def free_connections(self, now: float) -> int:
        """How many more."""
        while self._times and self._times[0][0] <= now - MINUTE_S:
            self._sum -= self._times.popleft()[1]
        return self.most - self._sum

    def take(self, number: int, now: float) -> None:
        """So many were taken."""
        self._times.append((now, number))
        self._sum += number

    def until(self, now: float) -> float:
        """When the next may be."""
        return self._times[0][0] + MINUTE_S if self._times else now


def _has(entry: ReactiveEntry, connection: Connection, hosts: tuple[Attachment, Attachment]) -> bool:
    ends = hosts[0].site, hosts[1].site
    spaces = [space for space in entry.flowspace if space.reaches(ends)]
    return any(box.holds(connection) for space in spaces for box in space.boxes)


def _request(
    entry: ReactiveEntry,
    packet: Packet,
    hosts: tuple[Attachment, Attachment],
    topology: Topology,
    catalog: Catalog,
    now: float,
) -> FlowRequest:
    """The request that a connection becomes, after its slice has allowed it.

    :raises AdonError: if the template is not there or is for another protocol, or the slice refuses.
    """
    template = catalog.resolve(entry.template)
    protocol = PROTOCOLS[template.protocol]
    if packet.tuple.protocol != protocol:
        raise AdonError(f"template {template.reference} is for {template.protocol}")
    if not 1 <= packet.tuple.destination_port <= 65_535:
        raise AdonError(f"{packet.tuple.destination_port} is no port")
    request = FlowRequest.model_validate(
        {
            "source": hosts[0].host,
            "destination": hosts[1].host,
            "size": f"{entry.size} B",
            "template": template.reference,
            "ports": (packet.tuple.destination_port,),
            "slice": entry.slice,
            "label": "unannounced",
        }
    )
    asked = FlowSubmitted("", now, "", request, entry.requester)
    slice_for(asked, template, protocol, [packet.tuple], topology.configuration)
    return request
