"""The network: paths, switches, links, circuits, hosts, slices, policy."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from adon.api.alarms import AlarmBase
from adon.api.base import ListAtTime, ListView, PathDirection, Time, View
from adon.values import Mode


class LatestValue(View):
    """Latest value of a metric of a directed path."""

    value: float
    unit: str
    observed_at: Time
    age_seconds: float
    source: str = ""
    basis: str = ""


class PathAlarm(AlarmBase):
    """Summary of an open alarm on a path; ``/alarms/{id}`` has the details."""

    metric: str
    acted_on: bool = Field(description="whether values before the alarm are unknown")


class PathView(PathDirection):
    """Direction of a transit path with its present state."""

    layer: str
    capacity_bps: float
    mtu: int
    usable: bool
    reason: str
    metrics: dict[str, LatestValue]
    flows: list[str]
    alarms: list[PathAlarm]


class SwitchView(View):
    """State of a campus-edge switch."""

    name: str
    dpid: str
    connected: bool
    rules: int
    foreign_rules: int = 0
    table: dict[str, Any] | None = Field(default=None, description="number and maximum number of rules")
    tables: dict[str, Any] = Field(
        default_factory=dict, description="reported and maximum number of rules per table"
    )
    lacks: list[str] = Field(default_factory=list, description="required features that are missing")
    mode: Mode = Field(description="dry-run: decisions are recorded and shown, but no rules are sent")


class EstimateView(PathDirection):
    """Relative error of the expected throughput of a path; above zero: the estimate was too high.

    ``median`` and ``spread`` (interquartile range) are of the latest ``count`` flows that were decided on
    this basis.
    """

    basis: str
    count: int
    median: float
    spread: float


class PathList(ListAtTime):
    """All directed paths and the edge switches at one time."""

    items: list[PathView]
    switches: list[SwitchView]
    estimates: list[EstimateView]


class SiteView(View):
    """Campus with its edge switch and its DTNs."""

    name: str
    edge: str
    hosts: list[str]


class PortView(View):
    """Port of a switch."""

    number: int
    live: bool


class SwitchDetail(SwitchView):
    """Switch with its control mode and its ports."""

    pipeline: str = "single"
    control: str = "exclusive"
    drift: str = "heal"
    ports: dict[str, PortView] = Field(default={})

    @property
    def down(self) -> list[str]:
        """Names of the ports without a link."""
        return [name for name, port in self.ports.items() if not port.live]


class LinkEnd(View):
    """End of a link at a switch; unknown values are null."""

    switch: str | None
    port: str | None
    dpid: str | None = None
    number: int | None = None
    admin: bool | None = Field(default=None, description="whether the port is enabled")
    oper: bool | None = Field(default=None, description="whether it has carrier")


class LinkView(View):
    """Link between two switches of ADON, or a port with a foreign neighbour (``foreign``)."""

    name: str | None = Field(description="name of a configured link")
    state: str = Field(description="live, settling, penalised, one-way, down, unknown, unheard, foreign, …")
    reason: str
    since: Time | None = None
    penalised_until: Time | None = None
    ends: list[LinkEnd]
    delays_seconds: list[float | None] = Field(default=[], description="one-way, from each end, by discovery")
    capacity_bps: float | None = None
    neighbour: str | None = Field(default=None, description="name of a foreign system (LLDP)")


class CircuitView(View):
    """Configured or computed path between two sites, with its links."""

    name: str
    overlay: str | None = Field(description="null for a configured path")
    layer: str
    source: str
    destination: str
    vlan: int | None
    links: list[str]
    switches: list[str] = Field(description="switches of ADON, from source to destination")
    capacity_bps: float | None
    usable: bool
    reason: str
    flows: list[str]


class NetworkView(View):
    """Elements of the network with their states at one time."""

    at: Time
    network: str
    sites: list[SiteView]
    switches: list[SwitchDetail]
    links: list[LinkView]
    circuits: list[CircuitView]
    reconcile: dict[str, int] = Field(description="differences found since the controller's start, by kind")


class PolicyItem(View):
    """Setting of ``policy`` in force."""

    name: str
    value: Any = Field(description="value in the notation of the configuration")
    configured: bool = Field(description="whether the configuration sets the value")
    meaning: str


class PolicyList(ListView):
    """Policy in force, in the order of its documentation; only the configuration file changes it."""

    network: str
    items: list[PolicyItem]


class SliceRules(View):
    """Number of rules of a slice in one switch."""

    dpid: str
    rules: int
    budget: int | None = Field(description="null: no limit")


class SlicePath(PathDirection):
    """Permitted and used bandwidth of a slice on one direction of a path."""

    share: float = Field(description="share of the path's capacity")
    allowed_bps: float
    reserved_bps: float = Field(description="sum of the throughput bounds of its running flows")


class SliceView(View):
    """Slice with its limits and its present usage."""

    name: str
    number: int
    shared: bool
    priorities: tuple[int, int]
    dscp: list[int] | None = Field(description="permitted DSCP marks of its flows; null: all")
    mark: int | None
    flowspace: list[dict[str, Any]]
    members: dict[str, Any] | None = Field(description="null without the permission to operate the network")
    rules: list[SliceRules]
    paths: list[SlicePath]


class SliceList(ListAtTime):
    """Slices by name; empty without slices."""

    items: list[SliceView]


class HostView(View):
    """Data transfer node."""

    name: str
    site: str = Field(description="campus of the node")


class HostList(ListView):
    """Configured data transfer nodes, by name."""

    items: list[HostView]
