"""Topology: the configured network and the reports of its switches, as one immutable value.

The configuration names switches, sites, paths and ports; only a connected switch reports a port's number and
state.  A :class:`Topology` joins the two.  Every event yields a new topology.  A lost connection changes no
port, because the switch continues to forward with its port numbers (R10).

Candidates are all paths between two sites, configured or computed, *including* unusable paths: a decision
shows them with the reason (spec section 2).  Datapath ids are written as 16 hex digits (R24).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from adon.config import Configuration
from adon.config.measurements import MeasurementTest
from adon.config.network import Host, Switch, TransitPath
from adon.errors import InvalidInput, NotFound, Unavailable
from adon.flowvisor.topology.network_graph import (
    LinkState,
    NetworkGraph,
    PortState,
    ReportedPorts,
    SeenLink,
    build_network_graph,
)
from adon.flowvisor.topology.overlay import Circuit, OverlayPaths, circuit_path, route_of, state_of
from adon.flowvisor.topology.path import Attachment, CandidatePath, Layer, LinkAttributes, PathEnd, dpid_text
from adon.reasons import DecisionCode, Reason, reason_of
from measurement.model import PathKey


@dataclass(frozen=True, slots=True)
class PathElements:
    """Sites, switches, links and ports of a path; for maintenance and failure rehearsal.

    A configured path names its shared links and ends at two edges; a circuit is a sequence of links.

    :param switches: names of configured switches.
    :param ports: pairs of a switch's and a port's name.
    """

    path: str
    sites: frozenset[str]
    switches: frozenset[str]
    links: frozenset[str]
    ports: frozenset[tuple[str, str]]


def list_path_elements(configuration: Configuration, circuits: tuple[Circuit, ...]) -> Iterator[PathElements]:
    """Yield the elements of every path, configured paths first."""
    for name, path in configuration.paths.items():
        edges = {site: configuration.sites[site].edge for site in path.ends}
        ports = frozenset((edges[site], end.port) for site, end in path.ends.items())
        switches = frozenset(edges.values())
        yield PathElements(name, frozenset(path.ends), switches, frozenset(path.links), ports)
    for circuit in circuits:
        yield _of_circuit(configuration, circuit)


def _of_circuit(configuration: Configuration, circuit: Circuit) -> PathElements:
    sites = frozenset((circuit.source, circuit.destination))
    links = [configuration.links[name] for name in circuit.links if name in configuration.links]
    ports = frozenset(end for link in links for end in link.ends.items())
    edges = {configuration.sites[site].edge for site in sites if site in configuration.sites}
    switches = frozenset(switch for switch, _ in ports) | edges
    return PathElements(circuit.name, sites, switches, frozenset(circuit.links), ports)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One configured or computed path in one direction, and its usability.

    :param path: None until the switches have reported all of its ports.
    :param reason: reason of an unusable path; None for a usable path.
    :param unheard: True if a disconnected switch makes it unusable: it gets no new flows, but its flows stay,
        because that switch continues to forward (R10).
    """

    key: PathKey
    layer: Layer
    path: CandidatePath | None
    usable: bool
    reason: Reason | None = None
    unheard: bool = False


_NOTHING_REPORTED: Mapping[int, Mapping[str, PortState]] = MappingProxyType({})


