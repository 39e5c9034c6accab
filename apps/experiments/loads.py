"""Flows and loads of the plan as what is carried between two hosts."""

from __future__ import annotations

from pathlib import Path

from adon.experiments.events import Load as LoadEvent
from adon.experiments.planned import PlannedFlow
from mininet_topos.carrying import Load
from mininet_topos.networks import Network

MAX_S = 86_400.0
"""Seconds of what lasts until it is told to end."""


def load_of_flow(flow: PlannedFlow, network: Network, port: int, disk: Path) -> Load:
    """What carries a flow, between the data addresses of its hosts.

    :param disk: the folder for what is stored.
    """
    source, destination = network.dtn(flow.source), network.dtn(flow.destination)
    return Load(
        source=(source.host, str(source.address)),
        destination=(destination.host, str(destination.address)),
        port=port,
        protocol=flow.protocol,
        size=flow.size,
        # Its end is a step of the timeline; the sender only needs to go on for longer.
        seconds=MAX_S if flow.size is None else None,
        streams=flow.streams,
        rate=flow.rate,
        window=flow.window,
        into=str(disk.absolute()) if flow.store == "disk" else None,
    )


def load_of_event(event: LoadEvent, network: Network, port: int) -> Load:
    """What makes a load on a path: between the addresses that are measured on it, which lead over it alone.

    :raises InvalidInput: if the network has no such path.
    """
    path = network.path(event.path)
    one, other = path.sites
    origin = event.origin or one
    target = other if origin == one else one
    ends = []
    for site in (origin, target):
        address = path.addresses[site]
        host = next(dtn.host for dtn in network.site(site).dtns if address in dtn.measured.values())
        ends.append((host, str(address)))
    return Load(
        source=ends[0],
        destination=ends[1],
        port=port,
        protocol="tcp" if event.rate is None else "udp",
        seconds=MAX_S,
        streams=event.streams or 1,
        rate=event.rate,
    )
