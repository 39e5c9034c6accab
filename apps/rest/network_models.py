"""Views of what the network is made of: sites, switches, links, circuits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field

from apps.rest.models import SwitchView, View
from apps.rest.times import Time

LIVE = "live"


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

    @classmethod
    def of(cls, snapshot: Mapping[str, Any]) -> Self:
        """The controller's snapshot as it is answered."""
        paths: dict[str, list[Mapping[str, Any]]] = {}
        for path in snapshot["paths"]:
            paths.setdefault(path["path"], []).append(path)
        return cls(
            at=snapshot["at"],
            network=snapshot["network"],
            sites=[SiteView.model_validate(site) for site in snapshot["sites"]],
            switches=[SwitchDetail.model_validate(switch) for switch in snapshot["switches"]],
            links=_links(snapshot["wires"], snapshot["links"]),
            circuits=[_circuit(one, paths.get(one["name"], ())) for one in snapshot["circuits"]],
            reconcile=snapshot["reconcile"],
        )


def _circuit(circuit: Mapping[str, Any], ways: Sequence[Mapping[str, Any]]) -> CircuitView:
    """A circuit with what is known of its two directions: the first that cannot be used says why."""
    broken = next((way for way in ways if not way["usable"]), None)
    return CircuitView(
        **circuit,
        layer=ways[0]["layer"] if ways else "",
        capacity_bps=ways[0]["capacity"] if ways else None,
        usable=bool(ways) and broken is None,
        reason="" if broken is None else broken["reason"],
        flows=list(dict.fromkeys(flow for way in ways for flow in way["flows"])),
    )


def _links(wires: Sequence[Mapping[str, Any]], seen: Sequence[Mapping[str, Any]]) -> list[LinkView]:
    """The configured links with what discovery says of each, then what only discovery knows."""
    found = {_ends(link): link for link in seen}
    configured = [_configured(wire, found.pop(_ends(wire), None)) for wire in wires]
    return [*configured, *(_discovered(link) for link in found.values())]


def _ends(link: Mapping[str, Any]) -> frozenset[tuple[Any, Any]]:
    # An end without a name is a switch or port that nobody configured: its numbers tell it apart.
    return frozenset(
        (end["switch"] or end.get("dpid"), end["port"] or end.get("number")) for end in link["ends"]
    )


def _configured(wire: Mapping[str, Any], seen: Mapping[str, Any] | None) -> LinkView:
    if seen is None:
        return LinkView(
            name=wire["name"],
            state=wire["state"],
            reason=wire["reason"],
            ends=[LinkEnd.model_validate(end) for end in wire["ends"]],
            capacity_bps=wire["capacity"],
        )
    told = _discovered(seen).model_copy(update={"name": wire["name"], "capacity_bps": wire["capacity"]})
    if told.state != LIVE:
        return told
    return told.model_copy(update={"state": wire["state"], "reason": wire["reason"]})


def _discovered(seen: Mapping[str, Any]) -> LinkView:
    own = ("system", "chassis", "port")
    neighbour = " ".join(str(seen[name]) for name in own if seen.get(name))
    return LinkView(
        name=None,
        state=seen["state"],
        reason=seen.get("reason", ""),
        since=seen.get("since"),
        penalised_until=seen.get("penalised_until"),
        ends=[LinkEnd.model_validate(end) for end in seen["ends"]],
        delays_seconds=seen.get("delays", []),
        neighbour=neighbour or None,
    )