@dataclass(frozen=True)
class Topology:
    """The configured network with the reports of its switches.

    :param ports: ports by name, per datapath id; kept after a disconnection.
    :param connected: datapath ids of the connected switches.
    :param overlay_paths: circuits over the configured links.
    :param seen: links that discovery (LLDP) found; empty without discovery.
    :param groupless: datapath ids of switches without fast-failover groups.
    """

    configuration: Configuration
    ports: Mapping[int, Mapping[str, PortState]] = field(default_factory=lambda: _NOTHING_REPORTED)
    connected: frozenset[int] = frozenset()
    overlay_paths: OverlayPaths = field(default_factory=OverlayPaths)
    seen: frozenset[SeenLink] = frozenset()
    groupless: frozenset[int] = frozenset()

    @cached_property
    def path_elements(self) -> tuple[PathElements, ...]:
        """Elements of all paths, configured paths first."""
        return tuple(list_path_elements(self.configuration, self.overlay_paths.circuits))

    @cached_property
    def port_reports(self) -> ReportedPorts:
        """Reported ports."""
        return ReportedPorts(self.configuration, self.ports, self.connected)

    @cached_property
    def graph(self) -> NetworkGraph:
        """Graph of the configured links in their present state."""
        return build_network_graph(self.configuration, self.ports, self.connected, self.seen)

    def switch_up(self, dpid: int, ports: Mapping[str, PortState]) -> Topology:
        """Return the topology after a configured switch connected with these ports.

        :raises InvalidInput: if no switch of this datapath id is configured.
        """
        self.switch_name(dpid)
        reported = {**self.ports, dpid: MappingProxyType(dict(ports))}
        return replace(self, ports=MappingProxyType(reported), connected=self.connected | {dpid})

    def switch_down(self, dpid: int) -> Topology:
        """Return the topology after the connection to a switch was lost; its port numbers are kept.

        :raises InvalidInput: as :meth:`switch_up`.
        """
        self.switch_name(dpid)
        return replace(self, connected=self.connected - {dpid})

    def change_port(self, dpid: int, name: str, state: PortState | None) -> Topology:
        """Return the topology after a port appeared, changed, or (None) disappeared.

        :raises InvalidInput: as :meth:`switch_up`.
        """
        self.switch_name(dpid)
        ports = {n: s for n, s in self.ports.get(dpid, {}).items() if n != name}
        if state is not None:
            ports[name] = state
        return replace(self, ports=MappingProxyType({**self.ports, dpid: MappingProxyType(ports)}))

    def switch_name(self, dpid: int) -> str:
        """Return the configured name of a switch.

        :raises InvalidInput: if no switch of this datapath id is configured.
        """
        for name, switch in self.configuration.switches.items():
            if switch.dpid == dpid:
                return name
        raise InvalidInput.of("dpid", f"no switch {dpid_text(dpid)} is configured")

    def site_of(self, host: str) -> str:
        """Return the site of a DTN.

        :raises NotFound: if no DTN of this name is configured.
        """
        return self._host(host)[0]

    def attachment(self, host: str) -> Attachment:
        """Return the attachment of a DTN.

        :raises NotFound: if no DTN of this name is configured.
        :raises Unavailable: if its switch has not reported its port.
        """
        site_name, configured = self._host(host)
        site = self.configuration.sites[site_name]
        number = self.port_reports.number(site.edge, configured.port)
        if number is None:
            missing = self.port_reports.missing_port(site.edge, configured.port)
            raise Unavailable(f"host {host!r}: {missing.text}")
        return Attachment(
            host=host,
            site=site_name,
            dpid=self._edge(site_name),
            port=number,
            address=str(configured.address),
            mac=configured.mac,
            gateway_mac=site.gateway_mac,
            address6=None if configured.address6 is None else str(configured.address6),
        )

    def candidates(self, source_host: str, destination_host: str) -> tuple[Candidate, ...]:
        """Return all paths from one DTN to another, in configuration order, usable or not.

        :raises NotFound: if a DTN is not configured.
        :raises InvalidInput: if both are at the same site: no transit path is needed there.
        """
        ends = self._host(source_host), self._host(destination_host)
        source, destination = ends[0][0], ends[1][0]
        if source == destination:
            raise InvalidInput.of(
                "destination",
                f"{destination_host!r} is at the same site ({source!r}) as {source_host!r}: "
                "there is no transit path to choose",
            )
        closed = [why for site, host in ends if (why := self._obstacle(site, host.port))]
        return tuple(
            replace(found, usable=False, reason=closed[0]) if closed and found.usable else found
            for found in self.between(source, destination)
        )

    def joins(self, source_host: str, destination_host: str) -> bool:
        """Return whether two DTNs have a path, or an overlay that may get one.

        :raises NotFound, InvalidInput: as :meth:`candidates`.
        """
        if self.candidates(source_host, destination_host):
            return True
        edges = {self._edge(self._host(host)[0]) for host in (source_host, destination_host)}
        return len(edges) == 2 and bool(self.configuration.overlays)

    def between(self, source: str, destination: str) -> tuple[Candidate, ...]:
        """Return all paths from one site to another, usable or not: configured paths, then circuits.

        Configured paths are in configuration order, circuits in the order of their creation.
        """
        return tuple(self._find_candidates(source, destination).values())

    def directions(self) -> tuple[Candidate, ...]:
        """Return both directions of every path, in the order of :meth:`between`."""
        configured = ((name, tuple(path.ends)) for name, path in self.configuration.paths.items())
        computed = ((one.name, (one.source, one.destination)) for one in self.overlay_paths.circuits)
        return tuple(
            self.candidate(PathKey(name, *way))
            for name, ends in (*configured, *computed)
            for way in (ends, ends[::-1])
        )

    def candidate(self, key: PathKey) -> Candidate:
        """Return one direction of one path.

        :raises NotFound: if there is no such path between these two sites.
        """
        found = self._find_candidates(key.source, key.destination).get(key)
        if found is None:
            raise NotFound("path", str(key))
        return found

    def families(self, source: str, destination: str) -> frozenset[int]:
        """Return the IP versions that two DTNs have in common.

        :raises NotFound: if a DTN is not configured.
        """
        versions = [
            {address.version for address in (host.address, host.address6) if address is not None}
            for _, host in (self._host(source), self._host(destination))
        ]
        return frozenset(versions[0] & versions[1])

    def ends_of(self, path: str) -> frozenset[str] | None:
        """Return the two sites of a path; None for an unknown path."""
        configured = self.configuration.paths.get(path)
        if configured is not None:
            return frozenset(configured.ends)
        circuit = next((one for one in self.overlay_paths.circuits if one.name == path), None)
        return None if circuit is None else frozenset((circuit.source, circuit.destination))

    def find_path(self, path: str) -> CandidatePath | None:
        """Return a path in one of its directions; None for an unknown path or port."""
        ends = self.ends_of(path)
        if ends is None:
            return None
        source, destination = sorted(ends)
        return self.candidate(PathKey(path, source, destination)).path

    def capacity_of(self, path: str) -> float | None:
        """Return the capacity of a path in bits/s; None for an unknown path or unknown links."""
        configured = self.configuration.paths.get(path)
        found = self.find_path(path) if configured is None else None
        return configured.capacity if configured is not None else None if found is None else found.capacity

    def backups(self, path: CandidatePath) -> dict[int, CandidatePath] | None:
        """Return the backup path per edge with fast-failover groups, for a failure of this path's port.

        The backup is the first other path between the same sites that leaves the edge by another port.  It is
        usable, or would be if all its switches were connected (a disconnection changes no group).  It is in
        the direction away from that edge.  None if a switch of a possible backup has not reported its ports
        yet.
        """
        found: dict[int, CandidatePath] = {}
        for way in (path, path.reverse()):
            switch = self._switch(way.source_end.dpid)
            if switch.pipeline != "staged" or switch.failover != "groups" or switch.dpid in self.groupless:
                continue
            for other in self._others(way):
                if other.path is None:
                    return None
                if other.path.source_end.port != way.source_end.port:
                    found[way.source_end.dpid] = other.path
                    break
        return found

    def _others(self, path: CandidatePath) -> Iterator[Candidate]:
        for other in self.between(path.key.source, path.key.destination):
            if other.key != path.key and (other.usable or other.unheard):
                yield other

    def _switch(self, dpid: int) -> Switch:
        return self.configuration.switches[self.switch_name(dpid)]

    def test_ends(self, test: MeasurementTest) -> tuple[Attachment, Attachment]:
        """Return sender and receiver of a configured test: DTNs with their measurement addresses.

        Measurement addresses of a site are on the port of its first DTN, in addition to the DTN's own
        address.

        :raises NotFound: if a site has no DTN.
        :raises Unavailable: if a switch has not reported the DTN's port.
        """
        return (
            self._measurement_end(test.from_, str(test.source)),
            self._measurement_end(test.to, str(test.destination)),
        )

    def _measurement_end(self, site: str, address: str) -> Attachment:
        name = next(iter(self.configuration.sites[site].hosts), None)
        if name is None:
            raise NotFound("host at site", site)
        return replace(self.attachment(name), address=address, address6=None)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of all hosts."""
        return tuple(name for site in self.configuration.sites.values() for name in site.hosts)

    def _host(self, host: str) -> tuple[str, Host]:
        for site, configured in self.configuration.sites.items():
            if host in configured.hosts:
                return site, configured.hosts[host]
        raise NotFound("host", host)

    def _edge(self, site: str) -> int:
        return self.configuration.switches[self.configuration.sites[site].edge].dpid

    def _candidate(self, index: int, key: PathKey, path: TransitPath) -> Candidate:
        layer = Layer.L2 if path.layer == 2 else Layer.L3
        sites = key.source, key.destination
        closed = next((why for site in sites if (why := self._obstacle(site, path.ends[site].port))), None)
        source, destination = (self._path_end(path, site) for site in sites)
        if source is None or destination is None:
            return Candidate(key, layer, None, False, closed)
        known = CandidatePath(
            key,
            layer,
            index,
            path.capacity,
            source,
            destination,
            path.vlan,
            attributes=LinkAttributes.of(path),
        )
        return Candidate(key, layer, known, closed is None, closed)

    @cached_property
    def _circuits(self) -> Mapping[frozenset[str], tuple[Circuit, ...]]:
        found: dict[frozenset[str], tuple[Circuit, ...]] = {}
        for circuit in self.overlay_paths.circuits:
            ends = frozenset((circuit.source, circuit.destination))
            found[ends] = (*found.get(ends, ()), circuit)
        return found

    @cached_property
    def _cache(self) -> dict[tuple[str, str], dict[PathKey, Candidate]]:
        """Cache of candidates by both sites, because every decision needs them."""
        return {}

    def _find_candidates(self, source: str, destination: str) -> Mapping[PathKey, Candidate]:
        found = self._cache.get((source, destination))
        if found is None:
            configured = (
                self._candidate(index, PathKey(name, source, destination), path)
                for index, (name, path) in enumerate(self.configuration.paths.items())
                if set(path.ends) == {source, destination}
            )
            circuits = self._circuits.get(frozenset((source, destination)), ())
            computed = (self._circuit_candidate(each, source, destination) for each in circuits)
            found = self._cache[source, destination] = {one.key: one for one in (*configured, *computed)}
        return found

    def _circuit_candidate(self, circuit: Circuit, source: str, destination: str) -> Candidate:
        state, why = state_of(circuit, self.graph, self.configuration)
        links = route_of(circuit, self.graph, self.configuration)
        path = None if isinstance(links, str) else circuit_path(circuit, links)
        if path is not None and circuit.source != source:
            path = path.reverse()
        key = PathKey(circuit.name, source, destination)
        usable = path is not None and state is LinkState.LIVE
        unheard = state is LinkState.UNHEARD
        down: DecisionCode = "circuit-obsolete" if isinstance(links, str) else "link-down"
        reason = reason_of("switch-disconnected" if unheard else down, why)
        return Candidate(key, Layer.L2, path, usable, reason, unheard)

    def _path_end(self, path: TransitPath, site: str) -> PathEnd | None:
        end = path.ends[site]
        configured = self.configuration.sites[site]
        number = self.port_reports.number(configured.edge, end.port)
        router = end.next_hop_mac or configured.gateway_mac
        return (
            None if number is None else PathEnd(self._edge(site), number, router if path.layer == 3 else None)
        )

    def _obstacle(self, site: str, port: str) -> Reason | None:
        """Return the reason why a port of a site's edge is unusable now; None if it is usable."""
        return self.port_reports.obstacle(self.configuration.sites[site].edge, port)
