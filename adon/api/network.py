"""The network: paths, switches, links, circuits, hosts, slices, policy."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from adon.api.alarms import AlarmBase
from adon.api.base import ListAtTime, ListView, PathDirection, Time, View
from adon.values import Mode


class Reading(View):
    """The latest value of one metric on one directed path."""

    value: float
    unit: str
    observed_at: Time
    age_seconds: float
    source: str = ""
    basis: str = ""


class PathAlarm(AlarmBase):
    """An alarm in force on a path, in short; all of it is at ``/alarms/{id}``."""

    metric: str
    acted_on: bool = Field(description="whether values before it are no longer trusted")


class PathView(PathDirection):
    """One direction of one transit path, with what is known about it now."""

    layer: str
    capacity_bps: float
    mtu: int
    usable: bool
    reason: str
    metrics: dict[str, Reading]
    flows: list[str]
    alarms: list[PathAlarm]


class SwitchView(View):
    """A campus-edge switch as the controller sees it."""

    name: str
    dpid: str
    connected: bool
    rules: int
    foreign_rules: int = 0
    table: dict[str, Any] | None = Field(default=None, description="rules that it holds and may hold")
    tables: dict[str, Any] = Field(
        default_factory=dict, description="rules in each table of ours, and its limit, as the switch says"
    )
    lacks: list[str] = Field(default_factory=list, description="what it needs and cannot, by its own account")
    mode: Mode = Field(description="dry-run: decided, recorded and shown; nothing is sent")


class EstimateView(PathDirection):
    """How far off the throughput expected of a path was: relative errors, above zero for too much.

    ``median`` and ``spread`` (interquartile range) are of the latest ``count`` flows that were decided on
    this basis.
    """

    basis: str
    count: int
    median: float
    spread: float


class PathList(ListAtTime):
    """All directed paths and the edge switches at one moment."""

    items: list[PathView]
    switches: list[SwitchView]
    estimates: list[EstimateView]


class SiteView(View):
    """A campus: its edge switch and its DTNs."""

    name: str
    edge: str
    hosts: list[str]


class PortView(View):
    """A port of a switch."""

    number: int
    live: bool


class SwitchDetail(SwitchView):
    """A switch with how we drive it and its ports."""

    pipeline: str = "single"
    control: str = "exclusive"
    drift: str = "heal"
    ports: dict[str, PortView] = Field(default={})

    @property
    def down(self) -> list[str]:
        """The names of ports without a link."""
        return [name for name, port in self.ports.items() if not port.live]


class LinkEnd(View):
    """Where a link meets a switch; what is not known is null."""

    switch: str | None
    port: str | None
    dpid: str | None = None
    number: int | None = None
    admin: bool | None = Field(default=None, description="whether the port is switched on")
    oper: bool | None = Field(default=None, description="whether it has carrier")


class LinkView(View):
    """A link between two of our switches, or a port that leads to something else (``foreign``)."""

    name: str | None = Field(description="of a configured link")
    state: str = Field(description="live, settling, penalised, one-way, down, unknown, unheard, foreign, …")
    reason: str
    since: Time | None = None
    penalised_until: Time | None = None
    ends: list[LinkEnd]
    delays_seconds: list[float | None] = Field(default=[], description="one way, from each end, by discovery")
    capacity_bps: float | None = None
    neighbour: str | None = Field(default=None, description="what a foreign system says it is (LLDP)")


class CircuitView(View):
    """A path between two sites, configured or computed, and over what it leads."""

    name: str
    overlay: str | None = Field(description="null for a configured path")
    layer: str
    source: str
    destination: str
    vlan: int | None
    links: list[str]
    switches: list[str] = Field(description="of ours, from source to destination")
    capacity_bps: float | None
    usable: bool
    reason: str
    flows: list[str]


class NetworkView(View):
    """What the network is made of, and the state of each part at one moment."""

    at: Time
    network: str
    sites: list[SiteView]
    switches: list[SwitchDetail]
    links: list[LinkView]
    circuits: list[CircuitView]
    reconcile: dict[str, int] = Field(description="differences found since the controller's start, by kind")


class PolicyItem(View):
    """One setting of ``policy``, as it is in force."""

    name: str
    value: Any = Field(description="as it would be written in the configuration")
    configured: bool = Field(description="false: it is the default")
    meaning: str


class PolicyList(ListView):
    """The policy in force, by the order of its description; it is changed in the configuration file only."""

    network: str
    items: list[PolicyItem]


class SliceRules(View):
    """Rules of a slice in one switch."""

    dpid: str
    rules: int
    budget: int | None = Field(description="null: no limit")


class SlicePath(PathDirection):
    """What a slice may use, and uses, of one direction of a path."""

    share: float = Field(description="of the path's capacity")
    allowed_bps: float
    reserved_bps: float = Field(description="by the throughput bounds of its running flows")


class SliceView(View):
    """A tenant: what is its, and what it uses now."""

    name: str
    number: int
    shared: bool
    priorities: tuple[int, int]
    dscp: list[int] | None = Field(description="what its flows may be marked with; null: anything")
    mark: int | None
    flowspace: list[dict[str, Any]]
    members: dict[str, Any] | None = Field(description="null without the permission to operate the network")
    rules: list[SliceRules]
    paths: list[SlicePath]


class SliceList(ListAtTime):
    """Slices by name; none where the network is not divided."""

    items: list[SliceView]


class HostView(View):
    """A data transfer node."""

    name: str
    site: str = Field(description="the campus that it is at")


class HostList(ListView):
    """The nodes of the configuration, by name."""

    items: list[HostView]
