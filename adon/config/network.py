"""Network: switches, sites with their DTNs, transit paths, links, overlays, link discovery.

Links and overlays describe the network between the edges if ADON controls its switches:
:mod:`adon.flowvisor.topology.overlay` finds up to ``paths`` paths between every two sites and assigns a VLAN
to each. VLAN ids: IEEE 802.1Q, 1 to 4094.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from adon.config.types import CertificateName, Dpid, Mac, PerSecond, PortName, PositiveRate, Section, Span
from adon.flowspace import merge_ranges
from adon.templates_catalog.model import port_range
from adon.units import Duration, Ratio, format_duration
from adon.values import Frozen, Mode, Name


class Switch(Section):
    """Switch with ADON's rules: a campus edge, or a switch between edges.

    :param pipeline: ``single`` puts all rules into one table and ADON's priority bands, in addition to other
        rules of the switch; ``staged`` uses three tables (docs/switches.md).
    :param table_offset: number of the first table of ADON's rules (R8).
    :param table_miss: action for packets without a rule; ``keep`` leaves them to the campus's own rules.
    :param control: ``exclusive``: one writer by role; ``shared``: other controllers write, too (R21).
    :param drift: reaction to changes of ADON's rules by others: correct them, or only report them.
    :param mode: ``dry-run``: decide, record and show, but send nothing to this switch; by default the mode of
        the network.
    :param failover: ``groups``: fast-failover groups where the switch has them.
    :param certificate: the name (CN or DNS) that its TLS certificate must have.
    :param flow_mods_per_second: maximum rate of flow-mods (R19); ``null`` for no limit.
    :param dpid: datapath id: 16 hex digits, in quotes.
    :param rule_budget: maximum number of ADON's rules in it (R9).
    """

    dpid: Dpid
    pipeline: Literal["single", "staged"] = "single"
    table_offset: int = Field(default=0, ge=0, le=250)
    table_miss: Literal["keep", "normal", "drop"] = "keep"
    control: Literal["exclusive", "shared"] = "exclusive"
    drift: Literal["heal", "report"] = "heal"
    mode: Mode | None = None
    failover: Literal["groups", "controller"] = "groups"
    certificate: CertificateName | None = None
    flow_mods_per_second: PerSecond | None = None
    rule_budget: int | None = Field(default=None, ge=1)


class Host(Section):
    """Data transfer node: its addresses, MAC, and port of the edge.

    :param address: IP address.
    :param mac: MAC address.
    :param port: name of the edge's port.
    :param address6: in addition to an IPv4 address.
    """

    address: IPv4Address | IPv6Address
    address6: IPv6Address | None = None
    mac: Mac
    port: PortName

    def _problems(self) -> Iterator[str]:
        if self.address6 is not None and self.address.version == 6:
            yield "address6: address is an IPv6 address already; leave one out, or write address: 10.1.0.10"


class Site(Section):
    """Campus: its edge switch, the gateway of its hosts, and its DTNs.

    :param edge: name of the edge switch.
    :param gateway_mac: MAC address of the router that the hosts use.
    :param hosts: data transfer nodes, by name.
    """

    edge: Name
    gateway_mac: Mac
    hosts: Frozen[Name, Host]


class PathEndpoint(Section):
    """End of a path.

    :param port: the edge's port, by name.
    :param next_hop_mac: layer 3: the router behind the port; by default the site's ``gateway_mac``.
    """

    port: PortName
    next_hop_mac: Mac | None = None


class Carrier(Section):
    """Common keys of paths and links, equal in both directions.

    :param capacity: bit rate of each direction.
    :param mtu: largest IP packet, in bytes.
    :param firewall: whether a stateful firewall is on it, which passes only connections whose start it saw.
    :param nat: whether addresses are translated on it.
    :param families: the IP versions that it carries.
    """

    capacity: PositiveRate
    mtu: Annotated[int, Field(ge=576, le=9216)] = 1500
    firewall: bool = False
    nat: bool = False
    families: Annotated[tuple[Literal[4, 6], ...], Field(min_length=1)] = (4, 6)


class TransitPath(Carrier):
    """Transit path between two sites.

    Its attributes are hard constraints on rerouting of running flows (spec section 2).

    :param vlan: layer 2: VLAN id.
    :param layer: by default 2 with a VLAN, and 3 without one.
    :param links: links shared with other paths; tests on shared links do not overlap.
    :param ends: both ends, by site.
    """

    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    layer: Literal[2, 3] = Field(default_factory=lambda data: 3 if data.get("vlan") is None else 2)
    links: tuple[Name, ...] = ()
    ends: Frozen[Name, PathEndpoint]

    def _problems(self) -> Iterator[str]:
        if len(self.ends) != 2:
            yield "ends: a path has exactly two ends; for example {mu: {port: eth2}, osu: {port: eth2}}"
        if self.layer == 2 and self.vlan is None:
            yield "vlan: is required on layer 2; for example 1701"
        if self.layer == 3 and self.vlan is not None:
            yield "vlan: a layer-3 path has none; leave it out, or write layer: 2"
        for site, end in self.ends.items():
            if self.layer == 2 and end.next_hop_mac is not None:
                example = f"for example {{port: {end.port}}}"
                yield f"ends.{site}.next_hop_mac: a layer-2 path has no next hop; {example}"


class Cost(StrEnum):
    """Cost metric of paths."""

    DELAY = "delay"
    HOPS = "hops"
    CAPACITY = "1/capacity"


def _vlans(value: object) -> object:
    if isinstance(value, frozenset):
        return value
    found: set[int] = set()
    for text in ",".join(map(str, value if isinstance(value, list | tuple) else [value])).split(","):
        first, last = port_range("".join(text.split()))
        if not 1 <= first <= last <= 4094:
            raise ValueError(f"{text[:40].strip()!r} is not a VLAN id from 1 to 4094, or an ascending range")
        found |= {*range(first, last + 1)}
    return frozenset(found)


def vlan_ranges(vlans: Iterable[int]) -> str:
    """Return VLAN ids as ranges: ``100-199, 300``."""
    runs = merge_ranges((vlan, vlan) for vlan in vlans)
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


Vlans = Annotated[
    frozenset[int], BeforeValidator(_vlans), PlainSerializer(vlan_ranges), Field(examples=["100-199"])
]
"""``"100-199"``, ``"100-199, 300"`` or a list of such texts, as a set of VLAN ids."""


class NetworkLink(Carrier):
    """Link between two switches; both directions have the same properties.

    :param ends: per switch the name of its port.
    :param delay: one-way propagation delay; None if not declared.
    :param jitter: variation of the delay; None if not declared.
    :param loss: fraction of lost packets; None if not declared.
    """

    ends: Frozen[Name, PortName]
    delay: Duration | None = None
    jitter: Duration | None = None
    loss: Annotated[Ratio, Field(lt=1)] | None = None

    def _problems(self) -> Iterator[str]:
        if len(self.ends) != 2:
            yield "ends: a link has exactly two ends; for example {mu-edge: eth3, osu-edge: eth3}"


class Overlay(Section):
    """Layer-2 overlay: its links, and the number of paths between two sites.

    :ivar links: names of its links; all links of the network if absent.
    :ivar through_edges: whether a path between two sites may pass the edge switch of a third.
    :param vlans: VLAN ids that its paths may use, such as ``100-199``.
    :param paths: number of paths between two sites.
    :param cost: cost metric of paths.
    """

    vlans: Vlans
    links: tuple[Name, ...] | None = None
    paths: Annotated[int, Field(ge=1, le=16)] = 4
    cost: Cost = Cost.HOPS
    through_edges: bool = False

    def may_use(self, link: str) -> bool:
        """Return whether the paths of this overlay may use a link."""
        return self.links is None or link in self.links


class LinkDiscovery(Section):
    """Link discovery by LLDP (docs/switches.md); off by default, because an edge without links needs none.

    :param hello: time between two probes of a port; at least one second, to limit the load of the controller
        (R14).
    :param dead_after: number of consecutive missed frames after which a link is down.
    :param debounce: time after which a port that came up is used; a port that went down counts at once.
    :param flap_penalty: hold-down of a link after its second failure; each further failure doubles it.
    :param flap_penalty_cap: maximum hold-down.
    :param flap_forgiven: time without a failure after which one failure no longer counts.
    :param key_file: file with 64 hex digits, the key that signs frames; standby controllers share it. Without
        it every start creates a new key.
    :param enabled: whether links are discovered.
    """

    enabled: bool = False
    hello: Annotated[Span, Field(ge=1, le=60)] = 1.0
    dead_after: int = Field(default=3, ge=2, le=20)
    debounce: Annotated[Duration, Field(ge=0.1, le=30)] = 1.0
    flap_penalty: Span = 10.0
    flap_penalty_cap: Span = 600.0
    flap_forgiven: Span = 60.0
    key_file: str | None = None

    def _problems(self) -> Iterator[str]:
        if self.flap_penalty_cap < self.flap_penalty:
            least = format_duration(self.flap_penalty)
            yield f"flap_penalty_cap: is shorter than flap_penalty, the first penalty; for example {least}"

    @property
    def window(self) -> float:
        """Validity of a frame, s: ``dead_after`` intervals, and half an interval for the transmission."""
        return (self.dead_after + 0.5) * self.hello


class CookieRange(Section):
    """Cookies of foreign rules: ADON ignores rules with this value under the mask (R2).

    :param value: the value.
    :param mask: the bits that are compared; by default all.
    """

    value: Annotated[int, Field(ge=0, lt=1 << 64)]
    mask: Annotated[int, Field(ge=0, lt=1 << 64)] = (1 << 64) - 1

    def _problems(self) -> Iterator[str]:
        if self.value & ~self.mask:
            example = f"for example {self.value & self.mask:#x}"
            yield f"value: has bits outside the mask, so no cookie can match; {example}"
