"""State of links as plain JSON values, a part of :mod:`adon.broker.state_report`."""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.links import Links
from adon.config import Configuration
from adon.flowvisor.discovery.link import Link, Port
from adon.flowvisor.discovery.lldp import Neighbour
from adon.flowvisor.topology.network_graph import PortKey
from adon.flowvisor.topology.path import dpid_text


def links(configuration: Configuration, known: Links, now: float) -> list[dict[str, object]]:
    """Every link between our switches, then every port that leads to something else; delays in seconds."""
    names = {switch.dpid: name for name, switch in configuration.switches.items()}
    return [
        *(_link(names, known, link, now) for link in known.all()),
        *(_foreign(names, port, neighbour) for port, neighbour in known.neighbours(now)),
    ]


def _link(names: Mapping[int, str], known: Links, link: Link, now: float) -> dict[str, object]:
    until = link.flaps.until
    return {
        "state": str(link.state),
        "reason": link.reason,
        "since": link.since,
        "penalised_until": until if until > now else None,
        "ends": [_end(names, end, known.port(end)) for end in link.ends],
        "delays": [link.delays.get(end) for end in link.ends],
    }


def _end(names: Mapping[int, str], key: PortKey, port: Port | None) -> dict[str, object]:
    dpid, number = key
    return {
        "switch": names.get(dpid),
        "dpid": dpid_text(dpid),
        "number": number,
        "port": None if port is None else port.name,
        "admin": None if port is None else port.state.admin,
        "oper": None if port is None else port.state.oper,
    }


def _foreign(names: Mapping[int, str], port: Port, neighbour: Neighbour) -> dict[str, object]:
    return {
        "state": "foreign",
        "ends": [_end(names, port.key, port)],
        "chassis": neighbour.chassis,
        "port": neighbour.port,
        "system": neighbour.system,
    }
